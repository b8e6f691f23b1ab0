internal import Foundation

/// The sums of expressions: integers stay integers while they fit, decimals stay decimals, anything
/// with a missing value is missing.
enum Arithmetic {
    /// A date and seconds make a date.
    static func add(_ a: Constant, _ b: Constant) throws -> Any? {
        if case .date(let date) = a, let seconds = b.double {
            return date.addingTimeInterval(seconds)
        }
        return try combine(a, b, "+", { $0.addingReportingOverflow($1) }, { $0 + $1 }, { $0 + $1 })
    }

    /// Seconds before a date make a date, two dates the seconds between them.
    static func subtract(_ a: Constant, _ b: Constant) throws -> Any? {
        if case .date(let date) = a, let seconds = b.double {
            return date.addingTimeInterval(-seconds)
        }
        if case .date(let later) = a, case .date(let earlier) = b {
            return later.timeIntervalSince(earlier)
        }
        return try combine(
            a, b, "-", { $0.subtractingReportingOverflow($1) }, { $0 - $1 }, { $0 - $1 })
    }

    static func multiply(_ a: Constant, _ b: Constant) throws -> Any? {
        try combine(a, b, "*", { $0.multipliedReportingOverflow(by: $1) }, { $0 * $1 }, { $0 * $1 })
    }

    /// Integers divide to integers, rounded towards zero. Anything divided by zero is missing.
    static func divide(_ a: Constant, _ b: Constant) throws -> Any? {
        if b.double == 0 { return nil }
        return try combine(
            a, b, "/", { $0.dividedReportingOverflow(by: $1) }, { $0 / $1 }, { $0 / $1 })
    }

    static func modulus(_ a: Constant, _ b: Constant) throws -> Any? {
        if b.double == 0 { return nil }
        return try combine(
            a, b, "modulus:by:", { $0.remainderReportingOverflow(dividingBy: $1) },
            { $0.truncatingRemainder(dividingBy: $1) },
            { left, right in
                var quotient = left / right
                var whole = Decimal()
                NSDecimalRound(&whole, &quotient, 0, quotient < 0 ? .up : .down)
                return left - whole * right
            })
    }

    static func power(_ a: Constant, _ b: Constant) throws -> Any? {
        if let base = a.integer, let exponent = b.integer, exponent >= 0, exponent < 64 {
            var result = 1
            var isExact = true
            for _ in 0..<exponent {
                let next = result.multipliedReportingOverflow(by: base)
                result = next.partialValue
                isExact = isExact && !next.overflow
            }
            if isExact { return result }
        }
        if a.isNull || b.isNull { return nil }
        return pow(try real(a, "raise:toPower:"), try real(b, "raise:toPower:"))
    }

    static func sum(_ values: [Constant]) throws -> Any? {
        try values.reduce(Constant(0)) { Constant(try add($0, $1)) }.plain
    }

    static func average(_ values: [Constant]) throws -> Any? {
        guard !values.isEmpty else { return nil }
        let total = Constant(try sum(values))
        if case .decimal(let number) = total { return number / Decimal(values.count) }
        return try real(total, "average:") / Double(values.count)
    }

    /// Returns the number as a Double. Throws `.typeMismatch`.
    static func real(_ value: Constant, _ name: String) throws -> Double {
        guard let number = value.double else { throw mismatch(value, name) }
        return number
    }

    /// Returns the number as an integer, its fraction cut. Throws `.typeMismatch`.
    static func integer(_ value: Constant, _ name: String) throws -> Int {
        if let number = value.integer { return number }
        guard let number = value.double, number.magnitude < 9.2e18 else {
            throw mismatch(value, name)
        }
        return Int(number)
    }

    static func mismatch(_ value: Constant, _ name: String) -> EvaluationError {
        EvaluationError(
            .typeMismatch, "\(name) cannot take a \(value.kindName).", fields: ["function": name])
    }

    private static func combine(
        _ a: Constant, _ b: Constant, _ name: String,
        _ integers: (Int, Int) -> (partialValue: Int, overflow: Bool),
        _ reals: (Double, Double) -> Double, _ decimals: (Decimal, Decimal) -> Decimal
    ) throws -> Any? {
        if a.isNull || b.isNull { return nil }
        if let left = a.integer, let right = b.integer {
            let (result, overflow) = integers(left, right)
            if !overflow { return result }
        }
        if a.isDecimal || b.isDecimal, let left = a.decimal, let right = b.decimal {
            return decimals(left, right)
        }
        return reals(try real(a, name), try real(b, name))
    }
}
