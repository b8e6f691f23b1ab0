import CZlib
import Foundation
import SQLiteDriver

/// What a store of the corpus says about its model, read from a copy.
struct StoredModel {
    var metadata: [String: Any]
    /// The archive in the model cache, inflated; nil for stores without one.
    var cache: Data?

    init(_ store: URL) throws {
        let scratch = try Scratch()
        let copy = scratch.folder.appendingPathComponent("copy.sqlite")
        try FileManager.default.copyItem(at: store, to: copy)
        let log = URL(fileURLWithPath: store.path + "-wal")
        if FileManager.default.fileExists(atPath: log.path) {
            try FileManager.default.copyItem(
                at: log, to: scratch.folder.appendingPathComponent("copy.sqlite-wal"))
        }
        for name in try FileManager.default.contentsOfDirectory(atPath: scratch.folder.path) {
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o600],
                ofItemAtPath: scratch.folder.appendingPathComponent(name).path)
        }
        let connection = try Connection(path: copy.path, access: .readWrite)
        let bytes = try connection.value("SELECT Z_PLIST FROM Z_METADATA")?.data ?? Data()
        let list = try PropertyListSerialization.propertyList(from: bytes, format: nil)
        metadata = list as? [String: Any] ?? [:]
        let tables = try connection.rows("SELECT name FROM sqlite_master").compactMap(\.first)
        if tables.contains("Z_MODELCACHE") {
            cache = try connection.value("SELECT Z_CONTENT FROM Z_MODELCACHE")?.data
                .flatMap(Self.inflated)
        }
    }

    /// Raw DEFLATE, undone.
    private static func inflated(_ data: Data) -> Data? {
        var stream = z_stream()
        guard diptych_inflate_init(&stream, -15) == Z_OK else { return nil }
        defer { inflateEnd(&stream) }
        var input = Array(data)
        var output: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 65_536)
        return input.withUnsafeMutableBufferPointer { source in
            stream.next_in = source.baseAddress
            stream.avail_in = UInt32(source.count)
            while true {
                let (code, count) = piece.withUnsafeMutableBufferPointer { target in
                    stream.next_out = target.baseAddress
                    stream.avail_out = UInt32(target.count)
                    let code = inflate(&stream, Z_NO_FLUSH)
                    return (code, target.count - Int(stream.avail_out))
                }
                output += piece[..<count]
                if code == Z_STREAM_END { return Data(output) }
                guard code == Z_OK, count > 0 else { return nil }
            }
        }
    }
}
