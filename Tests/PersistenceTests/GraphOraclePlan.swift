import CoreData
import Foundation

/// What a random model has, in plain values: the oracle reads this, never the model made of it.
struct GraphPlan {
    struct Attribute {
        let name: String
        let type: NSAttributeType
        var initial: GraphValue?
        var isKept = false
        /// From 0 to 10.
        var isBounded = false
    }

    struct Link {
        let name: String
        let target: String
        var isMany = false
        var isOrdered = false
        var rule = NSDeleteRule.nullifyDeleteRule
        var inverse: String?
        var isMandatory = false
        var minimum = 0
        var maximum = 0
    }

    struct Entity {
        let name: String
        let parent: String?
        var attributes: [Attribute] = []
        var links: [Link] = []
    }

    private(set) var entities: [Entity] = []
    /// Entities whose `code` is theirs alone.
    let roots = ["Alpha", "Delta"]

    func entity(_ name: String) -> Entity? { entities.first { $0.name == name } }

    /// The entity and those it inherits from, nearest first.
    private func line(_ name: String) -> [Entity] {
        guard let entity = entity(name) else { return [] }
        return [entity] + (entity.parent.map(line) ?? [])
    }

    func attributes(of name: String) -> [Attribute] { line(name).flatMap(\.attributes) }
    func links(of name: String) -> [Link] { line(name).flatMap(\.links) }
    func link(_ link: String, of name: String) -> Link? {
        links(of: name).first { $0.name == link }
    }
    func isKind(_ name: String, of other: String) -> Bool {
        line(name).contains { $0.name == other }
    }
    func kinds(of name: String) -> [String] {
        entities.map(\.name).filter { isKind($0, of: name) }
    }

    private let kind: StoreKind
    private let isWide: Bool

    // MARK: Drawing

    /// A wide plan has more: rules that do nothing, to-manys without inverse, bounded values.
    init(_ dice: inout Dice, for kind: StoreKind, isWide: Bool) {
        self.kind = kind
        self.isWide = isWide
        for (name, parent) in [
            ("Alpha", nil), ("Beta", "Alpha"), ("Gamma", "Beta"), ("Delta", nil),
            ("Epsilon", "Delta"),
        ] as [(String, String?)] {
            entities.append(Entity(name: name, parent: parent))
            drawAttributes(at: entities.count - 1, &dice)
        }
        for number in 0..<5 + dice.below(3) { drawLink(number, &dice) }
    }

    private static let types: [NSAttributeType] = [
        .integer16AttributeType, .integer32AttributeType, .integer64AttributeType,
        .decimalAttributeType, .doubleAttributeType, .floatAttributeType, .stringAttributeType,
        .booleanAttributeType, .dateAttributeType, .binaryDataAttributeType, .UUIDAttributeType,
        .URIAttributeType, .transformableAttributeType,
    ]

    private mutating func drawAttributes(at place: Int, _ dice: inout Dice) {
        if entities[place].parent == nil {
            entities[place].attributes = [
                Attribute(name: "tag", type: .integer64AttributeType),
                Attribute(name: "number", type: .integer32AttributeType),
                Attribute(name: "label", type: .stringAttributeType),
                Attribute(name: "code", type: .stringAttributeType),
            ]
            if isWide {
                entities[place].attributes.append(
                    Attribute(name: "rank", type: .integer16AttributeType, isBounded: true))
            }
        }
        for number in 0..<3 {
            let type = dice.pick(Self.types) ?? .stringAttributeType
            var attribute = Attribute(
                name: "\(entities[place].name.lowercased())\(number)", type: type)
            if type != .transformableAttributeType, dice.hits(40) {
                attribute.initial = GraphValue.drawn(type, for: kind, &dice)
            }
            attribute.isKept = dice.hits(40) && type != .transformableAttributeType
            entities[place].attributes.append(attribute)
        }
    }

