internal import Foundation

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
        FileSystem(
            mounts: try? String(contentsOfFile: "/proc/self/mountinfo", encoding: .utf8),
            locks: locksWork(in:))
    }

    /// A sentence for the user; nil where nothing speaks against the place.
    func warning(for store: URL) -> String? {
        let folder = store.deletingLastPathComponent().resolvingSymlinksInPath().path
        if locks(folder) == false {
            return "The file system at \(folder) has no byte-range locks: use the store from one "
                + "process only, or move it to a local disk."
        }
        guard let kind = kind(of: folder), Self.isShared(kind) else { return nil }
        return "The store lies on a network file system (\(kind)): locks and shared memory do not "
            + "hold between machines; use it from one machine only, or move it to a local disk."
    }

    private static func isShared(_ kind: String) -> Bool {
        let names = ["nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "ceph", "lustre", "coda"]
        let remote = ["fuse.sshfs", "fuse.rclone", "fuse.s3fs", "fuse.glusterfs", "fuse.davfs"]
        return names.contains(kind) || remote.contains(kind)
    }

    /// The type of the file system mounted nearest above the folder. Source: proc(5), mountinfo.
    private func kind(of folder: String) -> String? {
        var nearest: (length: Int, kind: String)?
        for line in mounts?.split(separator: "\n") ?? [] {
            let halves = line.components(separatedBy: " - ")
            let facts = halves[0].split(separator: " ")
            guard halves.count == 2, facts.count > 4,
                let kind = halves[1].split(separator: " ").first
            else { continue }
            let point = facts[4].replacing("\\040", with: " ")
            let isAbove = point == "/" || folder == point || folder.hasPrefix(point + "/")
            // Of two at one place the later one lies on top.
            if isAbove, point.count >= nearest?.length ?? 0 {
                nearest = (point.count, String(kind))
            }
        }
        return nearest?.kind
    }

    /// Tries a lock on a file of its own, without a name: locks on the store's file would be lost
    /// to SQLite when it is closed here.
    @Sendable private static func locksWork(in folder: String) -> Bool? {
        let unnamed: Int32 = 0o20_200_000
        let file = open(folder, O_RDWR | O_CLOEXEC | unnamed, 0o600)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var range = flock()
        range.l_type = Int16(F_WRLCK)
        range.l_whence = Int16(SEEK_SET)
        range.l_start = 128
        range.l_len = 1
        return fcntl(file, F_SETLK, &range) == 0 || errno == EAGAIN || errno == EACCES
    }
}
