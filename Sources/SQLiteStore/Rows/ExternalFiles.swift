internal import Foundation
internal import Stores

/// The folder beside a store that holds large values: `.<name>_SUPPORT/_EXTERNAL_DATA/`.
///
/// A file is written once, under a fresh UUID, and never changed: its name appears only when all
/// its bytes are on the disk.
struct ExternalFiles: Sendable {
    /// Holds the folder of values, and marks of transactions under way.
    let support: URL
    /// Holds the values.
    let folder: URL
    /// Where else values may lie: beside the links by which the store was opened, where earlier
    /// versions kept them. There they are only read, for another store may have its own there.
    private let former: [URL]
    private let store: URL
    /// The file whose access they get.
    private let model: URL

    /// Values lie beside the store's file, whatever links lead to it: all its names see the same
    /// ones. `model` is the file whose access the others get, where it is not the store's own.
    init(store: URL, model: URL? = nil) {
        let links = Self.links(to: store)
        let store = links.isEmpty ? store : store.resolvingSymlinksInPath()
        self.store = store
        self.model = model ?? store
        support = SupportFolder.beside(store)
        let folder = SupportFolder.values(of: store)
        self.folder = folder
        former = links.map(SupportFolder.values).filter { $0.path != folder.path }
    }

    /// The links that lead to the file of a store, one to the next; none for the file itself.
    private static func links(to store: URL) -> [URL] {
        var links: [URL] = []
        var place = store
        while links.count < linksMax, FileKind(at: place.path, followsLinks: false) == .link,
            let target = try? FileManager.default.destinationOfSymbolicLink(atPath: place.path)
        {
            links.append(place)
            let folder = place.deletingLastPathComponent().resolvingSymlinksInPath().path
            place = URL(fileURLWithPath: target.hasPrefix("/") ? target : "\(folder)/\(target)")
        }
        return links
    }

    /// As many as the system follows.
    private static let linksMax = 40

    // MARK: References

    /// What stands in the column, after its marker: the name's text and a zero.
    static func reference(to name: UUID) -> Data {
        Data([ValueCoding.fileMarker]) + Data(name.uuidString.utf8) + [0]
    }

    /// The file a column names; nil where it holds the value itself.
    static func name(in column: Data) -> UUID? {
        guard column.first == ValueCoding.fileMarker else { return nil }
        return UUID(uuidString: text(of: column.dropFirst()))
    }

    private static func text(of reference: Data) -> String {
        String(decoding: reference.prefix { $0 != 0 }.prefix(64), as: UTF8.self)
    }

    func path(of name: UUID) -> String { Self.path(of: name, in: folder) }

    private static func path(of name: UUID, in folder: URL) -> String {
        folder.appendingPathComponent(name.uuidString).path
    }

    /// Where the value may be, the right place first.
    private func paths(of name: UUID) -> [String] {
        ([folder] + former).map { Self.path(of: name, in: $0) }
    }

    // MARK: Reading

    /// The bytes of the file that `reference` (a UUID's text and a zero) names; nil when it is
    /// gone. They are mapped: the disk is read where they are looked at.
    func read(reference: Data) throws -> Data? {
        guard let name = UUID(uuidString: Self.text(of: reference)) else {
            throw StoreError(
                .corrupt, "A value refers to a file whose name is no UUID; the row is damaged.")
        }
        for path in paths(of: name) {
            if let data = try Self.read(path) { return data }
        }
        return nil
    }

    private static func read(_ path: String) throws -> Data? {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard file >= 0 else {
            if errno == ENOENT || errno == ENOTDIR { return nil }
            throw failure("could not be read", path)
        }
        defer { close(file) }
        var facts = stat()
        guard fstat(file, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else {
            throw failure("is no plain file", path)
        }
        let count = Int(facts.st_size)
        guard count > 0 else { return Data() }
        guard let start = mmap(nil, count, PROT_READ, MAP_PRIVATE, file, 0), start != MAP_FAILED
        else {
            // There are only so many maps to a process.
            return try FileHandle(fileDescriptor: file, closeOnDealloc: false).readToEnd() ?? Data()
        }
        return Data(
            bytesNoCopy: start, count: count, deallocator: .custom { munmap($0, $1) })
    }

    /// The bytes of a value; nil when its file is gone.
    func read(_ name: UUID) throws -> Data? { try read(reference: Data(name.uuidString.utf8)) }

    /// The bytes in a value's file; nil when it is gone.
    func size(of name: UUID) -> Int? {
        var facts = stat()
        let path = paths(of: name).first { stat($0, &facts) == 0 }
        return path == nil ? nil : Int(facts.st_size)
    }

    /// The names of the values that are there.
    func names() -> [UUID] { Self.names(in: folder) }

    /// Also of those that lie beside links to the store, among others' perhaps.
    func allNames() -> Set<UUID> { Set(names()).union(former.flatMap(Self.names)) }

    private static func names(in folder: URL) -> [UUID] {
        let found = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return found.compactMap { UUID(uuidString: $0) }
    }

    // MARK: Writing

    /// Writes a value's file; when this returns it survives a power cut. `step` is called between
    /// the parts of the work and may throw.
    func write(_ data: Data, name: UUID, step: (String) throws -> Void) throws {
        let draft = folder.appendingPathComponent(Self.draftPrefix + name.uuidString).path
        let file = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw Self.failure("could not be made", draft) }
        access.apply(to: file, isFolder: false)
        do {
            try Self.fill(file, with: data, draft, step)
            try step("beforeRename")
            guard rename(draft, path(of: name)) == 0 else {
                throw Self.failure("could not be put in its place", draft)
            }
        } catch {
            unlink(draft)
            throw error
        }
        try Self.syncFolder(folder)
    }

