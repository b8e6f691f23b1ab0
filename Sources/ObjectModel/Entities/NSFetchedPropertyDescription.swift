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
    public var name: String
    public var entityName: String
    public var predicateText: String?
    public var fetchLimit = 0
    public var fetchBatchSize = 0
    public var includesSubentities = true
    public var includesPropertyValues = true
    public var includesPendingChanges = true
    public var returnsObjectsAsFaults = true
    public var returnsDistinctResults = false
    /// The raw value of the result type: 0 objects, 1 IDs, 2 dictionaries, 4 count.
    public var resultType: UInt = 0
    /// The order of the results, which only compiled models have.
    public var sortKeys: [SortKey] = []

    /// One key path to order by.
    public struct SortKey: Hashable, Sendable {
        public var key: String
        public var isAscending: Bool

        public init(key: String, isAscending: Bool) {
            self.key = key
            self.isAscending = isAscending
        }
    }

    public init(name: String, entityName: String, predicateText: String? = nil) {
        self.name = name
        self.entityName = entityName
        self.predicateText = predicateText
    }
}
