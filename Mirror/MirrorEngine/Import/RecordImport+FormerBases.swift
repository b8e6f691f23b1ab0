internal import ObjectModel
internal import RecordWire
internal import Stores

/// An object that two devices keep against its deletion, each for an edit of its own: what the one
/// made anew meets the other's.
extension RecordImport {
    /// Where both sides part.
    struct Parting {
        /// What to merge upon.
        var base: ObjectState
        /// Properties of which only one side tells anything, and nobody can say whether the other
        /// cleared them or never heard of their values.
        var unclear: Set<PropertySlot> = []
    }

    /// The base of a merge, which is `base` as far as that says anything. Where the object was
    /// deleted meanwhile and kept here, what it was before counts of what was edited here since.
    /// What was not may be newer here than what the other device made the object from.
    func parting(
        upon base: ObjectState?, agreed: ObjectState?, _ local: ObjectState, _ arrival: Arrival
    ) throws -> Parting {
        let (record, layout) = (arrival.record, arrival.layout)
        var parting = Parting(
            base: base ?? mirror.mapping.untouched(by: record, entity: layout))
        guard agreed == nil, arrival.entry.base?.deleted == true,
            let known = try mirror.ledger.formerBase(of: record.recordName)
        else { return parting }
        let former = mirror.mapping.agreedState(of: known, entity: layout)
            .adopting(local, arrival.state)
        guard let here = try withLinksCut(former, in: local),
            let there = try withLinksCut(here, in: arrival.state, isRemote: true)
        else { return parting }
        let empty = ObjectState(empty: layout)
        let edits = Set(local.edits(from: here) + here.edits(from: local))
        for slot in here.changes(from: empty) where parting.base.value(slot) == empty.value(slot) {
            if edits.contains(slot) {
                parting.base.copy(slot, from: here)
            } else if arrival.state.value(slot) == empty.value(slot),
                there.value(slot) != empty.value(slot)
            {
                parting.unclear.insert(slot)
            }
        }
        return parting
    }
}
