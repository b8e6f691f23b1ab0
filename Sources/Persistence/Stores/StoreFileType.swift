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
        if url.isNullDevice { throw Self.noFile(at: url) }
        guard let type = Self.type(at: url) else { throw Self.unrecognized(url) }
        try self.init(type)
    }

    private static func unrecognized(_ url: URL) -> any Error {
        guard FileKind(at: url.path) != .nothing else {
            return PersistenceErrors.noFile(at: url.path)
        }
        let isReadable = access(url.path, R_OK) == 0
        return PersistenceErrors.translate(
            StoreError(
                isReadable ? .notAStore : .cannotOpen,
                "The file is no store of a known type, or cannot be read; check the path.",
                fields: ["path": url.path]))
    }

    /// The type of the store in a file; nil for no store.
    static func type(at url: URL) -> String? {
        guard FileKind(at: url.path) == .file else { return nil }
        if SQLiteRowStore.isDatabase(at: url) { return NSSQLiteStoreType }
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
        if custom == nil, url.isFileURL, FileKind(at: url.path) == .nothing {
            throw PersistenceErrors.noFile(at: url.path)
        }
        return try storeMetadata(at: url)
    }

    private func storeMetadata(at url: URL) throws -> [String: Any] {
        if url.isNullDevice { throw Self.noFile(at: url) }
        if let custom { return try custom.metadataForPersistentStore(with: url) }
        let found = try checked(url) {
            switch type {
            case NSXMLStoreType: try XMLRowStore.metadata(at: url)
            case NSBinaryStoreType: try BinaryRowStore.metadata(at: url)
            default: try SQLiteRowStore.metadata(at: url)
            }
        }
        return MetadataValues.shown(found)
    }

    func setMetadata(_ metadata: [String: Any], at url: URL) throws {
        if url.isNullDevice { throw Self.noFile(at: url) }
        if let custom { return try custom.setMetadata(metadata, forPersistentStoreAt: url) }
        let metadata = MetadataValues.plain(metadata)
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
        } catch  where !(error is StoreError) && DiskRoom.isLacking(error) {
            throw PersistenceErrors.translate(Self.diskFull(url?.path ?? "", cause: error))
        } catch {
            throw PersistenceErrors.translate(error)
        }
    }

    // MARK: Files

    /// The error of whoever asks for the file of a store in memory.
    static func noFile(at url: URL) -> NSError {
        PersistenceErrors.make(
            NSPersistentStoreOpenError,
            "A store at \(url.path) is in memory and has no file; ask the open store, or give the "
                + "path of a file.", [NSFilePathErrorKey: url.path])
    }

    /// Whether a store's file is at `url` or can be made there.
    static func isPlace(_ url: URL) -> Bool {
        switch FileKind(at: url.path) {
        case .nothing, .file: true
        case .folder, .link, .other: false
        }
    }

    /// All files of the store at `url`, the main one first.
    func files(at url: URL) -> [URL] {
        guard type == NSSQLiteStoreType else { return [url] }
        let beside = ["-wal", "-shm", "-journal"].map { URL(fileURLWithPath: url.path + $0) }
        return [url] + beside + [SupportFolder.beside(url)]
    }

    /// What the store at `url` is now, to tell whether another program changes it meanwhile.
    func witness(of url: URL) throws -> StoreFileWitness {
        type == NSSQLiteStoreType
            ? .database(try SQLiteStoreWitness(of: url)) : .file(GraphFileWitness(of: url))
    }

    /// Puts a copy of the store at `source` in the place of the one at `destination`. With a
    /// `witness` of that one it throws `.busy` where somebody changed it since.
    func replace(
        _ destination: URL, with source: URL, unlessChangedSince witness: StoreFileWitness? = nil,
        timeout: Int32, platform: Environment
    ) throws {
        _ = try storeMetadata(at: source)
        let places = [destination, source].map { $0.resolvingSymlinksInPath().path }
        guard places[0] != places[1] else { return }
        try checked(source) {
            if type == NSSQLiteStoreType {
                try SQLiteRowStore.replace(
                    destination, with: source, unlessChangedSince: witness?.database,
                    busyMilliseconds: timeout, platform: platform)
            } else {
                try replaceFile(
                    destination, with: source, unlessChangedSince: witness?.file,
                    platform: platform)
            }
        }
    }

    /// A store that is one file: the copy is whole and on the disk before it takes its place.
    private func replaceFile(
        _ destination: URL, with source: URL, unlessChangedSince witness: GraphFileWitness?,
        platform: Environment
    ) throws {
        let files = FileManager.default
        // A link stays a link: what it leads to is replaced.
        let destination = destination.resolvingSymlinksInPath()
        guard Self.isPlace(destination) else { throw FileKind.refusal(at: destination.path) }
        let folder = destination.deletingLastPathComponent()
        let mark = platform.randomness.uuid().uuidString
        let draft = folder.appendingPathComponent(".\(destination.lastPathComponent).\(mark)")
        defer { FileKind.removeFile(at: draft.path) }
        let source = source.resolvingSymlinksInPath()
        let model = files.fileExists(atPath: destination.path) ? destination : source
        let access = FileAccess(of: model.path)
        access.makeFile(at: draft.path)
        guard FileKind(at: draft.path) == .file else { throw Self.noDraft(in: folder) }
        let handle = try FileHandle(forWritingTo: draft)
        defer { try? handle.close() }
        try handle.write(contentsOf: Data(contentsOf: source, options: .alwaysMapped))
        access.apply(to: draft.path)
        try handle.synchronize()
        try platform.faults.reach("replace.staged")
        try (witness ?? GraphFileWitness(of: destination)).whileUnchanged {
            guard rename(draft.path, destination.path) == 0 else {
                throw PersistenceErrors.make(
                    NSPersistentStoreOperationError,
                    "The store cannot be put in its place; check the folder's access.",
                    [NSFilePathErrorKey: destination.path])
            }
        }
        try platform.faults.reach("replace.swapped")
    }

    /// Why no file could be made in a folder.
    private static func noDraft(in folder: URL) -> StoreError {
        let isThere = FileKind(at: folder.path) == .folder
        let isFull = isThere && !DiskRoom.isLeft(beside: folder.appendingPathComponent("x").path)
        guard !isFull else { return diskFull(folder.path) }
        return StoreError(
            isThere ? .readOnly : .cannotOpen,
            isThere
                ? "The store's folder cannot be written; check its access."
                : "There is no folder at this path; make it first.",
            fields: ["path": folder.path])
    }

    private static func diskFull(_ path: String, cause: (any Error)? = nil) -> StoreError {
        StoreError(
            .diskFull, "The disk is full, nothing was written; make room and try again.",
            fields: ["path": path], cause: cause)
    }

    /// Empties a SQLite store, and removes the file of one of another type. Only what is a store of
    /// the type, or holds nothing, is touched.
    func destroy(_ url: URL, isForced: Bool, timeout: Int32, platform: Environment) throws {
        try checked(url) {
            guard type != NSSQLiteStoreType || custom != nil else {
                return try SQLiteRowStore.destroy(
                    at: url, isForced: isForced, busyMilliseconds: timeout, platform: platform)
            }
            // What a program's own store reaches elsewhere is the program's to remove.
            guard url.isFileURL else { return }
            // A link stays a link: what it leads to is the store.
            let file = url.resolvingSymlinksInPath()
            switch FileKind(at: file.path) {
            case .nothing: return
            case .file: break
            case .folder, .link, .other: throw FileKind.refusal(at: file.path)
            }
            try checkIsOurs(file)
            guard FileKind.removeFile(at: file.path) else {
                throw StoreError(
                    .failed, "The store cannot be removed; check the folder's access.",
                    fields: ["path": file.path])
            }
        }
    }

    /// What a file of a program's own type looks like, only the program knows.
    private func checkIsOurs(_ file: URL) throws {
        guard custom == nil, Self.type(at: file) != type else { return }
        let facts = try FileManager.default.attributesOfItem(atPath: file.path)
        guard (facts[.size] as? NSNumber)?.int64Value != 0 else { return }
        throw StoreError(
            .notAStore,
            "The file is no store of this type; it stays as it is. Remove it by hand if it is not "
                + "needed.", fields: ["path": file.path])
    }

    /// Removes a draft of this process's own.
    func discard(_ draft: URL) {
        defer { DraftRegister.forget(draft) }
        guard type != NSSQLiteStoreType else { return SQLiteRowStore.discard(draft) }
        FileKind.removeFile(at: draft.path)
    }

    /// Whether nothing is where a new store is to be: the empty database that a destroyed store
    /// leaves counts as nothing.
    func firstTaken(at url: URL) -> URL? {
        if type == NSSQLiteStoreType && SQLiteRowStore.isFree(url) {
            return files(at: url).dropFirst().first { isThere($0) }
        }
        return files(at: url).first { isThere($0) }
    }

    private func isThere(_ url: URL) -> Bool {
        FileKind(at: url.path, followsLinks: false) != .nothing
    }

    /// A place of its own for a store that is still being written, beside the one it will have.
    static func draft(of place: URL, platform: Environment) -> URL {
        let mark = platform.randomness.uuid().uuidString
        let draft = place.deletingLastPathComponent()
            .appendingPathComponent(".\(mark).\(place.lastPathComponent)")
        DraftRegister.note(draft)
        return draft
    }

    /// What is said where something is at the place of a new store.
    static func taken(_ url: URL, for place: URL? = nil) -> NSError {
        // One folder is for all names that differ in what follows the dot.
        let isFolder = place.map { SupportFolder.beside($0).path == url.path } ?? false
        return PersistenceErrors.make(
            NSPersistentStoreOperationError,
            isFolder
                ? "The folder for large values beside the new place, "
                    + "\(url.lastPathComponent), is there already, as for a store whose name "
                    + "differs only in its extension; choose another name."
                : "There is a file at the new place already; remove it with "
                    + "destroyPersistentStore, or choose another.",
            [NSFilePathErrorKey: url.path])
    }

    /// Moves a finished draft to its place, where nothing is; where somebody may still have it
    /// open, a copy of it. Throws 134070 where somebody was faster, whose file stays.
    func place(
        _ draft: URL, at url: URL, isStillOpen: Bool = false, platform: Environment
    ) throws {
        if type == NSSQLiteStoreType {
            do {
                try SQLiteRowStore.place(
                    draft, at: url, isStillOpen: isStillOpen, platform: platform)
                return DraftRegister.forget(draft)
            } catch let error as StoreError where error.fields["taken"] != nil {
                throw Self.taken(url)
            }
        }
        guard link(draft.path, url.path) == 0 else {
            guard errno != EEXIST else { throw Self.taken(url) }
            // Some file systems have no second names.
            return try FileManager.default.moveItem(at: draft, to: url)
        }
        FileKind.removeFile(at: draft.path)
        DraftRegister.forget(draft)
        try platform.faults.reach("migrate.placed")
    }
}
