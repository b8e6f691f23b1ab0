internal import Foundation

/// The kind of value an attribute holds. Raw values are Apple's. Source: Apple, NSAttributeType.
public enum NSAttributeType: UInt, Sendable, CaseIterable {
    case undefinedAttributeType = 0
    case integer16AttributeType = 100
    case integer32AttributeType = 200
    case integer64AttributeType = 300
    case decimalAttributeType = 400
    case doubleAttributeType = 500
    case floatAttributeType = 600
    case stringAttributeType = 700
    case booleanAttributeType = 800
    case dateAttributeType = 900
    case binaryDataAttributeType = 1000
    case UUIDAttributeType = 1100
    case URIAttributeType = 1200
    case transformableAttributeType = 1800
    case objectIDAttributeType = 2000
    case compositeAttributeType = 2100
}

/// One value of an object. Source: Apple, NSAttributeDescription.
open class NSAttributeDescription: NSPropertyDescription, @unchecked Sendable {
    // @unchecked: see NSPropertyDescription.
    open var attributeType: NSAttributeType = .undefinedAttributeType
    /// The class of the values, for transformable attributes; empty for the type's own class.
    open var attributeValueClassName: String?
    /// The value a new object starts with, in its Swift type.
    open var defaultValue: Any?
    /// The registered name of the transformer of a transformable attribute.
    open var valueTransformerName: String?
    /// Whether large binary values may be kept in files beside the store.
    open var allowsExternalBinaryDataStorage = false
    /// Whether the value is kept in the history's tombstone when the object is deleted.
    open var preservesValueInHistoryOnDeletion = false
    open var allowsCloudEncryption = false
    /// What a value must satisfy: bounds, length, pattern, as the model file says it.
    open var validation = AttributeValidation()

    public override init() { super.init() }
}

/// The bounds an attribute's value must keep, as texts of the model file (numbers, or ISO dates).
public struct AttributeValidation: Hashable, Sendable {
    public var minimum: String?
    public var maximum: String?
    public var regularExpression: String?

    public init(minimum: String? = nil, maximum: String? = nil, regularExpression: String? = nil) {
        self.minimum = minimum
        self.maximum = maximum
        self.regularExpression = regularExpression
    }
}

/// A value the SQLite store computes from others. Source: Apple, NSDerivedAttributeDescription.
open class NSDerivedAttributeDescription: NSAttributeDescription, @unchecked Sendable {
    // @unchecked: see NSPropertyDescription.
    /// The expression as the model file spells it, for example `pages.@count` or `chat.serverId`.
    open var derivationExpressionText: String?

    public override init() { super.init() }
}

/// A value made of named elements, each with a column of its own.
/// Source: Apple, NSCompositeAttributeDescription.
open class NSCompositeAttributeDescription: NSAttributeDescription, @unchecked Sendable {
    // @unchecked: see NSPropertyDescription.
    open var elements: [NSAttributeDescription] = []

    public override init() {
        super.init()
        attributeType = .compositeAttributeType
    }
}
