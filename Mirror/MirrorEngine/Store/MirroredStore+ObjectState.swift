internal import RecordWire
internal import SQLiteDriver
internal import SQLiteStore
package import Stores

/// How one object stands towards the service.
public enum ObjectSyncState: Hashable, Sendable {
    /// The service has what is here.
    case synced
    /// Was never sent, or has changed since, and will be sent.
    case waiting
    /// The service will not take it as it is; the reason is the service's. Sent again when it
    /// changes.
    case refused(reason: String)
    /// Is not to be sent (`SyncSelection`).
    case keptHere
    /// Waits for a decision in the conflict log.
    case undecided
}

extension MirroredStore {
    /// How an object stands; nil before the store was mirrored, and for one that is gone and was
    /// never sent. Notes what was saved since the last round first. Cost: a few looks by key.
    package func syncState(of row: RowID) throws -> ObjectSyncState? {
        guard try read({ try Ledger.exists(in: $0.ledger.connection) }) else { return nil }
        while try analyse().moreWaiting {}
        return try read { mirror in
            // What no round has marked yet waits for its first.
            let isThere = try mirror.store.row(row) != nil
            guard let entry = try mirror.ledger.entry(for: row) else {
                return isThere ? .waiting : nil
            }
            let isKnown =
                try entry.base != nil || mirror.ledger.lastInFlight(entry.recordName) != nil
            guard isThere || isKnown else { return nil }
            return try mirror.ledger.state(of: entry)
        }
    }
}

extension Ledger {
    fileprivate func state(of entry: RecordEntry) throws -> ObjectSyncState {
        let name = SQLiteValue.text(entry.recordName)
        let waits = try connection.value(
            "SELECT 1 FROM ADIPTYCHCONFLICT WHERE ZWINNER = 'waiting' AND ZRECORDNAME = ?", [name])
        if waits != nil { return .undecided }
        if try isOutside(entry.recordName) { return .keptHere }
        let refusal = try connection.rows(
            "SELECT ZREASON FROM ADIPTYCHREFUSAL WHERE ZRECORDNAME = ?", [name]
        ).first
        if let refusal { return .refused(reason: refusal[0].string ?? "") }
        return entry.needsUpload || entry.base == nil ? .waiting : .synced
    }
}
