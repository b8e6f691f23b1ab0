internal import ObjectModel
internal import RecordWire
internal import SQLiteStore
internal import Stores

/// An object that has a unique key which another one is to get.
struct KeyHolder {
    var row: RowID
    /// The properties of the key.
    var names: [String]
}

/// Unique keys that pass from one object to another within one page.
///
/// Whoever holds a wanted key may be about to give it up: its own record, or its deletion, comes
/// later in the same page. Only a holder that keeps its key is the same object made twice.
extension RecordImport {
    /// Settles the holder of a wanted key first, as far as this page has more about it. Returns
    /// whether anything was done, so that it is worth looking again.
    mutating func givesUpKey(_ holder: KeyHolder) throws -> Bool {
        if let arrival = incomplete.removeValue(forKey: holder.row) {
            try complete(arrival)
            return true
        }
        if let wanted = settling[holder.row] { return try park(holder, until: wanted) }
        guard !deletionsAhead.records.isEmpty,
            let name = try mirror.ledger.knownName(of: holder.row),
            let place = deletionsAhead.records.firstIndex(where: {
                $0.recordName.utf8.elementsEqual(name.utf8)
            })
        else { return try takeBackKey(of: holder) }
        try applyDeletion(of: deletionsAhead.records.remove(at: place))
        return true
    }

    /// An object that has its key by an edit which its user may not make, or has no say in, keeps
    /// the key of its record: what another made is not to take a third one's in. The edit of the
    /// key is in the log. Returns false where the key is not such a one.
    private mutating func takeBackKey(of holder: KeyHolder) throws -> Bool {
        guard let name = try mirror.ledger.knownName(of: holder.row),
            let entry = try mirror.ledger.entry(named: name), let base = entry.base, !base.deleted,
            try isOthers(base), let row = try mirror.store.row(holder.row)
        else { return false }
        let layout = try mirror.layout(of: holder.row)
        let local = try mirror.state(of: row, named: name)
        let former = mirror.mapping.agreedState(of: base, entity: layout).adopting(local)
        var kept = local
        for slot in local.changes(from: former) where holder.names.contains(slot.name(in: layout)) {
            kept.copy(slot, from: former)
        }
        let edited = local.changes(from: kept)
        guard !edited.isEmpty, try self.holder(of: kept, layout, except: holder.row) == nil else {
            return false
        }
        for slot in edited {
            var conflict = PropertyConflict(
                slot: slot, property: slot.name(in: layout), rule: Self.uniqueRule,
                base: former.value(slot), local: local.value(slot), remote: former.value(slot))
            conflict.take(.remote)
            try log(conflict, layout, name, by: base.modified)
        }
        try change(row.id, from: local, to: kept, layout, named: name)
        try flush()
        try settle(entry)
        return true
    }

    /// Whether the record is another's in the public database, or may not be written as far as the
    /// service has said.
    private func isOthers(_ record: Record) throws -> Bool {
        if try mirror.ledger.isDenied(record.recordName) { return true }
        guard mirror.settings.scope.isPublic, let maker = record.created?.userRecordName,
            let user = try mirror.ledger.userName()
        else { return false }
        return !maker.isExactly(user)
    }

    /// Two objects exchange their keys: the one that is being settled lets go of its own until it
    /// gets the other's. Returns false when it keeps its key.
    private mutating func park(_ holder: KeyHolder, until wanted: ObjectState) throws -> Bool {
        guard let row = try mirror.store.row(holder.row) else { return false }
        let layout = try mirror.layout(of: holder.row)
        var update = RowUpdate(id: holder.row)
        for name in holder.names {
            if let slot = layout.attributeSlot(name) {
                guard row.attributes[slot] != wanted.attributes[slot] else { continue }
                update.attributes.append((slot, .null))
            } else if let slot = layout.toOneSlot(name) {
                let target = try wanted.toOnes[slot].flatMap {
                    try mirror.ledger.row(named: $0.recordName)
                }
                guard row.toOnes[slot]?.target != target else { continue }
                update.toOnes.append((slot, nil))
            }
        }
        guard !update.isEmpty else { return false }
        changes.updates.append(update)
        try flush()
        return true
    }
}
