internal import Foundation

/// A number that another number may be declared as: a transient `Int64` as `Int`.
private protocol DeclaredNumber {
    /// The same number as this type, a whole number cut to its width as `NSNumber` cuts it: what is
    /// too wide is for the save to refuse. Nil for what is no number.
    static func reading(_ value: Any) -> Any?
}

extension FixedWidthInteger {
    fileprivate static func reading(_ value: Any) -> Any? {
        if let integer = value as? any FixedWidthInteger {
            return Self(truncatingIfNeeded: integer)
        }
        let decimal = (value as? Decimal).map { NSDecimalNumber(decimal: $0) }
        return (decimal ?? value as? NSNumber).map {
            Self(truncatingIfNeeded: ExactNumber.nearest($0))
        }
    }
}

extension BinaryFloatingPoint {
    fileprivate static func reading(_ value: Any) -> Any? {
        if let number = value as? any BinaryFloatingPoint { return Self(number) }
        return (value as? NSNumber).map { Self($0.doubleValue) }
    }
}

extension Int: DeclaredNumber {}
extension Int8: DeclaredNumber {}
extension Int16: DeclaredNumber {}
extension Int32: DeclaredNumber {}
extension Int64: DeclaredNumber {}
extension UInt: DeclaredNumber {}
extension UInt8: DeclaredNumber {}
extension UInt16: DeclaredNumber {}
extension UInt32: DeclaredNumber {}
extension UInt64: DeclaredNumber {}
extension Double: DeclaredNumber {}
extension Float: DeclaredNumber {}
extension CGFloat: DeclaredNumber {}
extension Bool: DeclaredNumber {
    fileprivate static func reading(_ value: Any) -> Any? {
        (value as? NSNumber)?.boolValue ?? (Int.reading(value) as? Int).map { $0 != 0 }
    }
}

/// Lets the type inside an optional be asked.
private protocol WrappingType {
    static var wrapped: Any.Type { get }
}

extension Optional: WrappingType {
    fileprivate static var wrapped: Any.Type { Wrapped.self }
}

extension NSManagedObject {
    /// A number in the type that a declaration gives it; nil for what is no number.
    final func converted<Value>(_ value: Any) -> Value? {
        let type = (Value.self as? any WrappingType.Type)?.wrapped ?? Value.self
        guard let number = type as? any DeclaredNumber.Type else { return value as? Value }
        return (value as? Value) ?? number.reading(value) as? Value
    }
}
