internal import Foundation
internal import ObjectModel
internal import Stores

/// Objects of one entity as lines of JSON: exact values, and links by the ids of other lines,
/// as `inspect` shows them.
struct ObjectLine {
    private let entity: EntityLayout
    /// What stands before the key in the ids of each entity: `"Book/p`.
    private let heads: [Int32: [UInt8]]
    /// Before the key of this entity's own lines, and behind it.
    private let start: [UInt8]
    private let middle: [UInt8]
    private let attributes: [(slot: Int, name: [UInt8], type: NSAttributeType)]
    private let toOnes: [[UInt8]]
    private let toManys: [[UInt8]]

    init(_ entity: EntityLayout, in layout: ModelLayout) {
        self.entity = entity
        heads = Dictionary(
            layout.entities.map { ($0.number, Self.quoted($0.name).dropLast() + Array("/p".utf8)) },
            uniquingKeysWith: { first, _ in first })
        start = Array("{\"id\":".utf8) + (heads[entity.number] ?? [])
        middle =
            Array("\",\"entity\":".utf8) + Self.quoted(entity.name) + Array(",\"values\":{".utf8)
        attributes = entity.attributes.enumerated().filter {
            !($1.attribute is NSDerivedAttributeDescription)
        }.map { ($0, Self.quoted($1.name) + [0x3A], $1.attribute.attributeType) }
        toOnes = entity.toOnes.map { Self.quoted($0.name) + [0x3A] }
        toManys = entity.toManys.map { Self.quoted($0.name) + [0x3A] }
    }

    private static func quoted(_ name: String) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.writeQuoted(name)
        return bytes
    }

    /// Writes the line of `row`. Properties without a value or a member are left out; values whose
    /// files are gone are named, and so are `links`, whose objects are. `members` has each
    /// to-many's, by slot.
    func write(
        _ row: Row, _ members: [[RowID: [Link]]], without links: [String] = [],
        to bytes: inout [UInt8]
    ) {
        bytes += start
        bytes.write(row.id.key)
        bytes += middle
        var isFirst = true
        for (slot, name, type) in attributes where !row.attributes[slot].isNull {
            Self.separate(&isFirst, &bytes)
            bytes += name
            Self.write(row.attributes[slot], type, to: &bytes)
        }
        bytes.write("},\"relationships\":{")
        isFirst = true
        for (slot, link) in row.toOnes.enumerated() {
            guard let link else { continue }
            Self.separate(&isFirst, &bytes)
            bytes += toOnes[slot]
            write(link.target, to: &bytes)
        }
        for (slot, owners) in members.enumerated() {
            guard let links = owners[row.id], !links.isEmpty else { continue }
            Self.separate(&isFirst, &bytes)
            bytes += toManys[slot]
            write(links, to: &bytes)
        }
        bytes.write("}")
        let missing = row.missing.map { entity.attributes[$0].name } + links
        if !missing.isEmpty { Self.write(missing: missing, to: &bytes) }
        bytes.write("}")
    }

    private static func separate(_ isFirst: inout Bool, _ bytes: inout [UInt8]) {
        if !isFirst { bytes.append(UInt8(ascii: ",")) }
        isFirst = false
    }

    private func write(_ links: [Link], to bytes: inout [UInt8]) {
        bytes.write("[")
        var isFirst = true
        for link in links {
            Self.separate(&isFirst, &bytes)
            write(link.target, to: &bytes)
        }
        bytes.write("]")
    }

    private func write(_ id: RowID, to bytes: inout [UInt8]) {
        if let head = heads[id.entity] {
            bytes += head
        } else {
            bytes.write("\"")
            bytes.write(Int64(id.entity))
            bytes.write("/p")
        }
        bytes.write(id.key)
        bytes.write("\"")
    }

    private static func write(missing names: [String], to bytes: inout [UInt8]) {
        bytes.write(",\"missing\":[")
        var isFirst = true
        for name in names {
            separate(&isFirst, &bytes)
            bytes.writeQuoted(name)
        }
        bytes.write("]")
    }

    // MARK: Values

    private static func write(
        _ value: AttributeValue, _ type: NSAttributeType, to bytes: inout [UInt8]
    ) {
        switch value {
        case .null: bytes.write("null")
        case .integer(let number): write(number, type, to: &bytes)
        case .double(let number): write(number, to: &bytes)
        case .decimal(let number): bytes.writePlain(number.description)
        case .text(let text), .uri(let text): bytes.writeQuoted(text)
        case .date(let seconds):
            bytes.write("\"")
            ExactDate.write(seconds, to: &bytes)
            bytes.write("\"")
        case .uuid(let uuid): bytes.writePlain(uuid.uuidString)
        case .data(let data): bytes.writePlain(data.base64EncodedString())
        }
    }

    private static func write(
        _ number: Int64, _ type: NSAttributeType, to bytes: inout [UInt8]
    ) {
        switch type {
        case .booleanAttributeType where number == 1: bytes.write("true")
        case .booleanAttributeType where number == 0: bytes.write("false")
        case .integer16AttributeType, .integer32AttributeType: bytes.write(number)
        default:
            bytes.write("\"")
            bytes.write(number)
            bytes.write("\"")
        }
    }

    /// Numbers that JSON does not know are texts.
    private static func write(_ number: Double, to bytes: inout [UInt8]) {
        guard number.isFinite else { return bytes.writePlain("\(number)") }
        let isWhole = number == number.rounded() && abs(number) < 1e15
        if isWhole && !(number == 0 && number.sign == .minus) {
            bytes.write(Int64(number))
        } else {
            bytes.append(contentsOf: "\(number)".utf8)
        }
    }
}
