internal import CZlib
package import Foundation
package import ObjectModel
internal import Predicates
internal import SQLiteDriver
internal import Stores

/// `Z_MODELCACHE`: the model a store was made with, as a compiled model without zlib's head.
///
/// It serves migrations only, since it can be stale: tables and `Z_PRIMARYKEY` say what a file
/// holds.
package enum ModelCache {
    /// Writes the model. One that no archive can hold leaves the table empty, as old stores do.
    static func write(_ model: NSManagedObjectModel, to connection: Connection) throws {
        guard let packed = ModelFacts.archive(model) else { return }
        try connection.run("DELETE FROM Z_MODELCACHE")
        try connection.run("INSERT INTO Z_MODELCACHE (Z_CONTENT) VALUES (?)", [.blob(packed)])
    }

    /// The model in the file; nil where there is none. Throws `.corrupt` for bytes that are no
    /// model.
    static func read(from connection: Connection, path: String) throws -> NSManagedObjectModel? {
        guard try HistoryTables.columns(of: "Z_MODELCACHE", connection).contains("Z_CONTENT"),
            let packed = try connection.value("SELECT Z_CONTENT FROM Z_MODELCACHE LIMIT 1")?.data,
            !packed.isEmpty
        else { return nil }
        return try model(packed: packed, path: path)
    }

    /// The model in the bytes of `Z_CONTENT`; `path` is the store's, for errors. Throws `.corrupt`
    /// for bytes that are no model.
    package static func model(packed: Data, path: String) throws -> NSManagedObjectModel {
        do {
            guard let archive = inflated(packed) else { throw damaged(path, nil) }
            return try NSManagedObjectModel.load(fromArchive: archive)
        } catch let error as StoreError {
            throw error
        } catch {
            throw damaged(path, error)
        }
    }

    private static func damaged(_ path: String, _ cause: (any Error)?) -> StoreError {
        StoreError(
            .corrupt,
            "The model kept in the store cannot be read; give the model it was made with.",
            fields: ["path": path], cause: cause)
    }

    // MARK: Packing

    /// The model's bytes as the table holds them; nil for one that no archive can hold.
    static func packed(_ model: NSManagedObjectModel) -> Data? {
        (try? model.cacheData()).flatMap(deflated)
    }

    private static let rawWindow: Int32 = -15
    /// No real model comes near it; a hostile one stops here. Larger archives are refused anyway.
    private static let archiveBytesMax = 64 << 20

    private static func deflated(_ data: Data) -> Data? {
        var stream = z_stream()
        guard diptych_deflate_init(&stream, 6, rawWindow) == Z_OK else { return nil }
        defer { deflateEnd(&stream) }
        return run(&stream, on: data) { deflate(&$0, Z_FINISH) }
    }

    private static func inflated(_ data: Data) -> Data? {
        var stream = z_stream()
        guard diptych_inflate_init(&stream, rawWindow) == Z_OK else { return nil }
        defer { inflateEnd(&stream) }
        return run(&stream, on: data) { inflate(&$0, Z_NO_FLUSH) }
    }

    /// Feeds all of `data` and gathers what comes out; nil for bytes that are not of the form.
    private static func run(
        _ stream: inout z_stream, on data: Data, _ step: (inout z_stream) -> Int32
    ) -> Data? {
        var input = [UInt8](data)
        var output = [UInt8](repeating: 0, count: 64 << 10)
        var result = Data()
        return input.withUnsafeMutableBufferPointer { source in
            stream.next_in = source.baseAddress
            stream.avail_in = uInt(source.count)
            while true {
                let status = output.withUnsafeMutableBufferPointer { room in
                    stream.next_out = room.baseAddress
                    stream.avail_out = uInt(room.count)
                    return step(&stream)
                }
                let made = output.count - Int(stream.avail_out)
                result.append(contentsOf: output[..<made])
                if status == Z_STREAM_END { return result }
                guard status == Z_OK, made > 0 || stream.avail_in > 0,
                    result.count <= archiveBytesMax
                else { return nil }
            }
        }
    }
}
