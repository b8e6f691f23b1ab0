import Foundation
import ObjectModel
import Stores

/// A generator whose numbers follow from its seed.
struct Seeded: RandomNumberGenerator {
    var state: UInt64

    init(_ seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }
}

/// Fills a store over `EverythingModel` with random rows and links.
struct RandomGraph {
    private var random: Seeded
    private let store: any RowStore
    private var ids: [String: [RowID]] = [:]

    init(seed: UInt64, store: any RowStore) {
        random = Seeded(seed)
        self.store = store
    }

    /// Two saves: one of new rows, one that changes and deletes some.
    mutating func fill() throws {
        var changes = ChangeSet()
        for name in ["Thing", "SpecialThing", "Box", "Label"] {
            for _ in 0..<Int.random(in: 2...8, using: &random) {
                changes.inserts.append(try row(name))
            }
        }
        for index in changes.inserts.indices { try setToOnes(&changes.inserts[index]) }
        changes.toManys = try toManys()
        _ = try store.save(changes)
        try change()
    }

    private mutating func row(_ name: String) throws -> Row {
        guard let layout = store.layout.entity(named: name),
            let key = try store.reserveKeys(entity: layout.number, count: 1).first
        else { throw StoreError(.failed, "no such entity") }
        var row = Row(id: RowID(entity: layout.number, key: key), layout: layout)
        for (slot, place) in layout.attributes.enumerated() {
            row.attributes[slot] = value(place.attribute.attributeType)
        }
        ids[name, default: []].append(row.id)
        return row
    }

    private mutating func change() throws {
        var changes = ChangeSet()
        for name in ["Box", "Label"] {
            guard let id = ids[name]?.randomElement(using: &random),
                let slot = store.layout.entity(named: name)?.attributeSlot("title")
            else { continue }
            var update = RowUpdate(id: id, expectedVersion: 1)
            update.attributes = [(slot, value(.stringAttributeType))]
            changes.updates.append(update)
        }
        if let doomed = ids["SpecialThing"]?.last {
            changes.deletes = [RowDelete(id: doomed)]
            for row in try allRows(of: store) where row.id != doomed {
                var update = RowUpdate(id: row.id)
                for (slot, link) in row.toOnes.enumerated() where link?.target == doomed {
                    update.toOnes.append((slot, nil))
                }
                if !update.toOnes.isEmpty { changes.updates.append(update) }
            }
        }
        _ = try store.save(changes)
    }

    // MARK: Links

    private var things: [RowID] { (ids["Thing"] ?? []) + (ids["SpecialThing"] ?? []) }

    private mutating func setToOnes(_ row: inout Row) throws {
        guard let layout = store.layout.entity(row.id.entity) else { return }
        for (slot, relationship) in layout.toOnes.enumerated() {
            // One-to-ones are linked by hand, so that both ends agree.
            guard !["lid", "covers"].contains(relationship.name), Bool.random(using: &random) else {
                continue
            }
            let choice =
                relationship.destinationEntity?.name == "Thing"
                ? things : ids[relationship.destinationEntity?.name ?? ""] ?? []
            row.toOnes[slot] = choice.randomElement(using: &random).map { Link($0) }
        }
    }

    private mutating func toManys() throws -> [ToManyChange] {
        var changes: [ToManyChange] = []
        func slot(_ owner: RowID, _ name: String) -> Int {
            store.layout.entity(owner.entity)?.toManySlot(name) ?? 0
        }
        for thing in things {
            var friends = ToManyChange(owner: thing, slot: slot(thing, "friends"))
            friends.added = some(of: things).map { Link($0) }
            var labels = ToManyChange(owner: thing, slot: slot(thing, "labels"))
            labels.added = some(of: ids["Label"] ?? []).map { Link($0) }
            changes += [friends, labels]
        }
        for box in ids["Box"] ?? [] {
            var ranking = ToManyChange(owner: box, slot: slot(box, "ranking"))
            let ranked = some(of: ids["Label"] ?? [])
            ranking.added = ranked.map { Link($0) }
            ranking.order = ranked
            var members = ToManyChange(owner: box, slot: slot(box, "things"))
            members.order = things.shuffled(using: &random)
            changes += [ranking, members]
        }
        return changes
    }

