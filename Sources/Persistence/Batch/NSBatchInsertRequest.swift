public import Foundation
public import ObjectModel

/// The form of a batch insertion's result. Raw values are Apple's.
public enum NSBatchInsertRequestResultType: UInt, Sendable {
    /// Whether it was done.
    case statusOnly = 0
    /// The IDs of the rows that were inserted or updated.
    case objectIDs = 1
    /// How many rows were inserted or updated.
    case count = 2
}

/// Inserts rows without making objects of them in a context. Source: Apple, NSBatchInsertRequest.
///
/// Attributes that are not given take the model's defaults. Keys that are no attributes are left
/// out; relationships cannot be given (134091). Nothing is validated but the types of values
/// (1550), and that whole numbers have room in their attributes (1610, 1620). Where a unique value
/// is taken, the context's merge policy decides: the error policy, which is the default, fails
/// (133021); in the object's favour, and overwriting, the given attributes are written to the row
/// that has the value; in the store's favour, and rolling back, that row stays as it is and the new
/// one is left out. All rows are written in one transaction, with one transaction of the history.
/// Contexts take no part: merge the returned IDs into those in use.
///
/// Run it with `execute(_:)` on the context's queue; failures of the store are thrown there
/// (134030, 134180 and others). A handler is called again and again until it returns true; what it
/// filled in then is not inserted. It runs while the store is locked, so it must not wait for other
/// threads that use the store. Memory of a SQLite store's import does not grow with the number of
/// rows, unless IDs are asked for; other stores gather all rows first.
///
/// Queue: one at a time; set up anywhere, run on a context's. Cost: O(rows), in one transaction; a
/// run of a compiled statement for each row, or for ten.
open class NSBatchInsertRequest: NSPersistentStoreRequest {
    private let name: String
    /// The entity of the rows; nil before the request was run where it was made with a name.
    public internal(set) final var entity: NSEntityDescription?
    /// The values of each row, by attribute.
    open var objectsToInsert: [[String: Any]]?
    /// Fills in the values of the next row, and returns whether there are no more rows.
    open var dictionaryHandler: ((NSMutableDictionary) -> Bool)?
    /// Fills in the next row as an object that belongs to no context, and returns whether there are
    /// no more rows.
    open var managedObjectHandler: ((NSManagedObject) -> Bool)?
    /// What the result holds.
    open var resultType: NSBatchInsertRequestResultType = .statusOnly

    /// Inserts one row for each dictionary.
    public init(entityName: String, objects dictionaries: [[String: Any]]) {
        name = entityName
        objectsToInsert = dictionaries
    }

    /// Inserts one row for each dictionary.
    public init(entity: NSEntityDescription, objects dictionaries: [[String: Any]]) {
        name = entity.name ?? ""
        self.entity = entity
        objectsToInsert = dictionaries
    }

    /// A request of no entity, which cannot be run. Apple's class inherits it.
    public convenience override init() { self.init("", nil) }

    private init(_ name: String, _ entity: NSEntityDescription?) {
        self.name = name
        self.entity = entity
    }

    /// Inserts the rows that a handler fills in.
    public convenience init(
        entityName: String, dictionaryHandler handler: @escaping (NSMutableDictionary) -> Bool
    ) {
        self.init(entityName, nil)
        dictionaryHandler = handler
    }

    /// Inserts the rows that a handler fills in.
    public convenience init(
        entity: NSEntityDescription,
        dictionaryHandler handler: @escaping (NSMutableDictionary) -> Bool
    ) {
        self.init(entity.name ?? "", entity)
        dictionaryHandler = handler
    }

    /// Inserts the rows that a handler fills in.
    public convenience init(
        entityName: String, managedObjectHandler handler: @escaping (NSManagedObject) -> Bool
    ) {
        self.init(entityName, nil)
        managedObjectHandler = handler
    }

    /// Inserts the rows that a handler fills in.
    public convenience init(
        entity: NSEntityDescription,
        managedObjectHandler handler: @escaping (NSManagedObject) -> Bool
    ) {
        self.init(entity.name ?? "", entity)
        managedObjectHandler = handler
    }

    /// The name of the rows' entity.
    public final var entityName: String { name }

    open override var requestType: NSPersistentStoreRequestType { .batchInsertRequestType }

    func run(_ context: NSManagedObjectContext) throws -> NSBatchInsertResult {
        guard let coordinator = context.persistentStoreCoordinator else {
            throw PersistenceErrors.noCoordinator
        }
        guard let entity = entity ?? context.model?.entitiesByName[name], !entity.isAbstract else {
            throw PersistenceErrors.unknownEntity(name)
        }
        self.entity = entity
        let shape = ObjectLayout.of(entity)
        let stores = affectedStores ?? coordinator.persistentStores
        let store = try coordinator.storeForNew(shape, among: stores)
        guard let layout = store.layout(of: shape) else {
            throw PersistenceErrors.noStore(for: name)
        }
        var insertion = BatchInsertion(
            context: context, store: store, layout: layout, keepsIDs: resultType == .objectIDs)
        let rows = InsertedValues(self, shape: shape, type: context.registry.type(for: shape))
        try coordinator.translating { try insertion.run(rows) }
        if insertion.count > 0 && store.announcesChanges {
            coordinator.postRemoteChange(of: store)
        }
        switch resultType {
        case .statusOnly: return NSBatchInsertResult(NSNumber(value: true), type: resultType)
        case .count:
            return NSBatchInsertResult(NSNumber(value: insertion.count), type: resultType)
        case .objectIDs:
            return NSBatchInsertResult(insertion.rows.map(store.id), type: resultType)
        }
    }
}

/// What a batch insertion did. Source: Apple, NSBatchInsertResult. Queue: any; it never changes.
open class NSBatchInsertResult: NSPersistentStoreResult {
    /// Whether it was done, how many rows were inserted or updated, or which; as `resultType` says.
    public final let result: Any?
    /// What `result` is.
    public final let resultType: NSBatchInsertRequestResultType

    init(_ result: Any?, type: NSBatchInsertRequestResultType) {
        self.result = result
        resultType = type
    }
}
