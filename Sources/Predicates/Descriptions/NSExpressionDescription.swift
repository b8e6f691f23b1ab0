public import Foundation
public import ObjectModel

/// A value computed from an expression, as an element of an index.
/// Source: Apple, NSExpressionDescription.
open class NSExpressionDescription: NSPropertyDescription, ExpressionProperty, @unchecked Sendable {
    // @unchecked: see NSPropertyDescription.
    /// What the value is computed from.
    open var expression: NSExpression?
    /// The type of the value; `resultType` is its newer spelling.
    open var expressionResultType: NSAttributeType = .undefinedAttributeType

    public required init() { super.init() }

    /// The type of the value, in the newer spelling.
    open var resultType: NSAttributeDescription.AttributeType {
        get { NSAttributeDescription.AttributeType(rawValue: expressionResultType.rawValue) }
        set {
            expressionResultType =
                NSAttributeType(rawValue: newValue.rawValue) ?? .undefinedAttributeType
        }
    }

    package var expressionText: String? { expression?.node.normalized.description }

    open override func copy(with zone: NSZone? = nil) -> Any {
        let copied = super.copy(with: zone)
        guard let twin = copied as? NSExpressionDescription else { return copied }
        twin.expression = expression
        twin.expressionResultType = expressionResultType
        return twin
    }
}
