internal import ObjectModel
internal import Stores

/// The name of the field of every property of a model.
///
/// Entities of one tree share a record type, in which a field has one type. A property whose plain
/// name means something else there (another type in a sibling, a companion of another property, a
/// name of the system) gets underscores after its name. The same model gives the same names on
/// every device, and a renamed property has the name of its key (`RecordKeys`) in all versions.
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
    final class Names: Sendable {
        let plain: String
        let companion: String?
        /// The field that says that there is no value, where an absent field stands for a default.
        let cleared: String?
        /// Where a value stands that was written before fields were named by keys.
        let fallback: String?
        /// Where a value stands that is too large for the record.
        let asset: String?

        var all: [String] { own + [fallback].compactMap { $0 } }
        /// Those that mean this property and no other.
        var own: [String] { [plain, companion, cleared, asset].compactMap { $0 } }

        init(
            plain: String, companion: String?, cleared: String?, fallback: String?, asset: String?
        ) {
            self.plain = plain
            self.companion = companion
            self.cleared = cleared
            self.fallback = fallback
            self.asset = asset
        }
    }

    private let attributes: [Int32: [Names]]
    private let toOnes: [Int32: [Names]]

    init(layout: ModelLayout, keys: RecordKeys) {
        let trees = Dictionary(grouping: layout.entities) { $0.entity.rootEntity.name ?? $0.name }
        var attributes: [Int32: [Names]] = [:]
        var toOnes: [Int32: [Names]] = [:]
        for tree in trees.values {
            let claims = tree.flatMap { Self.attributes(of: $0, keys) + Self.toOnes(of: $0, keys) }
            let (names, taken) = Self.names(for: Set(claims))
            for entity in tree {
                attributes[entity.number] = zip(
                    entity.attributes, Self.attributes(of: entity, keys)
                )
                .map { slot, claim in
                    Self.names(
                        of: claim, names, taken, slot.name,
                        hasDefault: slot.attribute.defaultValue != nil,
                        mayBeAsset: Self.mayBeAsset(slot.attribute))
                }
                toOnes[entity.number] = zip(entity.toOnes, Self.toOnes(of: entity, keys))
                    .map {
                        Self.names(
                            of: $1, names, taken, $0.name, hasDefault: false, mayBeAsset: false)
                    }
            }
        }
        self.attributes = attributes
        self.toOnes = toOnes
    }

    /// The names of all attributes, by slot.
    func attributes(of entity: EntityLayout) -> [Names] {
        attributes[entity.number]
            ?? entity.attributes.map { Names(plainOf: $0.name) }
    }

    /// The names of all to-one relationships, by slot.
    func toOnes(of entity: EntityLayout) -> [Names] {
        toOnes[entity.number] ?? entity.toOnes.map { Names(plainOf: $0.name) }
    }

    func attribute(_ slot: Int, of entity: EntityLayout) -> Names {
        attributes[entity.number]?[slot] ?? Names(plainOf: entity.attributes[slot].name)
    }

    func toOne(_ slot: Int, of entity: EntityLayout) -> Names {
        toOnes[entity.number]?[slot] ?? Names(plainOf: entity.toOnes[slot].name)
    }

    /// The fields of each entity's tree, those of the system among them.
    func fieldsByTree(of layout: ModelLayout) -> [Int32: Set<String>] {
        let trees = Dictionary(grouping: layout.entities) { $0.entity.rootEntity.name ?? $0.name }
        var fields: [Int32: Set<String>] = [:]
        for tree in trees.values {
            let names = tree.flatMap { (attributes[$0.number] ?? []) + (toOnes[$0.number] ?? []) }
            let own = Set(names.flatMap(\.all)).union([
                RecordNames.entityName, RecordNames.editTimes, RecordNames.counts,
                RecordNames.writes, RecordNames.carriedSeals,
            ])
            for entity in tree { fields[entity.number] = own }
        }
        return fields
    }

    private static func names(
        of claim: Claim, _ names: [Claim: String], _ taken: Set<String>, _ name: String,
        hasDefault: Bool, mayBeAsset: Bool
    ) -> Names {
        let plain = names[claim] ?? RecordNames.field(claim.path)
        var cleared = plain + RecordNames.clearedSuffix
        while taken.contains(cleared) { cleared += "_" }
        var asset = plain + RecordNames.assetSuffix
        while taken.contains(asset) { asset += "_" }
        let fallback = RecordNames.field(name)
        return Names(
            plain: plain, companion: claim.companions.first.map { plain + $0 },
            cleared: hasDefault ? cleared : nil,
            fallback: claim.path == name || taken.contains(fallback) ? nil : fallback,
            asset: mayBeAsset ? asset : nil)
    }

    /// A sealed value travels in its record alone.
    private static func mayBeAsset(_ attribute: NSAttributeDescription) -> Bool {
        guard !attribute.allowsCloudEncryption else { return false }
        return switch attribute.attributeType {
        case .stringAttributeType, .binaryDataAttributeType, .transformableAttributeType: true
        default: false
        }
    }

    // MARK: Claims

    private static func names(
        for claims: Set<Claim>
    ) -> (names: [Claim: String], taken: Set<String>) {
        var taken: Set<String> = [
            RecordNames.entityName, RecordNames.editTimes, RecordNames.counts,
            RecordNames.writes, RecordNames.carriedSeals, RecordNames.staysOut,
        ]
        var names: [Claim: String] = [:]
        for claim in claims.sorted(by: { ($0.path, $0.type) < ($1.path, $1.type) }) {
            var name = RecordNames.field(claim.path)
            func wanted() -> [String] { [name] + claim.companions.map { name + $0 } }
            while !taken.isDisjoint(with: wanted()) { name += "_" }
            taken.formUnion(wanted())
            names[claim] = name
        }
        return (names, taken)
    }

    private static func attributes(of entity: EntityLayout, _ keys: RecordKeys) -> [Claim] {
        entity.attributes.map { slot in
            let type = slot.attribute.attributeType
            let hasExact =
                (type == .dateAttributeType || type == .decimalAttributeType)
                && !slot.attribute.allowsCloudEncryption
            return Claim(
                path: keys.property(slot.name, of: entity.name), type: wireType(of: slot.attribute),
                companions: hasExact ? [RecordNames.exactSuffix] : [])
        }
    }

    private static func toOnes(of entity: EntityLayout, _ keys: RecordKeys) -> [Claim] {
        entity.toOnes.indices.map { slot in
            Claim(
                path: keys.property(entity.toOnes[slot].name, of: entity.name), type: "STRING",
                companions: entity.toOneIsOrdered[slot] ? [RecordNames.orderSuffix] : [])
        }
    }

    /// The type of an attribute's field; of a sealed one it tells nothing.
    static func wireType(of attribute: NSAttributeDescription) -> String {
        guard !attribute.allowsCloudEncryption else { return "BYTES" }
        return switch attribute.attributeType {
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

extension FieldNames.Names {
    fileprivate convenience init(plainOf name: String) {
        self.init(
            plain: RecordNames.field(name), companion: nil, cleared: nil, fallback: nil, asset: nil)
    }
}
