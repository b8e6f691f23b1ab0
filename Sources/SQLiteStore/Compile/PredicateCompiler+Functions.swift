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
        let whole = ExpressionNode.function(name, arguments)
        let made: Operand? =
            switch name {
            case FunctionName.index: try element(arguments, context)
            case FunctionName.perform: try perform(arguments, context)
            default: try compute(name, arguments, context)
            }
        guard let made else {
            throw StoreError(
                .unsupported, "Unsupported function expression \(whole.description)",
                fields: ["function": name])
        }
        return made
    }

    /// A function of operands, nil for one that has no SQL.
    private func compute(
        _ name: String, _ arguments: [ExpressionNode], _ context: Context
    ) throws -> Operand? {
        let operands = try arguments.map { try operand($0, context) }
        if let operators = Self.aggregates[name], operands.count == 1,
            case .collection(let collection) = operands[0]
        {
            return try aggregate(operators, of: collection)
        }
        if operands.allSatisfy(\.isConstant), let value = constant(name, arguments) {
            return value
        }
        return switch operands.count {
        case 1: try call(name, operands[0])
        case 2: try call(name, operands[0], operands[1])
        default: nil
        }
    }

    private static let aggregates = [
        "count:": "@count", "sum:": "@sum", "min:": "@min", "max:": "@max", "average:": "@avg",
    ]

    /// Computes a function of constants once, by the rules of evaluation in memory; nil where they
    /// refuse. Chance is refused: each row would have to draw anew.
    func constant(_ name: String, _ arguments: [ExpressionNode]) -> Operand? {
        guard !name.hasPrefix("random") else { return nil }
        do {
            return .constant(
                try Predicates.value(
                    of: .function(name, arguments), with: nil, platform: platform))
        } catch {
            return nil
        }
    }

    // MARK: Messages

    /// `FUNCTION(receiver, 'selector:', …)`: of constants, sums with dates, and selectors that are
    /// keys.
    private func perform(
        _ arguments: [ExpressionNode], _ context: Context
    ) throws -> Operand? {
        guard arguments.count >= 2, let selector = arguments[1].plainText else { return nil }
        if arguments.count == 2 {
            let key = selector == "count" ? "@count" : selector
            if case .keyPath(let path) = arguments[0] {
                return try operand(.keyPath(path + [key]), context)
            }
        }
        let operands = try arguments.map { try operand($0, context) }
        if operands.allSatisfy(\.isConstant) {
            return constant(FunctionName.perform, arguments)
        }
        guard operands.count == 3 else { return nil }
        return switch selector {
        case "dateByAddingTimeInterval:": try call(FunctionName.add, operands[0], operands[2])
        case "timeIntervalSinceDate:": try call(FunctionName.subtract, operands[0], operands[2])
        default: nil
        }
    }

    // MARK: Of one value

    private func call(_ name: String, _ operand: Operand) throws -> Operand? {
        if name == "noindex:", case .value(let sql, let kind) = operand {
            return .value(("+\(sql)" as SQLFragment).fraction(sql.isFraction), kind)
        }
        if name == "length:", case .collection(let members) = operand {
            return try aggregate("@count", of: members)
        }
        if let function = Self.textFunctions[name] {
            return try sql(operand, as: .text).map {
                .value("\(name: function.sql)(\($0))", function.kind)
            }
        }
        guard let number = try sql(operand, as: .number) else { return nil }
        if name == "onesComplement:" { return .value("~(\(number))", .number) }
        if name == "abs:" {
            let size: SQLFragment = "\(name: NumberFunctions.magnitude)(\(number))"
            return .value(size.fraction(number.isFraction), .number)
        }
        return Self.numberFunctions[name].map {
            .value(("\(name: $0)(\(number))" as SQLFragment).fraction(number.isFraction), .number)
        }
    }

    private static let numberFunctions = [
        "sqrt:": "sqrt", "ln:": "ln", "log:": "log10", "exp:": "exp",
        "floor:": "floor", "ceiling:": "ceil", "trunc:": "trunc",
    ]

    private static let textFunctions: [String: (sql: String, kind: ValueKind)] = [
        "uppercase:": (TextFunctions.upper, .text), "lowercase:": (TextFunctions.lower, .text),
        "canonical:": (TextFunctions.canonical, .text), "length:": (TextFunctions.length, .number),
    ]

    // MARK: Of two values

    private func call(_ name: String, _ first: Operand, _ second: Operand) throws -> Operand? {
        if name == FunctionName.cast { return cast(first, to: second) }
        guard let (a, b, kind) = try numbers(name, first, second) else { return nil }
        let result: SQLFragment
        switch name {
        case FunctionName.add: result = "(\(a) + \(b))"
        case FunctionName.subtract: result = "(\(a) - \(b))"
        case FunctionName.multiply: result = "(\(a) * \(b))"
        case FunctionName.divide where a.isFraction || b.isFraction:
            result = "(CAST(\(a) AS REAL) / \(b))"
        case FunctionName.divide: result = "(\(a) / \(b))"
        case "modulus:by:", FunctionName.power:
            let isFraction = SQLiteValue.integer(a.isFraction || b.isFraction ? 1 : 0)
            let function = NumberFunctions.name(of: name)
            result = "\(name: function)(\(a), \(b), \(value: isFraction))"
        case "bitwiseAnd:with:": result = "(\(a) & \(b))"
        case "bitwiseOr:with:": result = "(\(a) | \(b))"
        case "bitwiseXor:with:": result = "((\(a) | \(b)) - (\(a) & \(b)))"
        case "leftshift:by:": result = "(\(a) << \(b))"
        case "rightshift:by:": result = "(\(a) >> \(b))"
        default: return nil
        }
        return .value(result.fraction(a.isFraction || b.isFraction), kind)
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

    /// CAST: dates are seconds, so they and numbers change without work; a function does the rest.
    private func cast(_ value: Operand, to type: Operand) -> Operand? {
        guard case .constant(let name) = type, let name = name as? String,
            case .value(let sql, let kind) = unmarked(value),
            let made = CastFunction.kind(ofType: name)
        else { return nil }
        switch (kind, made) {
        case (.number, .number), (.date, .number), (.number, .date), (.date, .date),
            (.text, .text), (.uri, .text):
            return .value(sql.fraction(sql.isFraction || name == "NSDecimalNumber"), made)
        default:
            let given = SQLiteValue.integer(CastFunction.number(of: kind))
            let cast: SQLFragment =
                "\(name: CastFunction.name)(\(sql), \(value: given), \(value: .text(name)))"
            return .value(cast.fraction(name == "NSDecimalNumber"), made)
        }
    }
}

extension ExpressionNode {
    /// The text of a constant one.
    fileprivate var plainText: String? {
        if case .constant(let value) = self { plainConstant(value) as? String } else { nil }
    }
}

extension Operand {
    var isConstant: Bool {
        if case .constant(let value) = self { !(value is ExpressionList) } else { false }
    }
}
