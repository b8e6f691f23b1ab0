public import Foundation
internal import Platform

/// The registered name of a value transformer.
public struct NSValueTransformerName: RawRepresentable, Hashable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
    public init(_ rawValue: String) { self.rawValue = rawValue }
    public static let secureUnarchiveFromDataTransformerName = NSValueTransformerName(
        "NSSecureUnarchiveFromData")
}

/// Turns values of transformable attributes into storable ones and back; Foundation has none off
/// Apple's platforms. Register one under the name the model gives. Source: Apple, ValueTransformer.
open class ValueTransformer: NSObject, @unchecked Sendable {
    // @unchecked: transformers are registered once and hold no state of their own.
    private static let known = Lock<[NSValueTransformerName: ValueTransformer]>([:])

    public override init() { super.init() }

    /// The transformer registered under `name`.
    public static func named(_ name: NSValueTransformerName) -> ValueTransformer? {
        known.withLock { $0[name] }
    }

    /// Registers a transformer, or removes it with nil.
    open class func setValueTransformer(
        _ transformer: ValueTransformer?, forName name: NSValueTransformerName
    ) {
        known.withLock { $0[name] = transformer }
    }

    open class func valueTransformerNames() -> [NSValueTransformerName] {
        known.withLock { Array($0.keys) }
    }

    open class func transformedValueClass() -> AnyClass { NSData.self }
    open class func allowsReverseTransformation() -> Bool { true }
    open func transformedValue(_ value: Any?) -> Any? { value }
    open func reverseTransformedValue(_ value: Any?) -> Any? { value }
}
