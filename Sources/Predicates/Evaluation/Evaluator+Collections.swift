internal import Foundation

extension Evaluator {
    static func isStatistic(_ name: String) -> Bool {
        [
            "sum:", "count:", "min:", "max:", "average:", "median:", "mode:", "stddev:",
        ].contains(name)
    }

    /// Computes over one list, or over the arguments where there are several; one that is no list
    /// is all there is. Missing values do not count, except for `count:`.
    func statistic(_ name: String, _ arguments: [Constant]) throws -> Any? {
        var values = arguments
        if arguments.count == 1, !arguments[0].isSingle {
            values = try list(arguments[0].plain, for: name).map { Constant($0) }
        }
        if name == "count:" { return values.count }
        values.removeAll(where: \.isNull)
        switch name {
        case "sum:": return try Arithmetic.sum(values)
        case "average:": return try Arithmetic.average(values)
        case "min:": return try KeyPathReading.extreme(values, .orderedAscending)
        case "max:": return try KeyPathReading.extreme(values, .orderedDescending)
        case "median:": return try median(values)
        case "mode:": return mode(values)
        default: return try deviation(values)
        }
    }

    private func median(_ values: [Constant]) throws -> Any? {
        let sorted = try values.map { try Arithmetic.real($0, "median:") }.sorted()
        guard !sorted.isEmpty else { return nil }
        let middle = sorted.count / 2
        return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
    }

    /// The values that occur most often, in order of appearance.
    private func mode(_ values: [Constant]) -> [Any?] {
        var counts: [(value: Constant, count: Int)] = []
        for value in values {
            if let known = counts.firstIndex(where: { ValueRules.equal($0.value, value) }) {
                counts[known].count += 1
            } else {
                counts.append((value, 1))
            }
        }
        let most = counts.map(\.count).max() ?? 0
        return counts.filter { $0.count == most }.map(\.value.plain)
    }

    /// The standard deviation of a population.
    private func deviation(_ values: [Constant]) throws -> Any? {
        guard !values.isEmpty else { return nil }
        let numbers = try values.map { try Arithmetic.real($0, "stddev:") }
        let mean = numbers.reduce(0, +) / Double(numbers.count)
        let squares = numbers.map { ($0 - mean) * ($0 - mean) }
        return (squares.reduce(0, +) / Double(numbers.count)).squareRoot()
    }

    // MARK: Indexes and messages

    /// `x[i]`: of a dictionary by key, of a list by number, FIRST, LAST or SIZE; nil past the end.
    /// A set has its size only.
    func element(_ arguments: [ExpressionNode]) throws -> Any? {
        guard arguments.count == 2 else {
            throw EvaluationError(.badFunction, "An index needs a collection and a key.")
        }
        let whole = try value(of: arguments[0])
        if whole == nil { return nil }
        if case .function(let symbol, let none) = arguments[1], none.isEmpty {
            let elements = try list(whole, for: symbol)
            if symbol != FunctionName.sizeSymbol { try checkOrder(arguments) }
            switch symbol {
            case FunctionName.firstSymbol: return elements.first ?? nil
            case FunctionName.lastSymbol: return elements.last ?? nil
            case FunctionName.sizeSymbol: return elements.count
            default: break
            }
        }
        let key = Constant(try value(of: arguments[1]))
        if let dictionary = whole as? [AnyHashable: Any] {
            return (key.plain as? AnyHashable).flatMap { dictionary[$0] }
        }
        try checkOrder(arguments)
        let elements = try list(whole, for: "[]")
        let place = try Arithmetic.integer(key, FunctionName.index)
        return elements.indices.contains(place) ? elements[place] : nil
    }

    /// Throws for an index of a set: which member stands where would be chance.
    private func checkOrder(_ arguments: [ExpressionNode]) throws {
        guard try !hasOrder(arguments[0]) else { return }
        let whole = ExpressionNode.function(FunctionName.index, arguments)
        throw EvaluationError(
            .badFunction, "Unsupported function expression \(whole.description)",
            fields: ["function": FunctionName.index])
    }

    private func hasOrder(_ list: ExpressionNode) throws -> Bool {
        switch list {
        case .keyPath(let path): return try KeyPathReading.hasOrder(path[...], in: object)
        case .path(from: let origin, let path):
            return try hasOrder(origin)
                && KeyPathReading.hasOrder(path[...], in: value(of: origin))
        case .subquery(let collection, _, _): return try hasOrder(collection)
        case .constant(let held): return try KeyPathReading.hasOrder([], in: held)
        case .variable(let name): return try KeyPathReading.hasOrder([], in: variable(name))
        default: return true
        }
    }

    /// `FUNCTION(receiver, 'selector:', …)`, for the selectors of values that need no runtime.
    func perform(_ arguments: [ExpressionNode]) throws -> Any? {
        guard arguments.count >= 2, let name = try value(of: arguments[1]) as? String else {
            throw EvaluationError(.badFunction, "FUNCTION needs a receiver and a selector.")
        }
        let receiver = try value(of: arguments[0])
        let rest = try arguments.dropFirst(2).map { Constant(try value(of: $0)) }
        if receiver == nil { return nil }
        if let own = receiver as? any FunctionReceiving {
            return try own.value(ofFunction: name, arguments: rest.map(\.plain))
        }
        if let function = CustomSelectors.function(named: name) {
            return try function(receiver, rest.map(\.plain))
        }
        if rest.isEmpty {
            if name == "count", let elements = listElements(of: receiver) { return elements.count }
            return try KeyPathReading.value(of: [name], in: receiver)
        }
        switch (name, Constant(receiver), rest[0]) {
        case ("valueForKey:", _, .text(let key)), ("objectForKey:", _, .text(let key)):
            return try KeyPathReading.value(of: [key], in: receiver)
        case ("valueForKeyPath:", _, .text(let path)):
            let elements = path.split(separator: ".").map(String.init)
            return try KeyPathReading.value(of: elements[...], in: receiver)
        case ("dateByAddingTimeInterval:", .date(let date), let seconds):
            return date.addingTimeInterval(try Arithmetic.real(seconds, name))
        case ("timeIntervalSinceDate:", .date(let date), .date(let other)):
            return date.timeIntervalSince(other)
        case ("stringByAppendingString:", .text(let text), .text(let other)): return text + other
        case ("hasPrefix:", .text(let text), .text(let part)): return text.hasPrefix(part)
        case ("hasSuffix:", .text(let text), .text(let part)): return text.hasSuffix(part)
        default:
            throw EvaluationError(
                .badFunction, "FUNCTION cannot send \(name) to a \(Constant(receiver).kindName).",
                fields: ["function": name])
        }
    }

    func callBlock(_ arguments: [ExpressionNode]) throws -> Any? {
        guard let box = arguments.first?.constantValue?.value as? BlockBox else {
            throw EvaluationError(.badFunction, "A block expression has lost its block.")
        }
        let values = try arguments.dropFirst().map { try value(of: $0) ?? NSNull() }
        return box.block(object, values, nil)
    }
}
