public import Foundation
public import ObjectModel

/// What a fetch can return. Source: Apple, NSFetchRequestResult. Queue: as the results'.
public protocol NSFetchRequestResult: NSObjectProtocol {}

extension NSManagedObjectID: NSFetchRequestResult {}
extension NSDictionary: NSFetchRequestResult {}
extension NSNumber: NSFetchRequestResult {}

/// The form of a fetch's results. Raw values are Apple's.
public struct NSFetchRequestResultType: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
    /// Objects, as faults or filled in.
    public static let managedObjectResultType: NSFetchRequestResultType = []
    /// IDs; no values are read.
    public static let managedObjectIDResultType = NSFetchRequestResultType(rawValue: 1)
    /// Dictionaries of `propertiesToFetch`, straight from the stores: unsaved changes are not in
    /// them.
    public static let dictionaryResultType = NSFetchRequestResultType(rawValue: 2)
    /// One number: how many there are.
    public static let countResultType = NSFetchRequestResultType(rawValue: 4)
}

/// What a request asks of a store. Raw values are Apple's.
public enum NSPersistentStoreRequestType: UInt, Sendable {
    /// `NSFetchRequest`.
    case fetchRequestType = 1
    /// `NSSaveChangesRequest`, which incremental stores get.
    case saveRequestType = 2
    /// `NSBatchInsertRequest`.
    case batchInsertRequestType = 5
    /// `NSBatchUpdateRequest`.
    case batchUpdateRequestType = 6
    /// `NSBatchDeleteRequest`.
    case batchDeleteRequestType = 7
}

/// A question or an order to the stores. Source: Apple, NSPersistentStoreRequest. Queue: one at a
/// time; whoever runs it must not change it meanwhile.
open class NSPersistentStoreRequest: NSObject {
    /// The stores that are asked; nil for all.
    open var affectedStores: [NSPersistentStore]?
    /// By which a store of a program's own tells requests apart.
    open var requestType: NSPersistentStoreRequestType { .fetchRequestType }

    public override init() { super.init() }
}

/// What a request brought. Source: Apple, NSPersistentStoreResult. Queue: that of the context that
/// asked, unless its class says otherwise.
open class NSPersistentStoreResult: NSObject {}

/// Which objects to find and in what form. Source: Apple, NSFetchRequest.
///
/// `ResultType` is not constrained, since a Swift protocol type cannot meet its own constraint off
/// Apple's platforms. Queue: one at a time; set up anywhere, run on a context's.
open class NSFetchRequest<ResultType>: NSPersistentStoreRequest, FetchRequesting, NSCopying {
    final var choice = FetchChoice()

    public override init() { super.init() }

    /// A request for the objects of an entity.
    public convenience init(entityName: String) {
        self.init()
        choice.entityName = entityName
    }

    convenience init(entity: NSEntityDescription) {
        self.init()
        choice.entity = entity
    }

    open override var requestType: NSPersistentStoreRequestType { .fetchRequestType }

    /// The request with its choices, in Apple's form.
    open override var description: String { FetchRequestText(request: self).text }

    /// The stores that are asked; nil for all. Unsaved changes count where they are of these, or
    /// would be saved there.
    open override var affectedStores: [NSPersistentStore]? {
        get { super.affectedStores }
        set { super.affectedStores = newValue }
    }

