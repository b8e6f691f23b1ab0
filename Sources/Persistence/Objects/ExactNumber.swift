internal import Foundation
internal import Predicates

/// Numbers of any kind as whole ones and decimals; nil where `NSNumber` would give another number,
/// or trap.
enum ExactNumber {
    /// The number without its fraction.
    static func integer(_ number: NSNumber) -> Int64? {
        if let decimal = number as? NSDecimalNumber {
            let value = decimal.decimalValue
            guard value > Decimal(Int64.min) - 1, value < Decimal(Int64.max) + 1 else { return nil }
            return decimal.int64Value
        }
        switch UInt8(bitPattern: number.objCType.pointee) {
        case UInt8(ascii: "d"), UInt8(ascii: "f"):
            return Int64(exactly: number.doubleValue.rounded(.towardZero))
        case UInt8(ascii: "Q"): return Int64(exactly: number.uint64Value)
        default: return number.int64Value
        }
    }

    /// The whole number that is nearest, where there is no room for the number itself; 0 for none.
    static func nearest(_ number: NSNumber) -> Int64 {
        if let integer = integer(number) { return integer }
        // Too large for a signed one, yet cut as any other.
        if number.objCType.pointee == CChar(bitPattern: UInt8(ascii: "Q")) {
            return Int64(bitPattern: number.uint64Value)
        }
        let real = number.doubleValue
        return real.isNaN ? 0 : real > 0 ? .max : .min
    }

    static func real(_ number: NSNumber) -> Double {
        (number as? NSDecimalNumber)?.decimalValue.nearestReal ?? number.doubleValue
    }

    static func decimal(_ number: NSNumber) -> Decimal? {
        if let decimal = number as? NSDecimalNumber { return decimal.decimalValue }
        switch UInt8(bitPattern: number.objCType.pointee) {
        case UInt8(ascii: "d"), UInt8(ascii: "f"):
            guard number.doubleValue.isFinite else { return nil }
            let decimal = number.decimalValue
            return decimal.isNaN ? nil : decimal
        // Foundation goes by a double here, which has not every number of 64 bits.
        case UInt8(ascii: "Q"): return Decimal(number.uint64Value)
        default: return Decimal(number.int64Value)
        }
    }

    static func decimal(_ number: Double) -> Decimal? { decimal(NSNumber(value: number)) }
}
