internal import Foundation

/// Walks key paths through objects, dictionaries, lists and plain values, by key-value coding's
/// rules.
enum KeyPathReading {
    /// Returns the value at `path` from `object`. A list answers a key with the list of its
    /// elements' answers; an `@operator` computes over the list before it, by the path after it.
    static func value(of path: ArraySlice<String>, in object: Any?) throws -> Any? {
        guard let key = path.first else { return plainConstant(object) }
        let rest = path.dropFirst()
        if key.hasPrefix("@") {
            return try operate(key, rest, on: object)
        }
        if key == "self" || key == "SELF" { return try value(of: rest, in: object) }
        guard let object, !(object is NSNull) else { return nil }
        if let reading = object as? any KeyValueReading {
            return try value(of: rest, in: try reading.predicateValue(forKey: key))
        }
        if let dictionary = object as? [String: Any] {
            return try value(of: rest, in: dictionary[key])
        }
        if let elements = listElements(of: object) {
            // One key at a time, so that an operator further on computes over all their answers.
            let answers = try elements.map { try value(of: [key], in: $0) ?? NSNull() }
            return try value(of: rest, in: answers)
        }
        return try value(of: rest, in: try answer(of: object, to: key))
    }

    /// Whether the first list on the path has an order, which those made of its members keep.
    static func hasOrder(_ path: ArraySlice<String>, in object: Any?) throws -> Bool {
        guard let object, !(object is NSNull) else { return true }
        if listElements(of: object) != nil {
            return !(object is NSSet) && !(object is Set<AnyHashable>)
        }
        guard let key = path.first, !key.hasPrefix("@") else { return true }
        let rest = path.dropFirst()
        if key == "self" || key == "SELF" { return try hasOrder(rest, in: object) }
        if let reading = object as? any KeyValueReading {
            return reading.hasOrder(forKey: key)
                ? try hasOrder(rest, in: reading.predicateValue(forKey: key)) : false
        }
        guard let dictionary = object as? [AnyHashable: Any] else { return true }
        return try hasOrder(rest, in: dictionary[key])
    }

    private static func answer(of object: Any, to key: String) throws -> Any? {
        if let dictionary = object as? [AnyHashable: Any] { return dictionary[key] }
        let constant = Constant(object)
        return constant.isNull ? nil : try ScalarKeys.value(of: constant, key)
    }

    private static func operate(
        _ name: String, _ path: ArraySlice<String>, on object: Any?
    ) throws -> Any? {
        guard let object, !(object is NSNull) else { return nil }
        guard let elements = listElements(of: object) else {
            throw EvaluationError(
                .notACollection, "\(name) needs a collection before it.", fields: ["key": name])
        }
        if name == "@count" { return try value(of: path, in: elements.count) }
        let values = try elements.map { try value(of: path, in: $0) }
        let present = values.map { Constant($0) }.filter { !$0.isNull }
        switch name {
        case "@sum": return try Arithmetic.sum(present)
        case "@avg": return try Arithmetic.average(present)
        case "@min": return try extreme(present, .orderedAscending)
        case "@max": return try extreme(present, .orderedDescending)
        case "@unionOfObjects": return present.map(\.plain)
        case "@distinctUnionOfObjects": return distinct(present)
        case "@unionOfArrays", "@unionOfSets": return present.flatMap(members).map(\.plain)
        case "@distinctUnionOfArrays", "@distinctUnionOfSets":
            return distinct(present.flatMap(members))
        default:
            throw EvaluationError(
                .unknownKey, "There is no collection operator \(name).", fields: ["key": name])
        }
    }

    /// Returns the first value in the given direction, nil of none.
    static func extreme(_ values: [Constant], _ direction: ComparisonResult) throws -> Any? {
        guard var best = values.first else { return nil }
        for value in values.dropFirst() where try ValueRules.order(value, best) == direction {
            best = value
        }
        return best.plain
    }

    private static func distinct(_ values: [Constant]) -> [Any?] {
        var kept: [Constant] = []
        for value in values where !kept.contains(where: { ValueRules.equal($0, value) }) {
            kept.append(value)
        }
        return kept.map(\.plain)
    }

    private static func members(_ value: Constant) -> [Constant] {
        guard case .list(let elements) = value else { return [value] }
        return elements.map { Constant($0) }.filter { !$0.isNull }
    }
}

/// The keys that texts, numbers and dates answer.
enum ScalarKeys {
    static func value(of value: Constant, _ key: String) throws -> Any? {
        switch (value, key) {
        case (.text(let text), "length"): return text.utf16.count
        case (.text(let text), "uppercaseString"): return text.uppercased()
        case (.text(let text), "lowercaseString"): return text.lowercased()
        case (.text(let text), "capitalizedString"): return text.capitalized
        case (.text(let text), "integerValue"), (.text(let text), "intValue"):
            return Int(text) ?? 0
        case (.text(let text), "doubleValue"): return Double(text) ?? 0
        case (_, "integerValue"), (_, "intValue"):
            if let number = value.double, number.magnitude < 9e18 {
                return value.integer ?? Int(number)
            }
        case (_, "doubleValue"): if let number = value.double { return number }
        case (_, "boolValue"): if let number = value.double { return number != 0 }
        case (_, "stringValue"), (_, "description"):
            if let text = Cast.cast(value, to: "NSString") { return text }
        case (.date(let date), "timeIntervalSinceReferenceDate"):
            return date.timeIntervalSinceReferenceDate
        case (.date(let date), "timeIntervalSince1970"): return date.timeIntervalSince1970
        case (.url(let url), "absoluteString"): return url.absoluteString
        case (.url(let url), "path"): return url.path
        case (.url(let url), "lastPathComponent"): return url.lastPathComponent
        case (.uuid(let uuid), "UUIDString"), (.uuid(let uuid), "uuidString"):
            return uuid.uuidString
        case (.data(let data), "length"): return data.count
        default: break
        }
        throw EvaluationError(
            .unknownKey,
            "A \(value.kindName) has no key \(key); conform types with keys to KeyValueReading.",
            fields: ["key": key])
    }
}
