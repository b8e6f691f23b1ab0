internal import Foundation
internal import MirrorEngine
internal import Platform
internal import SQLiteDriver
internal import SQLiteStore
internal import Stores

extension StoreAccess {
    /// Where the store stands towards its service. Asking notes the changes since the last round in
    /// the store's ledger; where the store cannot be written, in that of a copy for the moment.
    func mirrorStatus(zone: ZoneChoice) throws -> MirrorStatus? {
        try lookingAt(zone: zone) { try $0.status() }
    }

    /// Looks at the store with its mirror; where it cannot be written, as on a medium for reading
    /// only, at a copy for the moment.
    func lookingAt<Result>(
        zone: ZoneChoice, keys: SealingKeys? = nil, _ body: (MirroredStore) throws -> Result
    ) throws -> Result {
        do {
            return try body(openMirrored(zone: zone, keys: keys))
        } catch let error as StoreError where [.readOnly, .cannotOpen].contains(error.code) {
            let copy = try StoreCopy(of: url)
            return try withExtendedLifetime(copy) {
                try body(openMirrored(copy, zone: zone, keys: keys))
            }
        }
    }
}

extension StoreAccess {
    /// Opens a copy of the store with its mirror: what is done there is gone with the copy.
    func openMirrored(
        _ copy: StoreCopy, policy: MergePolicy = MergePolicy(), zone: ZoneChoice,
        keys: SealingKeys? = nil, only selection: SelectionOption? = nil
    ) throws -> MirroredStore {
        var options = SQLiteStoreOptions()
        options.pragmas = pragmas
        let store = try SQLiteRowStore(
            url: copy.url, model: model(), options: options, platform: .system)
        return try mirror(store, policy: policy, zone: zone, keys: keys, only: selection)
    }
}

/// A copy of a store's tables that goes with this value, and of its values in files of their own
/// where they are asked for. Whoever opens it holds it until the end: nothing is written to a store
/// whose file is gone.
final class StoreCopy {
    let url: URL
    private let folder: PassingFolder

    init(of store: URL, withValues: Bool = false) throws {
        folder = try PassingFolder("copy")
        url = folder.url.appendingPathComponent("Store.sqlite")
        try Connection(path: url.path).replaceContents(with: ReadingConnection.open(store))
        if withValues { try takeValues(of: store) }
    }

    /// By second names, where the file system of the copy is that of the store: no value is ever
    /// changed in its file.
    private func takeValues(of store: URL) throws {
        let files = FileManager.default
        let to = SupportFolder.values(of: url)
        for from in ValueFolders.all(of: store) where files.fileExists(atPath: from.path) {
            // Not the folder of the moment itself: who ends the process may have removed it.
            for level in [to.deletingLastPathComponent(), to]
            where !files.fileExists(atPath: level.path) {
                try files.createDirectory(at: level, withIntermediateDirectories: false)
            }
            for name in try files.contentsOfDirectory(atPath: from.path) {
                try Self.take(
                    from.appendingPathComponent(name), as: to.appendingPathComponent(name))
            }
        }
    }

    private static func take(_ value: URL, as place: URL) throws {
        let files = FileManager.default
        guard !files.fileExists(atPath: place.path),
            (try? files.linkItem(at: value, to: place)) == nil
        else { return }
        do {
            try files.copyItem(at: value, to: place)
        } catch CocoaError.fileReadNoSuchFile {
            // One that was let go of meanwhile is none of the copy's.
        }
    }

    deinit { folder.remove() }
}