    private mutating func drawLink(_ number: Int, _ dice: inout Dice) {
        let source = dice.below(entities.count)
        let target = dice.below(entities.count)
        func rule(_ dice: inout Dice) -> NSDeleteRule {
            switch dice.below(10) {
            case 0, 1: .cascadeDeleteRule
            case 2: .denyDeleteRule
            case 3 where isWide: .noActionDeleteRule
            default: .nullifyDeleteRule
            }
        }
        var link = Link(name: "to\(number)", target: entities[target].name)
        var back = Link(name: "back\(number)", target: entities[source].name)
        link.rule = rule(&dice)
        back.rule = rule(&dice)
        switch dice.below(8) {
        case 0: break
        case 1, 2, 3: back.isMany = true
        case 4, 5:
            link.isMany = true
            back.isMany = true
        case 6 where source == target:
            // Its own inverse.
            link.isMany = dice.hits(50)
            link.inverse = link.name
            entities[source].links.append(link)
            return
        default:
            if isWide { link.isMany = dice.hits(50) }
            if !isWide || link.rule == .noActionDeleteRule { link.rule = .nullifyDeleteRule }
            entities[source].links.append(link)
            return
        }
        if back.isMany, dice.hits(35) { back.isOrdered = true }
        if link.isMany, dice.hits(25) { link.isOrdered = true }
        if back.isMany, dice.hits(12) { back.minimum = 2 }
        if back.isMany, dice.hits(10) { back.maximum = 3 }
        if !link.isMany, dice.hits(6) { link.isMandatory = true }
        link.inverse = back.name
        back.inverse = link.name
        entities[source].links.append(link)
        entities[target].links.append(back)
    }

    // MARK: The model

    func model() -> NSManagedObjectModel {
        var made: [String: NSEntityDescription] = [:]
        for entity in entities {
            let description = TestModel.entity(entity.name)
            description.declaredProperties = entity.attributes.map(Self.description)
            if entity.parent == nil { description.uniquenessConstraints = [["code"]] }
            if entity.parent == nil && isWide {
                let scratch = TestModel.attribute("scratch", .stringAttributeType)
                scratch.isTransient = true
                description.declaredProperties.append(scratch)
            }
            made[entity.name] = description
        }
        for entity in entities {
            made[entity.parent ?? ""]?.subentities += [made[entity.name]].compactMap { $0 }
        }
        linkAll(made)
        let model = NSManagedObjectModel()
        model.entities = entities.compactMap { made[$0.name] }
        return model
    }

    private static func description(_ attribute: Attribute) -> NSAttributeDescription {
        let description = TestModel.attribute(
            attribute.name, attribute.type, minimum: attribute.isBounded ? "0" : nil,
            maximum: attribute.isBounded ? "10" : nil)
        description.defaultValue = attribute.initial?.raw
        description.preservesValueInHistoryOnDeletion = attribute.isKept
        return description
    }

    private func linkAll(_ made: [String: NSEntityDescription]) {
        var links: [String: NSRelationshipDescription] = [:]
        for entity in entities {
            for link in entity.links {
                guard let target = made[link.target] else { continue }
                let relationship = TestModel.relationship(
                    link.name, link.isOrdered ? .ordered : link.isMany ? .many : .one, to: target,
                    rule: link.rule)
                relationship.isOptional = !link.isMandatory
                relationship.minCount = link.minimum
                if link.isMany { relationship.maxCount = link.maximum }
                made[entity.name]?.declaredProperties.append(relationship)
                links[link.name] = relationship
            }
        }
        for link in entities.flatMap(\.links) {
            links[link.name]?.inverseRelationship = link.inverse.flatMap { links[$0] }
        }
    }
}

/// A value of an attribute, compared by its text.
struct GraphValue: Equatable {
    let raw: Any
    let text: String

    static func == (left: GraphValue, right: GraphValue) -> Bool { left.text == right.text }

