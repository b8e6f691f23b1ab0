internal import Foundation
internal import Platform

/// The file of an atomic store: read at once, replaced at once.
struct GraphFile {
    /// What tells one state of a file from another.
    struct Stamp: Equatable {
        var inode: UInt64
        var size: Int64
        var seconds: Int
        var nanoseconds: Int

        init(_ facts: stat) {
            inode = UInt64(facts.st_ino)
            size = Int64(facts.st_size)
            seconds = Int(facts.st_mtim.tv_sec)
            nanoseconds = Int(facts.st_mtim.tv_nsec)
        }
    }

    let path: String
    /// That of a file that is not there yet; nil for what new files have.
    private let access: FileAccess?
    private static let bytesMax: Int64 = 1 << 30

    init(_ url: URL, access: FileAccess? = nil) {
        self.access = access
        // A link stays a link: what it leads to is replaced.
        path = url.resolvingSymlinksInPath().path
    }

    var exists: Bool { stamp != nil }

    var stamp: Stamp? {
        var facts = stat()
        return stat(path, &facts) == 0 ? Stamp(facts) : nil
    }

    func read() throws -> Data {
        var facts = stat()
        guard stat(path, &facts) == 0 else {
            throw failure(.cannotOpen, "There is no file at this path.")
        }
        guard facts.st_mode & S_IFMT == S_IFREG else {
            throw failure(.cannotOpen, "The path leads to no file; give the path of a file.")
        }
        guard facts.st_size > 0 else {
            throw failure(
                .notAStore, "The file is empty; remove it, and the store is made in its place.")
        }
        guard facts.st_size <= Self.bytesMax else { throw tooLarge("The file is") }
        do {
            return try Data(contentsOf: URL(fileURLWithPath: path))
        } catch {
            throw failure(.cannotOpen, "The file cannot be read; check its access.", error)
        }
    }

    // MARK: Replacing

    /// Puts `data` in the place of the file that bears `stamp`; of none for nil. After a crash
    /// there is the old file or the new one. Returns the new one's stamp. Throws `.busy` where
    /// another program was faster: whoever replaces a file holds the lock of the one that is there.
    func replace(
        with data: Data, unlessChangedSince stamp: Stamp?, platform: Environment
    ) throws -> Stamp {
        let (folder, name) = split
        let draft = "\(folder)/.\(name).\(platform.randomness.uuid().uuidString)"
        let written: Stamp
        do {
            written = try write(data, to: draft)
            try platform.faults.reach("store.beforePlacing")
            guard [.nothing, .file].contains(FileKind(at: path)) else {
                throw FileKind.refusal(at: path)
            }
            let lock = lock()
            defer { lock?.release() }
            guard self.stamp == stamp else { throw changed }
            guard rename(draft, path) == 0 else { throw refusal() }
        } catch {
            unlink(draft)
            throw error
        }
        synchronize(folder)
        try platform.faults.reach("store.placed")
        return written
    }

    /// Puts `data` in a file that must not be there yet. Returns its stamp; nil where another
    /// program was faster.
    func create(with data: Data, platform: Environment) throws -> Stamp? {
        let (folder, name) = split
        let draft = "\(folder)/.\(name).\(platform.randomness.uuid().uuidString)"
        defer { unlink(draft) }
        let written = try write(data, to: draft)
        try platform.faults.reach("store.beforePlacing")
        if link(draft, path) != 0 {
            if errno == EEXIST { return nil }
            // Some file systems have no hard links.
            guard !exists, rename(draft, path) == 0 else { throw refusal() }
        }
        synchronize(folder)
        return written
    }

    /// The lock of the file that is there.
    struct Lock {
        fileprivate let descriptor: Int32

        func release() { close(descriptor) }
    }

    /// Waits for the lock of the file; nil where there is no file. Where a file system has no
    /// locks, the stamps are all there is.
    func lock() -> Lock? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        while flock(descriptor, LOCK_EX) != 0, errno == EINTR {}
        return Lock(descriptor: descriptor)
    }

    private var split: (folder: String, name: String) {
        let url = URL(fileURLWithPath: path)
        return (url.deletingLastPathComponent().path, url.lastPathComponent)
    }

    /// Returns the stamp of what was written, which it keeps wherever it is put.
    private func write(_ data: Data, to draft: String) throws -> Stamp {
        guard data.count <= Self.bytesMax else { throw tooLarge("The store would be") }
        var facts = stat()
        let isThere = stat(path, &facts) == 0
        let mode = isThere ? facts.st_mode & 0o777 : access?.modeOfNew ?? 0o644
        let file = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
        guard file >= 0 else { throw refusal() }
        defer { close(file) }
        if !isThere { access?.apply(to: file, isFolder: false) }
        var rest = data[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw refusal() }
            rest = rest.dropFirst(count)
        }
        guard fsync(file) == 0, fstat(file, &facts) == 0 else { throw refusal() }
        return Stamp(facts)
    }

    /// Makes the folder's change last, too. Some file systems cannot; the file is whole anyway.
    private func synchronize(_ folder: String) {
        let handle = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard handle >= 0 else { return }
        fsync(handle)
        close(handle)
    }

    // MARK: Errors

    var changed: StoreError {
        StoreError(
            changedMeanwhile:
                "Another program changed the store's file since it was opened; close the store and "
                + "open it again, so that neither change is lost.", path: path)
    }

    private func tooLarge(_ what: String) -> StoreError {
        failure(
            .unsupported,
            "\(what) larger than \(Self.bytesMax >> 20) MiB; use a SQLite store for that.")
    }

    private func refusal() -> StoreError {
        let number = errno
        let cause = NSError(domain: NSPOSIXErrorDomain, code: Int(number))
        switch number {
        case ENOSPC, EDQUOT, EFBIG:
            return failure(
                .diskFull, "The disk is full, nothing was written; make room and save again.", cause
            )
        case EACCES, EPERM, EROFS:
            return failure(
                .readOnly, "The store's folder cannot be written; check its access.", cause)
        default:
            return failure(
                .cannotOpen, "The store's file cannot be written; check the path and its access.",
                cause)
        }
    }

    func failure(
        _ code: StoreError.Code, _ message: String, _ cause: (any Error)? = nil
    ) -> StoreError {
        StoreError(code, message, fields: ["path": path], cause: cause)
    }
}
