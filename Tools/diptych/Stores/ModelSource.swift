internal import CZlib
internal import Foundation
internal import ObjectModel
internal import SQLiteDriver
internal import SQLiteStore

/// Where the model comes from: a file, or the copy a store keeps of its own.
enum ModelSource {
    /// The model in `file`, which may be a store. Throws for one that contradicts itself.
    static func load(_ file: URL) throws -> NSManagedObjectModel {
        let model: NSManagedObjectModel
        if FileKind(of: file) == .sqlite {
            guard let cached = try cachedModel(of: file) else { throw noCache(file) }
            model = cached
        } else {
            model = try NSManagedObjectModel.load(from: file)
        }
        try model.checkConsistency()
        return model
    }

    static func noCache(_ store: URL) -> CommandError {
        CommandError(
            "noModel", "\(store.lastPathComponent) keeps no copy of its model.",
            hint: "Give --model MODEL, or put 'model = …' into diptych.conf beside the store.")
    }

    /// The model in the store's `Z_MODELCACHE`; nil where there is none.
    static func cachedModel(of store: URL) throws -> NSManagedObjectModel? {
        let connection = try ReadingConnection.open(store)
        let hasTable = try connection.value(
            "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'Z_MODELCACHE'")
        guard hasTable != nil,
            let bytes = try connection.value("SELECT Z_CONTENT FROM Z_MODELCACHE LIMIT 1")?.data
        else { return nil }
        guard let archive = inflated(bytes) else {
            throw CommandError(
                "damagedModelCache",
                "\(store.lastPathComponent): its copy of the model is damaged.",
                hint: "Give --model MODEL.")
        }
        return try NSManagedObjectModel.load(fromArchive: archive, name: store.lastPathComponent)
    }

    /// Puts a copy of the model into a store that has none, so that the store can be read without
    /// its model's file.
    static func keep(_ model: NSManagedObjectModel, in store: SQLiteRowStore) throws {
        guard let bytes = deflated(try model.compiledData()) else { return }
        try store.write { transaction in
            guard try transaction.connection.value("SELECT 1 FROM Z_MODELCACHE") == nil else {
                return
            }
            try transaction.connection.run(
                "INSERT INTO Z_MODELCACHE (Z_CONTENT) VALUES (?)", [.blob(bytes)])
        }
    }

    /// Raw DEFLATE, as Core Data writes it.
    private static func deflated(_ data: Data) -> Data? {
        var stream = z_stream()
        guard diptych_deflate_init(&stream, Z_DEFAULT_COMPRESSION, -15) == Z_OK else { return nil }
        defer { deflateEnd(&stream) }
        var input = Array(data)
        var output = [UInt8](repeating: 0, count: Int(deflateBound(&stream, UInt(input.count))))
        let count = input.withUnsafeMutableBufferPointer { source in
            output.withUnsafeMutableBufferPointer { target -> Int? in
                stream.next_in = source.baseAddress
                stream.avail_in = UInt32(source.count)
                stream.next_out = target.baseAddress
                stream.avail_out = UInt32(target.count)
                guard deflate(&stream, Z_FINISH) == Z_STREAM_END else { return nil }
                return target.count - Int(stream.avail_out)
            }
        }
        return count.map { Data(output.prefix($0)) }
    }

    private static let archiveBytesMax = 64 << 20

    /// Undoes raw DEFLATE; nil for what is none, or is too large for a model.
    private static func inflated(_ data: Data) -> Data? {
        var stream = z_stream()
        guard diptych_inflate_init(&stream, -15) == Z_OK else { return nil }
        defer { inflateEnd(&stream) }
        var input = Array(data)
        var output = Data()
        var piece = [UInt8](repeating: 0, count: 65_536)
        return input.withUnsafeMutableBufferPointer { source in
            stream.next_in = source.baseAddress
            stream.avail_in = UInt32(source.count)
            while output.count <= archiveBytesMax {
                let (code, count) = piece.withUnsafeMutableBufferPointer { target in
                    stream.next_out = target.baseAddress
                    stream.avail_out = UInt32(target.count)
                    let code = inflate(&stream, Z_NO_FLUSH)
                    return (code, target.count - Int(stream.avail_out))
                }
                output += piece[..<count]
                if code == Z_STREAM_END { return output }
                guard code == Z_OK, count > 0 else { return nil }
            }
            return nil
        }
    }
}

/// What a file is, by its first bytes.
enum FileKind {
    case absent, folder, empty, sqlite, xml, propertyList, other

    init(of file: URL) {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: file.path, isDirectory: &isFolder) else {
            self = .absent
            return
        }
        guard !isFolder.boolValue else {
            self = .folder
            return
        }
        let handle = try? FileHandle(forReadingFrom: file)
        let head = (try? handle?.read(upToCount: 16)) ?? Data()
        try? handle?.close()
        if head.isEmpty {
            self = .empty
        } else if head == Data("SQLite format 3\0".utf8) {
            self = .sqlite
        } else if head.starts(with: Data("<?xml".utf8)) {
            self = .xml
        } else if head.starts(with: Data("bplist00".utf8)) {
            self = .propertyList
        } else {
            self = .other
        }
    }
}
