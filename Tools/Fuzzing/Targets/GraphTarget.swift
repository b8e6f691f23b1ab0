internal import Foundation
internal import Stores

/// The stores of one file: the file as such, whatever its model; then a store of the sample model.
enum GraphTarget {
    static func xml(_ data: Data) throws { try open(data, XMLGraphFormat.self) }

    static func binary(_ data: Data) throws { try open(data, BinaryGraphFormat.self) }

    private static func open<Format: GraphFormat>(_ data: Data, _ format: Format.Type) throws {
        let graph = try Format.read(data, path: "fuzz")
        let head = try Format.readHead(data, path: "fuzz")
        guard head.identifier == graph.identifier else {
            throw BrokenPromise(description: "the head has another identifier than the whole")
        }
        try ScratchFile.with(data) { url in
            var options = GraphFileOptions()
            options.isReadOnly = true
            options.ignoresVersioning = true
            let store = try GraphRowStore<Format>(
                url: url, model: SampleModel.make(), options: options)
            try StoreReading.readAll(store)
        }
    }
}
