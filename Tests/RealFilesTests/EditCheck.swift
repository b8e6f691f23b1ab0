import Foundation
import ObjectModel
import Persistence
import SQLiteDriver
import SQLiteStore
import Stores

/// Looks with plain SQL at what an edit left in the file, beside the rows Apple left there.
struct EditCheck {
    private let edit: StoreEdit
    private let opened: OpenedStore
    private let schema: StoreSchema
    private(set) var failures: [String] = []

    /// Opens the file anew, as another program would.
    init(_ edit: StoreEdit, reopening url: URL, _ model: NSManagedObjectModel) throws {
        self.edit = edit
        opened = try OpenedStore(url, model)
        schema = try opened.rows.read { $0.schema }
    }

    mutating func run() throws {
        let answer = try opened.sql("PRAGMA integrity_check").map { $0[0].string ?? "" }
        check(answer == ["ok"], "integrity: \(answer.prefix(3))")
        try checkKeys()
        try checkVersions()
        try checkLinks()
        try checkStorageClasses()
        try checkCounts()
        try checkHistory()
        var comparison = try StoreComparison(opened)
        try comparison.run()
        failures += comparison.failures
    }

    private mutating func check(_ isRight: Bool, _ what: @autoclosure () -> String) {
        if !isRight { failures.append(what()) }
    }

    private func roots() -> [EntityColumns] {
        schema.layout.entities.compactMap { schema.columns(of: $0.number) }
            .filter { $0.number == $0.root }
    }

    // MARK: Rows

    /// Z_MAX stands in the root's row and is the highest key or more.
    private mutating func checkKeys() throws {
        for root in roots() {
            let highest = try opened.sql("SELECT IFNULL(max(Z_PK), 0) FROM \(root.table)")[0][0]
            let register = try opened.sql(
                "SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = \(root.number)")[0][0]
            check(
                register.int64 ?? 0 >= highest.int64 ?? 0,
                "\(root.table): Z_MAX \(register), highest key \(highest)")
        }
        let others = try opened.sql(
            "SELECT count(*) FROM Z_PRIMARYKEY WHERE Z_ENT < 16000 AND Z_SUPER > 0 AND Z_MAX > 0")
        check(others[0][0] == 0, "a subentity has a Z_MAX")
    }

    /// A new row starts at 1, a changed one goes up, and all others keep theirs.
    private mutating func checkVersions() throws {
        for root in roots() {
            let old = edit.before[root.table] ?? [:]
            for row in try opened.sql("SELECT Z_PK, Z_ENT, Z_OPT FROM \(root.table)") {
                let id = RowID(entity: Int32(row[1].int64 ?? 0), key: row[0].int64 ?? 0)
                let version = row[2].int64 ?? 0
                if let former = old[id.key] {
                    check(
                        edit.updatedRows.contains(where: { $0.key == id.key })
                            ? version >= former : version == former,
                        "\(root.table) \(id.key): version \(former) became \(version)")
                } else {
                    check(version >= 1, "\(root.table) \(id.key): a new row of version \(version)")
                    check(
                        edit.insertedRows.contains(id),
                        "\(root.table) \(id.key): Z_ENT \(id.entity) was not inserted")
                }
            }
        }
    }

    /// Companions name the target's entity; members of an ordered to-many have distinct places,
    /// 1024 apart where they were added at the end.
    private mutating func checkLinks() throws {
        for layout in schema.layout.entities {
            guard let columns = schema.columns(of: layout.number) else { continue }
            let rows = edit.insertedRows.filter { $0.entity == layout.number }
            for (slot, link) in columns.toOnes.enumerated() {
                // Without an inverse, or with the rule to do nothing, links outlive their targets.
                guard let target = link.destinationTable,
                    let inverse = layout.toOnes[slot].inverseRelationship,
                    inverse.deleteRule != .noActionDeleteRule
                else { continue }
                for row in rows {
                    let found = try opened.sql(
                        "SELECT s.\(link.key), \(link.companion.map { "s.\($0)" } ?? "NULL"), "
                            + "\(link.order.map { "s.\($0)" } ?? "NULL"), t.Z_ENT, t.Z_PK "
                            + "FROM \(columns.table) s "
                            + "LEFT JOIN \(target) t ON t.Z_PK = s.\(link.key) "
                            + "WHERE s.Z_PK = \(row.key)")
                    guard let cells = found.first, !cells[0].isNull else { continue }
                    check(!cells[4].isNull, "\(columns.table).\(link.key): a link to nothing")
                    check(
                        link.companion == nil || cells[1] == cells[3],
                        "\(columns.table).\(link.companion ?? ""): \(cells[1]) for \(cells[3])")
                    check(
                        link.order == nil || (cells[2].int64 ?? 0) > 0,
                        "\(columns.table).\(link.order ?? ""): \(cells[2])")
                }
            }
        }
    }

