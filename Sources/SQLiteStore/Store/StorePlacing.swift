internal import Foundation
internal import Stores

/// Gives a finished file its place, one process at a time in each folder.
struct StorePlacing {
    let place: URL

    /// Moves `draft` to the place. Where a file is there already, it is replaced if `replacing`
    /// says so or if it is the empty database of a destroyed store; else it stays, as anything does
    /// that is no plain file, and an error of code `.cannotOpen` with the field `taken` is thrown.
    ///
    /// Logs of a file that is no more would be played into the new one, so they go first.
    func put(_ draft: URL, replacing: Bool = false) throws {
        try locked { try putAlone(draft, replacing: replacing) }
    }

    /// The same, for who holds the lock.
    func putAlone(_ draft: URL, replacing: Bool = false) throws {
        let kind = FileKind(at: place.path, followsLinks: false)
        let replacing = kind == .file && (replacing || StoreFile.isBlank(at: place))
        guard kind == .nothing || replacing else { throw taken }
        for suffix in ["-wal", "-shm", "-journal"] {
            FileKind.removeFile(at: place.path + suffix)
        }
        try move(draft, replacing: replacing)
        Self.syncFolder(place.deletingLastPathComponent())
    }

    private func move(_ draft: URL, replacing: Bool) throws {
        if replacing {
            guard rename(draft.path, place.path) == 0 else { throw failure(nil) }
            return
        }
        if link(draft.path, place.path) == 0 {
            unlink(draft.path)
            return
        }
        guard errno != EEXIST else { throw taken }
        // Some file systems have no second names.
        do {
            try FileManager.default.moveItem(at: draft, to: place)
        } catch {
            throw failure(error)
        }
    }

    /// Others that place files in the folder wait; where folders cannot be locked, they do not.
    func locked(_ body: () throws -> Void) rethrows {
        let folder = open(
            place.deletingLastPathComponent().path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        defer { if folder >= 0 { close(folder) } }
        if folder >= 0 { flock(folder, LOCK_EX) }
        try body()
    }

    /// Waits until the folder's entries are on the disk, where the file system can tell.
    static func syncFolder(_ folder: URL) {
        let file = open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard file >= 0 else { return }
        fsync(file)
        close(file)
    }

    var taken: StoreError {
        StoreError(
            .cannotOpen, "There is a file at the store's new place already.",
            fields: ["path": place.path, "taken": "yes"])
    }

    private func failure(_ cause: (any Error)?) -> StoreError {
        StoreError(
            .cannotOpen, "The new store cannot be put in its place; check the folder's access.",
            fields: ["path": place.path], cause: cause)
    }
}
