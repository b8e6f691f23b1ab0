internal import ObjectModel
internal import RecordWire
internal import SQLiteDriver
internal import SQLiteStore
internal import Stores

/// Watches the columns of counters, and names what was counted after the transaction that did it.
struct CountWatch {
    let mirror: MirrorTransaction

    private static let prefix = "ADIPTYCH_COUNT"

    /// Makes the triggers of the counters, and drops those of former ones. Cost: one question where
    /// nothing is to be done.
    func keepTriggers() throws {
        let wanted = counters()
        let present = try mirror.ledger.connection.rows(
            "SELECT name FROM sqlite_master WHERE type = 'trigger' AND name GLOB ?",
            [.text(Self.prefix + "_*")]
        ).compactMap { $0[0].string }
        let names = Set(wanted.flatMap { [$0.name("UPDATE"), $0.name("INSERT")] })
        for name in present where !names.contains(name) {
            try mirror.ledger.connection.run("DROP TRIGGER \"\(name)\"")
        }
        for counter in wanted where !present.contains(counter.name("INSERT")) {
            try make(counter)
        }
    }

    /// A column that counts.
    private struct Counter: Hashable {
        let table: String
        let column: String
        /// Stands for all rows of a table that names no entities.
        let entity: Int32

        func name(_ event: String) -> String { "\(prefix)_\(table)_\(column)_\(event)" }
    }

    private func counters() -> [Counter] {
        var counters: [String: Counter] = [:]
        for (entity, slots) in mirror.settings.countedSlots.sorted(by: { $0.key < $1.key }) {
            guard let columns = mirror.store.schema.columns(of: entity) else { continue }
            for slot in slots {
                let counter = Counter(
                    table: columns.table, column: columns.attributes[slot].name,
                    entity: columns.root)
                counters[counter.name("")] = counters[counter.name("")] ?? counter
            }
        }
        return counters.values.sorted { $0.name("") < $1.name("") }
    }

    private func make(_ counter: Counter) throws {
        let column = counter.column
        let namesEntities = try mirror.ledger.connection.value(
            "SELECT 1 FROM pragma_table_info(?) WHERE name = 'Z_ENT'", [.text(counter.table)])
        let entity = namesEntities == nil ? "\(counter.entity)" : "NEW.Z_ENT"
        let note = { (amount: String) in
            "INSERT INTO ADIPTYCHCOUNTLOG (ZENTITYID, ZENTITYPK, ZCOLUMN, ZAMOUNT, ZAFTER) "
                + "SELECT \(entity), NEW.Z_PK, '\(column)', \(amount), "
                // The transaction of the history that holds the change is the next one.
                + "(SELECT ifnull(max(Z_PK), 0) FROM ATRANSACTION); END"
        }
        try mirror.ledger.connection.run(
            "CREATE TRIGGER \(counter.name("UPDATE")) AFTER UPDATE OF \(column) ON "
                + "\(counter.table) WHEN NEW.\(column) IS NOT OLD.\(column) AND \(Self.isHeard) "
                + "BEGIN " + note("ifnull(NEW.\(column), 0) - ifnull(OLD.\(column), 0)"))
        try mirror.ledger.connection.run(
            "CREATE TRIGGER \(counter.name("INSERT")) AFTER INSERT ON \(counter.table) WHEN "
                + "ifnull(NEW.\(column), 0) <> 0 AND \(Self.isHeard) BEGIN "
                + note("NEW.\(column)"))
    }

    /// The mirror's own writes are no counts.
    private static let isHeard = "NOT EXISTS (SELECT 1 FROM ADIPTYCHQUIET)"

    // MARK: Naming

    /// Names what was counted up to the transaction `last`, which was looked at.
    func name(upTo last: Int64) throws {
        guard !mirror.settings.countedSlots.isEmpty, try mirror.ledger.keepsCounts() else { return }
        let lines = try mirror.ledger.connection.rows(
            "SELECT Z_PK, ZENTITYID, ZENTITYPK, ZCOLUMN, ZAMOUNT, ifnull((SELECT min(t.Z_PK) "
                + "FROM ATRANSACTION t WHERE t.Z_PK > ZAFTER), ZAFTER) AS number "
                + "FROM ADIPTYCHCOUNTLOG ORDER BY Z_PK")
        for line in lines {
            guard let number = line[5].int64, number <= last else { continue }
            try name(line, number)
            try mirror.ledger.connection.run(
                "DELETE FROM ADIPTYCHCOUNTLOG WHERE Z_PK = ?", [line[0]])
        }
    }

    private func name(_ line: [SQLiteValue], _ transaction: Int64) throws {
        guard let entity = line[1].int64, let key = line[2].int64, let column = line[3].string,
            // A difference that overflows is no integer.
            case .integer(let amount) = line[4]
        else { return }
        let row = RowID(entity: Int32(truncatingIfNeeded: entity), key: key)
        guard let property = property(of: column, row.entity),
            let name = try mirror.ledger.knownName(of: row)
        else { return }
        var naming = mirror.naming
        let label = try naming.countLabel(
            of: property, row, amount: amount, transaction: transaction)
        try mirror.ledger.keepCount(
            CountOperation(property: property, label: label, amount: amount), of: name)
    }

    /// The key of the counter that is kept in a column.
    private func property(of column: String, _ entity: Int32) -> String? {
        guard let layout = mirror.mapping.layout.entity(entity),
            let columns = mirror.store.schema.columns(of: entity)?.attributes
        else { return nil }
        let slot = mirror.settings.countedSlots[entity]?.first { columns[$0].name == column }
        return slot.map {
            mirror.mapping.keys.property(layout.attributes[$0].name, of: layout.name)
        }
    }
}
