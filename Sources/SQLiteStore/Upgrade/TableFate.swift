internal import ObjectModel
internal import SQLiteDriver
internal import Stores

/// What becomes of the table of an inheritance tree.
enum TableFate {
    /// It stays, with these changes, if any.
    case altered([Change])
    /// A new table is made, and filled from the old ones.
    case rebuilt

    enum Change {
        case renamed(String, to: String)
        case added(TableSchema.Column, filledWith: SQLiteValue)
        /// A column whose empty places get a value.
        case filled(String, with: SQLiteValue)
        /// A column that no property has any more, and that stays until somebody drops it.
        case left(String)
    }
}

/// Finds the fate of each table.
struct TableFates {
    let plan: UpgradePlan
    /// The columns that the file's tables have, with their types.
    let present: [String: TableColumns]

    /// The fate of the table of the tree with the given root.
    func fate(of table: TableSchema, root: Int32) -> TableFate {
        guard staysInPlace(table, root: root), let sources = commonSources(root: root),
            let columns = present[table.name]
        else { return .rebuilt }
        var changes: [TableFate.Change] = []
        var used: Set<String> = ["Z_PK", "Z_ENT", "Z_OPT"]
        for column in table.columns where !used.contains(column.name) || !Self.isHead(column) {
            if Self.isHead(column) { continue }
            guard let change = change(of: column, sources[column.name] ?? .null, columns, &used)
            else { return .rebuilt }
            changes += change
        }
        let rest = columns.columns.map(\.name).filter { !used.contains($0) }
        guard rest.isEmpty || plan.defers else { return .rebuilt }
        return .altered(changes + rest.map { .left($0) })
    }

    private static func isHead(_ column: TableSchema.Column) -> Bool {
        ["Z_PK", "Z_ENT", "Z_OPT"].contains(column.name)
    }

    /// What makes the new column of the old table; nil where nothing simple does.
    private func change(
        of column: TableSchema.Column, _ source: ColumnSource, _ columns: TableColumns,
        _ used: inout Set<String>
    ) -> [TableFate.Change]? {
        func taken(from name: String) -> [TableFate.Change]? {
            let former = columns.columns.first { $0.name == name }
            guard former?.type == column.type, used.insert(name).inserted else { return nil }
            if name == column.name { return [] }
            return columns.has(column.name) ? nil : [.renamed(name, to: column.name)]
        }
        switch source {
        case .column(let name): return taken(from: name)
        case .columnOr(let name, let value):
            return taken(from: name).map { $0 + [.filled(column.name, with: value)] }
        case .null: return columns.has(column.name) ? nil : [.added(column, filledWith: .null)]
        case .value(let value):
            return columns.has(column.name) ? nil : [.added(column, filledWith: value)]
        case .expression: return nil
        }
    }

    /// Whether all rows of one old tree, and no others, are the new tree's, under the same numbers
    /// and keys.
    private func staysInPlace(_ table: TableSchema, root: Int32) -> Bool {
        let moves = plan.moves.filter { $0.newColumns.root == root }
        guard let first = moves.first, first.oldColumns.table == table.name else { return false }
        let formerRoot = first.oldColumns.root
        let tree = plan.old.layout.entities.filter {
            plan.old.columns(of: $0.number)?.root == formerRoot
        }
        return moves.allSatisfy {
            $0.oldColumns.root == formerRoot && $0.old.number == $0.new.number
                && plan.offset(from: $0.old.number, to: $0.new.number) == 0
        }
            && tree.allSatisfy { entity in moves.contains { $0.old.number == entity.number } }
    }

    /// The sources of each column, where all entities of the tree agree. Who has no such column has
    /// no say, unless its rows have something where the others' values come from: that would stay.
    private func commonSources(root: Int32) -> [String: ColumnSource]? {
        var sources: [String: ColumnSource] = [:]
        let tree = plan.moves.filter { $0.newColumns.root == root }
            .map { (move: $0, sources: plan.sources(of: $0)) }
        for (column, source) in tree.flatMap(\.sources) {
            if let other = sources[column], "\(other)" != "\(source)" { return nil }
            sources[column] = source
        }
        for (move, own) in tree {
            let (named, had) = (Set(own.map(\.column)), formerColumns(of: move))
            for (column, source) in sources where !named.contains(column) {
                if let former = source.column, had.contains(former) { return nil }
            }
        }
        return sources
    }

    /// The columns of the old table that the rows of an entity had something in.
    private func formerColumns(of move: EntityMove) -> Set<String> {
        var names = Set(move.oldColumns.attributes.map(\.name))
        for link in move.oldColumns.toOnes {
            names.formUnion([link.key, link.companion, link.order].compactMap { $0 })
        }
        for owner in plan.old.layout.entities {
            for case .owned(let members) in plan.old.columns(of: owner.number)?.toManys ?? [] {
                guard let end = plan.old.layout.entity(members.member)?.entity,
                    move.old.entity.isKindOf(entity: end)
                else { continue }
                names.formUnion([members.key, members.order].compactMap { $0 })
            }
        }
        return names
    }
}
