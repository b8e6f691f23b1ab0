/// Where a row is: its entity's number in the store (Z_ENT) and its key (Z_PK).
/// The number is that of the concrete entity; the key is unique in the whole inheritance tree.
public struct RowID: Hashable, Sendable, Comparable {
    public var entity: Int32
    public var key: Int64

    public init(entity: Int32, key: Int64) {
        self.entity = entity
        self.key = key
    }

    public static func < (left: RowID, right: RowID) -> Bool {
        (left.entity, left.key) < (right.entity, right.key)
    }
}

/// A to-one end: the row pointed at, and its place where the inverse is an ordered to-many (Z_FOK).
public struct Link: Hashable, Sendable {
    public var target: RowID
    public var orderKey: Int64?

    public init(_ target: RowID, orderKey: Int64? = nil) {
        self.target = target
        self.orderKey = orderKey
    }
}
