public import Foundation

/// How an index element compares. Raw values are Apple's.
public enum NSFetchIndexElementType: UInt, Sendable {
    case binary = 0
    case rTree = 1
}

/// One column of a fetch index. Source: Apple, NSFetchIndexElementDescription.
open class NSFetchIndexElementDescription: NSObject, @unchecked Sendable {
    // @unchecked: see NSPropertyDescription.
    /// The property the element orders by; nil until the model resolves `propertyName`.
    open weak var property: NSPropertyDescription?
    open var propertyName: String?
    open var collationType: NSFetchIndexElementType
    open var isAscending = true

    public init(property: NSPropertyDescription, collationType: NSFetchIndexElementType) {
        self.property = property
        propertyName = property.name
        self.collationType = collationType
    }

    /// An element that names a property of the entity it will belong to.
    public init(propertyName: String, collationType: NSFetchIndexElementType) {
        self.propertyName = propertyName
        self.collationType = collationType
    }
}

/// An index the SQLite store keeps for an entity. Source: Apple, NSFetchIndexDescription.
open class NSFetchIndexDescription: NSObject, @unchecked Sendable {
    // @unchecked: see NSPropertyDescription.
    open var name: String
    open var elements: [NSFetchIndexElementDescription]
    /// The partial index's predicate as the model file spells it.
    open var partialIndexPredicateText: String?
    open weak var entity: NSEntityDescription?

    public init(name: String, elements: [NSFetchIndexElementDescription]?) {
        self.name = name
        self.elements = elements ?? []
    }
}
