/// Where a row is: its entity's number in the store (Z_ENT) and its key (Z_PK).
/// The number is that of the concrete entity; the key is unique in the whole inheritance tree.
public struct RowID: Hashable, Sendable, Comparable {
    /// The concrete entity's number in the store.
    public var entity: Int32
    /// From 1; unique among an entity, its parents and its subentities.
    public var key: Int64

    /// Nothing is looked up: the row may not exist.
    public init(entity: Int32, key: Int64) {
        self.entity = entity
        self.key = key
    }

    /// By entity, then by key.
    public static func < (left: RowID, right: RowID) -> Bool {
        (left.entity, left.key) < (right.entity, right.key)
    }
}

/// The entity of a row, among the constants of a predicate and as what a row answers to `entity`.
public struct RowEntity: Hashable, Sendable {
    /// The entity's number in the store; one that no row has for an entity of another store.
    public var number: Int32

    /// Nothing is looked up: the store may not have the entity.
    public init(_ number: Int32) { self.number = number }
}

/// A to-one end: the row pointed at, and its place where the inverse is an ordered to-many (Z_FOK).
public struct Link: Hashable, Sendable {
    /// The row that the link leads to.
    public var target: RowID
    /// The place among the target's members, with gaps; nil where the inverse has no order.
    public var orderKey: Int64?

    /// Without an order key the store gives a link of an ordered relationship the last place.
    public init(_ target: RowID, orderKey: Int64? = nil) {
        self.target = target
        self.orderKey = orderKey
    }
}
