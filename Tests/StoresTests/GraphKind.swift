import Foundation
import ObjectModel
import Platform
import Stores
import Testing

/// The atomic store types that the shared suites run over.
enum GraphKind: String, CaseIterable, CustomTestStringConvertible, Sendable {
    case xml, binary

    var testDescription: String { rawValue }

    func open(
        _ url: URL?, _ model: NSManagedObjectModel = EverythingModel.make(),
        _ options: GraphFileOptions = .init(), platform: Environment = .system
    ) throws -> any RowStore {
        switch self {
        case .xml: try XMLRowStore(url: url, model: model, options: options, platform: platform)
        case .binary:
            try BinaryRowStore(url: url, model: model, options: options, platform: platform)
        }
    }

    func read(_ data: Data) throws -> StoredGraph {
        switch self {
        case .xml: try XMLGraphFormat.read(data, path: "file")
        case .binary: try BinaryGraphFormat.read(data, path: "file")
        }
    }

    func write(_ graph: StoredGraph) throws -> Data {
        switch self {
        case .xml: try XMLGraphFormat.write(graph)
        case .binary: try BinaryGraphFormat.write(graph)
        }
    }
}

/// A folder of its own that ends with the test.
final class Scratch {
    let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("StoresTests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    var file: URL { folder.appendingPathComponent("store") }

    var names: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).sorted()
    }
}
