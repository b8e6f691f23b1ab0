internal import ObjectModel
internal import Persistence
internal import RecordWire
package import Stores

/// Merges what one device and the service made of one object since they last agreed (MERGE.md).
///
/// Pure: the same three states give the same answer on every device.
package struct ObjectMerge: Sendable {
    package let policy: MergePolicy
    package let entity: EntityLayout
    /// When the two sides edited their properties, for the rule `latest`.
    private let localTimes: EditTimes
    private let remoteTimes: EditTimes

    package init(
        policy: MergePolicy, entity: EntityLayout, localTimes: EditTimes = EditTimes(),
        remoteTimes: EditTimes = EditTimes()
    ) {
        self.policy = policy
        self.entity = entity
        self.localTimes = localTimes
        self.remoteTimes = remoteTimes
    }

    /// What a merge came to.
    package struct Outcome: Sendable {
        package var merged: ObjectState
        /// Each property that both sides changed to different values.
        package var conflicts: [PropertyConflict] = []
    }

    /// Merges `local` and `remote`, which both come from `base` (nil: neither knew of the other).
    /// In the properties `unclear` both count as changed.
    package func merge(
        base: ObjectState?, local: ObjectState, remote: ObjectState,
        unclear: [PropertySlot] = []
    ) -> Outcome {
        var outcome = Outcome(merged: remote)
        let base = base ?? ObjectState(empty: entity)
        let changes = local.changes(from: base)
        for slot in changes + unclear.filter({ !changes.contains($0) }) {
            guard unclear.contains(slot) || !isSame(slot, remote, base) else {
                outcome.merged.copy(slot, from: local)
                continue
            }
            let agrees = agree(slot, local, remote)
            guard !agrees || isCounter(slot) else { continue }
            let conflict = resolve(slot, base: base, local: local, remote: remote)
            // Two equal values that are no counts are one value: nothing is to be decided.
            if !agrees || conflict.winner == .merged { outcome.conflicts.append(conflict) }
        }
        if policy.asksPolicies { askPolicies(&outcome, base, local, remote) }
        apply(&outcome, base: base, local: local, remote: remote)
        return outcome
    }

    /// Lays the settled values into the merged state; a whole-object rule overrules the properties,
    /// and what it discards joins the conflicts, so that nothing is lost silently.
    private func apply(
        _ outcome: inout Outcome, base: ObjectState, local: ObjectState, remote: ObjectState
    ) {
        if let rule = outcome.conflicts.first(where: { $0.rule == MergeRule.rollback.name })?.rule {
            discard(&outcome, from: local, base: base, keeping: remote, rule: rule, winner: .remote)
        } else if let rule = outcome.conflicts.first(where: { $0.rule == MergeRule.overwrite.name }
        )?
        .rule {
            discard(&outcome, from: remote, base: base, keeping: local, rule: rule, winner: .local)
        } else {
            for conflict in outcome.conflicts {
                outcome.merged.set(conflict.slot, to: conflict.result)
            }
        }
    }

    private func discard(
        _ outcome: inout Outcome, from loser: ObjectState, base: ObjectState,
        keeping kept: ObjectState, rule: String, winner: PropertyConflict.Winner
    ) {
        outcome.merged = kept
        for index in outcome.conflicts.indices { outcome.conflicts[index].take(winner) }
        let settled = Set(outcome.conflicts.map(\.slot))
        for slot in loser.changes(from: base)
        where !settled.contains(slot) && !isSame(slot, loser, kept) {
            let (local, remote) = winner == .local ? (kept, loser) : (loser, kept)
            var conflict = PropertyConflict(
                slot: slot, property: slot.name(in: entity), rule: rule, base: base.value(slot),
                local: local.value(slot), remote: remote.value(slot))
            conflict.take(winner)
            outcome.conflicts.append(conflict)
        }
    }

    /// Equal counts of two devices are two counts: both are added up.
    private func isCounter(_ slot: PropertySlot) -> Bool {
        policy.rule(entity: entity.name, property: slot.name(in: entity)).name
            == MergeRule.counter.name
    }

    /// Whether both sides came to the same value. A link's place in an ordered relationship is no
    /// matter of conflict: where only it differs, the service's is taken.
    private func agree(_ slot: PropertySlot, _ local: ObjectState, _ remote: ObjectState) -> Bool {
        if case .toOne(let index) = slot {
            return local.toOnes[index].map { ExactName($0.recordName) }
                == remote.toOnes[index].map { ExactName($0.recordName) }
        }
        return isSame(slot, local, remote)
    }

    private func resolve(
        _ slot: PropertySlot, base: ObjectState, local: ObjectState, remote: ObjectState
    ) -> PropertyConflict {
        let property = slot.name(in: entity)
        let rule = policy.rule(entity: entity.name, property: property)
        var conflict = PropertyConflict(
            slot: slot, property: property, rule: rule.name, base: base.value(slot),
            local: local.value(slot), remote: remote.value(slot))
        switch rule {
        case .local, .overwrite: conflict.take(.local)
        case .remote, .rollback: conflict.take(.remote)
        case .error: conflict.take(.waiting)
        case .latest: conflict.take(laterSide(of: property))
        case .policy(let asked): conflict.take(side(of: asked.mergeType))
        case .counter, .max, .min, .text, .set, .custom: combine(&conflict, by: rule)
        }
        return conflict
    }

    /// A side that knows no time of its edit yields to one that does.
    private func laterSide(of property: String) -> PropertyConflict.Winner {
        guard let remote = remoteTimes.times[property] else { return .local }
        guard let local = localTimes.times[property] else { return .remote }
        return local < remote ? .remote : .local
    }

    /// Settles a conflict by a rule that computes a value; where it cannot, by the standard rule.
    private func combine(_ conflict: inout PropertyConflict, by rule: MergeRule) {
        if let value = combined(conflict, by: rule) {
            conflict.result = value
            conflict.winner = .merged
            return
        }
        switch policy.standard {
        case .remote, .rollback: conflict.take(.remote)
        case .error: conflict.take(.waiting)
        case .policy(let asked): conflict.take(side(of: asked.mergeType))
        default: conflict.take(.local)
        }
    }

    /// Whose value a policy's kind takes, property by property.
    private func side(of type: NSMergePolicyType) -> PropertyConflict.Winner {
        switch MergeRule(of: type) {
        case .remote, .rollback: .remote
        case .error: .waiting
        default: .local
        }
    }

    private func combined(_ conflict: PropertyConflict, by rule: MergeRule) -> PropertyValue? {
        if case .custom(let answer) = rule { return custom(conflict, answer) }
        guard case .attribute(let base) = conflict.base,
            case .attribute(let local) = conflict.local,
            case .attribute(let remote) = conflict.remote
        else { return nil }
        // Of an asset that both sides changed nobody has the base.
        let isBaseGone = AssetStandIn(base) != nil
        let value: AttributeValue? =
            switch rule {
            case .counter: Combination.counter(base: base, local: local, remote: remote)
            case .max: Combination.larger(local, remote)
            case .min: Combination.smaller(local, remote)
            case .text where isBaseGone, .set where isBaseGone: nil
            case .text: Combination.text(base: base, local: local, remote: remote)
            case .set: SetMerge.merge(base: base, local: local, remote: remote)
            default: nil
            }
        guard let value, fits(value, conflict.slot) else { return nil }
        return .attribute(value)
    }

    /// Whether the attribute can hold a value that was computed.
    private func fits(_ value: AttributeValue, _ slot: PropertySlot) -> Bool {
        guard case .attribute(let index) = slot, case .integer(let integer) = value else {
            return true
        }
        return AttributeCoding.range(of: entity.attributes[index].attribute.attributeType)?
            .contains(integer) ?? true
    }

    private func custom(
        _ conflict: PropertyConflict, _ answer: (MergeQuestion) -> FieldValue?
    ) -> PropertyValue? {
        let question = MergeQuestion(
            entity: entity.name, property: conflict.property, base: conflict.base.wire,
            local: conflict.local.wire, remote: conflict.remote.wire)
        let field = answer(question)
        if let side = Self.side(of: conflict, spelledAs: field) { return side }
        switch conflict.slot {
        case .attribute(let slot):
            let type = entity.attributes[slot].attribute.attributeType
            // No save would take an object that lacks a required value.
            guard field != nil || entity.attributes[slot].attribute.isOptional else { return nil }
            let value = try? AttributeCoding.value(plain: field, exact: nil, type: type)
            // The content of an asset that is not here is no value.
            return value.flatMap { AssetStandIn($0) == nil ? .attribute($0) : nil }
        case .toOne(let slot):
            // A name that no side has may be of no object, for which the link would wait for ever.
            return field == nil && entity.toOnes[slot].isOptional ? .link(nil) : nil
        }
    }

    /// The side that an answer is. A time or a number on the wire may say less than the value that
    /// it was made of, and a name does not tell a link's place.
    private static func side(
        of conflict: PropertyConflict, spelledAs field: FieldValue?
    ) -> PropertyValue? {
        [conflict.local, conflict.remote, conflict.base].first { side in
            switch (side, field) {
            case (.attribute, .timestamp), (.attribute, .double), (_, nil): side.wire == field
            case (.link(let link?), .string(let name)): link.recordName.isExactly(name)
            default: false
            }
        }
    }

    private func isSame(_ slot: PropertySlot, _ one: ObjectState, _ other: ObjectState) -> Bool {
        switch slot {
        case .attribute(let index): one.attributes[index] == other.attributes[index]
        case .toOne(let index): one.toOnes[index] == other.toOnes[index]
        }
    }
}
