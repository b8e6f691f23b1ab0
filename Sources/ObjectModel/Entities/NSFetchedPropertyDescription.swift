internal import Foundation

/// A weak link: a fetch request kept under a property's name. It has no column.
/// Source: Apple, NSFetchedPropertyDescription.
open class NSFetchedPropertyDescription: NSPropertyDescription, @unchecked Sendable {
    // @unchecked: see NSPropertyDescription.
    /// The request as the model file spells it.
    open var template: FetchRequestTemplate?

    public required init() {
        super.init()
        isTransient = true
    }

    override func give(to twin: NSPropertyDescription) {
        super.give(to: twin)
        (twin as? NSFetchedPropertyDescription)?.template = template
    }
}

/// A fetch request as a model file keeps it: names and predicate text, bound to nothing yet.
public struct FetchRequestTemplate: Hashable, Sendable {
    /// The request's name in its model.
    public var name: String
    /// The entity to fetch from.
    public var entityName: String
    /// The predicate as the model file spells it; nil for all objects.
    public var predicateText: String?
    /// The largest number of results; 0 for no limit.
    public var fetchLimit = 0
    /// How many objects are read at a time; 0 for all.
    public var fetchBatchSize = 0
    /// Whether objects of inheriting entities count.
    public var includesSubentities = true
    /// Whether values are read together with the identities.
    public var includesPropertyValues = true
    /// Whether unsaved changes count.
    public var includesPendingChanges = true
    /// Whether results may come without their values.
    public var returnsObjectsAsFaults = true
    /// Whether equal dictionaries are returned once.
    public var returnsDistinctResults = false
    /// The raw value of the result type: 0 objects, 1 IDs, 2 dictionaries, 4 count.
    public var resultType: UInt = 0
    /// The order of the results, which only compiled models have.
    public var sortKeys: [SortTerm] = []

    /// One key path to order by.
    public struct SortTerm: Hashable, Sendable {
        /// The key path to order by.
        public var key: String
        /// The direction of the order.
        public var isAscending: Bool
        /// The method that compares, such as `localizedStandardCompare:`; nil for `compare:`.
        public var selector: String?

        /// Without a selector values are put in their natural order (`compare:`).
        public init(key: String, isAscending: Bool, selector: String? = nil) {
            self.key = key
            self.isAscending = isAscending
            self.selector = selector
        }
    }

    /// The name that Xcode gives the request of every fetched property.
    package static let fetchedPropertyName = "fetchedPropertyFetchRequest"

    /// A template without sorting and bounds; its predicate is read when it is made into a request.
    public init(name: String, entityName: String, predicateText: String? = nil) {
        self.name = name
        self.entityName = entityName
        self.predicateText = predicateText
    }
}
