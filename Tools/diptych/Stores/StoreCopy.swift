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
        do {
            return try openMirrored(zone: zone).status()
        } catch let error as StoreError where [.readOnly, .cannotOpen].contains(error.code) {
            let copy = try StoreCopy(of: url)
            return try openMirrored(copy, zone: zone).status()
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

/// A copy of a store's tables that goes with this value. Values in files of their own are not
/// copied.
final class StoreCopy {
    let url: URL
    private let folder: URL

    init(of store: URL) throws {
        folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("diptych-copy-\(UUID().uuidString)", isDirectory: true)
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o700])
        url = folder.appendingPathComponent("Store.sqlite")
        try Connection(path: url.path).replaceContents(with: ReadingConnection.open(store))
    }

    deinit { try? FileManager.default.removeItem(at: folder) }
}
