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
        // Its bytes, by their places: each opening of a store looks through all of the list.
        let bytes = Array((text ?? "").utf8)
        let folder = Array(folder.utf8)
        var nearest: (length: Int, kind: Range<Int>)?
        var begin = 0
        while begin < bytes.count {
            var end = begin
            while end < bytes.count, bytes[end] != UInt8(ascii: "\n") { end += 1 }
            if let facts = Self.facts(of: begin..<end, in: bytes) {
                let point = Self.plain(Array(bytes[facts.point]))
                // Of two at one place the later one lies on top.
                if Self.isAbove(point, folder), point.count >= nearest?.length ?? 0 {
                    nearest = (point.count, facts.kind)
                }
            }
            begin = end + 1
        }
        return nearest.map { String(decoding: bytes[$0.kind], as: UTF8.self) }
    }

    /// Where the mount point stands in a line, its fifth word, and where the type does, the word
    /// after a dash; nil for a line that has no such words.
    private static func facts(
        of line: Range<Int>, in bytes: [UInt8]
    ) -> (point: Range<Int>, kind: Range<Int>)? {
        var point = line.lowerBound..<line.lowerBound
        var isAfterDash = false
        var count = 0
        var begin = line.lowerBound
        while begin < line.upperBound {
            var end = begin
            while end < line.upperBound, bytes[end] != UInt8(ascii: " ") { end += 1 }
            if end > begin {
                if isAfterDash { return (point, begin..<end) }
                if count == 4 { point = begin..<end }
                isAfterDash = count > 4 && end == begin + 1 && bytes[begin] == UInt8(ascii: "-")
                count += 1
            }
            begin = end + 1
        }
        return nil
    }

    private static func isAbove(_ point: [UInt8], _ folder: [UInt8]) -> Bool {
        let slash = UInt8(ascii: "/")
        guard point.count <= folder.count else { return false }
        for index in point.indices where point[index] != folder[index] { return false }
        return point == [slash] || folder.count == point.count || folder[point.count] == slash
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
    private static func plain(_ text: [UInt8]) -> [UInt8] {
        let escape = UInt8(ascii: "\\")
        guard text.contains(escape) else { return text }
        var bytes: [UInt8] = []
        var rest = text[...]
        while let byte = rest.popFirst() {
            let digits = String(decoding: rest.prefix(3), as: UTF8.self)
            if byte == escape, digits.count == 3, let code = UInt8(digits, radix: 8) {
                bytes.append(code)
                rest = rest.dropFirst(3)
            } else {
                bytes.append(byte)
            }
        }
        return bytes
    }
}
