public import Foundation
internal import Platform

/// The registered name of a value transformer.
public struct NSValueTransformerName: RawRepresentable, Hashable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
    /// The name without its label.
    public init(_ rawValue: String) { self.rawValue = rawValue }

    /// Archives values, and reads those of allowed classes.
    public static let secureUnarchiveFromDataTransformerName = NSValueTransformerName(
        "NSSecureUnarchiveFromData")
    /// Turns a truth value into its opposite.
    public static let negateBooleanTransformerName = NSValueTransformerName("NSNegateBoolean")
    /// Tells whether there is no value.
    public static let isNilTransformerName = NSValueTransformerName("NSIsNil")
    /// Tells whether there is a value.
    public static let isNotNilTransformerName = NSValueTransformerName("NSIsNotNil")
}

/// Turns values of transformable attributes into storable ones and back; Foundation has none off
/// Apple's platforms. Register one under the name the model gives. Source: Apple, ValueTransformer.
/// Queue: any; one instance serves all threads at a time.
open class ValueTransformer: NSObject, @unchecked Sendable {
    // @unchecked: transformers are registered once and hold no state of their own.
    private static let known = Lock<[NSValueTransformerName: ValueTransformer]>([
        .secureUnarchiveFromDataTransformerName: NSSecureUnarchiveFromDataTransformer(),
        .negateBooleanTransformerName: AnsweringTransformer {
            !(($0 as? NSNumber)?.boolValue ?? ($0 as? Bool) ?? false)
        },
        .isNilTransformerName: AnsweringTransformer { $0 == nil || $0 is NSNull },
        .isNotNilTransformerName: AnsweringTransformer { $0 != nil && !($0 is NSNull) },
    ])

    public override init() { super.init() }

    /// The transformer registered under `name`; `ValueTransformer(forName:)` is the same.
    public static func named(_ name: NSValueTransformerName) -> ValueTransformer? {
        known.withLock { $0[name] }
    }

    /// Registers a transformer, or removes it with nil.
    open class func setValueTransformer(
        _ transformer: ValueTransformer?, forName name: NSValueTransformerName
    ) {
        known.withLock { $0[name] = transformer }
    }

    /// The names under which transformers are registered, in no order.
    open class func valueTransformerNames() -> [NSValueTransformerName] {
        known.withLock { Array($0.keys) }
    }

    /// The class of what it makes of a value; a transformable attribute's makes `NSData`.
    open class func transformedValueClass() -> AnyClass { NSData.self }
    /// Whether `reverseTransformedValue(_:)` works; without it a stored value cannot be read back.
    open class func allowsReverseTransformation() -> Bool { true }
    /// What stands for a value; nil where it cannot be transformed. Override it: by itself it
    /// returns the value.
    open func transformedValue(_ value: Any?) -> Any? { value }
    /// The value that something stands for; nil where it cannot be told. Override it: by itself it
    /// returns what it is given, where Apple's transforms once more.
    open func reverseTransformedValue(_ value: Any?) -> Any? { value }
}

/// Gives transformers Apple's initializer, which answers the registered object. Queue: any.
public protocol TransformerNaming {}

extension ValueTransformer: TransformerNaming {}

extension TransformerNaming where Self: ValueTransformer {
    /// The transformer registered under `name`; nil where there is none.
    public init?(forName name: NSValueTransformerName) {
        guard let found = ValueTransformer.named(name) as? Self else { return nil }
        self = found
    }
}

/// A transformer that answers yes or no.
private final class AnsweringTransformer: ValueTransformer, @unchecked Sendable {
    // @unchecked: the answer is a function of the value alone.
    private let answer: @Sendable (Any?) -> Bool

    init(_ answer: @escaping @Sendable (Any?) -> Bool) { self.answer = answer }

    override class func transformedValueClass() -> AnyClass { NSNumber.self }
    override class func allowsReverseTransformation() -> Bool { false }
    override func transformedValue(_ value: Any?) -> Any? { NSNumber(value: answer(value)) }
}
