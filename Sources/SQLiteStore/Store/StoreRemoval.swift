internal import Foundation
internal import Platform
internal import SQLiteDriver
internal import Stores

/// Removes a store with all that lies beside it. A crash leaves the store whole, or remains that
/// the next store at the place clears away.
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
        var options = SQLiteStoreOptions()
        options.busyMilliseconds = busyMilliseconds
        file = StoreFile(url: place, options: options)
        self.place = place
        self.platform = platform
        self.isForced = isForced
        files = ExternalFiles(store: place)
    }

    func run() throws {
        guard !isForced, file.exists else { return try remove() }
        do {
            let connection = try Connection(
                path: file.path, access: .readWrite,
                busyMilliseconds: file.options.busyMilliseconds)
            guard !connection.isReadOnly else { return try remove() }
            try remove(locking: connection)
        } catch let fault as SQLiteFault where fault.isBusy {
            throw busy(fault)
        } catch is SQLiteFault {
            // What cannot be opened can be removed.
            try remove()
        }
    }

    /// Removes the file while nobody can write to it, with an empty log: were the log left behind
    /// with anything in it, it would be played into the next file of this name.
    private func remove(locking connection: Connection) throws {
        for _ in 0..<Self.roundsMax {
            let row = try connection.rows("PRAGMA wal_checkpoint(TRUNCATE)").first
            guard row?.first == 0 else { break }
            let isDone = try connection.transaction(.immediate) {
                guard StoreFile.size(file.path + "-wal") == 0 else { return false }
                try remove()
                return true
            }
            if isDone { return }
        }
        throw busy(nil)
    }

    private func busy(_ cause: SQLiteFault?) -> StoreError {
        StoreError(
            .busy,
            "Somebody works with the store; close it there, or remove it with "
                + "NSPersistentStoreForceDestroyOption.", fields: ["path": file.path], cause: cause)
    }

    private static let roundsMax = 100

    private func remove() throws {
        if FileManager.default.fileExists(atPath: files.support.path) {
            try files.putMark(platform.randomness.uuid())
        }
        try platform.faults.reach("destroy.marked")
        if StoreFile.size(file.path + "-wal") > 0 { removeLogs() }
        guard unlink(file.path) == 0 || errno == ENOENT else {
            throw StoreError(
                .failed,
                "The store cannot be removed (\(String(cString: strerror(errno)))); check the "
                    + "folder's access.", fields: ["path": file.path])
        }
        try platform.faults.reach("destroy.unlinked")
        removeLogs()
        if FileManager.default.fileExists(atPath: files.support.path) {
            try FileManager.default.removeItem(at: files.support)
        }
        StorePlacing.settle(place.deletingLastPathComponent())
    }

    private func removeLogs() {
        for suffix in ["-wal", "-shm", "-journal"] { unlink(file.path + suffix) }
    }
}
