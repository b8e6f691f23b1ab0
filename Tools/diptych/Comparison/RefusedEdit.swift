internal import MirrorEngine
internal import Platform
internal import RecordWire
internal import SQLiteStore
internal import Stores

/// One edit or deletion that waits here and that the service refuses.
struct RefusedEdit {
    let kind: String
    let title: String
    let recordName: String
    let reason: String
    /// Whether the service refused it before, or will.
    let isForeseen: Bool

    /// Those of a store whose refusals are `refusals`; `known` are the names of those that the
    /// service refused itself.
    init?(
        _ refusal: (recordName: String, reason: String), known: Set<String>, _ titles: RecordTitles,
        in transaction: StoreTransaction, _ ledger: Ledger
    ) throws {
        let kindAndTitle: (String, String)
        if let entry = try ledger.entry(named: refusal.recordName) {
            guard entry.needsUpload || entry.needsCloudDelete else { return nil }
            let kind = entry.base == nil ? "create" : "update"
            kindAndTitle = (entry.needsCloudDelete ? "delete" : kind, titles.title(of: entry.row))
        } else if let pair = try ledger.pair(named: refusal.recordName) {
            let title = try titles.title(of: pair.pair, in: transaction, ledger)
            kindAndTitle = (pair.needsDelete ? "delete" : "create", title)
        } else {
            // A record that cannot be read here waits for no export.
            return nil
        }
        (kind, title) = kindAndTitle
        recordName = refusal.recordName
        reason = refusal.reason
        isForeseen = !known.contains(refusal.recordName)
    }

    static func all(
        in mirrored: MirroredStore, refused status: MirrorStatus?, known: Set<String>
    ) throws -> [RefusedEdit] {
        let titles = RecordTitles(mirrored)
        return try mirrored.store.read { transaction in
            let ledger = Ledger(connection: transaction.connection, platform: .system)
            return try (status?.refusals ?? []).compactMap {
                try RefusedEdit($0, known: known, titles, in: transaction, ledger)
            }
        }
    }

    var json: JSON {
        [
            "event": "refuse", "kind": .string(kind), "object": .string(title),
            "record": .string(recordName), "reason": .string(reason),
            "foreseen": .bool(isForeseen),
        ]
    }
}
