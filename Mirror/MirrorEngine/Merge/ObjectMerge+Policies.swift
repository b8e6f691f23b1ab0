internal import Persistence
internal import Stores

/// Merge policies of the app's, which are asked about whole objects as saves ask them.
extension ObjectMerge {
    /// Asks the policies of an entity's attributes, where both sides changed any of them, and gives
    /// each attribute what its policy made of it. What the other side loses by that is logged.
    func askPolicies(
        _ outcome: inout Outcome, _ base: ObjectState, _ local: ObjectState, _ remote: ObjectState
    ) {
        for (asked, slots) in askedPolicies() {
            let isChanged = { (state: ObjectState) in
                slots.contains { state.attributes[$0] != base.attributes[$0] }
            }
            guard isChanged(local), isChanged(remote) else { continue }
            let values = try? asked.decide(
                entity.entity, base: base.attributes, own: local.attributes,
                other: remote.attributes)
            for slot in slots {
                settle(slot, values?[slot], &outcome, base, local, remote)
            }
        }
    }

    /// Each policy once, with the attributes it decides.
    private func askedPolicies() -> [(policy: NSMergePolicy, slots: [Int])] {
        var found: [(policy: NSMergePolicy, slots: [Int])] = []
        for slot in entity.attributes.indices {
            guard
                case .policy(let asked) = policy.rule(
                    entity: entity.name, property: entity.attributes[slot].name)
            else { continue }
            if let place = found.firstIndex(where: { $0.policy === asked }) {
                found[place].slots.append(slot)
            } else {
                found.append((asked, [slot]))
            }
        }
        return found
    }

    /// `value` is nil where the policy threw: what both changed waits for a decision.
    private func settle(
        _ index: Int, _ value: AttributeValue?, _ outcome: inout Outcome, _ base: ObjectState,
        _ local: ObjectState, _ remote: ObjectState
    ) {
        let slot = PropertySlot.attribute(index)
        let place = outcome.conflicts.firstIndex { $0.slot == slot }
        guard let value else {
            if let place { outcome.conflicts[place].take(.waiting) }
            return
        }
        guard place != nil || value != outcome.merged.attributes[index] else { return }
        var conflict = PropertyConflict(
            slot: slot, property: slot.name(in: entity), rule: "policy", base: base.value(slot),
            local: local.value(slot), remote: remote.value(slot))
        if value == local.attributes[index] {
            conflict.take(.local)
        } else if value == remote.attributes[index] {
            conflict.take(.remote)
        } else {
            conflict.result = .attribute(value)
            conflict.winner = .merged
        }
        if let place {
            outcome.conflicts[place] = conflict
        } else {
            outcome.conflicts.append(conflict)
        }
    }
}