    private mutating func some(of ids: [RowID]) -> [RowID] {
        Array(ids.shuffled(using: &random).prefix(Int.random(in: 0...3, using: &random)))
    }

    // MARK: Values

    private mutating func value(_ type: NSAttributeType) -> AttributeValue {
        guard Int.random(in: 0..<5, using: &random) > 0 else { return .null }
        switch type {
        case .integer16AttributeType:
            return .integer(Int64(Int16.random(in: .min ... .max, using: &random)))
        case .integer32AttributeType:
            return .integer(Int64(Int32.random(in: .min ... .max, using: &random)))
        case .integer64AttributeType: return .integer(.random(in: .min ... .max, using: &random))
        case .booleanAttributeType: return .integer(.random(in: 0...1, using: &random))
        case .doubleAttributeType: return .double(double())
        case .floatAttributeType: return .double(Double(Float(double())))
        case .dateAttributeType: return .date(.random(in: -6e10...6e10, using: &random))
        case .decimalAttributeType:
            let digits = Decimal(UInt64.random(in: .min ... .max, using: &random))
            let exponent = Int.random(in: -40...20, using: &random)
            return .decimal(Decimal(sign: .minus, exponent: exponent, significand: digits))
        case .UUIDAttributeType: return .uuid(uuid())
        case .URIAttributeType: return .uri("https://example.org/?a=1&b=\(random.next())#<x>")
        case .binaryDataAttributeType, .transformableAttributeType: return .data(data())
        default: return .text(text())
        }
    }

    private mutating func double() -> Double {
        let made = Double(bitPattern: random.next())
        return made.isNaN ? 0.1 : made
    }

    private mutating func data() -> Data {
        let count = Int.random(in: 0...200, using: &random)
        return Data((0..<count).map { _ in UInt8.random(in: .min ... .max, using: &random) })
    }

    private mutating func uuid() -> UUID {
        withUnsafeBytes(of: (random.next(), random.next())) {
            UUID(uuid: $0.loadUnaligned(as: uuid_t.self))
        }
    }

    private mutating func text() -> String {
        let pieces = [
            "a", "é", "e\u{301}", "&", "<\u{301}", ">", "\\", "\\u2600", "\u{0}", "\r\n", "\t",
            "\n", "👩‍👩‍👧", "\u{FFFE}", "\u{FFFF}", "\"", "'", " ", "]]>", "\u{1B}", "\u{85}", "日本",
        ]
        let count = Int.random(in: 0...12, using: &random)
        return (0..<count).map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
    }
}

/// Every row of a store, by key.
func allRows(of store: any RowStore) throws -> [Row] {
    try store.layout.entities.flatMap { entity in
        var query = RowQuery(entity: entity.number)
        query.includesSubentities = false
        return try store.rows(matching: query)
    }.sorted { $0.id.key < $1.id.key }
}

/// All that a store holds, as text: two stores with the same text hold the same graph, to the byte.
func image(of store: any RowStore) throws -> [String] {
    var lines: [String] = []
    for row in try allRows(of: store) {
        guard let entity = store.layout.entity(row.id.entity) else { continue }
        lines.append("\(entity.name) \(row.id.key)")
        for (slot, value) in row.attributes.enumerated() {
            lines.append("  \(entity.attributes[slot].name) = \(exact(value))")
        }
        for (slot, link) in row.toOnes.enumerated() {
            lines.append("  \(entity.toOnes[slot].name) -> \(link?.target.key ?? 0)")
        }
        for (slot, relationship) in entity.toManys.enumerated() {
            let keys = try store.members(of: row.id, toMany: slot).map(\.target.key)
            let shown = relationship.isOrdered ? keys : keys.sorted()
            lines.append("  \(relationship.name) => \(shown)")
        }
    }
    return lines
}

private func exact(_ value: AttributeValue) -> String {
    switch value {
    case .text(let text): "text \(Array(text.utf16))"
    case .uri(let text): "uri \(Array(text.utf16))"
    case .double(let double): "double \(double.bitPattern)"
    case .date(let double): "date \(double.bitPattern)"
    case .data(let data): "data \(Array(data))"
    default: "\(value)"
    }
}
