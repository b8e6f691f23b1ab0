internal import Foundation

/// Words for what is wrong with a body, and where.
enum WireProblem {
    /// `operations[3].record.fields.title is missing`
    static func at(_ path: [any CodingKey], _ reason: String) -> RecordError {
        RecordError(.badRequest, "\(spelling(path)) \(reason).")
    }

    /// Says an error of Foundation's decoder in our words.
    static func translate(_ error: any Error) -> RecordError {
        switch error {
        case let error as RecordError: error
        case DecodingError.typeMismatch(let type, let context):
            at(context.codingPath, "has a wrong type; \(name(of: type)) belongs there")
        case DecodingError.valueNotFound(let type, let context):
            at(context.codingPath, "is null; \(name(of: type)) belongs there")
        case DecodingError.keyNotFound(let key, let context):
            at(context.codingPath + [key], "is missing")
        case DecodingError.dataCorrupted(let context): corrupted(context)
        default: RecordError(.badRequest, "The body cannot be read: \(error).")
        }
    }

    private static func corrupted(_ context: DecodingError.Context) -> RecordError {
        guard context.codingPath.isEmpty else {
            return at(
                context.codingPath, "has a value that does not fit: \(context.debugDescription)")
        }
        let cause = context.underlyingError.map { ": \($0)" } ?? ""
        return RecordError(.badRequest, "The body is not valid JSON\(cause).")
    }

    private static func spelling(_ path: [any CodingKey]) -> String {
        var text = ""
        for key in path {
            if let index = key.intValue {
                text += "[\(index)]"
            } else {
                text += text.isEmpty ? key.stringValue : ".\(key.stringValue)"
            }
        }
        return text.isEmpty ? "The body" : text
    }

    private static func name(of type: any Any.Type) -> String {
        switch type {
        case is String.Type: "a string"
        case is Int64.Type, is Int.Type: "a whole number"
        case is Double.Type: "a number"
        case is Bool.Type: "true or false"
        case is [Any].Type: "an array"
        default: "an object"
        }
    }
}

/// Numbers that travel as strings.
enum WireNumber {
    static let wanted = "is no whole number of 64 bits"
    static let tooLarge = "is past the range of DOUBLE"
    static let brokenText = "is text with an escape that is no character of Unicode"
    static let misspelled = "is text that spells no number of this type"

    /// The doubles JSON cannot spell, or any number as text; nil for other text.
    static func double(_ text: String) -> Double? {
        switch text {
        case "NaN": .nan
        case "Infinity": .infinity
        case "-Infinity": -.infinity
        default: finite(text)
        }
    }

    private static func finite(_ text: String) -> Double? {
        guard let value = Double(text), value.isFinite else { return nil }
        return value
    }
}
