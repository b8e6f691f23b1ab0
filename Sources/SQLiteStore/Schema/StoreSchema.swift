public import Stores

/// The tables, indexes and triggers that keep a model's entities, and where each property is in
/// them.
///
/// Made from a layout alone; `SchemaBuilder` makes it. Names follow the format's rules, so a file
/// written by Apple with the same model has the same ones. Of a file that is known to be made for
/// the model only those pieces are worked out that are asked for.
public struct StoreSchema: Sendable {
    /// The entities and slots it was made for.
    public let layout: ModelLayout
    private let whole: WholeSchema?
    private let pieces: SchemaPieces?

    init(_ layout: ModelLayout, _ content: SchemaContent) {
        self.layout = layout
        whole = WholeSchema(content)
        pieces = nil
    }

    init(_ pieces: SchemaPieces) {
        layout = pieces.layout
        whole = nil
        self.pieces = pieces
    }

    /// Everything. Cost: where only pieces are known, the rest is worked out now.
    var content: SchemaContent {
        whole?.content ?? pieces?.whole?.content ?? SchemaContent()
    }

    /// Where the entity's slots are kept.
    public func columns(of entity: Int32) -> EntityColumns? {
        if let whole { return whole.content.columnsByNumber[entity] }
        return pieces?.columns(of: entity)
    }

    /// How many entities share the table of an entity.
    func countInTable(of entity: Int32) -> Int {
        let root = layout.root(of: entity)
        return layout.members.count { layout.root(of: $0.number) == root }
    }

    /// The slots of attributes that are kept after deletion.
    func preservedSlots(of entity: Int32) -> [Int] {
        whole?.content.preservedSlots[entity] ?? []
    }

    /// The most such slots that an entity has.
    var preservedCountMax: Int { whole?.content.preservedSlots.values.map(\.count).max() ?? 0 }

    /// Why a piece could not be worked out.
    package func failure(of entity: Int32) -> StoreError? { pieces?.failure(of: entity) }

    /// The table of each inheritance tree, followed by the join tables its entities name.
    public var tables: [TableSchema] { content.tables }
    /// Statements that create the indexes, the model's own and those of keys.
    public var indexes: [String] { content.indexes }
    /// Statements that create the triggers, which keep derived attributes and trees over places.
    public var triggers: [String] { content.triggers }
    /// What could not be done as the model asks.
    public var notes: [SchemaNote] { content.notes }
    /// The uniqueness constraints of all entities, inherited ones under the entity that declares
    /// them.
    public var constraints: [UniqueConstraint] { content.constraints }
    var columnsByNumber: [Int32: EntityColumns] { content.columnsByNumber }
    /// The statements that create everything, in Apple's order.
    public var statements: [String] { tables.map(\.statement) + indexes + triggers }
}

/// What `SchemaBuilder` works out.
struct SchemaContent: Sendable {
    var tables: [TableSchema] = []
    var indexes: [String] = []
    var triggers: [String] = []
    /// The statements that compute what triggers keep up to date, for rows that are there already.
    var computations: [String] = []
    /// The tables that have a tree over places.
    var placeTables: Set<String> = []
    var notes: [SchemaNote] = []
    /// What the model asks and no store can do: why a new store is not made.
    var refusals: [any Error] = []
    var constraints: [UniqueConstraint] = []
    var columnsByNumber: [Int32: EntityColumns] = [:]
    /// Of the entities that have any.
    var preservedSlots: [Int32: [Int]] = [:]
}

/// Shared, so that asking for one part copies none of the others.
final class WholeSchema: Sendable {
    let content: SchemaContent
    init(_ content: SchemaContent) { self.content = content }
}

/// A uniqueness constraint of an entity: the properties it names and their columns.
public struct UniqueConstraint: Hashable, Sendable {
    /// The number of the entity that declares it.
    public var entity: Int32
    /// The table of the entity's inheritance tree.
    public var table: String
    /// The names of the properties that are unique together.
    public var properties: [String]
    /// Their columns, in the same order.
    public var columns: [String]
    /// The unique index that enforces it in the file.
    public var indexName: String
}
