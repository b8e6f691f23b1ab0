public import Stores

/// The tables, indexes and triggers that keep a model's entities, and where each property is in
/// them.
///
/// A value made from a layout alone; `SchemaBuilder` makes it. Names follow the format's rules, so
/// a file written by Apple with the same model has the same ones.
public struct StoreSchema: Sendable {
    /// The entities and slots it was made for.
    public let layout: ModelLayout
    /// The table of each inheritance tree, followed by the join tables its entities name.
    public internal(set) var tables: [TableSchema] = []
    /// Statements that create the indexes, the model's own and those of keys.
    public internal(set) var indexes: [String] = []
    /// Statements that create the triggers, which keep derived attributes and trees over places.
    public internal(set) var triggers: [String] = []
    /// The statements that compute what triggers keep up to date, for rows that are there already.
    var computations: [String] = []
    /// The tables that have a tree over places.
    var placeTables: Set<String> = []
    /// What could not be done as the model asks.
    public internal(set) var notes: [SchemaNote] = []
    /// What the model asks and no store can do: why a new store is not made.
    var refusals: [any Error] = []
    /// The uniqueness constraints of all entities, inherited ones under the entity that declares
    /// them.
    public internal(set) var constraints: [UniqueConstraint] = []
    var columnsByNumber: [Int32: EntityColumns] = [:]
    /// The slots of attributes that are kept after deletion, of the entities that have any.
    var preservedSlots: [Int32: [Int]] = [:]

    init(layout: ModelLayout) { self.layout = layout }

    /// Where the entity's slots are kept.
    public func columns(of entity: Int32) -> EntityColumns? { columnsByNumber[entity] }

    /// The statements that create everything, in Apple's order.
    public var statements: [String] { tables.map(\.statement) + indexes + triggers }
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
