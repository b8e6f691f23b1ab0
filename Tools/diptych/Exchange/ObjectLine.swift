internal import Foundation
internal import ObjectModel
internal import Stores

/// One object as a line of JSON: exact values, and links by the ids of other lines.
enum ObjectLine {
    /// The id of a row within its export, as `inspect` shows it: `Book/p12`.
    static func id(_ row: RowID, in layout: ModelLayout) -> String {
        "\(layout.entity(row.entity)?.name ?? "\(row.entity)")/p\(row.key)"
    }

    /// The line of `row`. Properties without a value or a member are left out.
    static func json(_ row: Row, of entity: EntityLayout, in store: any RowStore) throws -> JSON {
        var values: [(String, JSON)] = []
        for (slot, value) in zip(entity.attributes, row.attributes)
        where !value.isNull && !(slot.attribute is NSDerivedAttributeDescription) {
            values.append((slot.name, json(value, slot.attribute.attributeType)))
        }
        var links: [(String, JSON)] = []
        for (relationship, link) in zip(entity.toOnes, row.toOnes) {
            guard let link else { continue }
            links.append((relationship.name, .string(id(link.target, in: store.layout))))
        }
        for (slot, relationship) in entity.toManys.enumerated() {
            let members = try store.members(of: row.id, toMany: slot)
            guard !members.isEmpty else { continue }
            let ids = members.map { id($0.target, in: store.layout) }
            links.append((relationship.name, .array(ids.map(JSON.string))))
        }
        return [
            "id": .string(id(row.id, in: store.layout)), "entity": .string(entity.name),
            "values": .object(values), "relationships": .object(links),
        ]
    }

    private static func json(_ value: AttributeValue, _ type: NSAttributeType) -> JSON {
        switch value {
        case .null: .null
        case .integer(let number):
            switch type {
            case .booleanAttributeType where number == 0 || number == 1: .bool(number == 1)
            case .integer16AttributeType, .integer32AttributeType: .integer(number)
            default: .string(String(number))
            }
        case .double(let number): .double(number)
        case .decimal(let number): .string(number.description)
        case .text(let text), .uri(let text): .string(text)
        case .date(let seconds): .string(ExactDate.text(seconds))
        case .uuid(let uuid): .string(uuid.uuidString)
        case .data(let data): .string(data.base64EncodedString())
        }
    }

    /// Reads what `json` wrote of a value; nil for one that is none of the attribute's type.
    static func value(_ json: Any, _ type: NSAttributeType) -> AttributeValue? {
        if json is NSNull { return .null }
        let text = json as? String
        let number = json as? NSNumber
        switch type {
        case .booleanAttributeType, .integer16AttributeType, .integer32AttributeType,
            .integer64AttributeType:
            return integer(text, number).map { .integer($0) }
        case .doubleAttributeType, .floatAttributeType:
            return (text.flatMap { Double($0) } ?? number.flatMap(double)).map { .double($0) }
        case .decimalAttributeType:
            return (text ?? number?.stringValue).flatMap { Decimal(string: $0) }
                .map { .decimal($0) }
        case .stringAttributeType: return text.map { .text($0) }
        case .URIAttributeType: return text.map { .uri($0) }
        case .dateAttributeType: return text.flatMap { ExactDate.seconds($0) }.map { .date($0) }
        case .UUIDAttributeType: return text.flatMap { UUID(uuidString: $0) }.map { .uuid($0) }
        case .binaryDataAttributeType, .transformableAttributeType:
            return text.flatMap { Data(base64Encoded: $0) }.map { .data($0) }
        default: return nil
        }
    }

    /// Foundation reads a number of 17 digits as a decimal, whose own double lacks the last digit.
    private static func double(_ number: NSNumber) -> Double? {
        number is NSDecimalNumber ? Double(number.stringValue) : number.doubleValue
    }

    private static func integer(_ text: String?, _ number: NSNumber?) -> Int64? {
        if let text { return Int64(text) }
        guard let number else { return nil }
        let whole = number.int64Value
        return Double(whole) == number.doubleValue ? whole : nil
    }
}
