internal import Foundation
internal import MirrorEngine
internal import ObjectModel
internal import RecordWire
internal import Stores

/// The schema that a service needs for the stores of a model: each field that a device of it may
/// send, found by spelling sample objects as devices do.
struct ModelSchema {
    private let layout: ModelLayout
    private let mapping: RecordMapping
    /// Types of fields, as on the wire, by record type.
    private var types: [String: [String: String]] = [:]

    /// What devices send beside an object's values, where a rule of merging or a service asks for
    /// it. (SERVICE §7)
    private static let extensions = [
        "CD_editTimes": "STRING", "CD_countOperations": "STRING", "CD_mirrorWrites": "STRING",
    ]
    private static let ofSealed = ["CD_carriedSeals": "BYTES"]
    private static let ofUnique = ["CD_staysOutOfShares": "INT64"]

    init(_ model: NSManagedObjectModel) throws {
        layout = ModelLayout(model: model)
        mapping = RecordMapping(layout: layout)
        for type in mapping.recordTypesWithFields {
            for field in type.fields { types[type.name, default: [:]][field.name] = field.type }
        }
        for entity in layout.entities { try learn(entity) }
        for kind in PairCatalog(layout: layout).kinds { learn(kind) }
        learn(ShareRoot.fields, of: ShareRoot.recordType)
    }

    var schema: RecordSchema {
        RecordSchema(
            recordTypes: types.map { name, fields in
                RecordSchema.TypeDefinition(
                    name: name,
                    fields: fields.compactMap { field, type in
                        RecordSchema.FieldType(wireName: type).map {
                            RecordSchema.Field(name: field, type: $0)
                        }
                    })
            })
    }

    // MARK: Samples

    /// Objects that have all values, and none.
    private mutating func learn(_ entity: EntityLayout) throws {
        var whole = ObjectState(empty: entity)
        var hasSealed = false
        for (slot, described) in entity.attributes.enumerated() {
            let attribute = described.attribute
            guard !attribute.allowsCloudEncryption else {
                hasSealed = true
                continue
            }
            guard mapping.travels(slot, of: entity) else { continue }
            whole.attributes[slot] = Self.sample(of: attribute.attributeType)
        }
        for slot in entity.toOnes.indices {
            whole.toOnes[slot] = NamedLink("a", orderKey: entity.toOneIsOrdered[slot] ? 1 : nil)
        }
        for state in [whole, ObjectState(empty: entity)] {
            learn(try mapping.record(named: "a", for: state))
        }
        let type = mapping.recordType(of: entity.number)
        var more = Self.extensions
        if hasSealed { more.merge(Self.ofSealed) { $1 } }
        let line = sequence(first: entity.entity) { $0.superentity }
        if line.contains(where: { !$0.uniquenessConstraints.isEmpty }) {
            more.merge(Self.ofUnique) { $1 }
        }
        types[type, default: [:]].merge(more) { former, _ in former }
    }

    private mutating func learn(_ kind: PairKind) {
        var pair = JoinRecord(kind: kind, first: "a", second: "b")
        if kind.isOrdered { (pair.firstOrder, pair.secondOrder) = (1, 1) }
        let record = pair.record(named: "a")
        learn(record)
        types[record.recordType]?["CD_mirrorWrites"] = "STRING"
    }

    private mutating func learn(_ record: Record) { learn(record.fields, of: record.recordType) }

    private mutating func learn(_ fields: RecordFields, of recordType: String) {
        for (name, value) in fields {
            guard let value else { continue }
            types[recordType, default: [:]][name] = value.schemaType
        }
    }

    /// A value whose plain field is not enough, where there is such a one.
    private static func sample(of type: NSAttributeType) -> AttributeValue {
        switch type {
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType,
            .booleanAttributeType:
            .integer(1)
        case .doubleAttributeType, .floatAttributeType: .double(1)
        case .decimalAttributeType: .decimal(Decimal(1) / Decimal(3))
        case .dateAttributeType: .date(0.123_456)
        case .stringAttributeType: .text("a")
        case .UUIDAttributeType: .uuid(UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1)))
        case .URIAttributeType: .uri("a:b")
        case .binaryDataAttributeType, .transformableAttributeType: .data(Data([1]))
        case .undefinedAttributeType, .objectIDAttributeType, .compositeAttributeType: .null
        }
    }
}
