internal import Foundation
internal import Platform
internal import SQLiteDriver
internal import Stores

/// Destroys a store with all that lies beside it.
///
/// No file can be unlinked safely while somebody has it open: what is saved there later would be
/// lost. So the database stays, emptied in one transaction, and a store is made in it when it is
/// opened next. A crash leaves the store whole or empty; large values that are left have a mark, by
/// which they are cleared away. What is no store stays as it is.
struct StoreRemoval {
    let file: StoreFile
    let place: URL
    let platform: Environment
    /// Whether locks of others are overridden.
    let isForced: Bool
    private let files: ExternalFiles

    init(
        of place: URL, isForced: Bool, busyMilliseconds: Int32, platform: Environment
    ) {
        // A link stays a link: what it leads to is the store.
        let place = place.resolvingSymlinksInPath()
        var options = SQLiteStoreOptions()
        options.busyMilliseconds = isForced ? 0 : busyMilliseconds
        file = StoreFile(url: place, options: options)
        self.place = place
        self.platform = platform
        self.isForced = isForced
        files = ExternalFiles(store: place)
    }

    func run() throws {
        switch FileKind(at: file.path) {
        case .nothing: return try removeRemains()
        case .file: break
        case .folder, .link, .other: throw FileKind.refusal(at: file.path)
        }
        do {
            try empty()
        } catch let fault as SQLiteFault where fault.isBusy {
            guard isForced else { throw busy(fault) }
            try remove()
        } catch let fault as SQLiteFault where fault.isNotADatabase {
            // A damaged store has nothing that others could go on with.
            guard file.beginsAsDatabase else { throw file.notAStore(fault) }
            try remove()
        } catch let fault as SQLiteFault {
            throw StoreError(fault, path: file.path)
        }
    }

    // MARK: Emptying

    /// The connection ends with the function.
    private func empty() throws {
        let connection = try Connection(
            path: file.path, access: .readWrite, busyMilliseconds: file.options.busyMilliseconds)
        guard !connection.isReadOnly else { throw file.readOnly }
        try file.checkIsStoreOrBlank(connection)
        let blank = try blank(like: connection)
        try connection.script("PRAGMA synchronous = FULL")
        let mark = platform.randomness.uuid()
        try connection.replaceContents(with: blank) {
            if files.exist { try files.putMark(mark) }
            try platform.faults.reach("destroy.marked")
        }
        try platform.faults.reach("destroy.emptied")
        // Who reads an older state of the store may still need its values.
        if files.exist, try connection.hasNoOlderReaders() { try files.removeAll() }
        _ = try? connection.withoutWaiting {
            try connection.rows("PRAGMA wal_checkpoint(TRUNCATE)")
        }
    }

    /// A database of one empty page.
    private func blank(like connection: Connection) throws -> Connection {
        let blank = try Connection(path: ":memory:")
        for name in ["page_size", "auto_vacuum"] {
            guard let value = try connection.pragma(name)?.int64 else { continue }
            try blank.script("PRAGMA \(name) = \(value)")
        }
        // Makes the page: what has none is copied before the lock is told of.
        try blank.script("PRAGMA user_version = 0")
        return blank
    }

    private func busy(_ cause: SQLiteFault?) -> StoreError {
        StoreError(
            .busy,
            "Somebody works with the store; close it there, or remove it with "
                + "NSPersistentStoreForceDestroyOption.", fields: ["path": file.path], cause: cause)
    }

    // MARK: Removing

    /// Removes the files themselves.
    private func remove() throws {
        if files.exist { try files.putMark(platform.randomness.uuid()) }
        if FileKind.size(at: file.path + "-wal") > 0 { removeLogs() }
        guard FileKind.removeFile(at: file.path) else {
            throw StoreError(
                .failed,
                "The store cannot be removed (\(String(cString: strerror(errno)))); check the "
                    + "folder's access.", fields: ["path": file.path])
        }
        try removeRemains()
    }

    /// Removes what a store that is gone left beside its place.
    private func removeRemains() throws {
        removeLogs()
        if files.exist { try files.removeAll() }
        StorePlacing.syncFolder(place.deletingLastPathComponent())
    }

    private func removeLogs() {
        for suffix in ["-wal", "-shm", "-journal"] { FileKind.removeFile(at: file.path + suffix) }
    }
}
