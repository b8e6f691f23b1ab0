/// All that one save changes, as values. A store writes it, with its history, in one transaction.
public struct ChangeSet: Sendable {
    /// New rows, whose keys were reserved before (`RowWriting.reserveKeys`).
    public var inserts: [Row] = []
    /// Whether the new rows are copies of saved ones: they keep their versions, and the moment of
    /// their last save (attributes derived by `now()`).
    public var areCopies = false
    /// At most one for each row, which is neither inserted nor deleted by the same set.
    public var updates: [RowUpdate] = []
    /// Rows that end. Delete rules are the caller's: a store follows none.
    public var deletes: [RowDelete] = []
    /// Changes of many-to-many relationships, of to-manys without inverse, and of the order of
    /// ordered to-manys. A one-to-many's members change through the to-one links of its rows.
    public var toManys: [ToManyChange] = []
    /// Who changed it: goes into the history's transaction.
    public var author: String?
    /// The name of the context that saves: goes into the history's transaction, too.
    public var contextName: String?
    /// The history's transaction that these changes go on with, within one transaction of the
    /// store; nil to begin another.
    public var continuedTransaction: Int64?

    public init() {}

    /// Whether there is nothing to write; such a set makes no transaction in the history.
    public var isEmpty: Bool {
        inserts.isEmpty && updates.isEmpty && deletes.isEmpty && toManys.isEmpty
    }
}

/// New values of one row; slots that are not named stay as they are.
public struct RowUpdate: Sendable {
    /// The row to change.
    public var id: RowID
    /// The version the change was made upon; nil overwrites whatever is there.
    public var expectedVersion: Int64?
    /// By the slots of the entity's `EntityLayout.attributes`; a value may be `null`.
    public var attributes: [(slot: Int, value: AttributeValue)] = []
    /// By the slots of the entity's `EntityLayout.toOnes`; nil takes the link away.
    public var toOnes: [(slot: Int, link: Link?)] = []
    /// To-many slots to mark as changed in the history; their pairs are in `ChangeSet.toManys`.
    public var changedToManys: [Int] = []

    /// An update of nothing yet.
    public init(id: RowID, expectedVersion: Int64? = nil) {
        self.id = id
        self.expectedVersion = expectedVersion
    }

    /// Whether it names no slot; nothing is written for the row then.
    public var isEmpty: Bool { attributes.isEmpty && toOnes.isEmpty && changedToManys.isEmpty }
}

/// The end of one row. Its pairs in join tables go with it, and so do to-one links that point at it
/// without an inverse, which nobody but the store can find; those with an inverse are the caller's
/// to clear.
public struct RowDelete: Sendable {
    /// The row that ends.
    public var id: RowID
    /// The version that was seen when it was deleted; nil deletes whatever is there.
    public var expectedVersion: Int64?

    /// A deletion; with a version it becomes a conflict where the row was changed or is gone.
    public init(id: RowID, expectedVersion: Int64? = nil) {
        self.id = id
        self.expectedVersion = expectedVersion
    }
}

/// Members that enter or leave one owner's to-many relationship.
public struct ToManyChange: Sendable {
    /// The row whose relationship changes.
    public var owner: RowID
    /// The slot in the owner's layout.
    public var slot: Int
    /// New members; one that is there already is left alone, except for a given order key.
    public var added: [Link] = []
    /// Members that leave; one that is not there is no error.
    public var removed: [RowID] = []
    /// For ordered relationships: all members in their new order. The store chooses the order keys.
    public var order: [RowID]?
    /// For ordered relationships whose order is not given: those that come, in the order in which
    /// they take their places at the end, whosever rows and pairs bring them.
    public var appended: [RowID] = []

    /// A change of nothing yet.
    public init(owner: RowID, slot: Int) {
        self.owner = owner
        self.slot = slot
    }
}

/// What a save made of a change set.
public struct SaveOutcome: Sendable {
    /// The rows that were updated or inserted, with their new versions; the SQLite store names
    /// updated rows first, each kind in the change set's order.
    public var written: [(id: RowID, version: Int64)] = []
    /// The history transaction's number, when history is kept and something changed.
    public var transactionNumber: Int64?
    /// Values that the store computed by itself (derived attributes), of rows of this and of other
    /// saves.
    public var derivedValues: [RowID: [Int: AttributeValue]] = [:]
    /// Rows that pointed at deleted ones without an inverse, with the to-one slots that the store
    /// emptied. They are in `written` and in the history, too.
    public var clearedLinks: [RowID: [Int]] = [:]

    public init() {}

    /// The new version of each row that was inserted or updated. Made at each call.
    public var versions: [RowID: Int64] {
        Dictionary(written.map { ($0.id, $0.version) }, uniquingKeysWith: { $1 })
    }
}

/// Rows that somebody else changed since they were read: nothing of the change set was written.
public struct SaveConflicts: Error, Sendable {
    /// One row that is not as it was expected.
    public struct Conflict: Sendable {
        /// The row that was to be changed or deleted.
        public var id: RowID
        /// The version the change was made upon.
        public var expectedVersion: Int64
        /// The row as the store has it now; nil when it was deleted.
        public var stored: Row?

        /// What a store found in the place of the version that was expected.
        public init(id: RowID, expectedVersion: Int64, stored: Row?) {
            self.id = id
            self.expectedVersion = expectedVersion
            self.stored = stored
        }
    }
    /// All of the change set's, at least one.
    public var conflicts: [Conflict]

    /// For stores, which find them.
    public init(_ conflicts: [Conflict]) { self.conflicts = conflicts }
}

/// Rows that break a uniqueness constraint: nothing of the change set was written.
public struct UniquenessViolation: Error, Sendable {
    /// The entity that has the constraint; the rows may be of its subentities.
    public var entity: String
    /// The names of the attributes that are unique together.
    public var constraint: [String]
    /// The row that could not be written, and the stored row that holds the same key.
    public var id: RowID
    /// The row in the store that has the values already; nil where it is another row of the same
    /// save.
    public var holder: RowID?

    /// For stores, which find it.
    public init(entity: String, constraint: [String], id: RowID, holder: RowID?) {
        self.entity = entity
        self.constraint = constraint
        self.id = id
        self.holder = holder
    }
}
