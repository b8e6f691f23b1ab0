public import Foundation
public import ObjectModel
internal import Stores

/// What happened to an object. Raw values are Apple's.
public enum NSPersistentHistoryChangeType: Int, Sendable {
    /// The transaction made the object.
    case insert = 0
    /// The transaction changed properties of the object.
    case update = 1
    /// The transaction deleted the object.
    case delete = 2
}

/// The form of a history request's result. Raw values are Apple's.
public enum NSPersistentHistoryResultType: Int, Sendable {
    /// Whether it was done: true.
    case statusOnly = 0
    /// The IDs of changed objects, each once.
    case objectIDs = 1
    /// How many there are, of what the request asks for.
    case count = 2
    /// `[NSPersistentHistoryTransaction]` whose `changes` are nil.
    case transactionsOnly = 3
    /// `[NSPersistentHistoryChange]`.
    case changesOnly = 4
    /// `[NSPersistentHistoryTransaction]` with their changes.
    case transactionsAndChanges = 5
}

/// A place in the history of one or more stores: the last transaction seen of each. Source: Apple,
/// NSPersistentHistoryToken. Queue: any; it never changes. Archived, it is good for other
/// processes, too.
open class NSPersistentHistoryToken: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
    // @unchecked: never changed once made.

    /// Transaction numbers by store identifier.
    package let numbers: [String: Int64]

    package init(numbers: [String: Int64]) { self.numbers = numbers }

    /// A token of no store, from before all transactions. Apple's class inherits it.
    public convenience override init() { self.init(numbers: [:]) }

    public static var supportsSecureCoding: Bool { true }

    public required init?(coder: NSCoder) {
        let classes = [NSDictionary.self, NSString.self, NSNumber.self]
        guard let stored = coder.decodeObject(of: classes, forKey: "numbers") as? [String: Any]
        else { return nil }
        numbers = stored.compactMapValues { ($0 as? NSNumber)?.int64Value }
    }

    public func encode(with coder: NSCoder) {
        let stored = NSDictionary(dictionary: numbers.mapValues { NSNumber(value: $0) })
        coder.encode(stored, forKey: "numbers")
    }

    public func copy(with zone: NSZone? = nil) -> Any { self }

    public override func isEqual(_ object: Any?) -> Bool {
        (object as? NSPersistentHistoryToken)?.numbers == numbers
    }

    public override var hash: Int { numbers.hashValue }
}

/// One object's change in one save. Source: Apple, NSPersistentHistoryChange. Queue: any; it never
/// changes.
open class NSPersistentHistoryChange: NSObject, @unchecked Sendable {
    // @unchecked: never changed once its transaction is made.
    /// The change's number in its store.
    public final let changeID: Int64
    /// What happened to the object.
    public final let changeType: NSPersistentHistoryChangeType
    /// The object's ID; after a deletion no row stands behind it.
    public final let changedObjectID: NSManagedObjectID
    /// For deletions: the values of attributes that are preserved after deletion.
    public final let tombstone: [AnyHashable: Any]?
    /// For updates: what changed.
    public final let updatedProperties: Set<NSPropertyDescription>?
    /// The save it was part of. Of changes that were asked for alone it has no changes; of others
    /// it is nil once nobody holds it.
    public final var transaction: NSPersistentHistoryTransaction? { alone ?? owner }
    /// The transaction that holds this change.
    fileprivate final weak var owner: NSPersistentHistoryTransaction?
    /// The transaction without changes, for a change that was asked for alone.
    final var alone: NSPersistentHistoryTransaction?

    init(_ change: HistoryChange, store: NSPersistentStore) {
        changeID = change.number
        changeType = NSPersistentHistoryChangeType(rawValue: Int(change.kind.rawValue)) ?? .update
        changedObjectID = store.id(for: change.id)
        let entity = changedObjectID.entity
        let byName = entity.propertiesByName
        updatedProperties =
            change.kind == .update ? Set(change.changedProperties.compactMap { byName[$0] }) : nil
        let attributes = entity.attributesByName
        let kept = change.tombstone.reduce(into: [AnyHashable: Any]()) { kept, entry in
            guard let attribute = attributes[entry.key] else { return }
            kept[entry.key] = AttributeCoding.present(entry.value, for: attribute)
        }
        tombstone = change.kind == .delete && !kept.isEmpty ? kept : nil
    }
}

/// One save in a store's history. Source: Apple, NSPersistentHistoryTransaction. Queue: any; it
/// never changes.
open class NSPersistentHistoryTransaction: NSObject, @unchecked Sendable {
    // @unchecked: never changed once made.
    /// Ascending in its store.
    public final let transactionNumber: Int64
    /// When it was saved, by the clock of the machine that did.
    public final let timestamp: Date
    /// The identifier of its store (`NSStoreUUIDKey`).
    public final let storeID: String
    /// The saving context's `transactionAuthor`.
    public final let author: String?
    /// The saving context's `name`.
    public final let contextName: String?
    /// The identifier of the saving program's bundle; empty where it has none.
    public final let bundleID: String
    /// The name of the saving process; empty where the file does not say.
    public final let processID: String
    /// Nil where only transactions were asked for.
    public final let changes: [NSPersistentHistoryChange]?

    init(_ transaction: HistoryTransaction, store: NSPersistentStore, withChanges: Bool) {
        transactionNumber = transaction.number
        timestamp = transaction.date
        storeID = store.identifier
        author = transaction.author
        contextName = transaction.contextName
        bundleID = transaction.bundleID ?? ""
        processID = transaction.processID ?? ""
        changes =
            withChanges
            ? transaction.changes.map { NSPersistentHistoryChange($0, store: store) } : nil
        super.init()
        for change in changes ?? [] { change.owner = self }
    }

    /// A transaction with some of its changes, which were asked for alone.
    init(_ transaction: NSPersistentHistoryTransaction, with changes: [NSPersistentHistoryChange]) {
        transactionNumber = transaction.transactionNumber
        timestamp = transaction.timestamp
        storeID = transaction.storeID
        author = transaction.author
        contextName = transaction.contextName
        bundleID = transaction.bundleID
        processID = transaction.processID
        self.changes = changes
        super.init()
        for change in changes { (change.owner, change.alone) = (self, nil) }
    }

    /// The place just after this transaction.
    public final var token: NSPersistentHistoryToken {
        NSPersistentHistoryToken(numbers: [storeID: transactionNumber])
    }

    /// The transaction as a DidSave notification that `mergeChanges(fromContextDidSave:)` takes.
    public final func objectIDNotification() -> Notification {
        func ids(_ type: NSPersistentHistoryChangeType) -> Set<NSManagedObjectID> {
            Set((changes ?? []).filter { $0.changeType == type }.map(\.changedObjectID))
        }
        return Notification(
            name: .NSManagedObjectContextDidSaveObjectIDs, object: nil,
            userInfo: [
                NSInsertedObjectIDsKey: ids(.insert), NSUpdatedObjectIDsKey: ids(.update),
                NSDeletedObjectIDsKey: ids(.delete),
            ])
    }
}

/// What a history request brought. Source: Apple, NSPersistentHistoryResult. Queue: any; it never
/// changes.
open class NSPersistentHistoryResult: NSPersistentStoreResult {
    /// Transactions, changes, IDs, a count, or whether it was done; as `resultType` says.
    public final let result: Any?
    /// The form of `result`, as the request asked for it.
    public final let resultType: NSPersistentHistoryResultType

    init(_ result: Any?, type: NSPersistentHistoryResultType) {
        self.result = result
        resultType = type
    }
}
