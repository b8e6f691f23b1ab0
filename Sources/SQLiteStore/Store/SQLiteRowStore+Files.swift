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
    /// `busyMilliseconds`, and the failures of opening and writing.
    public static func replace(
        _ destination: URL, with source: URL, busyMilliseconds: Int32 = 10_000,
        platform: Environment = .system
    ) throws {
        try StoreReplacement(
            of: destination, with: source, busyMilliseconds: busyMilliseconds, platform: platform
        ).run()
    }

    /// Removes the store at `url` with its journals and large values; one that is not there is no
    /// error. Throws `.busy` where somebody holds a lock, unless `isForced`.
    public static func destroy(
        at url: URL, isForced: Bool = false, busyMilliseconds: Int32 = 10_000,
        platform: Environment = .system
    ) throws {
        try StoreRemoval(
            of: url, isForced: isForced, busyMilliseconds: busyMilliseconds, platform: platform
        ).run()
    }

    /// Moves a finished store, which nobody has open, to a place where none is. Its large values
    /// come there first, with a mark, by which they are cleared away if the store does not follow.
    public static func place(
        _ draft: URL, at place: URL, platform: Environment = .system
    ) throws {
        try close(draft)
        let (from, to) = (ExternalFiles(store: draft), ExternalFiles(store: place))
        if FileManager.default.fileExists(atPath: from.support.path) {
            let mark = platform.randomness.uuid()
            try from.putMark(mark)
            try clearRemains(at: place)
            try FileManager.default.moveItem(at: from.support, to: to.support)
            try platform.faults.reach("migrate.valuesPlaced")
            try StorePlacing(place: place).put(draft)
            to.removeMark(mark)
        } else {
            try StorePlacing(place: place).put(draft)
        }
        try platform.faults.reach("migrate.placed")
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

    /// Removes large values without a store, where their mark says that nobody misses them.
    public static func clearRemains(at place: URL) throws {
        let files = ExternalFiles(store: place)
        guard !FileManager.default.fileExists(atPath: place.path), !files.leftovers().isEmpty
        else { return }
        try FileManager.default.removeItem(at: files.support)
    }
}
