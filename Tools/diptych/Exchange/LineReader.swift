internal import Foundation
internal import ObjectModel
internal import Stores

/// Reads exported lines by the entities of a store.
final class LineReader {
    /// The members of a line, where they stand in it.
    struct Line {
        /// The entity's place in the layout.
        var entity = 0
        var id: JSONText?
        fileprivate var name: JSONText?
        fileprivate var values: Range<Int>?
        fileprivate var links: Range<Int>?
        fileprivate var missing: Range<Int>?
        /// The line itself.
        fileprivate let scanner: JSONScanner

        var hasLinks: Bool { links != nil }
    }

    let layout: ModelLayout
    private let entities: [EntityWords]
    private let places: [String: Int]
    private var lastEntity: Int?
    /// Whether the store has values that are no numbers.
    private let keepsNaN: Bool

    init(_ layout: ModelLayout, keepsNaN: Bool) {
        self.layout = layout
        self.keepsNaN = keepsNaN
        entities = layout.entities.map { EntityWords($0, in: layout) }
        places = Dictionary(
            layout.entities.enumerated().map { ($1.name, $0) },
            uniquingKeysWith: { first, _ in first })
    }

    static let form =
        "Lines are as 'diptych export' writes them: "
        + "{\"id\": …, \"entity\": …, \"values\": {…}, \"relationships\": {…}}."

    // MARK: Lines

    /// Looks over a whole line. Throws `LineFault` and `JSONFault`.
    func line(_ bytes: UnsafeBufferPointer<UInt8>) throws -> Line {
        var scanner = JSONScanner(bytes)
        var line = Line(scanner: scanner)
        guard try scanner.kind() == .object else {
            throw LineFault("The line is no object with an \"entity\".", Self.form)
        }
        var seen = 0
        try scanner.members { key, scanner in
            let name = try key.string()
            guard let place = Self.keys.firstIndex(of: name) else {
                throw LineFault("The key '\(name.prefix(40))' means nothing here.", Self.form)
            }
            guard seen & 1 << place == 0 else { throw LineFault.twice(name) }
            seen |= 1 << place
            try read(place, &scanner, into: &line)
        }
        try scanner.end()
        line.entity = try entity(line.name)
        return line
    }

    private static let keys = ["id", "entity", "values", "relationships", "missing"]

    private func read(_ place: Int, _ scanner: inout JSONScanner, into line: inout Line) throws {
        switch place {
        case 0 where try scanner.kind() == .string: line.id = try scanner.text()
        case 1 where try scanner.kind() == .string: line.name = try scanner.text()
        case 2 where try scanner.kind() == .object: line.values = try scanner.skip()
        case 3 where try scanner.kind() == .object: line.links = try scanner.skip()
        case 4 where try scanner.kind() == .array: line.missing = try scanner.skip()
        case 0 where try scanner.kind() == .null: try scanner.null()
        default:
            let what = place < 2 ? "text" : place < 4 ? "object" : "list"
            throw LineFault("The value of \"\(Self.keys[place])\" is no \(what).", Self.form)
        }
    }

    private func entity(_ name: JSONText?) throws -> Int {
        guard let name else {
            throw LineFault("The line is no object with an \"entity\".", Self.form)
        }
        if let lastEntity, name.isSame(as: entities[lastEntity].name) { return lastEntity }
        let text = try name.string()
        guard let place = places[text] else {
            let names = layout.entities.map(\.name).sorted()
            throw LineFault(
                "The store has no entity '\(text.prefix(40))'.",
                "It has \(names.joined(separator: ", ")).")
        }
        guard !layout.entities[place].entity.isAbstract else {
            throw LineFault(
                "\(text) is abstract; no object is of it.", "Name one of its subentities.")
        }
        lastEntity = place
        return place
    }

    // MARK: Values