    private static func fill(
        _ file: Int32, with data: Data, _ path: String, _ step: (String) throws -> Void
    ) throws {
        defer { close(file) }
        let half = data.count / 2
        try append(data.prefix(half), to: file, path)
        try step("halfWritten")
        try append(data.dropFirst(half), to: file, path)
        guard fsync(file) == 0 else { throw failure("could not be written", path) }
    }

    private static func append(_ data: Data, to file: Int32, _ path: String) throws {
        try data.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = Glibc.write(
                    file, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { throw failure("could not be written", path) }
                rest = rest.dropFirst(count)
            }
        }
    }

    func remove(_ name: UUID) { FileKind.removeFile(at: path(of: name)) }

    /// The names of values that lie only beside a link to the store.
    func strayed() -> Set<UUID> {
        former.isEmpty ? [] : Set(former.flatMap(Self.names)).subtracting(names())
    }

    /// Brings a value that lies beside a link to the store's own folder, where its other names see
    /// it, too; what lies beside the link stays.
    func bringHome(_ name: UUID) throws {
        let place = path(of: name)
        for folder in former where link(Self.path(of: name, in: folder), place) == 0 {
            return try Self.syncFolder(self.folder)
        }
        // Some file systems have no second names, and the link may lead to another one.
        guard FileKind(at: place) == .nothing, let data = try read(name) else { return }
        try write(data, name: name) { _ in }
    }

    // MARK: Removing

    /// Whether there is a folder of the store; a link to another's is none.
    var exist: Bool { FileKind(at: support.path, followsLinks: false) == .folder }

    /// Removes the values, marks and drafts, and the folders where nothing else is in them. Where
    /// another store beside has the same folder, all but the marks stays.
    func removeAll() throws {
        guard exist else { return }
        let marks = leftovers()
        if !isShared, FileKind(at: folder.path, followsLinks: false) == .folder {
            for name in names() { remove(name) }
        }
        for mark in marks { FileKind.removeFile(at: mark.path) }
        // Neither goes while anything of another's is inside.
        rmdir(folder.path)
        rmdir(support.path)
    }

    /// Whether another store beside keeps its values in the same folder: the folder's name lacks
    /// the extension, so `a.sqlite` and `a.db` have one.
    var isShared: Bool { !neighbours.isEmpty }

    /// Those stores.
    var neighbours: [URL] {
        let place = store.deletingLastPathComponent()
        let stem = store.deletingPathExtension().lastPathComponent
        let own = store.resolvingSymlinksInPath().path
        let found = (try? FileManager.default.contentsOfDirectory(atPath: place.path)) ?? []
        return found.map(place.appendingPathComponent).filter { other in
            let name = other.lastPathComponent
            return name != store.lastPathComponent
                && other.deletingPathExtension().lastPathComponent == stem
                && !["-wal", "-shm", "-journal"].contains(where: name.hasSuffix)
                // A link's store may have kept values beside the link.
                && FileKind(at: other.path) == .file
                && other.resolvingSymlinksInPath().path != own
                && SQLiteRowStore.isDatabase(at: other)
        }
    }

    /// Makes the folders where they are missing.
    func makeFolders() throws {
        for folder in [support, folder] {
            guard mkdir(folder.path, 0o700) == 0 else {
                if errno == EEXIST { continue }
                throw Self.failure("cannot have its folder", folder.path)
            }
            let file = open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            defer { if file >= 0 { close(file) } }
            if file >= 0 { access.apply(to: file, isFolder: true) }
            try Self.syncFolder(folder.deletingLastPathComponent())
        }
    }

    /// Whoever may read and write the store may do so with what lies beside it.
    private var access: FileAccess { FileAccess(of: model.path) }

    // MARK: Marks

    /// The mark of a transaction that has files under way. Where one is left, its process died.
    func putMark(_ name: UUID) throws {
        let path = support.appendingPathComponent(Self.markPrefix + name.uuidString).path
        let file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw Self.failure("could not be made", path) }
        close(file)
        try Self.syncFolder(support)
    }

    func removeMark(_ name: UUID) {
        unlink(support.appendingPathComponent(Self.markPrefix + name.uuidString).path)
    }

    /// The marks and drafts that are there.
    func leftovers() -> [URL] {
        func list(_ folder: URL, _ prefix: String) -> [URL] {
            // Most stores have none, and Foundation takes long to say so.
            guard FileKind(at: folder.path) == .folder else { return [] }
            let found = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
            return found.filter { $0.hasPrefix(prefix) }.map(folder.appendingPathComponent)
        }
        return list(support, Self.markPrefix) + list(folder, Self.draftPrefix)
    }

    private static let markPrefix = ".unsettled-"
    private static let draftPrefix = ".draft-"

    // MARK: Failures

    /// Waits until the folder's entries are on the disk.
    private static func syncFolder(_ folder: URL) throws {
        let file = open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard file >= 0 else { throw failure("could not be opened", folder.path) }
        defer { close(file) }
        // Some file systems have no such thing for folders, and say so.
        guard fsync(file) == 0 || errno == EINVAL else {
            throw failure("could not be written", folder.path)
        }
    }

    private static func failure(_ what: String, _ path: String) -> StoreError {
        let number = errno
        if number == ENOSPC || number == EDQUOT {
            return StoreError(
                .diskFull, "The disk is full, nothing was written; make room and save again.",
                fields: ["path": path])
        }
        let reason = String(cString: strerror(number))
        return StoreError(
            .failed,
            "A file of the store's large values \(what) (\(reason)); check the access of its "
                + "folder.",
            fields: ["path": path])
    }
}
