internal import Foundation

/// The entity tag that a service gave with the bytes of a part: in a small file beside it, so that
/// the rest is asked for as that of the same bytes, also after the process has ended.
struct PartTag: Sendable {
    private let file: URL
    private static let bytesMax = 4_096

    init(besides part: URL) { file = part.appendingPathExtension("tag") }

    /// nil where none is kept.
    var value: String? {
        guard let bytes = try? Data(contentsOf: file),
            let text = String(data: bytes, encoding: .utf8), Self.isStrong(text)
        else { return nil }
        return text
    }

    /// Keeps the tag of what the part has from here on, and forgets the one before; on the disk
    /// when it returns, so that no tag is ever beside bytes of another. One that cannot be kept is
    /// none: the next try begins anew.
    func keep(_ tag: String?) {
        defer { synchronizeFolder() }
        guard let tag, Self.isStrong(tag) else { return remove() }
        let new = file.appendingPathExtension("new")
        let descriptor = open(new.path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return remove() }
        let bytes = Array(tag.utf8)
        let isWritten =
            write(descriptor, bytes, bytes.count) == bytes.count && fsync(descriptor) == 0
        close(descriptor)
        guard isWritten, rename(new.path, file.path) == 0 else {
            unlink(new.path)
            return remove()
        }
    }

    func remove() { unlink(file.path) }

    private func synchronizeFolder() {
        let folder = open(
            file.deletingLastPathComponent().path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { return }
        fsync(folder)
        close(folder)
    }

    /// Whether a tag says that bytes are the same: a weak one does not, and goes into no If-Range.
    /// (RFC 9110 §8.8.3, §13.1.5)
    private static func isStrong(_ tag: String) -> Bool {
        let bytes = Array(tag.utf8)
        guard bytes.count >= 2, bytes.count <= bytesMax, bytes.first == UInt8(ascii: "\""),
            bytes.last == UInt8(ascii: "\"")
        else { return false }
        return bytes.dropFirst().dropLast().allSatisfy {
            $0 == 0x21 || (0x23...0x7E).contains($0) || $0 >= 0x80
        }
    }
}