    /// Whether another request asks the same stores for the same.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? any FetchRequesting else { return false }
        return self === other
            || choice.asksTheSame(as: other.choice) && affectedStores == other.affectedStores
    }

    /// Equal for requests that ask the same; a request in a set must not change.
    open override var hash: Int {
        var hasher = Hasher()
        choice.hash(into: &hasher)
        return hasher.finalize()
    }

    /// A request that says the same.
    open func copy(with zone: NSZone? = nil) -> Any {
        let twin = NSFetchRequest<ResultType>()
        twin.choice = choice
        twin.affectedStores = affectedStores
        return twin
    }

    /// The entity whose objects are found; nil for a request that names it.
    open var entity: NSEntityDescription? {
        get { choice.entity }
        set { choice.entity = newValue }
    }

    /// The entity's name.
    open var entityName: String? { choice.entityName ?? choice.entity?.name }

    /// Which objects are found; nil for all.
    open var predicate: NSPredicate? {
        get { choice.predicate }
        set { choice.predicate = newValue }
    }

    /// The order of the results; objects that sort alike come in the order of their IDs.
    open var sortDescriptors: [NSSortDescriptor]? {
        get { choice.sortDescriptors }
        set { choice.sortDescriptors = newValue }
    }

    /// The most results to return; 0 for all.
    open var fetchLimit: Int {
        get { choice.limit }
        set { choice.limit = max(newValue, 0) }
    }

    /// How many of the first results to leave out.
    open var fetchOffset: Int {
        get { choice.offset }
        set { choice.offset = max(newValue, 0) }
    }

    /// How many objects' rows are read together, when one of them is asked for a value; 0 for all
    /// with the fetch. Objects with batches are faults, and unsaved changes count. The result holds
    /// all objects; `batchedObjects(for:)` makes them as they are asked for.
    open var fetchBatchSize: Int {
        get { choice.batchSize }
        set { choice.batchSize = newValue }
    }

    /// What the results are: objects, IDs, dictionaries or a count.
    open var resultType: NSFetchRequestResultType {
        get { choice.resultType }
        set { choice.resultType = newValue }
    }

    /// Whether unsaved changes count. They never do for dictionaries, as with Apple.
    open var includesPendingChanges: Bool {
        get { choice.flags.includesPendingChanges }
        set { choice.flags.includesPendingChanges = newValue }
    }

    /// Whether objects of subentities are found, too.
    open var includesSubentities: Bool {
        get { choice.flags.includesSubentities }
        set { choice.flags.includesSubentities = newValue }
    }

    /// Whether rows are read with the fetch. Without, each object's row is read when it is asked
    /// for a value, or those of its batch.
    open var includesPropertyValues: Bool {
        get { choice.flags.includesPropertyValues }
        set { choice.flags.includesPropertyValues = newValue }
    }

    /// Whether objects stay faults until a value is read. Their values are at hand either way.
    open var returnsObjectsAsFaults: Bool {
        get { choice.flags.returnsObjectsAsFaults }
        set { choice.flags.returnsObjectsAsFaults = newValue }
    }

    /// For dictionary results: whether equal ones come once. Bounds count what is left.
    open var returnsDistinctResults: Bool {
        get { choice.flags.returnsDistinctResults }
        set { choice.flags.returnsDistinctResults = newValue }
    }

    /// Whether objects that are here already take the stored values, below their own changes.
    open var shouldRefreshRefetchedObjects: Bool {
        get { choice.flags.refreshesRefetched }
        set { choice.flags.refreshesRefetched = newValue }
    }

    /// For dictionary results: names, key paths over to-one relationships, or descriptions of the
    /// properties to return; nil for all attributes.
    ///
    /// An `NSExpressionDescription` gives a value that is computed: of each row, or with `sum:`,
    /// `count:`, `min:`, `max:` and `average:` of all rows or of each group. Its
    /// `expressionResultType` says what it comes as; undefined is the type of what it is computed
    /// from. A to-one relationship gives an ID. Missing values have no entry. What cannot be asked
    /// for is refused by the fetch (134091) in the words of Apple's exceptions.
    open var propertiesToFetch: [Any]? {
        get { choice.values.properties }
        set { choice.values.properties = newValue }
    }

    /// For dictionary results: the properties by which to group, in the forms of
    /// `propertiesToFetch`, or names of expressions there. What is fetched is one of them, computed
    /// of them, or a function over the group.
    open var propertiesToGroupBy: [Any]? {
        get { choice.values.grouping }
        set { choice.values.grouping = newValue }
    }

    /// For dictionary results: which groups to return. A variable of an expression's name stands
    /// for it, as in `$total > 10`; functions over the group may stand here too, where Apple
    /// refuses them.
    open var havingPredicate: NSPredicate? {
        get { choice.values.having }
        set { choice.values.having = newValue }
    }

    /// Key paths of relationships whose members and rows are read with the fetch, each step with
    /// one question for each entity; others are read when asked for.
    open var relationshipKeyPathsForPrefetching: [String]? {
        get { choice.prefetching }
        set { choice.prefetching = newValue }
    }
}

/// All that a fetch request says.
struct FetchChoice {
    var entityName: String?
    var entity: NSEntityDescription?
    var predicate: NSPredicate?
    var sortDescriptors: [NSSortDescriptor]?
    var limit = 0
    var offset = 0
    var batchSize = 0
    var resultType = NSFetchRequestResultType.managedObjectResultType
    var flags = FetchFlags()
    var values = FetchedValues()
    var prefetching: [String]?

    /// Whether batches can bring the result: faults, with unsaved changes, none read anew.
    var returnsBatches: Bool {
        flags.returnsObjectsAsFaults && flags.includesPendingChanges && !flags.refreshesRefetched
    }
}

/// What a fetch request takes in.
struct FetchFlags: Equatable {
    var includesPendingChanges = true
    var includesSubentities = true
    var includesPropertyValues = true
    var returnsObjectsAsFaults = true
    var returnsDistinctResults = false
    var refreshesRefetched = false
}

/// What dictionary results hold.
struct FetchedValues {
    var properties: [Any]?
    var grouping: [Any]?
    var having: NSPredicate?
}

/// A fetch request of any result type.
protocol FetchRequesting: NSPersistentStoreRequest {
    var choice: FetchChoice { get set }
    /// Runs the request, and gives its results as `execute(_:)` does.
    func result(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult
}
