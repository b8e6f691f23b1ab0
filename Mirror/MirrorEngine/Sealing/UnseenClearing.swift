internal import RecordWire
internal import SQLiteStore
internal import Stores

extension PropertyConflict {
    /// A value that was cleared upon one whose key is not here, and gives way to it.
    static func unseenClearing(
        of property: PropertySlot, _ layout: EntityLayout, upon base: ObjectState
    ) -> PropertyConflict {
        var conflict = PropertyConflict(
            slot: property, property: property.name(in: layout), rule: "key",
            base: base.value(property), local: .attribute(.null), remote: .attribute(.null))
        conflict.take(.remote)
        return conflict
    }
}

extension MirrorTransaction {
    /// Logs what an update among the history cleared of an object whose edit waits for a key: the
    /// row looks as if nobody had edited it then, and the value that comes with the key takes its
    /// place.
    func logUnseenClearings(of row: RowID, _ changed: Set<String>) throws {
        guard !changed.isEmpty, let sealed = mapping.sealedSlots[row.entity],
            let layout = mapping.layout.entity(row.entity)
        else { return }
        let edited = sealed.filter { slot in
            let name = PropertySlot.attribute(slot).name(in: layout)
            return changed.contains(String(name.prefix { $0 != "." }))
        }
        guard !edited.isEmpty, let entry = try ledger.entry(for: row), let base = entry.base,
            try !base.deleted && ledger.isRefused(entry.recordName, .keyMissing),
            let held = try store.row(row)
        else { return }
        let agreed = mapping.agreedState(of: base, entity: layout)
        for slot in edited
        where held.attributes[slot].isNull && mapping.isLocked(slot, layout, in: base) {
            try ledger.log(
                .unseenClearing(of: .attribute(slot), layout, upon: agreed), entity: layout.name,
                recordName: entry.recordName, by: base.modified)
        }
    }
}
