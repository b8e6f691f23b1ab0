internal import Foundation
internal import ObjectModel
internal import SQLiteDriver
internal import Stores

/// Brings the tables that know entities by number to the new numbers: keys, history, and whatever
/// else names rows.
struct BookkeepingUpgrade {
    let plan: UpgradePlan
    let connection: Connection

    func run() throws {
        try renameUnseenEdits()
        try renameCounters()
        try keepFormerRows()
        try moveReferences()
        try moveHistory()
        try rewriteKeys()
    }

    // MARK: Keys

    private func rewriteKeys() throws {
        try connection.run(
            "DELETE FROM Z_PRIMARYKEY WHERE Z_ENT < ?",
            [.integer(BookkeepingTables.systemNumbersStart)])
        try BookkeepingTables.fill(connection, layout: plan.new.layout)
        for (root, highest) in plan.highestKeys {
            try connection.run(
                "UPDATE Z_PRIMARYKEY SET Z_MAX = ? WHERE Z_ENT = ?",
                [.integer(highest), .integer(Int64(root))])
        }
    }

    // MARK: References from system tables

    /// System tables name a row by `ZENTITYID` and `ZENTITYPK`. What named a row of an entity that
    /// is gone goes, too: its number may be another's now. A mirror's line stays, under number 0:
    /// the mirror knows what to do with it.
    private func moveReferences() throws {
        let tables = try TableColumns.all(in: connection).values.filter {
            $0.name.hasPrefix("A") && $0.has("ZENTITYID") && $0.has("ZENTITYPK")
        }
        for table in tables.sorted(by: { $0.name < $1.name }) {
            if table.has("ZCKRECORDNAME") { try orphanLines(in: table.quoted) }
            try move(table.quoted, entity: "ZENTITYID", isUnique: true)
        }
    }

    private func renameUnseenEdits() throws {
        try UnseenEdits(connection: connection).rename { entity, name in
            plan.move(from: entity).flatMap { presentName(of: name, $0) }
        }
    }

    /// What was counted in a column, and has no name yet, was counted in the column that it is now.
    private func renameCounters() throws {
        let table = "ADIPTYCHCOUNTLOG"
        guard try !HistoryTables.columns(of: table, connection).isEmpty else { return }
        for row in try connection.rows("SELECT DISTINCT ZENTITYID, ZCOLUMN FROM \(table)") {
            guard let entity = row[0].int64, let column = row[1].string,
                let move = plan.move(from: Int32(truncatingIfNeeded: entity))
            else { continue }
            let present = newColumn(of: column, move)
            // In two steps, as for unseen edits.
            try connection.run(
                "UPDATE \(table) SET ZCOLUMN = '=' || ? WHERE ZENTITYID = ? AND ZCOLUMN = ?",
                [.text(present ?? ""), row[0], row[1]])
        }
        try connection.run(
            "UPDATE \(table) SET ZCOLUMN = substr(ZCOLUMN, 2) WHERE ZCOLUMN GLOB '=*'")
    }

    private func newColumn(of column: String, _ move: EntityMove) -> String? {
        guard let slot = move.oldColumns.attributes.firstIndex(where: { $0.name == column }),
            let name = presentName(of: move.old.attributes[slot].name, move),
            let present = move.new.attributeSlot(name)
        else { return nil }
        return move.newColumns.attributes[present].name
    }

    /// A property of an old entity, or an element of a composite, by its name now.
    private func presentName(of name: String, _ move: EntityMove) -> String? {
        let path = name.split(separator: ".").map(String.init)
        guard let top = path.first else { return nil }
        guard path.count > 1 else { return move.match.name(ofFormer: top) }
        guard let match = move.match.attributes.first(where: { $0.source?.name == top }),
            let below = match.presentPath(ofFormer: path.dropFirst())
        else { return nil }
        return ([match.destination.name] + below).joined(separator: ".")
    }

    /// A mirror that has not looked yet names new objects and counts by the numbers of then.
    private func keepFormerRows() throws {
        guard try MirrorTables.exist(in: connection),
            let last = try MirrorTables.seenTransaction(in: connection)
        else { return }
        let moved = moved.map(\.old.number)
        if !moved.isEmpty { try FormerRowNumbers(connection: connection).note(moved, after: last) }
    }

    /// The entities whose rows are called otherwise now.
    private var moved: [EntityMove] {
        plan.moves.filter {
            $0.old.number != $0.new.number
                || plan.offset(from: $0.old.number, to: $0.new.number) != 0
        }
    }

    /// The numbers of the entities that are gone, as SQL lists them; nil for none.
    private var goneList: String? {
        let gone = plan.old.layout.entities.map(\.number).filter { plan.move(from: $0) == nil }
        return gone.isEmpty ? nil : gone.map { "\($0)" }.joined(separator: ", ")
    }

    private func orphanLines(in table: String) throws {
        guard let goneList else { return }
        try connection.run(
            "UPDATE \(table) SET ZENTITYID = 0, ZENTITYPK = -Z_PK WHERE ZENTITYID IN (\(goneList))")
    }

