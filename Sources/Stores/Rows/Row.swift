/// One object's stored state: the arrays follow the slots of its `EntityLayout`.
public struct Row: Hashable, Sendable {
    /// The entity and the key.
    public var id: RowID
    /// Grows with each update (Z_OPT): the optimistic lock.
    public var version: Int64
    /// By the slots of `EntityLayout.attributes`.
    public var attributes: [AttributeValue]
    /// By the slots of `EntityLayout.toOnes`; nil where there is no link.
    public var toOnes: [Link?]
    /// Slots of attributes whose value is in a file that is gone. They read as null, but nobody
    /// cleared them: whoever copies or compares rows leaves them out.
    public var missing: [Int] = []

    /// A row whose arrays must be as long as its entity's layout says.
    public init(id: RowID, version: Int64, attributes: [AttributeValue], toOnes: [Link?]) {
        self.id = id
        self.version = version
        self.attributes = attributes
        self.toOnes = toOnes
    }

    /// A row of `layout` with every slot empty.
    public init(id: RowID, layout: EntityLayout) {
        self.init(
            id: id, version: 1,
            attributes: Array(repeating: .null, count: layout.attributes.count),
            toOnes: Array(repeating: nil, count: layout.toOnes.count))
    }
}
