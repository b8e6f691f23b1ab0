public import Foundation
public import Platform
internal import SQLiteDriver
internal import Stores

// Stores as files: replacing, placing, removing.
extension SQLiteRowStore {
    /// Puts a copy of the store at `source`, which may be open, in the place of the one at
    /// `destination`, which should not be, or where none was. Large values are copied, too. After a
    /// crash the destination is whole, the old or the new.
    ///
    /// Throws `StoreError`: `.busy` where somebody holds a lock on either for longer than
    /// `busyMilliseconds`, or wrote to the destination since `witness` saw it, and the failures of
    /// opening and writing. Cost: copies the file page by page, and each large value.
    public static func replace(
        _ destination: URL, with source: URL,
        unlessChangedSince witness: SQLiteStoreWitness? = nil, busyMilliseconds: Int32 = 10_000,
        platform: Environment = .system
    ) throws {
        try StoreReplacement(
            of: destination, with: source, witness: witness, busyMilliseconds: busyMilliseconds,
            platform: platform
        ).run()
    }

    /// Whether a mirror keeps its ledger in the store. Throws as `read` does.
    public func isMirrored() throws -> Bool {
        try read { try MirrorTables.exist(in: $0.connection) }
    }

    /// Makes `draft`, where nothing is, a copy of the mirrored store at `source`, with its keys,
    /// its history and the mirror's ledger, under an identifier of its own. What the two held when
    /// they parted the mirror goes on naming alike. Throws as `replace` does. Cost: the same.
    public static func copyMirrored(
        _ source: URL, to draft: URL, busyMilliseconds: Int32, platform: Environment
    ) throws {
        try replace(draft, with: source, busyMilliseconds: busyMilliseconds, platform: platform)
        try StoreError.mapping(path: draft.path) {
            let connection = try Connection(path: draft.path, access: .readWrite)
            try connection.transaction(.immediate) {
                var metadata = try StoreMetadata(reading: connection, path: draft.path)
                try MirrorTables.keepName(metadata.identifier, in: connection)
                metadata.identifier = platform.randomness.uuid().uuidString
                try metadata.write(to: connection)
            }
        }
    }

    /// Empties the store at `url` and removes its large values; one that is not there is no error.
    /// The file stays as an empty database, in which the next opening makes a store. Throws `.busy`
    /// where somebody holds a lock, unless `isForced`, which removes the file; `.notAStore` for
    /// anything that is none, which stays as it is. Cost: O(1) but for the large values, each of
    /// which is a file.
    public static func destroy(
        at url: URL, isForced: Bool = false, busyMilliseconds: Int32 = 10_000,
        platform: Environment = .system
    ) throws {
        try StoreRemoval(
            of: url, isForced: isForced, busyMilliseconds: busyMilliseconds, platform: platform
        ).run()
    }

    /// Moves a finished store, to which nobody writes, to a place where none is. Its large values
    /// come there first, with a mark, by which they are cleared away if the store does not follow.
    /// Where somebody still has it open, `isStillOpen`, a copy gets the place. Throws `StoreError`
    /// `.busy`, `.readOnly`, `.cannotOpen` (with the field `taken` where somebody was faster), and
    /// what FileManager throws. Cost: a rename within one file system, else a copy.
    public static func place(
        _ draft: URL, at place: URL, isStillOpen: Bool = false, platform: Environment = .system
    ) throws {
        try close(draft)
        // A connection goes on calling the file's log and shared memory by its former name, and in
        // this process every later one with it: other processes would not see their locks.
        let finished = isStillOpen ? try copy(of: draft) : draft
        defer { if isStillOpen { StoreFile.remove(finished) } }
        // Others take a folder of values without its store for remains, so nobody looks meanwhile.
        let placing = StorePlacing(place: place)
        try placing.locked {
            guard isFree(place) else { throw placing.taken }
            let (from, to) = (ExternalFiles(store: draft), ExternalFiles(store: place))
            guard from.exist else { return try placing.putAlone(finished) }
            let mark = platform.randomness.uuid()
            try from.putMark(mark)
            try clearRemainsAlone(at: place)
            try FileManager.default.moveItem(at: from.support, to: to.support)
            try platform.faults.reach("migrate.valuesPlaced")
            try placing.putAlone(finished)
            to.removeMark(mark)
        }
        // Whatever stands under its former names is of no use to anybody.
        StoreFile.remove(draft)
        try platform.faults.reach("migrate.placed")
    }

    private static func copy(of draft: URL) throws -> URL {
        let copy = URL(fileURLWithPath: draft.path + "-whole")
        try StoreError.mapping(path: copy.path) {
            do {
                FileAccess(of: draft.path).makeFile(at: copy.path)
                let connection = try Connection(path: copy.path)
                try connection.script("PRAGMA synchronous = FULL")
                try connection.replaceContents(
                    with: Connection(path: draft.path, access: .readWrite))
            } catch {
                StoreFile.remove(copy)
                throw error
            }
        }
        return copy
    }

    /// Removes a draft of this process's own with all that lies beside it.
    public static func discard(_ draft: URL) {
        StoreFile.remove(draft)
        try? ExternalFiles(store: draft).removeAll()
    }

    /// Whether a store can be made at `place`: nothing is there, or the empty database that a
    /// destroyed store leaves.
    public static func isFree(_ place: URL) -> Bool {
        switch FileKind(at: place.path, followsLinks: false) {
        case .nothing: true
        case .file: StoreFile.isBlank(at: place)
        case .folder, .link, .other: false
        }
    }

    /// Makes sure that the draft's file is all there is of it.
    private static func close(_ draft: URL) throws {
        try StoreError.mapping(path: draft.path) {
            let connection = try Connection(path: draft.path, access: .readWrite)
            let row = try connection.rows("PRAGMA wal_checkpoint(TRUNCATE)").first
            guard row?.first == 0 else {
                throw StoreError(
                    .busy, "The new store is in use before it has its place; try again.",
                    fields: ["path": draft.path])
            }
        }
    }

    /// Removes large values without a store, where their mark says that nobody misses them. Throws
    /// what FileManager throws where they cannot be removed. Cost: a look at the folder.
    public static func clearRemains(at place: URL) throws {
        guard isFree(place), !ExternalFiles(store: place).leftovers().isEmpty else { return }
        try StorePlacing(place: place).locked { try clearRemainsAlone(at: place) }
    }

    /// The same, for who holds the folder's lock.
    private static func clearRemainsAlone(at place: URL) throws {
        let files = ExternalFiles(store: place)
        guard isFree(place), !files.leftovers().isEmpty else { return }
        try files.removeAll()
    }
}
