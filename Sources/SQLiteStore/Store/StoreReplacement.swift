internal import Foundation
internal import Platform
internal import SQLiteDriver
internal import Stores

/// Puts a copy of one store, with its large values, in the place of another.
///
/// A crash at any moment leaves the old store or the new one whole: the new values' files are there
/// before the rows that name them, the rows change in one step, and files of the old store go
/// afterwards. What is left between has a mark, by which the next opening finds it.
struct StoreReplacement {
    let source: StoreFile
    let target: StoreFile
    let place: URL
    let platform: Environment
    /// Of the target, where it must not have changed.
    private let witness: SQLiteStoreWitness?
    private let fresh: ExternalFiles
    private let files: ExternalFiles

    init(
        of place: URL, with origin: URL, witness: SQLiteStoreWitness? = nil,
        busyMilliseconds: Int32, platform: Environment
    ) {
        self.witness = witness
        // A link stays a link: what it leads to is replaced.
        let place = place.resolvingSymlinksInPath()
        var options = SQLiteStoreOptions()
        options.busyMilliseconds = busyMilliseconds
        source = StoreFile(url: origin, options: options)
        target = StoreFile(url: place, options: options)
        self.place = place
        self.platform = platform
        fresh = ExternalFiles(store: origin)
        files = ExternalFiles(store: place, model: target.exists ? place : origin)
    }

    func run() throws {
        let reading = try StoreError.mapping(path: source.path) { try source.openForReading() }
        try whileSourceStands {
            let isThere = target.exists
            if let present = try openTarget() {
                try StoreError.mapping(path: target.path) { try overwrite(present, with: reading) }
            } else {
                try StoreError.mapping(path: target.path) {
                    try placeNew(reading, replacing: isThere)
                }
            }
        }
    }

    /// Runs `body` while nobody can save to the source, so that its rows and files agree. Where
    /// this process cannot, as in a folder that may not be written, it is read as it stands.
    private func whileSourceStands(_ body: () throws -> Void) throws {
        let lock = try? Connection(
            path: source.path, access: .readWrite,
            busyMilliseconds: source.options.busyMilliseconds)
        guard let lock, !lock.isReadOnly else { return try body() }
        var isHeld = false
        do {
            try StoreError.mapping(path: source.path) {
                try lock.keepingWritersOut {
                    isHeld = true
                    try body()
                }
            }
        } catch let error as StoreError
            where !isHeld && [.readOnly, .cannotOpen].contains(error.code)
        {
            try body()
        }
    }

    /// The database at the place; nil where there is none, or one that cannot be read any more.
    private func openTarget() throws -> Connection? {
        switch FileKind(at: target.path) {
        case .nothing: return nil
        case .file: break
        case .folder, .link, .other: throw FileKind.refusal(at: target.path)
        }
        do {
            let connection = try Connection(
                path: target.path, access: .readWrite,
                busyMilliseconds: target.options.busyMilliseconds)
            guard try connection.pragma("page_count")?.int64 ?? 0 > 0,
                try connection.value("SELECT count(*) FROM sqlite_master") != nil
            else { return nil }
            try target.checkIsStoreOrBlank(connection)
            return connection
        } catch let fault as SQLiteFault where fault.isNotADatabase {
            return nil
        } catch let fault as SQLiteFault {
            throw StoreError(fault, path: target.path)
        }
    }

    // MARK: In the file that is there

    private func overwrite(_ present: Connection, with reading: Connection) throws {
        try present.script("PRAGMA synchronous = FULL")
        let seen = try witness.map { witness in
            let seen = try present.lookForCommits()
            try witness.expectUnchanged()
            return seen
        }
        if try present.pragma("page_size") != reading.pragma("page_size") {
            // Only without a log can the size of pages change, and only where nobody else is.
            witness?.close()
            try present.script("PRAGMA journal_mode = DELETE")
        }
        let hasLog = try present.pragma("journal_mode") == "wal"
        if let seen, !hasLog { try keepOthersOut(of: present, unlessChangedSince: seen) }
        let former = Set(files.names())
        let mark = platform.randomness.uuid()
        var staged: [UUID] = []
        var mayHaveChanged = false
        do {
            try present.replaceContents(with: reading) {
                if hasLog { try witness?.expectUnchanged() }
                try platform.faults.reach("replace.locked")
                try stage(&staged, mark)
                try platform.faults.reach("replace.staged")
                mayHaveChanged = true
            }
        } catch {
            if !mayHaveChanged { takeBack(staged, mark) }
            throw error
        }
        try platform.faults.reach("replace.swapped")
        let old = former.subtracting(fresh.allNames())
        if try old.isEmpty || present.hasNoOlderReaders() { discard(old, mark) }
    }

    /// Takes the lock and keeps it: without a log nobody, not even the witness, could read while
    /// the file is replaced.
    private func keepOthersOut(of present: Connection, unlessChangedSince seen: Int64) throws {
        try present.script("PRAGMA locking_mode = EXCLUSIVE")
        try present.transaction(.exclusive) {
            guard try present.lookForCommits() == seen else {
                throw SQLiteStoreWitness.changed(target.path)
            }
        }
    }

    // MARK: As a new file

    /// Where a file is there that cannot be read any more, there is nothing to keep of it.
    private func placeNew(_ reading: Connection, replacing: Bool) throws {
        let name = ".\(place.lastPathComponent).\(platform.randomness.uuid().uuidString)"
        let draft = place.deletingLastPathComponent().appendingPathComponent(name)
        defer { StoreFile.remove(draft) }
        try write(reading, to: draft)
        let former = Set(files.names())
        let mark = platform.randomness.uuid()
        var staged: [UUID] = []
        var mayHaveChanged = false
        do {
            try stage(&staged, mark)
            try platform.faults.reach("replace.staged")
            mayHaveChanged = true
            try StorePlacing(place: place).put(draft, replacing: replacing)
        } catch {
            if !mayHaveChanged { takeBack(staged, mark) }
            throw error
        }
        try platform.faults.reach("replace.swapped")
        discard(former.subtracting(fresh.allNames()), mark)
    }

    /// The connection ends with the function, which closes the draft.
    private func write(_ reading: Connection, to draft: URL) throws {
        let access = FileAccess(of: target.exists ? target.path : source.path)
        access.makeFile(at: draft.path)
        let connection = try Connection(path: draft.path)
        try connection.script("PRAGMA synchronous = FULL")
        try connection.replaceContents(with: reading)
        access.apply(to: draft.path)
    }

    // MARK: Large values

    /// Copies the source's files beside those that are there. A name stands for one value forever.
    private func stage(_ staged: inout [UUID], _ mark: UUID) throws {
        let names = fresh.allNames()
        let hasFolder = FileManager.default.fileExists(atPath: files.support.path)
        guard hasFolder || !names.isEmpty else { return }
        try files.makeFolders()
        try files.putMark(mark)
        for name in names where files.size(of: name) != fresh.size(of: name) {
            guard let data = try fresh.read(name) else { continue }
            staged.append(name)
            try files.write(data, name: name) { try platform.faults.reach("external.\($0)") }
        }
    }

    /// Only before the rows could have changed: a commit that fails may stand on the disk all the
    /// same. What it leaves then has its mark, and the next opening looks who names it.
    private func takeBack(_ staged: [UUID], _ mark: UUID) {
        for name in staged { files.remove(name) }
        files.removeMark(mark)
    }

    private func discard(_ names: Set<UUID>, _ mark: UUID) {
        // What another store of the folder names stays.
        if !names.isEmpty, !files.isShared { for name in names { files.remove(name) } }
        files.removeMark(mark)
    }
}
