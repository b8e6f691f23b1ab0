internal import Foundation

/// Which file system a file lies on. Source: proc(5), mountinfo.
public struct MountTable: Sendable {
    /// The mounted file systems, as Linux lists them; nil where there is no such list.
    public var text: String?

    /// Takes a list in the form of `/proc/self/mountinfo`, as a test writes one.
    public init(text: String?) { self.text = text }

    /// That of this machine, now.
    public static var present: MountTable {
        MountTable(text: try? String(contentsOfFile: "/proc/self/mountinfo", encoding: .utf8))
    }

    /// The type of the file system mounted nearest above a folder, such as `ext4`; nil where
    /// nobody knows.
    public func kind(of folder: String) -> String? {
        var nearest: (length: Int, kind: String)?
        for line in text?.split(separator: "\n") ?? [] {
            let facts = line.split(separator: " ")
            guard facts.count > 4, let dash = facts.firstIndex(of: "-"), dash > 4,
                dash + 1 < facts.count
            else { continue }
            let kind = facts[dash + 1]
            let point = facts[4].contains("\\") ? Self.plain(facts[4]) : String(facts[4])
            let isAbove = point == "/" || folder == point || folder.hasPrefix(point + "/")
            // Of two at one place the later one lies on top.
            if isAbove, point.count >= nearest?.length ?? 0 {
                nearest = (point.count, String(kind))
            }
        }
        return nearest?.kind
    }

    /// Whether other machines may write to files of such a file system, of which this machine's
    /// kernel neither tells nor knows their locks.
    public static func isShared(_ kind: String) -> Bool {
        let names = [
            "nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "ceph", "lustre", "coda", "ncpfs",
            "gfs2", "ocfs2", "vboxsf", "prl_fs", "virtiofs", "beegfs", "glusterfs",
        ]
        let remote = [
            "sshfs", "rclone", "s3fs", "glusterfs", "davfs", "gcsfuse", "smbnetfs", "juicefs",
            "vmhgfs-fuse", "mergerfs", "ceph", "osxfs", "grpcfuse",
        ]
        return names.contains(kind) || remote.contains { kind == "fuse.\($0)" }
    }

    /// Spaces and the like stand there as three octal digits.
    private static func plain(_ text: Substring) -> String {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            let digits = String(decoding: rest.prefix(3), as: UTF8.self)
            if byte == UInt8(ascii: "\\"), digits.count == 3, let code = UInt8(digits, radix: 8) {
                bytes.append(code)
                rest = rest.dropFirst(3)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
