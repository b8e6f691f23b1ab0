internal import Foundation
internal import RecordWire

/// A file beside a copy that is being written: it tells that what lies there is a copy's, and its
/// lock that somebody is at work. A killed process leaves the file, and no lock.
final class CopyMark {
    private static let words = "A copy by Diptych is being written, or was cut off.\n"

    private let path: String
    private let file: Int32
    /// Whether a copy was cut off here: what it wrote is nobody's any more.
    let isLeft: Bool

    /// Throws BAD_REQUEST where another process copies to the same name, or where the file is
    /// somebody's.
    init(_ path: String) throws {
        self.path = path
        let file = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else {
            // Where nothing can be written, the copy itself says so best.
            throw Self.failure(path)
        }
        guard flock(file, LOCK_EX | LOCK_NB) == 0, Self.isAt(path, file) else {
            close(file)
            throw RecordError(
                .badRequest, "Another copy is being written there; \(path) is its mark.")
        }
        let text = Self.text(of: file)
        guard text.isEmpty || text == Self.words else {
            close(file)
            throw RecordError(
                .badRequest, "There is a file at \(path) already; nothing was written over it.")
        }
        isLeft = !text.isEmpty
        self.file = file
    }

    deinit { close(file) }

    /// To be called before anything is made. It is on the disk when this returns.
    func write() throws {
        let bytes = Array(Self.words.utf8)
        guard ftruncate(file, 0) == 0, pwrite(file, bytes, bytes.count, 0) == bytes.count,
            fsync(file) == 0 || errno == EINVAL
        else { throw Self.failure(path) }
    }

    /// To be called once nothing of the copy is left under its first names.
    func remove() { unlink(path) }

    /// Whoever held the lock before may have removed the file.
    private static func isAt(_ path: String, _ file: Int32) -> Bool {
        var (there, held) = (stat(), stat())
        return lstat(path, &there) == 0 && fstat(file, &held) == 0 && there.st_ino == held.st_ino
            && there.st_dev == held.st_dev
    }

    private static func text(of file: Int32) -> String {
        var bytes = [UInt8](repeating: 0, count: 4_096)
        let count = pread(file, &bytes, bytes.count, 0)
        return String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self)
    }

    private static func failure(_ path: String) -> RecordError {
        RecordError(
            .internalError,
            "The copy cannot be written to \(path): \(String(cString: strerror(errno))).")
    }
}
