internal import Foundation
internal import Platform
internal import Predicates
internal import SQLiteDriver
internal import Stores

extension PredicateCompiler {
    /// A function by its selector name.
    func call(
        _ name: String, _ arguments: [ExpressionNode], _ context: Context
    ) throws -> Operand {
        if name == "now", arguments.isEmpty { return .constant(platform.clock.now()) }
        let operands = try arguments.map { try operand($0, context) }
        if let operators = Self.aggregates[name], operands.count == 1,
            case .collection(let collection) = operands[0]
        {
            return try aggregate(operators, of: collection)
        }
        if operands.allSatisfy(\.isConstant), let value = try? constant(name, arguments) {
            return .constant(value)
        }
        switch operands.count {
        case 1: return try call(name, operands[0])
        case 2: return try call(name, operands[0], operands[1])
        default: throw unknownFunction(name)
        }
    }

    private static let aggregates = [
        "count:": "@count", "sum:": "@sum", "min:": "@min", "max:": "@max", "average:": "@avg",
    ]

    private func unknownFunction(_ name: String) -> StoreError {
        StoreError(
            .unsupported, "Unsupported function expression \(name)", fields: ["function": name])
    }

    /// Computes a function of constants once, by the rules of evaluation in memory.
    private func constant(_ name: String, _ arguments: [ExpressionNode]) throws -> Any? {
        guard !name.hasPrefix("random") else { throw unknownFunction(name) }
        return try Predicates.value(of: .function(name, arguments), with: nil, platform: platform)
    }

    // MARK: Of one value

    private func call(_ name: String, _ operand: Operand) throws -> Operand {
        if name == "noindex:", case .value(let sql, let kind) = operand {
            return .value("+\(sql)", kind)
        }
        if name == "length:", case .collection(let members) = operand {
            return try aggregate("@count", of: members)
        }
        if let function = Self.textFunctions[name] {
            guard let text = try sql(operand, as: .text) else { throw unknownFunction(name) }
            return .value("\(name: function.sql)(\(text))", function.kind)
        }
        guard let number = try sql(operand, as: .number) else { throw unknownFunction(name) }
        switch name {
        case "abs:": return .value("abs(\(number))", .number)
        case "sqrt:": return .value("sqrt(\(number))", .number)
        case "ln:": return .value("ln(\(number))", .number)
        case "log:": return .value("log10(\(number))", .number)
        case "exp:": return .value("exp(\(number))", .number)
        case "floor:": return .value("floor(\(number))", .number)
        case "ceiling:": return .value("ceil(\(number))", .number)
        case "trunc:": return .value("trunc(\(number))", .number)
        case "onesComplement:": return .value("~(\(number))", .number)
        default: throw unknownFunction(name)
        }
    }

    private static let textFunctions: [String: (sql: String, kind: ValueKind)] = [
        "uppercase:": (TextFunctions.upper, .text), "lowercase:": (TextFunctions.lower, .text),
        "canonical:": (TextFunctions.canonical, .text), "length:": (TextFunctions.length, .number),
    ]

    // MARK: Of two values

    private func call(_ name: String, _ first: Operand, _ second: Operand) throws -> Operand {
        if name == FunctionName.cast { return try cast(first, to: second) }
        guard let (a, b, kind) = try numbers(name, first, second) else {
            throw unknownFunction(name)
        }
        let result: SQLFragment
        switch name {
        case FunctionName.add: result = "(\(a) + \(b))"
        case FunctionName.subtract: result = "(\(a) - \(b))"
        case FunctionName.multiply: result = "(\(a) * \(b))"
        case FunctionName.divide: result = "(\(a) / \(b))"
        case "modulus:by:": result = "(CASE WHEN \(b) = 0 THEN NULL ELSE mod(\(a), \(b)) END)"
        case FunctionName.power: result = "pow(\(a), \(b))"
        case "bitwiseAnd:with:": result = "(\(a) & \(b))"
        case "bitwiseOr:with:": result = "(\(a) | \(b))"
        case "bitwiseXor:with:": result = "((\(a) | \(b)) - (\(a) & \(b)))"
        case "leftshift:by:": result = "(\(a) << \(b))"
        case "rightshift:by:": result = "(\(a) >> \(b))"
        default: throw unknownFunction(name)
        }
        return .value(result, kind)
    }

    /// Both as numbers, and the kind of the result: a date and seconds make a date, two dates
    /// seconds.
    private func numbers(
        _ name: String, _ first: Operand, _ second: Operand
    ) throws -> (SQLFragment, SQLFragment, ValueKind)? {
        if let a = try sql(first, as: .number), let b = try sql(second, as: .number) {
            return (a, b, .number)
        }
        let isSum = name == FunctionName.add
        guard isSum || name == FunctionName.subtract, let a = try sql(first, as: .date) else {
            return nil
        }
        if let b = try sql(second, as: .number) { return (a, b, .date) }
        guard !isSum, let b = try sql(second, as: .date) else { return nil }
        return (a, b, .number)
    }

    /// CAST: dates are seconds, so they and numbers change without work.
    private func cast(_ value: Operand, to type: Operand) throws -> Operand {
        guard case .constant(let name) = type, let name = name as? String,
            case .value(let sql, let kind) = value
        else { throw unknownFunction(FunctionName.cast) }
        switch (kind, name) {
        case (.number, "NSNumber"), (.number, "NSDecimalNumber"), (.date, "NSNumber"):
            return .value(sql, .number)
        case (.number, "NSDate"), (.date, "NSDate"): return .value(sql, .date)
        case (.text, "NSString"), (.uri, "NSString"): return .value(sql, .text)
        default: throw unknownFunction(FunctionName.cast)
        }
    }
}

extension Operand {
    var isConstant: Bool {
        if case .constant(let value) = self { !(value is ExpressionList) } else { false }
    }
}
