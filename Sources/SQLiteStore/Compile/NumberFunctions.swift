internal import Foundation
internal import Predicates
internal import SQLiteDriver

/// The SQL functions of numbers that SQLite computes by other rules than evaluation in memory does:
/// its `pow` and `mod` know reals only, and its `abs` fails for the least integer.
enum NumberFunctions {
    static let magnitude = "diptych_magnitude"

    /// The function for a power or a modulus: two numbers, and whether they may have fractions.
    static func name(of function: String) -> String {
        function == FunctionName.power ? "diptych_power" : "diptych_modulus"
    }

    static func register(with connection: Connection) throws {
        for function in [FunctionName.power, "modulus:by:"] {
            try connection.register(function: name(of: function), arguments: 3) { arguments in
                let isFraction = arguments[2].int64 == 1
                return computed(function, arguments[..<2].map { plain($0, isFraction) })
            }
        }
        try connection.register(function: magnitude, arguments: 1) { arguments in
            computed("abs:", [plain(arguments[0], false)])
        }
    }

    private static func computed(_ function: String, _ arguments: [Any?]) -> SQLiteValue {
        let call = ExpressionNode.function(function, arguments.map(ExpressionNode.constant))
        guard let value = try? Predicates.value(of: call, with: nil) else { return .null }
        return PredicateCompiler.encode(value, as: .number) ?? .null
    }

    /// A decimal stands in the file as a whole number where it is one.
    private static func plain(_ value: SQLiteValue, _ isFraction: Bool) -> Any? {
        switch value {
        case .integer(let number): isFraction ? Decimal(number) : Int(number)
        case .real(let number): isFraction ? Cast.plain(number, as: "NSDecimalNumber") : number
        case .text, .blob, .null: nil
        }
    }
}
