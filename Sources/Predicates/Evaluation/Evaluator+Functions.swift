internal import Foundation
internal import Platform

extension Evaluator {
    /// Calls a function by its selector name. Throws `.badFunction` for unknown ones.
    func call(_ name: String, _ arguments: [ExpressionNode]) throws -> Any? {
        switch name {
        case FunctionName.perform: return try perform(arguments)
        case FunctionName.block: return try callBlock(arguments)
        case FunctionName.index: return try element(arguments)
        case FunctionName.fetch: return try fetch(arguments)
        case FunctionName.anyKey:
            throw unsupported(name, "ANYKEY belongs to Spotlight on Apple's platforms.")
        default: break
        }
        guard FunctionName.accepts(name, count: arguments.count) else {
            throw EvaluationError(
                .badFunction, "There is no function \(name) of \(arguments.count) arguments.",
                fields: ["function": name])
        }
        let values = try arguments.map { Constant(try value(of: $0)) }
        let made = try call(name, values)
        // What is no number is missing, as a database has it.
        if let number = made as? Double, number.isNaN { return nil }
        return made
    }

    private func call(_ name: String, _ values: [Constant]) throws -> Any? {
        switch values.count {
        case 0: return name == "now" ? platform.clock.now() : random()
        case 1 where !Self.isStatistic(name): return try call(name, values[0])
        case 2 where !Self.isStatistic(name): return try call(name, values[0], values[1])
        default: return try statistic(name, values)
        }
    }

    // MARK: Of one and two values

    private func call(_ name: String, _ value: Constant) throws -> Any? {
        if name == "noindex:" { return value.plain }
        if value.isNull { return nil }
        switch name {
        case "uppercase:": return try text(value, name).uppercased()
        case "lowercase:": return try text(value, name).lowercased()
        case "canonical:":
            return TextRules.folded(
                try text(value, name), [.caseInsensitive, .diacriticInsensitive])
        case "length:":
            if case .list(let elements) = value { return elements.count }
            return try text(value, name).utf16.count
        case "onesComplement:": return ~(try Arithmetic.integer(value, name))
        case "abs:", "floor:", "ceiling:", "trunc:": return try round(value, name)
        case "random:": return try random(below: value)
        case "randomn:": return try random(below: value)
        default: break
        }
        let number = try Arithmetic.real(value, name)
        switch name {
        case "sqrt:": return number.squareRoot()
        // The logarithm of what is not above zero is missing, as it is in a database.
        case "log:": return number > 0 ? log10(number) : nil
        case "ln:": return number > 0 ? log(number) : nil
        default: return exp(number)
        }
    }

    private func call(_ name: String, _ a: Constant, _ b: Constant) throws -> Any? {
        switch name {
        case FunctionName.add: return try Arithmetic.add(a, b)
        case FunctionName.subtract: return try Arithmetic.subtract(a, b)
        case FunctionName.multiply: return try Arithmetic.multiply(a, b)
        case FunctionName.divide: return try Arithmetic.divide(a, b)
        case "modulus:by:": return try Arithmetic.modulus(a, b)
        case FunctionName.power: return try Arithmetic.power(a, b)
        case FunctionName.cast: return try cast(a, b)
        case "distanceToLocation:fromLocation:": return try distance(a, b)
        default: break
        }
        if a.isNull || b.isNull { return nil }
        let left = try Arithmetic.integer(a, name)
        let right = try Arithmetic.integer(b, name)
        switch name {
        case "bitwiseAnd:with:": return left & right
        case "bitwiseOr:with:": return left | right
        case "bitwiseXor:with:": return left ^ right
        case "leftshift:by:": return left << right
        default: return left >> right
        }
    }

    private func round(_ value: Constant, _ name: String) throws -> Any? {
        if let number = value.integer {
            return name == "abs:" ? Int(exactly: number.magnitude) ?? -Double(number) : number
        }
        let number = try Arithmetic.real(value, name)
        switch name {
        case "abs:":
            if case .decimal(let decimal) = value { return abs(decimal) }
            return abs(number)
        case "floor:": return number.rounded(.down)
        case "ceiling:": return number.rounded(.up)
        default: return number.rounded(.towardZero)
        }
    }

    private func cast(_ value: Constant, _ type: Constant) throws -> Any? {
        if value.isNull { return nil }
        guard case .text(let type) = type, Cast.types.contains(type) else {
            throw unsupported(
                "CAST", "CAST goes to one of " + Cast.types.joined(separator: ", ") + ".")
        }
        guard let made = Cast.cast(value, to: type) else {
            throw Arithmetic.mismatch(value, "CAST to \(type)")
        }
        return made
    }

    /// Metres along the great circle between two things that answer latitude and longitude in
    /// degrees.
    private func distance(_ a: Constant, _ b: Constant) throws -> Any? {
        if a.isNull || b.isNull { return nil }
        func angle(_ place: Constant, _ key: String) throws -> Double {
            let degrees = try KeyPathReading.value(of: [key], in: place.plain)
            return try Arithmetic.real(Constant(degrees), "distanceToLocation:fromLocation:")
                * .pi / 180
        }
        let (north1, north2) = (try angle(a, "latitude"), try angle(b, "latitude"))
        let east = try angle(b, "longitude") - angle(a, "longitude")
        let half =
            pow(sin((north2 - north1) / 2), 2) + cos(north1) * cos(north2) * pow(sin(east / 2), 2)
        let earthRadiusMetres = 6_371_008.8
        return 2 * earthRadiusMetres * asin(min(1, half.squareRoot()))
    }

    private func text(_ value: Constant, _ name: String) throws -> String {
        guard let text = value.spelling else { throw Arithmetic.mismatch(value, name) }
        return text
    }

    // MARK: Chance

    /// At least 0 and below 1.
    private func random() -> Double {
        Double(platform.randomness.next() >> 11) / Double(1 << 53)
    }

    /// A member of a list, or an integer from 0 up to and without a number.
    private func random(below limit: Constant) throws -> Any? {
        if case .list(let elements) = limit {
            if elements.isEmpty { return nil }
            return elements[Int(platform.randomness.next() % UInt64(elements.count))]
        }
        let count = try Arithmetic.integer(limit, "random:")
        return count > 0 ? Int(platform.randomness.next() % UInt64(count)) : 0
    }

    // MARK: Fetches

    /// `FETCH(request, context, countOnly)`: what the request finds, or how many.
    private func fetch(_ arguments: [ExpressionNode]) throws -> Any? {
        guard arguments.count == 3, let request = try value(of: arguments[0]) as? any FetchAnswering
        else {
            throw unsupported(
                FunctionName.fetch, "FETCH needs a fetch request, its context, and YES or NO.")
        }
        let isCount = Constant(try value(of: arguments[2])).integer ?? 0
        return try request.answer(in: value(of: arguments[1]), countOnly: isCount != 0)
    }

    private func unsupported(_ name: String, _ message: String) -> EvaluationError {
        EvaluationError(.unsupported, message, fields: ["function": name])
    }
}
