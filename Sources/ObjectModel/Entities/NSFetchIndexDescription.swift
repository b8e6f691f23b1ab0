public import Foundation

/// How an index element compares. Raw values are Apple's.
public enum NSFetchIndexElementType: UInt, Sendable {
    /// By order: for equality, ranges and sorting.
    case binary = 0
    /// By place: for two numbers that are looked for within bounds.
    case rTree = 1
}

/// A property that stands for an expression, whose class is made where expressions are.
package protocol ExpressionProperty: NSPropertyDescription {
    /// The expression's text; nil where none is set.
    var expressionText: String? { get }
    /// The type of the expression's value.
    var expressionResultType: NSAttributeType { get }
}

/// One column of a fetch index. Source: Apple, NSFetchIndexElementDescription.
open class NSFetchIndexElementDescription: NSObject, NSCopying, @unchecked Sendable {
    // @unchecked: see NSPropertyDescription.
    private weak var givenProperty: NSPropertyDescription?
    /// The name of the property; nil for an expression.
    open private(set) var propertyName: String?
    /// The indexed expression as the model file spells it; nil for an ordinary property.
    open var expressionText: String?
    /// The name that an archive gave the expression; nil for a property.
    var expressionName: String?
    /// The type of the expression's value.
    open var expressionResultType: NSAttributeType = .undefinedAttributeType
    /// How the values compare.
    open var collationType: NSFetchIndexElementType
    /// The direction of the order.
    open var isAscending = true
    /// The index this element belongs to.
    public internal(set) weak var indexDescription: NSFetchIndexDescription?

    /// An element over a property, or over the expression of an `NSExpressionDescription`.
    public init(property: NSPropertyDescription, collationType: NSFetchIndexElementType) {
        self.collationType = collationType
        if let expression = property as? any ExpressionProperty {
            expressionText = expression.expressionText
            expressionResultType = expression.expressionResultType
            expressionName = property.name.isEmpty ? nil : property.name
        } else {
            givenProperty = property
            propertyName = property.name
        }
    }

    /// An element that names a property of the entity it will belong to.
    public init(propertyName: String, collationType: NSFetchIndexElementType) {
        self.propertyName = propertyName
        self.collationType = collationType
    }

    /// An element over an expression instead of a property.
    public init(
        expressionText: String, resultType: NSAttributeType, collationType: NSFetchIndexElementType
    ) {
        self.expressionText = expressionText
        expressionResultType = resultType
        self.collationType = collationType
    }

    /// The property the element orders by: the one given, or the entity's of that name.
    open var property: NSPropertyDescription? {
        if let givenProperty { return givenProperty }
        return propertyName.flatMap { indexDescription?.entity?.propertiesByName[$0] }
    }

    /// A copy that finds its property by name in the entity it comes to belong to.
    open func copy(with zone: NSZone? = nil) -> Any {
        let twin = NSFetchIndexElementDescription(
            expressionText: expressionText ?? "", resultType: expressionResultType,
            collationType: collationType)
        twin.propertyName = propertyName
        twin.expressionText = expressionText
        twin.expressionName = expressionName
        twin.isAscending = isAscending
        return twin
    }
}

/// An index the SQLite store keeps for an entity. Source: Apple, NSFetchIndexDescription.
open class NSFetchIndexDescription: NSObject, NSCopying, @unchecked Sendable {
    // @unchecked: see NSPropertyDescription.
    /// The index's name, unique in its entity.
    open var name: String
    /// The columns, in order of significance.
    open var elements: [NSFetchIndexElementDescription] {
        didSet { adoptElements() }
    }
    /// The partial index's predicate as the model file spells it.
    open var partialIndexPredicateText: String?
    /// The entity the index belongs to.
    public internal(set) var entity: NSEntityDescription? {
        get { owner?.entity }
        set { owner = newValue?.place.tie }
    }
    private var owner: EntityTie?

    /// An index over the elements in their order; they belong to it from then on.
    public init(name: String, elements: [NSFetchIndexElementDescription]?) {
        self.name = name
        self.elements = elements ?? []
        super.init()
        adoptElements()
    }

    /// A copy with elements of its own, in no entity.
    open func copy(with zone: NSZone? = nil) -> Any {
        let twins = elements.compactMap { $0.copy() as? NSFetchIndexElementDescription }
        let twin = NSFetchIndexDescription(name: name, elements: twins)
        twin.partialIndexPredicateText = partialIndexPredicateText
        return twin
    }

    private func adoptElements() {
        for element in elements { element.indexDescription = self }
    }
}
