internal import Foundation
internal import Platform
internal import RecordWire

/// The folder of assets beside a database: a file for each content, called by its checksum, and
/// files that are still coming in.
///
/// A file is whole, and on the disk, before it has its name. Calls come from any thread.
final class AssetFiles: Sendable {
    /// nil until the first asset, for a service in memory: its folder ends with it.
    private let folder: Lock<URL?>
    private let isTemporary: Bool
    private let platform: Environment
    private let log: ServiceLog

    private static let memory = ":memory:"

    convenience init(besides path: String, platform: Environment, log: @escaping ServiceLog) {
        self.init(
            in: path == Self.memory ? nil : path + "-assets", platform: platform, log: log)
    }

    /// nil: a folder that ends with this object.
    init(in path: String?, platform: Environment, log: @escaping ServiceLog) {
        isTemporary = path == nil
        folder = Lock(path.map { URL(fileURLWithPath: $0) })
        self.platform = platform
        self.log = log
    }

    deinit {
        guard isTemporary, let folder = folder.withLock({ $0 }) else { return }
        try? FileManager.default.removeItem(at: folder)
    }

    // MARK: Writing

    /// A new file for bytes that come in. Throws TRY_AGAIN_LATER where the disk will not have it.
    func begin() throws(RecordError) -> IncomingFile {
        let incoming = try root().appendingPathComponent("incoming")
        try make(incoming)
        var path = Array(incoming.appendingPathComponent("XXXXXX").path.utf8CString)
        let descriptor = mkstemp(&path)
        guard descriptor >= 0 else { throw failure("made", incoming, errno) }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        // Whoever looks for what died tells by it that somebody writes here.
        flock(descriptor, LOCK_EX)
        let name = String(
            decoding: path.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        return try IncomingFile(descriptor: descriptor, path: name, files: self)
    }

    /// Gives a whole file its name, in the place of one of the same content. It and its name are on
    /// the disk then.
    func keep(_ file: IncomingFile, as checksum: AssetChecksum) throws(RecordError) {
        let place = try place(of: checksum)
        guard !file.isKept else { return try requireStill(file.size, at: place) }
        let shelf = place.deletingLastPathComponent()
        try make(shelf)
        try reach("service.assets.beforeRename", place)
        guard try file.move(to: place.path) else { throw failure("kept", place, errno) }
        file.isKept = true
        try sync(folder: shelf)
        try reach("service.assets.afterRename", place)
    }

    /// A transaction that runs again meets the file that it kept before it was undone. Meanwhile
    /// another may have removed it as one that nothing names.
    private func requireStill(_ size: Int64, at place: URL) throws(RecordError) {
        var status = stat()
        guard stat(place.path, &status) != 0 || Int64(status.st_size) != size else { return }
        var error = RecordError(
            .tryAgainLater, "The asset was removed while it came in; upload it again.")
        error.retryAfterSeconds = 1
        throw error
    }

    /// Whether the file went, or was not there.
    func remove(_ checksum: AssetChecksum) throws(RecordError) {
        let place = try place(of: checksum)
        guard unlink(place.path) == 0 || errno == ENOENT else {
            throw failure("removed", place, errno)
        }
    }

    // MARK: Reading

    /// The content, open for reading; nil where there is no file of this size.
    func open(_ checksum: AssetChecksum, size: Int64) throws(RecordError) -> AssetFile? {
        let place = try place(of: checksum)
        guard let file = try file(checksum, size, at: place) else {
            return missing(place, "there is no such file")
        }
        guard isWhole(file) else { return missing(place, "the file has another size") }
        return file
    }

    /// The same of a folder of copies, where one that is not there, or is not whole, is no damage.
    func copy(of checksum: AssetChecksum, size: Int64) throws(RecordError) -> AssetFile? {
        let copy = try file(checksum, size, at: try place(of: checksum))
        return copy.flatMap { isWhole($0) ? $0 : nil }
    }

    /// What came in, open for reading from its start.
    func open(
        _ incoming: IncomingFile, as checksum: AssetChecksum
    ) throws(RecordError) -> AssetFile {
        let place = URL(fileURLWithPath: incoming.path)
        guard let file = try file(checksum, incoming.size, at: place) else {
            throw failure("read", place, ENOENT)
        }
        return file
    }

    /// The file that is there, open, whatever its size; nil where there is none.
    private func file(
        _ checksum: AssetChecksum, _ size: Int64, at place: URL
    ) throws(RecordError) -> AssetFile? {
        let descriptor = Foundation.open(place.path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            guard errno == ENOENT else { throw failure("read", place, errno) }
            return nil
        }
        return AssetFile(descriptor: descriptor, size: size, checksum: checksum.text)
    }

    private func isWhole(_ file: AssetFile) -> Bool {
        var status = stat()
        return fstat(file.descriptor, &status) == 0 && Int64(status.st_size) == file.size
    }

    /// The content whatever its size; nil where there is no file.
    func open(_ checksum: AssetChecksum) throws(RecordError) -> AssetFile? {
        var status = stat()
        guard stat(try place(of: checksum).path, &status) == 0 else { return nil }
        return try open(checksum, size: Int64(status.st_size))
    }

    func noteDamage(of checksum: AssetChecksum) {
        guard let place = try? place(of: checksum) else { return }
        _ = missing(place, "its bytes are not those that its name says")
    }

    private func missing(_ place: URL, _ cause: String) -> AssetFile? {
        log(
            ServiceNotice(
                "An asset that a record names cannot be read. Restore its file from a backup.",
                fields: ["file": place.path, "cause": cause]))
        return nil
    }

    // MARK: What is left over

    /// Removes incoming files whose writers are dead.
    func removeDeadIncoming() throws(RecordError) {
        guard let root = knownRoot else { return }
        for file in contents(of: root.appendingPathComponent("incoming")) {
            let descriptor = Foundation.open(file.path, O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else { continue }
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { unlink(file.path) }
            close(descriptor)
        }
    }

    /// Contents whose files were written before a moment.
    func contents(before moment: Date) -> [AssetChecksum] {
        guard let root = knownRoot else { return [] }
        return contents(of: root).filter { $0.lastPathComponent.utf8.count == 2 }
            .flatMap { shelf in
                contents(of: shelf).compactMap { file in
                    var status = stat()
                    guard stat(file.path, &status) == 0,
                        Double(status.st_mtim.tv_sec) < moment.timeIntervalSince1970
                    else { return nil }
                    return AssetChecksum(
                        hexDigits: shelf.lastPathComponent + file.lastPathComponent)
                }
            }
    }

    func contents(of folder: URL) -> [URL] {
        (try? FileManager.default.contentsOfDirectory(
            at: folder, includingPropertiesForKeys: nil)) ?? []
    }

    // MARK: Places

    private func place(of checksum: AssetChecksum) throws(RecordError) -> URL {
        let digits = checksum.hexDigits
        return try root().appendingPathComponent(String(digits.prefix(2)))
            .appendingPathComponent(String(digits.dropFirst(2)))
    }

    /// nil while a service in memory has no asset.
    var knownRoot: URL? { folder.withLock { $0 } }

    func root() throws(RecordError) -> URL {
        if let known = knownRoot { return known }
        let place = FileManager.default.temporaryDirectory
            .appendingPathComponent("diptych-assets-XXXXXX")
        var path = Array(place.path.utf8CString)
        guard mkdtemp(&path) != nil else { throw failure("made", place, errno) }
        let made = URL(
            fileURLWithPath: String(
                decoding: path.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self))
        return folder.withLock { folder in
            // Two first assets at once: one folder is enough.
            if let other = folder {
                rmdir(made.path)
                return other
            }
            folder = made
            return made
        }
    }

    /// Makes a folder, and lets its name reach the disk.
    func make(_ folder: URL) throws(RecordError) {
        var status = stat()
        if stat(folder.path, &status) == 0 { return }
        let parent = folder.deletingLastPathComponent()
        if stat(parent.path, &status) != 0 { try make(parent) }
        guard mkdir(folder.path, 0o700) == 0 || errno == EEXIST else {
            throw failure("made", folder, errno)
        }
        try sync(folder: parent)
    }

    private func sync(folder: URL) throws(RecordError) {
        let descriptor = Foundation.open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure("read", folder, errno) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw failure("synced", folder, errno) }
    }

    // MARK: Failures

    func reach(_ point: String, _ place: URL) throws(RecordError) {
        do {
            try platform.faults.reach(point)
        } catch {
            throw failure("kept", place, EIO)
        }
    }

    private static let diskRetrySeconds = 60.0

    /// The disk's words to the log, plain ones to the client.
    func failure(_ what: String, _ place: URL, _ number: Int32) -> RecordError {
        let isFull = number == ENOSPC || number == EDQUOT
        log(
            ServiceNotice(
                "A file of an asset cannot be \(what). Look at the disk, the free space on it and "
                    + "the permissions.",
                fields: ["file": place.path, "cause": String(cString: strerror(number))]))
        var error = RecordError(
            .tryAgainLater,
            isFull
                ? "The service's disk is full; the asset was not kept. Try again later."
                : "The service's disk failed; the asset was not kept. Try again later.")
        error.retryAfterSeconds = Self.diskRetrySeconds
        return error
    }
}

/// A file that is still coming in. It goes with this object unless it was kept, or may go on later.
final class IncomingFile {
    let path: String
    fileprivate(set) var isKept = false
    private(set) var size: Int64 = 0
    let descriptor: Int32
    /// nil where something came before; the whole is read at the end then.
    private let hash: RunningSHA256?
    private let files: AssetFiles
    /// Where it stays when it breaks off.
    private var turn: PartTurn?

