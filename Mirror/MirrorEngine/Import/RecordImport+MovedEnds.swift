internal import RecordWire
internal import SQLiteStore
internal import Stores

/// One-to-one ends that the records of other users move.
extension RecordImport {
    /// An end that another user's record moved or cleared.
    struct MovedEnd {
        let row: RowID
        let slot: Int
        let former: NamedLink
    }

    /// The state both sides agreed on, with the ends that nobody edited as they are here: what the
    /// service says of them counts.
    func withDerivedEnds(
        _ agreed: ObjectState?, _ local: ObjectState, _ arrival: Arrival
    ) throws -> ObjectState? {
        guard var base = agreed, mirror.mayHoldAnothers, OneToOneRepair.concerns(arrival.layout),
            try mirror.ledger.hasDerivedEnds(key: arrival.entry.key)
        else { return agreed }
        for (slot, relationship) in arrival.layout.toOnes.enumerated()
        where relationship.isOneToOne { base.toOnes[slot] = local.toOnes[slot] }
        return base
    }

    /// Notes which ends the service's record moved: its writer could not write the other ends.
    mutating func noteMovedEnds(
        _ arrival: Arrival, from agreed: ObjectState?, to merged: ObjectState
    ) {
        guard mirror.mayHoldAnothers, let agreed else { return }
        for (slot, relationship) in arrival.layout.toOnes.enumerated()
        where relationship.isOneToOne {
            let present = arrival.state.toOnes[slot]
            guard let former = agreed.toOnes[slot], merged.toOnes[slot] == present,
                present?.leads(to: former.recordName) != true
            else { continue }
            touched.moved.append(MovedEnd(row: arrival.entry.row, slot: slot, former: former))
        }
    }

    /// Lets the other ends follow, as far as nobody here edited them.
    mutating func followMovedEnds() throws {
        let moved = touched.moved
        touched.moved = []
        for end in moved {
            guard let other = try mirror.ledger.entry(named: end.former.recordName),
                try !other.needsUpload || mirror.ledger.isUpkeep(key: other.key),
                try mirror.store.row(end.row) != nil
            else { continue }
            if try OneToOneRepair(mirror: mirror).release(end.row, end.slot, base: end.former) {
                try mirror.ledger.markRelease(key: other.key)
            }
        }
    }
}
