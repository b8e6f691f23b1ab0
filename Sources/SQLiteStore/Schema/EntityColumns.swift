/// Where the slots of an entity's layout are kept: the table and the columns. Queue: any; it never
/// changes.
public final class EntityColumns: Sendable {
    /// The entity's number (Z_ENT).
    public let number: Int32
    /// The number of the root of its inheritance tree: the row of `Z_PRIMARYKEY` that hands out
    /// keys.
    public let root: Int32
    /// The table of the whole inheritance tree.
    public let table: String
    /// By attribute slot.
    public let attributes: [AttributeColumn]
    /// By to-one slot.
    public let toOnes: [LinkColumns]
    /// By to-many slot.
    public let toManys: [ToManyPlace]
    /// The condition that tells the entity's rows from others of the table; nil where it holds no
    /// others. (Some files have no Z_ENT in such tables.)
    package let condition: String?
    /// The columns whose large values have files of their own.
    let externalColumns: [String]
    /// What is computed where a row is written.
    let written: [WrittenDerivation]

    init(
        number: Int32, root: Int32, table: String, isAlone: Bool, attributes: [AttributeColumn],
        toOnes: [LinkColumns], toManys: [ToManyPlace], written: [WrittenDerivation]
    ) {
        self.written = written
        condition = isAlone ? nil : "Z_ENT = \(number)"
        self.number = number
        self.root = root
        self.table = table
        self.attributes = attributes
        self.toOnes = toOnes
        self.toManys = toManys
        externalColumns = attributes.filter { $0.kind == .binary(external: true) }.map(\.name)
    }

    /// The same with other columns of the attributes.
    func replacing(attributes: [AttributeColumn]) -> EntityColumns {
        EntityColumns(
            number: number, root: root, table: table, isAlone: condition == nil,
            attributes: attributes, toOnes: toOnes, toManys: toManys, written: written)
    }

    /// The same with other places of the to-manys.
    func replacing(toManys: [ToManyPlace]) -> EntityColumns {
        EntityColumns(
            number: number, root: root, table: table, isAlone: condition == nil,
            attributes: attributes, toOnes: toOnes, toManys: toManys, written: written)
    }
}

/// The column of one attribute, or of one element of a composite.
public struct AttributeColumn: Hashable, Sendable {
    /// The column's name in the file, such as `ZNAME`.
    public var name: String
    /// How values become what the column holds.
    public var kind: ColumnKind
    /// Computed by triggers of the database: read, never written.
    public var isDerived: Bool
}

/// The columns of a to-one relationship.
public struct LinkColumns: Hashable, Sendable {
    /// Holds the key of the row pointed at.
    public var key: String
    /// Holds the entity number of the row pointed at, where the destination has subentities.
    public var companion: String?
    /// Holds the place in the ordered to-many at the other end.
    public var order: String?
    /// The destination entity's number; 0 where the store does not hold it.
    public var destination: Int32
    /// The destination's table; nil where the store does not hold it.
    public var destinationTable: String?
}

/// Where the members of a to-many relationship are found.
public enum ToManyPlace: Hashable, Sendable {
    /// In the to-one columns of the members' table, which belong to the inverse relationship.
    case inverse(MemberColumns)
    /// In columns of the members' table that exist for this relationship alone, as it has no
    /// inverse.
    case owned(MemberColumns)
    /// Pairs in a table between: many-to-many, or a to-many without inverse.
    case join(JoinSide)
    /// The destination is not in this store: there are no members.
    case absent
}

/// The columns in the members' table that name their owner.
public struct MemberColumns: Hashable, Sendable {
    /// The table of the destination's inheritance tree.
    public var table: String
    /// The column that holds the owner's key.
    public var key: String
    /// The column that holds the owner's entity number, where the owner's entity has subentities.
    public var companion: String?
    /// The column that holds the place among the members, where the relationship is ordered.
    public var order: String?
    /// The members' entity number.
    public var member: Int32
    /// The slot of the inverse in the members' layout; nil without inverse.
    public var inverseSlot: Int?
}

/// A many-to-many relationship, seen from one of its ends.
public struct JoinSide: Hashable, Sendable {
    /// The join table.
    public var table: String
    /// The column with the owner's key.
    public var owner: String
    /// The column with the member's key.
    public var member: String
    /// Holds the member's place among the owner's members.
    public var order: String?
    /// Holds the owner's place among the member's owners.
    public var inverseOrder: String?
    /// The members' entity number and table.
    public var destination: Int32
    /// The table of the members' inheritance tree.
    public var destinationTable: String
    /// A relationship that is its own inverse: a pair counts in both directions.
    public var isReflexive: Bool
}