    /// One that goes on in a part.
    init(part turn: PartTurn, size: Int64, files: AssetFiles) throws(RecordError) {
        self.turn = turn
        isPart = true
        descriptor = turn.handle.descriptor
        path = turn.handle.path
        self.files = files
        self.size = size
        hash = size == 0 ? try RunningSHA256() : nil
    }

    fileprivate init(descriptor: Int32, path: String, files: AssetFiles) throws(RecordError) {
        isPart = false
        self.descriptor = descriptor
        self.path = path
        self.files = files
        do {
            hash = try RunningSHA256()
        } catch {
            close(descriptor)
            unlink(path)
            throw error
        }
    }

    deinit {
        // A part's is its handle's.
        guard !isPart else { return }
        close(descriptor)
        if !isKept { unlink(path) }
    }

    /// Whether it was there, and is there when this object goes.
    let isPart: Bool

    /// Throws away what came of a part.
    func drop() {
        _ = try? turn?.end { unlink(path) }
    }

    /// Lets others go on with the part.
    func leave() {
        // Under this name nothing is to be removed any more.
        isKept = true
        turn = nil
    }

    /// Gives it another name. Returns false with the number of the failure in `errno`.
    fileprivate func move(to place: String) throws(RecordError) -> Bool {
        guard let turn else { return rename(path, place) == 0 }
        return try turn.end { () throws(RecordError) in rename(path, place) } == 0
    }

