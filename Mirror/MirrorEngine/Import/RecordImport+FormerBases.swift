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
        /// Properties that count as changed on both sides, although this one has them as in `base`:
        /// the other may have made the object from an older state, and never heard of their values.
        var unclear: [PropertySlot] = []
    }

    /// The base of a merge: `base` as far as that says anything, and what the object was before a
    /// deletion that this device did not follow.
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
        let edited = Set(local.edits(from: here) + here.edits(from: local))
        let told = Set(arrival.state.edits(from: there) + there.edits(from: arrival.state))
        for slot in here.changes(from: empty) where parting.base.value(slot) == empty.value(slot) {
            parting.base.copy(slot, from: here)
            if !edited.contains(slot), told.contains(slot), !isCounter(slot, of: layout) {
                parting.unclear.append(slot)
            }
        }
        return parting
    }

    /// Where nothing was counted here the other side's number is right: its counts are in it.
    private func isCounter(_ slot: PropertySlot, of layout: EntityLayout) -> Bool {
        let rule = mirror.settings.policy.rule(
            entity: layout.name, property: slot.name(in: layout))
        return rule.name == MergeRule.counter.name
    }
}