    /// What an object says of an attribute; nil for nothing.
    init?(_ value: Any?, _ type: NSAttributeType) {
        guard let value else { return nil }
        raw = value
        switch type {
        case .decimalAttributeType:
            text = (value as? Decimal)?.description ?? (value as? NSNumber)?.description ?? "?"
        case .doubleAttributeType:
            text = "\((value as? NSNumber)?.doubleValue ?? (value as? Double) ?? -1)"
        case .floatAttributeType:
            text = "\((value as? NSNumber)?.floatValue ?? (value as? Float) ?? -1)"
        case .dateAttributeType:
            text = "\((value as? Date)?.timeIntervalSinceReferenceDate ?? -1)"
        case .binaryDataAttributeType: text = (value as? Data)?.base64EncodedString() ?? "?"
        case .stringAttributeType: text = value as? String ?? "?"
        case .UUIDAttributeType: text = (value as? UUID)?.uuidString ?? "?"
        case .URIAttributeType: text = (value as? URL)?.absoluteString ?? "?"
        case .transformableAttributeType: text = (value as? [String])?.joined(separator: "|") ?? "?"
        case .booleanAttributeType:
            text = "\((value as? NSNumber)?.boolValue ?? (value as? Bool) ?? false)"
        default: text = "\((value as? NSNumber)?.int64Value ?? -99)"
        }
    }

    /// A value that the store keeps to the last digit.
    static func drawn(
        _ type: NSAttributeType, for kind: StoreKind, _ dice: inout Dice
    ) -> GraphValue? {
        GraphValue(raw(type, for: kind, &dice), type)
    }

    private static func raw(
        _ type: NSAttributeType, for kind: StoreKind, _ dice: inout Dice
    ) -> Any {
        let small = dice.below(7) - 3
        switch type {
        case .integer16AttributeType: return Int16([-32768, 32767, small][dice.below(3)])
        case .integer32AttributeType: return Int32(small)
        case .integer64AttributeType:
            return [Int64.min, .max, Int64(small), 1 << 53 + 1][dice.below(4)]
        case .decimalAttributeType:
            // The columns of SQLite files hold floating-point numbers, of fifteen digits.
            let long = kind == .sqlite ? "1234567890123.25" : "123456789012345678.25"
            let texts = ["-12.5", "0.1", "-0.001", long, "0", "-3"]
            return Decimal(string: texts[dice.below(texts.count)]) ?? 0
        case .doubleAttributeType:
            return [0.1, -1e300, .leastNonzeroMagnitude, Double(small)][dice.below(4)]
        case .floatAttributeType: return [Float(0.1), -3.5, Float(small)][dice.below(3)]
        case .booleanAttributeType: return dice.hits(50)
        case .dateAttributeType:
            let seconds = [0.123456789, -63_114_076_800.5, 700_000_000.25, Double(small)]
            return Date(timeIntervalSinceReferenceDate: seconds[dice.below(4)])
        case .binaryDataAttributeType:
            return Data((0..<dice.below(40)).map { UInt8(truncatingIfNeeded: $0 &* 37) })
        case .UUIDAttributeType:
            let high = dice.next()
            let text = String(high, radix: 16)
            let digits = String(repeating: "0", count: 32 - text.count) + text.uppercased()
            let d = Array(digits)
            let parts = [d[0..<8], d[8..<12], d[12..<16], d[16..<20], d[20..<32]]
            return UUID(uuidString: parts.map { String($0) }.joined(separator: "-")) ?? UUID()
        case .URIAttributeType:
            return URL(string: "https://a.example/\(small)") ?? URL(fileURLWithPath: "/")
        case .transformableAttributeType: return (0..<dice.below(3)).map { "w\($0)\(small)" }
        default: return ["", "a", "ab", "Ä", "k\u{0}l", "<&>\"", "日本", "z"][dice.below(8)]
        }
    }
}
