internal import RecordWire
internal import SQLiteDriver
internal import Stores

/// What waited for export when the store was migrated: of an edit that a copy of the store sent
/// under the former version of the model the ID is that of what was sent then, without what the
/// migration added.
struct FormerEdit {
    /// The keys of what was edited.
    var properties: Set<String> = []
    /// When the last of it was saved, where the history does not say so.
    var saved: SavedMoment?
}

/// The table is made when there is something to keep, and emptied when a round was whole.
extension Ledger {
    private static let formerEdits = "ADIPTYCHFORMEREDIT"

    func keepFormerEdit(_ edit: FormerEdit, of name: String) throws {
        try connection.run(
            "CREATE TABLE IF NOT EXISTS \(Self.formerEdits) (ZRECORDNAME VARCHAR PRIMARY KEY, "
                + "ZPROPERTIES VARCHAR, ZTRANSACTION INTEGER, ZDATE TIMESTAMP) WITHOUT ROWID")
        rare.note(.formerEdits)
        try connection.run(
            "INSERT OR REPLACE INTO \(Self.formerEdits) (ZRECORDNAME, ZPROPERTIES, ZTRANSACTION, "
                + "ZDATE) VALUES (?, ?, ?, ?)",
            [
                .text(name), .text(edit.properties.sorted().joined(separator: "\n")),
                SQLiteValue(edit.saved?.transaction), SQLiteValue(edit.saved?.date),
            ])
    }

    func formerEdit(of name: String) throws -> FormerEdit? {
        guard try mayHold(.formerEdits) else { return nil }
        let line = try connection.rows(
            "SELECT ZPROPERTIES, ZTRANSACTION, ZDATE FROM \(Self.formerEdits) "
                + "WHERE ZRECORDNAME = ?", [.text(name)]
        ).first
        guard let line, let properties = line[0].string else { return nil }
        return FormerEdit(
            properties: Set(properties.split(separator: "\n").map(String.init)),
            saved: SavedMoment(line[1], line[2]))
    }

    func forgetFormerEdits() throws {
        guard try mayHold(.formerEdits) else { return }
        try connection.run("DELETE FROM \(Self.formerEdits)")
        rare.empty(.formerEdits)
    }
}

extension MirrorTransaction {
    /// Whether an edit was in a property.
    func has(_ slot: PropertySlot, _ edit: FormerEdit, _ layout: EntityLayout) -> Bool {
        edit.properties.contains(mapping.keys.property(slot.name(in: layout), of: layout.name))
    }

    /// Leaves out of an object's record what an edit does not have.
    func leaveOut(allBut edit: FormerEdit, of record: inout Record, _ row: RowID) throws {
        let layout = try layout(of: row)
        let slots =
            layout.attributes.indices.map { PropertySlot.attribute($0) }
            + layout.toOnes.indices.map { PropertySlot.toOne($0) }
        for slot in slots where !has(slot, edit, layout) {
            for name in mapping.fieldNames(of: slot, layout).all {
                record.fields.removeValue(forKey: name)
            }
        }
    }
}