    func append(_ bytes: UnsafeRawBufferPointer) throws(RecordError) {
        guard let turn else { return try write(bytes) }
        try turn.use { () throws(RecordError) -> Void in try write(bytes) }
    }

    private func write(_ bytes: UnsafeRawBufferPointer) throws(RecordError) {
        try hash?.update(bytes)
        var rest = bytes
        while !rest.isEmpty {
            let count = Foundation.write(descriptor, rest.baseAddress, rest.count)
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { throw failure("written") }
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        }
        size += Int64(bytes.count)
    }

    /// What came is on the disk then; returns its checksum.
    func finish() throws(RecordError) -> AssetChecksum {
        try turn?.use { () throws(RecordError) -> Void in }
        try files.reach("service.assets.beforeSync", URL(fileURLWithPath: path))
        guard fsync(descriptor) == 0 else { throw failure("synced") }
        guard let hash else { return try checksumOfFile() }
        return try hash.finish()
    }

    /// Reads what is there, in pieces.
    private func checksumOfFile() throws(RecordError) -> AssetChecksum {
        let hash = try RunningSHA256()
        let piece = UnsafeMutableRawBufferPointer.allocate(
            byteCount: Self.pieceBytes, alignment: 16)
        defer { piece.deallocate() }
        var offset: off_t = 0
        while true {
            let count = pread(descriptor, piece.baseAddress, piece.count, offset)
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw failure("read") }
            guard count > 0 else { return try hash.finish() }
            try hash.update(UnsafeRawBufferPointer(rebasing: piece[..<count]))
            offset += off_t(count)
        }
    }

    private static let pieceBytes = 256 << 10

    private func failure(_ what: String) -> RecordError {
        files.failure(what, URL(fileURLWithPath: path), errno)
    }
}

/// The content of an asset, open for reading. Closed with this object.
public final class AssetFile: Sendable {
    /// The descriptor of the file; not to be closed, nor its position to be relied on.
    public let descriptor: Int32
    public let size: Int64
    /// Names the content.
    public let checksum: String

    init(descriptor: Int32, size: Int64, checksum: String) {
        self.descriptor = descriptor
        self.size = size
        self.checksum = checksum
    }

    deinit { close(descriptor) }
}

extension IncomingFile {
    /// Writes what the service itself has to keep.
    func append(_ text: String) throws(RecordError) {
        var diskError: RecordError?
        Array(text.utf8).withUnsafeBytes { bytes in
            do throws(RecordError) { try append(bytes) } catch { diskError = error }
        }
        if let diskError { throw diskError }
    }
}
