internal import Foundation
internal import Platform
internal import SQLiteStore
internal import Stores

/// What can be done with a store's file while it is not open, by the store's type.
struct StoreFileType {
    let type: String
    /// A class that a program registered for the type.
    private let custom: NSPersistentStore.Type?

    init(_ type: String) throws {
        self.type = type
        custom = StoreRegistry.storeClass(for: type)
        guard custom == nil, ![NSSQLiteStoreType, NSXMLStoreType, NSBinaryStoreType].contains(type)
        else { return }
        throw PersistenceErrors.make(
            NSPersistentStoreInvalidTypeError,
            "Stores of type \(type) have no files; use \(NSSQLiteStoreType), \(NSXMLStoreType), "
                + "\(NSBinaryStoreType) or a registered type.", ["type": type])
    }

    /// The type of the store in the file at `url`, told by its first bytes.
    init(recognizing url: URL) throws {
        guard let type = Self.type(at: url) else {
            throw PersistenceErrors.make(
                NSPersistentStoreOpenError,
                "The file is no store of a known type, or cannot be read; check the path.",
                [NSFilePathErrorKey: url.path])
        }
        try self.init(type)
    }

    /// The type of the store in a file; nil for no store.
    static func type(at url: URL) -> String? {
        guard let handle = try? FileHandle(forReadingFrom: url) else { return nil }
        defer { try? handle.close() }
        guard let head = try? handle.read(upToCount: 4096) else { return nil }
        if head.starts(with: Data("SQLite format 3\0".utf8)) { return NSSQLiteStoreType }
        if head.starts(with: Data("bplist0".utf8)) { return NSBinaryStoreType }
        let text = String(decoding: head, as: UTF8.self)
        return text.contains("<database") || text.contains("<!DOCTYPE database")
            ? NSXMLStoreType : nil
    }

    func metadata(at url: URL) throws -> [String: Any] {
        if let custom { return try custom.metadataForPersistentStore(with: url) }
        return try checked(url) {
            switch type {
            case NSXMLStoreType: try XMLRowStore.metadata(at: url)
            case NSBinaryStoreType: try BinaryRowStore.metadata(at: url)
            default: try SQLiteRowStore.metadata(at: url)
            }
        }
    }

    func setMetadata(_ metadata: [String: Any], at url: URL) throws {
        if let custom { return try custom.setMetadata(metadata, forPersistentStoreAt: url) }
        try checked(url) {
            switch type {
            case NSXMLStoreType: try XMLRowStore.setMetadata(metadata, at: url)
            case NSBinaryStoreType: try BinaryRowStore.setMetadata(metadata, at: url)
            default: try SQLiteRowStore.setMetadata(metadata, at: url)
            }
        }
    }

    /// Runs `work`; where the file turns out to be a store of another type, the error says which.
    private func checked<Value>(_ url: URL, _ work: () throws -> Value) throws -> Value {
        try Self.naming(type, at: url, work)
    }

    /// Runs `work` upon a store of type `type`; see `checked`.
    static func naming<Value>(
        _ type: String, at url: URL?, _ work: () throws -> Value
    ) throws -> Value {
        do {
            return try work()
        } catch let error as StoreError where error.code == .notAStore {
            guard let url, let found = Self.type(at: url), found != type else {
                throw PersistenceErrors.translate(error)
            }
            throw PersistenceErrors.make(
                NSPersistentStoreTypeMismatchError,
                "The file is a store of type \(found), not \(type); name its own type.",
                ["type": found, NSUnderlyingErrorKey: error])
        } catch {
            throw PersistenceErrors.translate(error)
        }
    }

    // MARK: Files

    /// All files of the store at `url`, the main one first.
    func files(at url: URL) -> [URL] {
        guard type == NSSQLiteStoreType else { return [url] }
        let beside = ["-wal", "-shm", "-journal"].map { URL(fileURLWithPath: url.path + $0) }
        return [url] + beside + [Self.externalValues(of: url)]
    }

    /// The folder of values that are kept outside of a SQLite store.
    static func externalValues(of url: URL) -> URL {
        let name = url.deletingPathExtension().lastPathComponent
        return url.deletingLastPathComponent().appendingPathComponent(".\(name)_SUPPORT")
    }

    /// Puts a copy of the store at `source` in the place of the one at `destination`.
    func replace(_ destination: URL, with source: URL, platform: Surroundings) throws {
        _ = try metadata(at: source)
        let folder = destination.deletingLastPathComponent()
        let mark = platform.randomness.uuid().uuidString
        let draft = folder.appendingPathComponent(".\(destination.lastPathComponent).\(mark)")
        let files = FileManager.default
        defer { try? files.removeItem(at: draft) }
        try checked(source) {
            if type == NSSQLiteStoreType {
                try SQLiteRowStore.copy(from: source, toDraft: draft, for: destination)
            } else {
                try files.copyItem(at: source, to: draft)
            }
        }
        if type == NSSQLiteStoreType { try replaceExternalValues(of: destination, with: source) }
        guard rename(draft.path, destination.path) == 0 else {
            throw PersistenceErrors.make(
                NSPersistentStoreOperationError,
                "The store cannot be put in its place; check the folder's access.",
                [NSFilePathErrorKey: destination.path])
        }
        for leftover in self.files(at: destination).dropFirst().dropLast() {
            try? files.removeItem(at: leftover)
        }
    }

    private func replaceExternalValues(of destination: URL, with source: URL) throws {
        let files = FileManager.default
        let (former, fresh) = (
            Self.externalValues(of: destination), Self.externalValues(of: source)
        )
        if files.fileExists(atPath: former.path) { try files.removeItem(at: former) }
        if files.fileExists(atPath: fresh.path) { try files.copyItem(at: fresh, to: former) }
    }
}