    /// Reads the values into the row. Returns how many are named as missing.
    func readValues(of line: Line, into row: inout Row) throws -> Int {
        let words = entities[line.entity]
        let (missing, links) = try missingSlots(of: line, words)
        if let range = line.values {
            var seen = SlotSet(words.layout.attributes.count)
            var scanner = line.scanner.part(range)
            var next = 0
            try scanner.members { key, scanner in
                guard let slot = try words.attributes.slot(key, &next) else {
                    throw try words.unknown(key)
                }
                guard seen.insert(slot) else {
                    throw LineFault.twice(words.layout.attributes[slot].name)
                }
                row.attributes[slot] = try value(&scanner, words.layout.attributes[slot])
            }
        }
        for slot in words.required where row.attributes[slot].isNull && !missing.contains(slot) {
            throw LineFault(
                "\(words.layout.name) lacks \(words.layout.attributes[slot].name), which is "
                    + "required.", "Give it a value.")
        }
        return missing.count + links
    }

    private func value(
        _ scanner: inout JSONScanner, _ slot: EntityLayout.AttributeSlot
    ) throws -> AttributeValue {
        let value = try ValueReader.value(&scanner, for: slot)
        guard keepsNaN || !LostNumbers.isLost(value) else {
            throw LineFault(
                "\(slot.name) is NaN, for which a SQLite store has no value.",
                "Leave it out, give it a number, or import into an XML or binary store.")
        }
        return value
    }

    /// The attributes whose values were lost before the export, and how many relationships had lost
    /// an object.
    private func missingSlots(
        of line: Line, _ words: EntityWords
    ) throws -> (slots: [Int], links: Int) {
        guard let range = line.missing else { return ([], 0) }
        var slots: [Int] = []
        var links = 0
        var scanner = line.scanner.part(range)
        var next = 0
        try scanner.elements { scanner in
            guard try scanner.kind() == .string else {
                throw LineFault("\"missing\" is no list of names.", Self.form)
            }
            let name = try scanner.text()
            if let slot = try words.attributes.slot(name, &next) {
                slots.append(slot)
                return
            }
            var place = 0
            guard try words.linkNames.slot(name, &place) != nil else {
                throw try words.unknown(name)
            }
            links += 1
        }
        return (slots, links)
    }

    // MARK: Links

    /// Reads the to-one links into the row. Returns whether there are links that the row does not
    /// hold, or whose other ends may have to be told.
    func readToOnes(of line: Line, into row: inout Row, _ keys: LineKeys) throws -> Bool {
        let words = entities[line.entity]
        var hasMore = false
        try forEachLink(of: line) { property, scanner in
            switch property {
            case .toOne(let slot):
                let relationship = words.layout.toOnes[slot]
                guard try scanner.kind() != .null else { return try scanner.null() }
                let id = try target(&scanner, relationship, words.toOneFamilies[slot], keys)
                row.toOnes[slot] = Link(id)
                hasMore = hasMore || words.oneToOnes[slot]
            case .toMany:
                hasMore = true
                try scanner.skip()
            }
        }
        return hasMore
    }

    /// Hands over the members of each to-many, by slot.
    func forEachToMany(
        of line: Line, _ keys: LineKeys, _ body: (Int, [RowID]) throws -> Void
    ) throws {
        let words = entities[line.entity]
        try forEachLink(of: line) { property, scanner in
            guard case .toMany(let slot) = property else {
                try scanner.skip()
                return
            }
            let relationship = words.layout.toManys[slot]
            if try scanner.kind() == .null { return try scanner.null() }
            guard try scanner.kind() == .array else {
                throw LineFault("\(relationship.name) is no list of ids.", Self.form)
            }
            var members: [RowID] = []
            try scanner.elements {
                members.append(
                    try target(&$0, relationship, words.toManyFamilies[slot], keys))
            }
            if !members.isEmpty { try body(slot, members) }
        }
    }

    private func forEachLink(
        of line: Line, _ body: (EntityWords.Link, inout JSONScanner) throws -> Void
    ) throws {
        guard let range = line.links else { return }
        let words = entities[line.entity]
        var seen = SlotSet(words.links.count)
        var scanner = line.scanner.part(range)
        var next = 0
        try scanner.members { key, scanner in
            guard let place = try words.linkNames.slot(key, &next) else {
                throw try words.unknown(key)
            }
            guard seen.insert(place) else { throw LineFault.twice(try key.string()) }
            try body(words.links[place], &scanner)
        }
    }

