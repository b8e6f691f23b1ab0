internal import Stores

/// The rows that a path starts from: a table's alias in the FROM of one SELECT, and the joins that
/// to-one paths need there.
final class QueryScope {
    let alias: String
    let layout: EntityLayout
    private let names: AliasNames
    /// By the path from the scope's rows.
    private var joined: [String: QueryScope] = [:]
    private(set) var joins: SQLFragment = ""

    init(layout: EntityLayout, names: AliasNames) {
        self.layout = layout
        self.names = names
        alias = names.next()
    }

    /// The scope of the rows at the end of a to-one relationship. One join serves all paths through
    /// it.
    func follow(_ link: LinkColumns, from source: QueryScope, path: String, to layout: EntityLayout)
        -> QueryScope
    {
        if let known = joined[path] { return known }
        let target = QueryScope(layout: layout, names: names)
        joined[path] = target
        let table = link.destinationTable ?? ""
        joins = """
            \(joins) LEFT JOIN \(name: table) \(name: target.alias) \
            ON \(name: target.alias).Z_PK = \(name: source.alias).\(name: link.key)
            """
        return target
    }
}

/// Gives each table of a query a name of its own.
final class AliasNames {
    private var count = 0

    func next() -> String {
        defer { count += 1 }
        return "t\(count)"
    }
}
