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

    private let attributes: [Int32: [String]]
    private let toOnes: [Int32: [String]]

    init(layout: ModelLayout) {
        let trees = Dictionary(grouping: layout.entities) { $0.entity.rootEntity.name ?? $0.name }
        var attributes: [Int32: [String]] = [:]
        var toOnes: [Int32: [String]] = [:]
        for tree in trees.values {
            let claims = tree.flatMap { Self.attributes(of: $0) + Self.toOnes(of: $0) }
            let names = Self.names(for: Set(claims))
            for entity in tree {
                attributes[entity.number] = Self.attributes(of: entity).map { names[$0] ?? "" }
                toOnes[entity.number] = Self.toOnes(of: entity).map { names[$0] ?? "" }
            }
        }
        self.attributes = attributes
        self.toOnes = toOnes
    }

    func attribute(_ slot: Int, of entity: EntityLayout) -> String {
        attributes[entity.number]?[slot] ?? RecordNames.field(entity.attributes[slot].name)
    }

    func toOne(_ slot: Int, of entity: EntityLayout) -> String {
        toOnes[entity.number]?[slot] ?? RecordNames.field(entity.toOnes[slot].name)
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

    private static func wireType(of type: NSAttributeType) -> String {
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
