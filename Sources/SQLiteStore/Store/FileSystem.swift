internal import Foundation
internal import Platform

/// What is known of the file system a store lies on, as far as its locks are concerned.
///
/// SQLite guards a file with byte-range locks and shared memory. Where these do not work, or not
/// between machines, two processes can damage the file.
struct FileSystem: Sendable {
    /// The mounted file systems, as Linux lists them; nil where there is no such list.
    var mounts: String?
    /// Whether a byte range of a file in this folder can be locked; nil where none can be made.
    var locks: @Sendable (_ folder: String) -> Bool?

    /// Those of this machine, now.
    static var present: FileSystem {
        FileSystem(mounts: MountTable.present.text, locks: locksWork(in:))
    }

    /// A sentence for the user; nil where nothing speaks against the place.
    func warning(for store: URL) -> String? {
        let folder = store.deletingLastPathComponent().resolvingSymlinksInPath().path
        if locks(folder) == false {
            return "The file system at \(folder) has no byte-range locks: use the store from one "
                + "process only, or move it to a local disk."
        }
        guard let kind = MountTable(text: mounts).kind(of: folder), MountTable.isShared(kind)
        else { return nil }
        return "The store lies on a network file system (\(kind)): locks and shared memory do not "
            + "hold between machines; use it from one machine only, or move it to a local disk."
    }

    /// Tries a lock on a file of its own that nobody sees: locks on the store's file would be lost
    /// to SQLite when it is closed here.
    @Sendable private static func locksWork(in folder: String) -> Bool? {
        let file = nameless(in: folder)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var range = flock()
        range.l_type = Int16(F_WRLCK)
        range.l_whence = Int16(SEEK_SET)
        range.l_start = 128
        range.l_len = 1
        return fcntl(file, F_SETLK, &range) == 0 || errno == EAGAIN || errno == EACCES
    }

    /// A new file without a name; network file systems make one by removing its name.
    private static func nameless(in folder: String) -> Int32 {
        let unnamed: Int32 = 0o20_200_000
        let file = open(folder, O_RDWR | O_CLOEXEC | unnamed, 0o600)
        guard file < 0, [EOPNOTSUPP, EISDIR, EINVAL, ENOENT, ENOSYS].contains(errno) else {
            return file
        }
        var template = Array("\(folder)/.locks-XXXXXX".utf8CString)
        let named = mkstemp(&template)
        if named >= 0 { unlink(template) }
        return named
    }
}