    private func move(_ table: String, entity column: String, isUnique: Bool = false) throws {
        if let goneList {
            try connection.run("DELETE FROM \(table) WHERE \(column) IN (\(goneList))")
        }
        let moved = moved
        guard !moved.isEmpty else { return }
        // Where a table is unique in its rows, in two steps, by way of negative numbers: a line
        // must not get the numbers of one that is still to move.
        let sign = isUnique ? "-" : ""
        let numbers = moved.map { "WHEN \($0.old.number) THEN \(sign)\($0.new.number)" }
        let keys = moved.map {
            "WHEN \($0.old.number) THEN "
                + plan.key("ZENTITYPK", from: $0.old.number, to: $0.new.number)
        }
        let list = moved.map { "\($0.old.number)" }.joined(separator: ", ")
        try connection.run(
            "UPDATE \(table) SET \(column) = CASE \(column) \(numbers.joined(separator: " ")) END, "
                + "ZENTITYPK = CASE \(column) \(keys.joined(separator: " ")) END "
                + "WHERE \(column) IN (\(list))")
        guard isUnique else { return }
        try connection.run("UPDATE \(table) SET \(column) = -\(column) WHERE \(column) < 0")
    }

    // MARK: History

    private func moveHistory() throws {
        let present = try HistoryTables.columns(of: "ACHANGE", connection)
        guard !present.isEmpty else { return }
        try moveBitmaps()
        try moveTombstones(present)
        try move("ACHANGE", entity: "ZENTITY")
    }

    /// Each bitmap that occurs is rewritten once.
    private func moveBitmaps() throws {
        let rows = try connection.rows(
            "SELECT DISTINCT ZENTITY, ZCOLUMNS FROM ACHANGE WHERE ZCOLUMNS NOT NULL")
        var changed: [(entity: Int64, old: Data, new: Data)] = []
        for row in rows {
            guard let number = row[0].int64, let bitmap = row[1].data,
                let move = plan.move(from: Int32(truncatingIfNeeded: number))
            else { continue }
            let old = ChangedColumns(
                schema: plan.old, columns: move.oldColumns, layout: move.old)
            let new = ChangedColumns(
                schema: plan.new, columns: move.newColumns, layout: move.new)
            let names = old.properties(in: bitmap).compactMap {
                move.match.name(ofFormer: $0)
            }
            let made = new.bitmap(of: update(of: names, in: move.new))
            if made != bitmap { changed.append((number, bitmap, made)) }
        }
        guard !changed.isEmpty else { return }
        // Two steps: a bitmap that one change gets may be the one that another had.
        try connection.script("CREATE TEMP TABLE bitmaps (entity INTEGER, old BLOB, new BLOB)")
        for (entity, old, new) in changed {
            try connection.run(
                "INSERT INTO temp.bitmaps VALUES (?, ?, ?)",
                [.integer(entity), .blob(old), .blob(new)])
        }
        try connection.script("CREATE INDEX temp.bitmap_index ON bitmaps (entity, old)")
        try connection.run(
            "UPDATE ACHANGE SET ZCOLUMNS = b.new FROM temp.bitmaps AS b "
                + "WHERE b.entity = ACHANGE.ZENTITY AND b.old = ACHANGE.ZCOLUMNS")
        try connection.script("DROP TABLE temp.bitmaps")
    }

    private func update(of names: [String], in layout: EntityLayout) -> RowUpdate {
        var update = RowUpdate(id: RowID(entity: layout.number, key: 0))
        let wanted = Set(names)
        for (slot, attribute) in layout.attributes.enumerated()
        where wanted.contains(String(attribute.name.prefix { $0 != "." })) {
            update.attributes.append((slot, .null))
        }
        for name in names {
            if let slot = layout.toOneSlot(name) { update.toOnes.append((slot, nil)) }
            if let slot = layout.toManySlot(name) { update.changedToManys.append(slot) }
        }
        return update
    }

    /// The values of a tombstone stand in order of the attributes that are kept after deletion.
    private func moveTombstones(_ present: Set<String>) throws {
        let count = (0...).first { !present.contains("ZTOMBSTONE\($0)") } ?? 0
        let wanted = plan.new.preservedCountMax
        for number in count..<max(count, wanted) {
            try connection.script("ALTER TABLE ACHANGE ADD COLUMN ZTOMBSTONE\(number) BLOB")
        }
        for move in plan.moves {
            let old = plan.old.preservedSlots(of: move.old.number)
            let new = plan.new.preservedSlots(of: move.new.number)
            let places = new.map { slot in
                plan.formerSlot(of: move.new.attributes[slot].name, in: move)
                    .flatMap { old.firstIndex(of: $0) }
            }
            guard places != old.indices.map({ $0 }), !(old.isEmpty && new.isEmpty) else { continue }
            let list = (0..<max(count, wanted)).map { number -> String in
                let from = number < places.count ? places[number] : nil
                let value = from.flatMap { $0 < count ? "ZTOMBSTONE\($0)" : nil }
                return "ZTOMBSTONE\(number) = \(value ?? "NULL")"
            }
            guard !list.isEmpty else { continue }
            try connection.run(
                "UPDATE ACHANGE SET \(list.joined(separator: ", ")) "
                    + "WHERE ZENTITY = \(move.old.number) AND ZCHANGETYPE = 2")
        }
        for number in wanted..<max(count, wanted) {
            try connection.script("ALTER TABLE ACHANGE DROP COLUMN ZTOMBSTONE\(number)")
        }
    }
}
