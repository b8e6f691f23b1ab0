internal import RecordWire
internal import SQLiteDriver
internal import SQLiteStore
internal import Stores

/// Properties whose values a migration computed, as long as they were not sent: they give way to
/// what somebody gave elsewhere meanwhile. An edit made here makes the value the user's.
extension Ledger {
    static let computedTable =
        "CREATE TABLE IF NOT EXISTS ADIPTYCHCOMPUTED (ZRECORDNAME VARCHAR, ZPROPERTY VARCHAR, "
        + "PRIMARY KEY (ZRECORDNAME, ZPROPERTY)) WITHOUT ROWID"

    /// `property` by its key.
    func noteComputed(_ property: String, of name: String) throws {
        try connection.run(
            "INSERT OR IGNORE INTO ADIPTYCHCOMPUTED (ZRECORDNAME, ZPROPERTY) VALUES (?, ?)",
            [.text(name), .text(property)])
        rare.note(.computed)
    }

    /// The keys of such properties of an object.
    func computedProperties(of name: String) throws -> Set<String> {
        guard try mayHold(.computed) else { return [] }
        return Set(
            try connection.rows(
                "SELECT ZPROPERTY FROM ADIPTYCHCOMPUTED WHERE ZRECORDNAME = ?", [.text(name)]
            ).compactMap { $0[0].string })
    }

    /// They were sent, edited, or gave way: all of an object, or one.
    func forgetComputed(of name: String, _ property: String? = nil) throws {
        guard try mayHold(.computed) else { return }
        try connection.run(
            "DELETE FROM ADIPTYCHCOMPUTED WHERE ZRECORDNAME = ?1 AND ZPROPERTY = "
                + "ifnull(?2, ZPROPERTY)", [.text(name), SQLiteValue(property)])
    }
}

extension HistoryTransaction {
    /// Whether a handler of a staged migration saved it, which every device runs.
    var isComputed: Bool { processID == HistoryOrigin.stages }
}

extension MirrorTransaction {
    /// The properties of `changed` are the user's now.
    func noteUserEdit(of row: RowID, _ changed: Set<String>) throws {
        guard !changed.isEmpty, try ledger.mayHold(.computed),
            let name = try ledger.knownName(of: row),
            let layout = mapping.layout.entity(row.entity)
        else { return }
        for property in try ledger.computedProperties(of: name) {
            let present = mapping.keys.propertyName(property, of: layout.name)
            guard changed.contains(String(present.prefix { $0 != "." })) else { continue }
            try ledger.forgetComputed(of: name, property)
        }
    }
}

extension RecordImport {
    /// What the log calls it where a value that a migration computed gives way.
    static let migrationRule = "migration"

    /// The object as nobody but its users made it: a value that a migration computed gives way to
    /// one that came from elsewhere, and is logged.
    mutating func withoutComputed(
        _ local: ObjectState, base: ObjectState, _ arrival: Arrival
    ) throws -> ObjectState {
        let (name, layout) = (arrival.entry.recordName, arrival.layout)
        let computed = try mirror.ledger.computedProperties(of: name)
        guard !computed.isEmpty else { return local }
        var own = local
        for slot in local.changes(from: base) {
            let key = mirror.mapping.keys.property(slot.name(in: layout), of: layout.name)
            let given = arrival.state.value(slot)
            guard computed.contains(key), given != base.value(slot) else { continue }
            own.copy(slot, from: base)
            try mirror.ledger.forgetComputed(of: name, key)
            guard given != local.value(slot) else { continue }
            var conflict = PropertyConflict(
                slot: slot, property: slot.name(in: layout), rule: Self.migrationRule,
                base: base.value(slot), local: local.value(slot), remote: given)
            conflict.take(.remote)
            try log(conflict, layout, name, by: arrival.record.modified)
        }
        return own
    }
}
