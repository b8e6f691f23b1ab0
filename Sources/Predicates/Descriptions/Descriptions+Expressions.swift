public import Foundation
public import ObjectModel

// Predicates and expressions of descriptions, which models keep as texts.

extension NSFetchIndexDescription {
    /// Which objects the index holds; nil for all. Nil too where the model's text cannot be read.
    public var partialIndexPredicate: NSPredicate? {
        get { partialIndexPredicateText.flatMap { try? NSPredicate.parse($0) } }
        set { partialIndexPredicateText = newValue.map { node(of: $0).description } }
    }
}

extension NSDerivedAttributeDescription {
    /// What the value is computed from; nil where nothing is set or the model's text cannot be
    /// read.
    public var derivationExpression: NSExpression? {
        get { derivationExpressionText.flatMap { try? NSExpression.parse($0) } }
        set { derivationExpressionText = newValue?.node.normalized.description }
    }
}

extension NSEntityDescription {
    /// The name that search shows of an object. It has no effect off Apple's systems.
    public var coreSpotlightDisplayNameExpression: NSExpression? {
        get { coreSpotlightDisplayNameExpressionText.flatMap { try? NSExpression.parse($0) } }
        set { coreSpotlightDisplayNameExpressionText = newValue?.node.normalized.description }
    }
}
