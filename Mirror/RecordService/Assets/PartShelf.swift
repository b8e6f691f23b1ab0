internal import Foundation
internal import Platform
internal import RecordWire

/// Uploads that broke off, in the folder of assets: a folder for each owner, in it a file for each
/// content of which something came.
///
/// Nothing is known of a part but its name, size and age, so it outlives the service. It is locked
/// while somebody writes to it. Calls come from any thread.
final class PartShelf: Sendable {
    private let files: AssetFiles
    private let limits: PartLimits
    /// By path: uploads under way in this process.
    private let writers = Lock<[String: Writer]>([:])

    private struct Writer {
        weak var handle: PartHandle?
    }

    /// A part on the disk.
    private struct Part {
        let path: String
        let owner: String
        let size: Int64
        /// Seconds since 1970.
        let written: Double
    }

    private static let folderName = "parts"
    private static let openingsMax = 8

    init(_ files: AssetFiles, _ limits: PartLimits) {
        self.files = files
        self.limits = limits
    }

    // MARK: One part

    /// How many bytes are there of an upload.
    func size(of span: UploadSpan, _ place: PartPlace) throws(RecordError) -> Int64 {
        var status = stat()
        guard stat(try path(of: span, place), &status) == 0 else { return 0 }
        return min(Int64(status.st_size), span.length)
    }

    /// The file of an upload, from where the client goes on. An upload of the same content that is
    /// under way over another connection of this service ends. Throws `UploadOffsetMismatch`, and
    /// TRY_AGAIN_LATER where another service has the file.
    func open(_ span: UploadSpan, _ place: PartPlace) throws -> IncomingFile {
        let turn = try turn(at: try path(of: span, place))
        typealias Opening = Result<IncomingFile, UploadOffsetMismatch>
        return try turn.use { () throws(RecordError) -> Opening in
            var status = stat()
            guard fstat(turn.handle.descriptor, &status) == 0 else { throw failure(turn, "read") }
            let size = Int64(status.st_size)
            if span.offset == 0, size > 0 {
                guard ftruncate(turn.handle.descriptor, 0) == 0 else {
                    throw failure(turn, "written")
                }
            } else if span.offset != size {
                return .failure(UploadOffsetMismatch(offset: min(size, span.length)))
            }
            return .success(try IncomingFile(part: turn, size: span.offset, files: files))
        }.get()
    }

    private func turn(at path: String) throws(RecordError) -> PartTurn {
        let known = writers.withLock { $0[path]?.handle }
        if let turn = known?.takeTurn() { return turn }
        for _ in 0..<Self.openingsMax {
            try files.make(URL(fileURLWithPath: path).deletingLastPathComponent())
            guard let handle = try lock(path, flags: O_CREAT) else { continue }
            writers.withLock { writers in
                writers = writers.filter { $0.value.handle != nil }
                writers[path] = Writer(handle: handle)
            }
            if let turn = handle.takeTurn() { return turn }
        }
        throw isBusy
    }

    /// The file, opened and locked; nil where another took it in the meantime, or it is not there.
    private func lock(_ path: String, flags: Int32) throws(RecordError) -> PartHandle? {
        let descriptor = Foundation.open(
            path, O_RDWR | O_APPEND | O_CLOEXEC | flags, 0o600)
        guard descriptor >= 0 else {
            guard errno != ENOENT else { return nil }
            throw files.failure("made", URL(fileURLWithPath: path), errno)
        }
        let handle = PartHandle(descriptor: descriptor, path: path)
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { throw isBusy }
        // It may have got another name, or none, before the lock: whoever has the lock moves it.
        var (own, named) = (stat(), stat())
        guard fstat(descriptor, &own) == 0, stat(path, &named) == 0, own.st_ino == named.st_ino
        else { return nil }
        return handle
    }

    private static let busyRetrySeconds = 5.0

    private var isBusy: RecordError {
        var error = RecordError(
            .tryAgainLater, "The upload goes on over another connection; ask how far it is.")
        error.retryAfterSeconds = Self.busyRetrySeconds
        return error
    }

    private func failure(_ turn: PartTurn, _ what: String) -> RecordError {
        files.failure(what, URL(fileURLWithPath: turn.handle.path), errno)
    }

    // MARK: All parts

    /// Bytes of the parts that count for a user.
    func bytes(ofOwner owner: String) -> Int64 {
        let name = PartPlace.digest(owner)
        return parts().reduce(0) { $0 + ($1.owner == name ? $1.size : 0) }
    }

    /// Lets the oldest parts go that are too many or too much. Cost: a look at each file.
    func trim() {
        let writing = writers.withLock { $0.filter { $0.value.handle != nil } }
        let resting = parts().filter { writing[$0.path] == nil }
        var (count, bytes): (Int, Int64) = (0, 0)
        var own: [String: (count: Int, bytes: Int64)] = [:]
        for part in resting.sorted(by: { $0.written > $1.written }) {
            let user = own[part.owner, default: (0, 0)]
            guard count < limits.countMax, bytes + part.size <= limits.bytesMax,
                user.count < limits.countPerUserMax,
                user.bytes + part.size <= limits.bytesPerUserMax
            else {
                remove(part)
                continue
            }
            count += 1
            bytes += part.size
            own[part.owner] = (user.count + 1, user.bytes + part.size)
        }
    }

    /// Removes the parts to which nobody has written since before a moment.
    func removeOld(at now: Date) {
        let oldest = now.timeIntervalSince1970 - Double(limits.graceSeconds)
        for part in parts() where part.written < oldest { remove(part) }
        trim()
    }

    /// Unless somebody writes to it.
    private func remove(_ part: Part) {
        guard let handle = try? lock(part.path, flags: 0) else { return }
        unlink(part.path)
        // Goes where it was the last.
        rmdir(URL(fileURLWithPath: part.path).deletingLastPathComponent().path)
        withExtendedLifetime(handle) {}
    }

    private func parts() -> [Part] {
        guard let root = files.knownRoot?.appendingPathComponent(Self.folderName) else { return [] }
        return files.contents(of: root).flatMap { folder in
            files.contents(of: folder).compactMap { file in
                var status = stat()
                guard stat(file.path, &status) == 0 else { return nil }
                return Part(
                    path: file.path, owner: folder.lastPathComponent,
                    size: Int64(status.st_size), written: Double(status.st_mtim.tv_sec))
            }
        }
    }

    private func path(of span: UploadSpan, _ place: PartPlace) throws(RecordError) -> String {
        let folder = try files.root().appendingPathComponent(Self.folderName)
            .appendingPathComponent(PartPlace.digest(place.owner))
        return folder.appendingPathComponent(
            PartPlace.digest("\(span.content.hexDigits) \(span.length) \(place.uploader)")
        ).path
    }
}

/// Whose a part is: it counts for the owner, and goes on for who began it.
struct PartPlace: Hashable {
    let owner: String
    let uploader: String

    /// Names of users are no names of files.
    static func digest(_ text: String) -> String {
        AssetChecksum.of(text).hexDigits
    }
}
