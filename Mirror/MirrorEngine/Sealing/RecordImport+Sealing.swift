internal import ObjectModel
internal import RecordWire
internal import Stores

/// Sealed values that somebody without their key brought along.
extension RecordImport {
    /// An edit of what cannot be read here waits for the key, whatever the rule: nobody can say
    /// what it would be merged with. Nothing tells a value that was cleared from one that cannot be
    /// shown, so a clearing gives way, and is in the log.
    func keepUnseen(
        _ result: inout ObjectMerge.Outcome, local: ObjectState, base: ObjectState?,
        _ arrival: Arrival
    ) {
        for slot in mirror.mapping.sealedSlots[arrival.layout.number] ?? [] {
            let value = local.attributes[slot]
            guard value != base?.attributes[slot],
                mirror.mapping.isLocked(slot, arrival.layout, in: arrival.record)
            else { continue }
            let property = PropertySlot.attribute(slot)
            if value.isNull {
                guard let base else { continue }
                result.conflicts.removeAll { $0.slot == property }
                result.conflicts.append(
                    .unseenClearing(of: property, arrival.layout, upon: base))
            } else {
                result.merged.attributes[slot] = value
                result.conflicts.removeAll { $0.slot == property }
            }
        }
    }

    /// Logs what a record newly carries beside the values it has: the values of an object that was
    /// merged into it where nobody could read them. Those of objects that were merged here too were
    /// logged then.
    mutating func logCarried(
        _ record: Record, _ layout: EntityLayout, _ state: ObjectState, known: Record?
    ) throws {
        guard record.fields[RecordNames.carriedSeals] != nil else { return }
        let former = Set(known.map { CarriedSeals($0.fields).seals } ?? [])
        for slot in mirror.mapping.sealedSlots[layout.number] ?? [] {
            for seal in mirror.mapping.carried(slot, layout, in: record)
            where !former.contains(seal) {
                try logCarried(seal, slot, layout, state, of: record)
            }
        }
    }

    /// Whether the object of that name was made one with another here, or will be. One whose
    /// deletion comes in this page goes without: it was made one with another elsewhere.
    private func isMergedHere(_ name: String) throws -> Bool {
        if try mirror.ledger.alias(of: name) != nil { return true }
        let goes = deletionsAhead.records.contains {
            $0.recordName.utf8.elementsEqual(name.utf8)
        }
        return try !goes && mirror.ledger.entry(named: name) != nil
    }

    /// Logs one carried value, where it is not the object's and was not merged here, or `isUnseen`:
    /// it was, while it could not be read.
    mutating func logCarried(
        _ seal: CarriedSeals.Seal, _ slot: Int, _ layout: EntityLayout, _ state: ObjectState,
        of record: Record, isUnseen: Bool = false
    ) throws {
        let value = try mirror.mapping.value(of: seal, slot, layout)
        guard !value.isNull, value != state.attributes[slot],
            try isUnseen || !isMergedHere(seal.record)
        else { return }
        let slot = PropertySlot.attribute(slot)
        var conflict = PropertyConflict(
            slot: slot, property: slot.name(in: layout), rule: "unique", base: .attribute(.null),
            local: state.value(slot), remote: .attribute(value))
        conflict.take(.local)
        try log(conflict, layout, record.recordName, by: record.modified)
    }
}
