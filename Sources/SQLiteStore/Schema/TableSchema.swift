/// A table as it is declared: its columns in order.
public struct TableSchema: Hashable, Sendable {
    /// One column of the declaration.
    public struct Column: Hashable, Sendable {
        /// The column's name, without quotes.
        public var name: String
        /// What stands behind the name: the type, and PRIMARY KEY where it is the key.
        public var type: String
    }

    /// The table's name, without quotes.
    public var name: String
    /// In the order of the declaration, which Apple's files have, too.
    public var columns: [Column]
    /// The names of a compound primary key; empty where the first column is the key.
    public var primaryKey: [String] = []
    /// What follows the name of a virtual table.
    public var virtual: String?

    /// The statement that creates the table, spelled as Apple spells it.
    public var statement: String {
        if let virtual { return "CREATE VIRTUAL TABLE \(name) \(virtual)" }
        let key = primaryKey.isEmpty ? "" : ", PRIMARY KEY (\(primaryKey.joined(separator: ", ")))"
        let list = columns.map { "\($0.name) \($0.type)" }.joined(separator: ", ")
        return "CREATE TABLE \(name) ( \(list)\(key) )"
    }

    /// The columns every entity table starts with.
    static let head = [
        Column(name: "Z_PK", type: "INTEGER PRIMARY KEY"), Column(name: "Z_ENT", type: "INTEGER"),
        Column(name: "Z_OPT", type: "INTEGER"),
    ]
}

/// What a schema could not do as the model asks, for the user to read.
public struct SchemaNote: Hashable, Sendable, CustomStringConvertible {
    /// The entity concerned.
    public var entity: String
    /// The property or index concerned.
    public var subject: String
    /// A sentence: what the model asks, and what the file has instead.
    public var text: String

    public var description: String { "\(entity).\(subject): \(text)" }
}