    /// Our values are of the classes (integer, real, text, blob) Apple's are in the same column.
    private mutating func checkStorageClasses() throws {
        for layout in schema.layout.entities {
            guard let columns = schema.columns(of: layout.number) else { continue }
            let ours = edit.insertedRows.filter { $0.entity == layout.number }.map { "\($0.key)" }
            guard !ours.isEmpty else { continue }
            let list = ours.joined(separator: ", ")
            for column in columns.attributes {
                let classes = try opened.sql(
                    "SELECT DISTINCT typeof(\(column.name)), Z_PK IN (\(list)) "
                        + "FROM \(columns.table) WHERE \(column.name) IS NOT NULL")
                func set(_ mine: Int64) -> Set<String> {
                    Set(classes.filter { $0[1].int64 == mine }.compactMap { $0[0].string })
                }
                let numbers: Set<String> = ["integer", "real"]
                let theirs = set(0)
                guard !theirs.isEmpty else { continue }
                let allowed = theirs.isDisjoint(with: numbers) ? theirs : theirs.union(numbers)
                check(
                    set(1).isSubset(of: allowed),
                    "\(columns.table).\(column.name): \(set(1)) beside Apple's \(theirs)")
            }
        }
    }

    /// Counts that triggers keep are the counts there are.
    private mutating func checkCounts() throws {
        for layout in schema.layout.entities {
            guard let columns = schema.columns(of: layout.number) else { continue }
            for (slot, attribute) in layout.attributes.enumerated() {
                guard let derived = attribute.attribute as? NSDerivedAttributeDescription,
                    let text = derived.derivationExpressionText, text.hasPrefix("count:("),
                    let toMany = layout.toManySlot(String(text.dropFirst(7).dropLast())),
                    case .inverse(let members) = columns.toManys[toMany]
                else { continue }
                let column = columns.attributes[slot].name
                let wrong = try opened.sql(
                    "SELECT count(*) FROM \(columns.table) o WHERE IFNULL(\(column), 0) <> "
                        + "(SELECT count(*) FROM \(members.table) WHERE \(members.key) = o.Z_PK)")
                check(wrong[0][0] == 0, "\(columns.table).\(column): \(wrong[0][0]) wrong counts")
            }
        }
    }

    // MARK: History

    private mutating func checkHistory() throws {
        let saves = try opened.sql(
            "SELECT Z_PK, Z_ENT, Z_OPT, typeof(ZTIMESTAMP), ZAUTHOR, ZAUTHORTS, ZPROCESSIDTS "
                + "FROM ATRANSACTION WHERE Z_PK > \(edit.lastTransaction)")
        let made = edit.counts.saves
        check(saves.count == made, "\(saves.count) of \(made) saves")
        for row in saves {
            check(
                row[1] == 16002 && row[2].isNull && row[3] == "real" && row[4].isNull
                    && !row[5].isNull && !row[6].isNull, "transaction \(row)")
        }
        let author = try opened.sql(
            "SELECT ZNAME, Z_ENT, Z_OPT FROM ATRANSACTIONSTRING WHERE Z_PK IN "
                + "(SELECT ZAUTHORTS FROM ATRANSACTION WHERE Z_PK > \(edit.lastTransaction))")
        check(
            saves.isEmpty || author == [["writing tests", 16003, .null]], "author \(author)")
        for (number, table) in [(16001, "ACHANGE"), (16002, "ATRANSACTION")] {
            let rows = try opened.sql(
                "SELECT (SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = \(number)), "
                    + "(SELECT IFNULL(max(Z_PK), 0) FROM \(table))")
            check(rows[0][0] == rows[0][1], "Z_MAX of \(table): \(rows[0])")
        }
        try checkChanges()
    }

    private mutating func checkChanges() throws {
        let changes = try opened.sql(
            "SELECT Z_ENT, Z_OPT, ZCHANGETYPE, ZENTITY, ZENTITYPK, length(ZCOLUMNS), "
                + "typeof(ZCOLUMNS) FROM ACHANGE WHERE Z_PK > \(edit.lastChange)")
        let theirs = try opened.sql(
            "SELECT DISTINCT ZENTITY, length(ZCOLUMNS) FROM ACHANGE WHERE ZCHANGETYPE = 1 "
                + "AND Z_PK <= \(edit.lastChange) AND ZCOLUMNS IS NOT NULL")
        var lengths: [Int64: Set<Int64>] = [:]
        for row in theirs { lengths[row[0].int64 ?? 0, default: []].insert(row[1].int64 ?? 0) }
        var seen: [Int64: Set<RowID>] = [:]
        for row in changes {
            let kind = row[2].int64 ?? -1
            let id = RowID(entity: Int32(row[3].int64 ?? 0), key: row[4].int64 ?? 0)
            seen[kind, default: []].insert(id)
            check(row[0] == 16001 && row[1].isNull, "change \(row)")
            check((kind == 1) == (row[6] == "blob"), "columns of a change of kind \(kind)")
            // Lengths of before a migration in place differ; Apple's newest is among them.
            if kind == 1, let known = lengths[row[3].int64 ?? 0], let length = row[5].int64 {
                check(
                    known.contains(length),
                    "entity \(id.entity): a bitmap of \(length) bytes beside Apple's \(known)")
            }
        }
        check(seen[0] ?? [] == edit.insertedRows, "inserts in the history")
        check(edit.deletedRows.isSubset(of: seen[2] ?? []), "deletes in the history")
        let untold = edit.updatedRows.subtracting(seen[1] ?? [])
        check(untold.isEmpty, "updates that are not in the history: \(untold)")
    }
}
