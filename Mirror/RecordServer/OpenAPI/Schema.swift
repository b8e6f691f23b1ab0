internal import Foundation

/// A value of JSON, for documents that are made once.
enum DocumentValue: Encodable, Sendable {
    case text(String)
    case number(Int)
    case flag(Bool)
    case list([DocumentValue])
    case object([String: DocumentValue])

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .text(let text): try container.encode(text)
        case .number(let number): try container.encode(number)
        case .flag(let flag): try container.encode(flag)
        case .list(let values): try container.encode(values)
        case .object(let members): try container.encode(members)
        }
    }
}

extension DocumentValue: ExpressibleByStringLiteral, ExpressibleByDictionaryLiteral,
    ExpressibleByArrayLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral
{
    init(stringLiteral value: String) { self = .text(value) }
    init(booleanLiteral value: Bool) { self = .flag(value) }
    init(integerLiteral value: Int) { self = .number(value) }
    init(arrayLiteral elements: DocumentValue...) { self = .list(elements) }
    init(dictionaryLiteral elements: (String, DocumentValue)...) {
        self = .object(Dictionary(elements) { first, _ in first })
    }
}

/// Words of JSON Schema, as OpenAPI 3.1 takes it.
enum Schema {
    static let text: DocumentValue = ["type": "string"]
    static let flag: DocumentValue = ["type": "boolean"]
    static let whole: DocumentValue = ["type": "integer", "format": "int64"]
    static let double: DocumentValue = ["type": "number"]
    static let positive: DocumentValue = ["type": "integer", "minimum": 1]
    static let texts = list(text)
    /// A double as JSON has it, or one that JSON cannot spell.
    static let anyDouble = oneOf(double, ["type": "string"])

    static func choice(_ names: String...) -> DocumentValue { choice(names) }

    static func choice(_ names: [String]) -> DocumentValue {
        ["type": "string", "enum": .list(names.map { .text($0) })]
    }

    static func list(_ element: DocumentValue) -> DocumentValue {
        ["type": "array", "items": element]
    }

    static func oneOf(_ schemas: DocumentValue...) -> DocumentValue { ["anyOf": .list(schemas)] }

    static func named(_ name: String) -> DocumentValue {
        ["$ref": .text("#/components/schemas/\(name)")]
    }

    /// What a request says: no other member is taken.
    static func strict(
        _ members: [String: DocumentValue], required: [String] = []
    ) -> DocumentValue {
        object(members, required: required, isOpen: false)
    }

    /// What an answer says: later versions may say more.
    static func open(
        _ members: [String: DocumentValue], required: [String] = []
    ) -> DocumentValue {
        object(members, required: required, isOpen: true)
    }

    private static func object(
        _ members: [String: DocumentValue], required: [String], isOpen: Bool
    ) -> DocumentValue {
        var schema: [String: DocumentValue] = [
            "type": "object", "properties": .object(members),
            "additionalProperties": .flag(isOpen),
        ]
        if !required.isEmpty { schema["required"] = .list(required.map { .text($0) }) }
        return .object(schema)
    }
}
