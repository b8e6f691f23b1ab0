internal import ObjectModel
internal import Stores

/// The name of the field of every property of a model.
///
/// Entities of one tree share a record type, in which a field has one type. A property whose plain
/// name means something else there (another type in a sibling, a companion of another property, a
/// name of the system) gets underscores after its name. The same model gives the same names on
/// every device.
struct FieldNames: Sendable {
    /// What a property asks of its field. Equal ones of one tree share it.
    private struct Claim: Hashable {
        let path: String
        let type: String
        /// What the field's companions are called, after its own name.
        let companions: [String]
    }

    /// The name of a property's field, and of its companion where it has one: a date's or decimal's
    /// exact value, a link's place in an ordered list.
    struct Names: Sendable {
        let plain: String
        let companion: String?
    }

    private let attributes: [Int32: [Names]]
    private let toOnes: [Int32: [Names]]

    init(layout: ModelLayout) {
        let trees = Dictionary(grouping: layout.entities) { $0.entity.rootEntity.name ?? $0.name }
        var attributes: [Int32: [Names]] = [:]
        var toOnes: [Int32: [Names]] = [:]
        for tree in trees.values {
            let claims = tree.flatMap { Self.attributes(of: $0) + Self.toOnes(of: $0) }
            let names = Self.names(for: Set(claims))
            for entity in tree {
                attributes[entity.number] = Self.attributes(of: entity).map {
                    Self.names(of: $0, names)
                }
                toOnes[entity.number] = Self.toOnes(of: entity).map { Self.names(of: $0, names) }
            }
        }
        self.attributes = attributes
        self.toOnes = toOnes
    }

    func attribute(_ slot: Int, of entity: EntityLayout) -> Names {
        attributes[entity.number]?[slot]
            ?? Names(plain: RecordNames.field(entity.attributes[slot].name), companion: nil)
    }

    func toOne(_ slot: Int, of entity: EntityLayout) -> Names {
        toOnes[entity.number]?[slot]
            ?? Names(plain: RecordNames.field(entity.toOnes[slot].name), companion: nil)
    }

    private static func names(of claim: Claim, _ names: [Claim: String]) -> Names {
        let plain = names[claim] ?? RecordNames.field(claim.path)
        return Names(plain: plain, companion: claim.companions.first.map { plain + $0 })
    }

    // MARK: Claims

    private static func names(for claims: Set<Claim>) -> [Claim: String] {
        var taken: Set<String> = [RecordNames.entityName, RecordNames.editTimes]
        var names: [Claim: String] = [:]
        for claim in claims.sorted(by: { ($0.path, $0.type) < ($1.path, $1.type) }) {
            var name = RecordNames.field(claim.path)
            func wanted() -> [String] { [name] + claim.companions.map { name + $0 } }
            while !taken.isDisjoint(with: wanted()) { name += "_" }
            taken.formUnion(wanted())
            names[claim] = name
        }
        return names
    }

    private static func attributes(of entity: EntityLayout) -> [Claim] {
        entity.attributes.map { slot in
            let type = slot.attribute.attributeType
            let hasExact = type == .dateAttributeType || type == .decimalAttributeType
            return Claim(
                path: slot.name, type: wireType(of: type),
                companions: hasExact ? [RecordNames.exactSuffix] : [])
        }
    }

    private static func toOnes(of entity: EntityLayout) -> [Claim] {
        entity.toOnes.indices.map { slot in
            Claim(
                path: entity.toOnes[slot].name, type: "STRING",
                companions: entity.toOneIsOrdered[slot] ? [RecordNames.orderSuffix] : [])
        }
    }

    static func wireType(of type: NSAttributeType) -> String {
        switch type {
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType,
            .booleanAttributeType:
            "INT64"
        case .doubleAttributeType, .floatAttributeType, .decimalAttributeType: "DOUBLE"
        case .dateAttributeType: "TIMESTAMP"
        case .binaryDataAttributeType, .transformableAttributeType: "BYTES"
        case .stringAttributeType, .UUIDAttributeType, .URIAttributeType, .undefinedAttributeType,
            .objectIDAttributeType, .compositeAttributeType:
            "STRING"
        }
    }
}
