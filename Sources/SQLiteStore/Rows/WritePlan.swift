internal import SQLiteDriver
internal import Stores

/// Where one attribute slot is bound; the index is 0 where the database computes it.
struct AttributeBinding {
    var slot: Int
    var index: Int
    var kind: ColumnKind
}

/// Where a value is bound that is computed on writing.
struct WrittenBinding {
    var derivation: WrittenDerivation
    var index: Int
    var kind: ColumnKind
}

/// Where one to-one slot is bound; an index is 0 where there is no such column.
struct LinkBinding {
    var slot: Int
    var key: Int
    var companion: Int
    var order: Int

    /// `offset` counts the parameters of the rows before.
    func bind(_ link: Link?, to statement: Statement, offset: Int = 0) throws {
        try statement.bind(SQLiteValue(link?.target.key), at: offset + key)
        if companion > 0 {
            let entity = link.map { Int64($0.target.entity) }
            try statement.bind(SQLiteValue(entity), at: offset + companion)
        }
        if order > 0 { try statement.bind(SQLiteValue(link?.orderKey), at: offset + order) }
    }
}

/// Hands out parameter indexes to columns, in order.
struct ColumnList {
    private(set) var columns: [String] = []
    let first: Int

    init(first: Int) { self.first = first }

    var next: Int { first + columns.count }

    mutating func add(_ column: String?) -> Int {
        guard let column else { return 0 }
        columns.append(column)
        return next - 1
    }

    mutating func add(_ link: LinkColumns, slot: Int) -> LinkBinding {
        LinkBinding(
            slot: slot, key: add(link.key), companion: add(link.companion), order: add(link.order))
    }
}

extension ColumnList {
    mutating func add(_ derivation: WrittenDerivation, in columns: EntityColumns) -> WrittenBinding
    {
        let column = columns.attributes[derivation.slot]
        return WrittenBinding(
            derivation: derivation, index: add(column.name), kind: column.kind)
    }
}

/// The insertion of whole rows of one entity. The first parameter of a row is its key.
final class InsertPlan {
    let entity: Int32
    let statement: Statement
    let attributes: [AttributeBinding]
    let toOnes: [LinkBinding]
    let attributeCount: Int
    let toOneCount: Int
    let written: [WrittenBinding]
    /// How many parameters a row has.
    let width: Int
    /// Whether a row is written by binding its values, and nothing else.
    let isPlain: Bool
    /// How many rows the statement of several writes.
    static let rowsPerStatement = 10
    private static let parametersMax = 2_000
    private let text: (head: String, row: String)
    private var knownSeveral: Statement?

    init(columns: EntityColumns, _ connection: Connection) throws {
        entity = columns.number
        var list = ColumnList(first: 2)
        attributes = columns.attributes.enumerated().filter { !$1.isDerived }.map { slot, column in
            AttributeBinding(slot: slot, index: list.add(column.name), kind: column.kind)
        }
        toOnes = columns.toOnes.enumerated().map { list.add($1, slot: $0) }
        written = columns.written.map { list.add($0, in: columns) }
        attributeCount = columns.attributes.count
        toOneCount = columns.toOnes.count
        let names = (["Z_PK", "Z_ENT", "Z_OPT"] + list.columns).joined(separator: ", ")
        let marks = String(repeating: ", ?", count: list.columns.count)
        text = (
            "INSERT INTO \(columns.table) (\(names)) VALUES ", "(?, \(columns.number), 1\(marks))"
        )
        width = 1 + list.columns.count
        // Long values would stay bound.
        let isShort = columns.attributes.allSatisfy { !$0.kind.holdsBytes }
        isPlain =
            isShort && written.isEmpty && toOnes.allSatisfy { $0.order == 0 }
            && width * Self.rowsPerStatement <= Self.parametersMax
        statement = try connection.compile(text.head + text.row)
    }

    /// The statement that writes several rows, compiled when it is needed first.
    func several(_ connection: Connection) throws -> Statement {
        if let knownSeveral { return knownSeveral }
        let rows = Array(repeating: text.row, count: Self.rowsPerStatement).joined(separator: ", ")
        let statement = try connection.compile(text.head + rows)
        knownSeveral = statement
        return statement
    }
}

/// Which slots an update changes: one statement for each.
struct UpdateShape: Hashable {
    var entity: Int32
    var attributes: [Int]
    var toOnes: [Int]
    /// Whether the version is compared.
    var isChecked: Bool

    /// Whether an update is of this shape.
    func fits(_ update: RowUpdate) -> Bool {
        entity == update.id.entity && isChecked == (update.expectedVersion != nil)
            && attributes.elementsEqual(update.attributes.lazy.map(\.slot))
            && toOnes.elementsEqual(update.toOnes.lazy.map(\.slot))
    }
}

/// The update of some slots of one entity. The key follows the values, then the expected version.
final class UpdatePlan {
    let shape: UpdateShape
    let statement: Statement
    let attributes: [AttributeBinding]
    let toOnes: [LinkBinding]
    let written: [WrittenBinding]
    let keyIndex: Int
    /// Those of its columns whose large values have files; nil where it has none.
    let externalColumns: (table: String, names: [String])?

    init(shape: UpdateShape, columns: EntityColumns, _ connection: Connection) throws {
        self.shape = shape
        var list = ColumnList(first: 1)
        attributes = shape.attributes.map { slot in
            let column = columns.attributes[slot]
            let index = column.isDerived ? 0 : list.add(column.name)
            return AttributeBinding(slot: slot, index: index, kind: column.kind)
        }
        toOnes = shape.toOnes.map { list.add(columns.toOnes[$0], slot: $0) }
        written = columns.written.filter { derivation in
            derivation.source.map(shape.attributes.contains) ?? true
        }.map { list.add($0, in: columns) }
        keyIndex = list.next
        let external = columns.externalColumns.filter(list.columns.contains)
        externalColumns = external.isEmpty ? nil : (columns.table, external)
        let changes = list.columns.map { ", \($0) = ?" }.joined()
        let end = shape.isChecked ? " AND IFNULL(Z_OPT, 0) = ?" : " RETURNING Z_OPT"
        statement = try connection.compile(
            "UPDATE \(columns.table) SET Z_OPT = IFNULL(Z_OPT, 0) + 1\(changes) "
                + "WHERE Z_PK = ? AND \(columns.condition ?? "1")\(end)")
    }
}

/// The deletion of one entity's rows. Parameter 1 is the key, 2 the expected version.
final class DeletePlan {
    let columns: EntityColumns
    let statement: Statement
    /// What takes a deleted owner, parameter 1, out of join tables and of the columns of members
    /// without inverse.
    let clearing: [Statement]

    init(columns: EntityColumns, _ connection: Connection) throws {
        self.columns = columns
        statement = try connection.compile(
            "DELETE FROM \(columns.table) WHERE Z_PK = ?1 AND \(columns.condition ?? "1") "
                + "AND (?2 IS NULL OR IFNULL(Z_OPT, 0) = ?2)")
        clearing = try columns.toManys.compactMap(Self.clearing).map(connection.compile)
    }

    private static func clearing(_ place: ToManyPlace) -> String? {
        switch place {
        case .inverse, .absent: return nil
        case .owned(let members):
            let order = members.order.map { ", \($0) = NULL" } ?? ""
            return "UPDATE \(members.table) SET \(members.key) = NULL\(order) "
                + "WHERE \(members.key) = ?1"
        case .join(let side):
            let other = side.isReflexive ? " OR \(side.member) = ?1" : ""
            return "DELETE FROM \(side.table) WHERE \(side.owner) = ?1\(other)"
        }
    }
}