    private func target(
        _ scanner: inout JSONScanner, _ relationship: NSRelationshipDescription,
        _ family: Set<Int32>, _ keys: LineKeys
    ) throws -> RowID {
        guard try scanner.kind() == .string else {
            throw LineFault("\(relationship.name) is no id.", Self.form)
        }
        let text = try scanner.text()
        guard let id = try keys.row(text) else {
            throw LineFault(
                "\(relationship.name) leads to '\(try text.string().prefix(80))', which is no line "
                    + "here.", "Export the objects it leads to as well.")
        }
        guard family.contains(id.entity) else {
            throw LineFault(
                "\(relationship.name) leads to '\(try text.string().prefix(80))', which is of "
                    + "another entity.",
                "It leads to \(relationship.destinationEntity?.name ?? "nothing").")
        }
        return id
    }
}

/// What is wrong with a line of an import, before its number is known.
struct LineFault: Error {
    let message: String
    let hint: String

    init(_ message: String, _ hint: String) {
        self.message = message
        self.hint = hint
    }

    static func twice(_ name: String) -> LineFault {
        LineFault("The key '\(name.prefix(40))' stands twice.", "Give each key once.")
    }
}

/// Which slots were met.
private struct SlotSet {
    private var words: [UInt64]

    init(_ count: Int) { words = Array(repeating: 0, count: count / 64 + 1) }

    /// Returns false where it was met before.
    mutating func insert(_ slot: Int) -> Bool {
        let bit = UInt64(1) << UInt64(slot % 64)
        defer { words[slot / 64] |= bit }
        return words[slot / 64] & bit == 0
    }
}

/// Names and the slots they stand for. Lines name them mostly in one order, so the one after the
/// last is tried first.
private struct SlotNames {
    private let names: [[UInt8]]
    private let slots: [String: Int]

    init(_ names: [String]) {
        self.names = names.map { Array($0.utf8) }
        slots = Dictionary(
            names.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
    }

    func slot(_ text: JSONText, _ next: inout Int) throws -> Int? {
        var tried = 0
        while tried < 8, next < names.count {
            if text.isSame(as: names[next]) {
                next += 1
                return next - 1
            }
            next += 1
            tried += 1
        }
        guard let slot = slots[try text.string()] else { return nil }
        next = slot + 1
        return slot
    }
}

/// The words of one entity's lines.
private final class EntityWords {
    enum Link {
        case toOne(Int)
        case toMany(Int)
    }

    let layout: EntityLayout
    let name: [UInt8]
    let attributes: SlotNames
    /// The slots that must have a value.
    let required: [Int]
    let links: [Link]
    let linkNames: SlotNames
    /// The entities that a relationship may lead to.
    let toOneFamilies: [Set<Int32>]
    let toManyFamilies: [Set<Int32>]
    /// Whether the to-one's other end is one, too.
    let oneToOnes: [Bool]

    init(_ entity: EntityLayout, in layout: ModelLayout) {
        self.layout = entity
        name = Array(entity.name.utf8)
        attributes = SlotNames(entity.attributes.map(\.name))
        required = entity.attributes.indices.filter { slot in
            let place = entity.attributes[slot]
            return !place.attribute.isOptional && !place.name.contains(".")
                && !(place.attribute is NSDerivedAttributeDescription)
        }
        let all =
            entity.toOnes.indices.map { (entity.toOnes[$0].name, Link.toOne($0)) }
            + entity.toManys.indices.map { (entity.toManys[$0].name, Link.toMany($0)) }
        links = all.map(\.1)
        linkNames = SlotNames(all.map(\.0))
        func family(_ relationship: NSRelationshipDescription) -> Set<Int32> {
            let destination = relationship.destinationEntity?.name
            let found = destination.flatMap { layout.entity(named: $0) }
            return Set(found.map(layout.family) ?? [])
        }
        toOneFamilies = entity.toOnes.map(family)
        toManyFamilies = entity.toManys.map(family)
        oneToOnes = entity.toOnes.map {
            $0.inverseRelationship.map { !$0.isToMany } ?? false
        }
    }

    func unknown(_ text: JSONText) throws -> LineFault {
        let name = try text.string()
        let names =
            layout.attributes.map(\.name) + layout.toOnes.map(\.name) + layout.toManys.map(\.name)
        let near = Spelling.nearest(to: name, among: names)
        return LineFault(
            "\(layout.name) has no '\(name.prefix(40))'.",
            near.map { "Did you mean \($0)?" } ?? "Compare with 'diptych inspect'.")
    }
}
