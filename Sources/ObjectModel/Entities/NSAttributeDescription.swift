internal import Foundation

/// One value of an object. Source: Apple, NSAttributeDescription.
open class NSAttributeDescription: NSPropertyDescription, @unchecked Sendable {
    // @unchecked: see NSPropertyDescription.
    /// The kind of value; `type` is its newer spelling.
    open var attributeType: NSAttributeType = .undefinedAttributeType
    /// The class of the values: the one that was set, as for transformable attributes, or that of
    /// the type, such as `NSString`; nil where the type has none.
    open var attributeValueClassName: String? {
        get { givenValueClassName ?? attributeType.valueClassName }
        set { givenValueClassName = newValue }
    }
    /// The class that was set; nil for none.
    package var givenValueClassName: String?
    /// The value a new object starts with, in its Swift type: `Int16`, `Int32`, `Int64`, `Decimal`,
    /// `Double`, `Float`, `String`, `Bool`, `Date`, `Data`, `UUID` or `URL`.
    open var defaultValue: Any?
    /// The registered name of the transformer of a transformable attribute.
    open var valueTransformerName: String?
    /// Whether large binary values may be kept in files beside the store.
    open var allowsExternalBinaryDataStorage = false
    /// Whether the value is kept in the history's tombstone when the object is deleted.
    open var preservesValueInHistoryOnDeletion = false
    /// Whether the mirror may keep the value encrypted on the service.
    open var allowsCloudEncryption = false
    /// What a value must satisfy: bounds, length, pattern, as the model file says it.
    open var validation = AttributeValidation()
    /// Whether generated classes spell the value as a plain number; nil where the file is silent.
    open var usesScalarValueType: Bool?

    public required init() { super.init() }

    override func give(to twin: NSPropertyDescription) {
        super.give(to: twin)
        guard let twin = twin as? NSAttributeDescription else { return }
        twin.attributeType = attributeType
        twin.givenValueClassName = givenValueClassName
        twin.defaultValue = defaultValue
        twin.valueTransformerName = valueTransformerName
        twin.allowsExternalBinaryDataStorage = allowsExternalBinaryDataStorage
        twin.preservesValueInHistoryOnDeletion = preservesValueInHistoryOnDeletion
        twin.allowsCloudEncryption = allowsCloudEncryption
        twin.validation = validation
        twin.usesScalarValueType = usesScalarValueType
    }
}

/// The bounds an attribute's value must keep, as texts of the model file.
///
/// Bounds are numbers for numbers, lengths in characters for strings, and seconds since
/// 2001-01-01 UTC for dates.
public struct AttributeValidation: Hashable, Sendable {
    /// The smallest value or length.
    public var minimum: String?
    /// The largest value or length.
    public var maximum: String?
    /// The pattern that the whole text must match.
    public var regularExpression: String?
    /// Further predicates a value must satisfy, which only compiled models have.
    public var rules: [Rule] = []

    /// One predicate, with the sentence shown when a value breaks it.
    public struct Rule: Hashable, Sendable {
        /// The predicate as text; `SELF` is the value.
        public var predicate: String
        /// The sentence for a value that breaks it.
        public var warning: String?

        /// `predicate` is a format over `SELF`; without a warning the error says what was expected.
        public init(predicate: String, warning: String?) {
            self.predicate = predicate
            self.warning = warning
        }
    }

    /// Texts as a model file has them; nothing is looked at before an object is validated.
    public init(minimum: String? = nil, maximum: String? = nil, regularExpression: String? = nil) {
        self.minimum = minimum
        self.maximum = maximum
        self.regularExpression = regularExpression
    }

    /// Whether every value is allowed.
    public var isEmpty: Bool { self == AttributeValidation() }

    /// The bounds, with those that stand among the rules for the sake of their sentences. Model
    /// sources keep bounds only.
    var allBounds: AttributeValidation {
        var bounds = AttributeValidation(
            minimum: minimum, maximum: maximum, regularExpression: regularExpression)
        let pattern = /(?:SELF|length) (>=|<=) (-?[0-9.]+)/
        for rule in rules {
            let parts = rule.predicate.components(separatedBy: " AND ")
            let found = parts.compactMap { $0.wholeMatch(of: pattern)?.output }
            guard found.count == parts.count else { continue }
            for (_, sign, number) in found {
                if sign == ">=" { bounds.minimum = bounds.minimum ?? String(number) }
                if sign == "<=" { bounds.maximum = bounds.maximum ?? String(number) }
            }
        }
        return bounds
    }
}

/// A value the SQLite store computes from others. Source: Apple, NSDerivedAttributeDescription.
open class NSDerivedAttributeDescription: NSAttributeDescription, @unchecked Sendable {
    // @unchecked: see NSPropertyDescription.
    /// The expression as the model file spells it, for example `pages.@count` or `chat.serverId`.
    open var derivationExpressionText: String?

    public required init() { super.init() }

    override func give(to twin: NSPropertyDescription) {
        super.give(to: twin)
        guard let twin = twin as? NSDerivedAttributeDescription else { return }
        twin.derivationExpressionText = derivationExpressionText
    }
}

/// A value made of named elements, each with a column of its own.
/// Source: Apple, NSCompositeAttributeDescription.
open class NSCompositeAttributeDescription: NSAttributeDescription, @unchecked Sendable {
    // @unchecked: see NSPropertyDescription.
    /// The parts, in the order in which they were declared. Those that hold the attribute itself
    /// are left out, and coordinators refuse its model.
    open var elements: [NSAttributeDescription] = [] {
        didSet {
            let kept = elements.filter { !Self.holds($0, self) }
            wasPutIntoItself = kept.count < elements.count
            if wasPutIntoItself { elements = kept }
        }
    }
    /// Whether `elements` was last set to what would have no end.
    private(set) var wasPutIntoItself = false
    /// The name under which the model file defines the elements, shared by attributes of one shape.
    open var compositeName: String?

    public required init() {
        super.init()
        attributeType = .compositeAttributeType
    }

    override func give(to twin: NSPropertyDescription) {
        super.give(to: twin)
        guard let twin = twin as? NSCompositeAttributeDescription else { return }
        twin.elements = elements.compactMap { $0.copy() as? NSAttributeDescription }
        twin.compositeName = compositeName
        twin.wasPutIntoItself = wasPutIntoItself
    }

    private static func holds(
        _ element: NSAttributeDescription, _ part: NSCompositeAttributeDescription
    ) -> Bool {
        guard let composite = element as? NSCompositeAttributeDescription else { return false }
        return composite === part || composite.elements.contains { holds($0, part) }
    }
}
