internal import Foundation
internal import ObjectModel
package import RecordWire
package import Stores

/// How the objects of one model are spelled as records (SERVICE §7).
package struct RecordMapping: Sendable {
    package let layout: ModelLayout
    private let recordTypes: [Int32: String]
    private let names: FieldNames
    /// Slots of attributes that each store computes for itself: they do not travel.
    private let derivedSlots: [Int32: [Int]]

    package init(layout: ModelLayout) {
        self.layout = layout
        names = FieldNames(layout: layout)
        recordTypes = Dictionary(
            uniqueKeysWithValues: layout.entities.map { entity in
                let root = entity.entity.rootEntity.name ?? entity.name
                return (entity.number, RecordNames.recordType(rootEntity: root))
            })
        derivedSlots = Dictionary(
            uniqueKeysWithValues: layout.entities.map { entity in
                let slots = entity.attributes.indices.filter {
                    entity.attributes[$0].attribute is NSDerivedAttributeDescription
                }
                return (entity.number, slots)
            })
    }

    /// The row's values that travel: null stands for what its store computes.
    package func attributes(of row: Row) -> [AttributeValue] {
        guard let derived = derivedSlots[row.id.entity], !derived.isEmpty else {
            return row.attributes
        }
        var attributes = row.attributes
        for slot in derived { attributes[slot] = .null }
        return attributes
    }

    package func recordType(of entity: Int32) -> String { recordTypes[entity] ?? "" }

    /// The whole record of an object.
    package func record(named name: String, for state: ObjectState) throws -> Record {
        let entity = try layout(of: state)
        var record = Record(recordName: name, recordType: recordType(of: state.entity))
        record.fields[RecordNames.entityName] = .string(entity.name)
        for slot in state.changes(from: nil) {
            write(slot, of: state, entity, into: &record.fields)
        }
        return record
    }

    /// The fields that carry the properties in `slots`, cleared ones as nil.
    package func fields(
        of state: ObjectState, in slots: [PropertySlot]
    ) throws -> [String: FieldValue?] {
        let entity = try layout(of: state)
        var fields: [String: FieldValue?] = [:]
        for slot in slots { write(slot, of: state, entity, into: &fields) }
        return fields
    }

    /// The entity of a record: the concrete one that it names, nil when this model does not know
    /// it.
    package func entity(of record: Record) -> EntityLayout? {
        if case .string(let name)?? = record.fields[RecordNames.entityName] {
            return layout.entity(named: name)
        }
        return record.recordType.hasPrefix("CD_")
            ? layout.entity(named: String(record.recordType.dropFirst(3))) : nil
    }

    /// The object's values as the record has them. A field of the wrong type is named in the error.
    package func state(of record: Record, entity: EntityLayout) throws -> ObjectState {
        var state = ObjectState(empty: entity)
        for slot in entity.attributes.indices {
            state.attributes[slot] = try value(of: slot, entity, in: record)
        }
        for slot in derivedSlots[entity.number] ?? [] { state.attributes[slot] = .null }
        for slot in entity.toOnes.indices {
            state.toOnes[slot] = link(slot, of: entity, in: record)
        }
        return state
    }

    private func layout(of state: ObjectState) throws -> EntityLayout {
        guard let entity = layout.entity(state.entity) else {
            throw MirrorError(
                .unknownEntity,
                "The store holds a row of entity number \(state.entity), which the model lacks. "
                    + "Open the store with the model it was written with.")
        }
        return entity
    }

    private func value(
        of slot: Int, _ entity: EntityLayout, in record: Record
    ) throws -> AttributeValue {
        let field = names.attribute(slot, of: entity)
        do {
            return try AttributeCoding.value(
                plain: record.fields[field.plain] ?? nil,
                exact: field.companion.flatMap { record.fields[$0] ?? nil },
                type: entity.attributes[slot].attribute.attributeType)
        } catch {
            throw MirrorError(
                .fieldMismatch,
                "Field \(field.plain) of record \(record.recordName) has a type or a size that the "
                    + "model's attribute cannot hold. Compare the model with the one the record "
                    + "was written with.",
                fields: ["record": record.recordName, "field": field.plain])
        }
    }

    /// The to-one link at `slot` as the record has it.
    func link(_ slot: Int, of entity: EntityLayout, in record: Record) -> NamedLink? {
        link(names.toOne(slot, of: entity), in: record)
    }

    private func link(_ field: FieldNames.Names, in record: Record) -> NamedLink? {
        let orderKey = field.companion.flatMap { integer($0, in: record) }
        switch record.fields[field.plain] {
        case .string(let name)?? where !name.isEmpty:
            return NamedLink(name, orderKey: orderKey)
        case .reference(let reference)??:
            return NamedLink(reference.recordName, orderKey: orderKey)
        default: return nil
        }
    }

    private func integer(_ field: String, in record: Record) -> Int64? {
        if case .int64(let value)?? = record.fields[field] { value } else { nil }
    }

    private func write(
        _ slot: PropertySlot, of state: ObjectState, _ entity: EntityLayout,
        into fields: inout [String: FieldValue?]
    ) {
        switch slot {
        case .attribute(let index):
            let field = names.attribute(index, of: entity)
            let (plain, exact) = AttributeCoding.fields(for: state.attributes[index])
            fields.updateValue(plain, forKey: field.plain)
            if let companion = field.companion { fields.updateValue(exact, forKey: companion) }
        case .toOne(let index):
            let field = names.toOne(index, of: entity)
            let link = state.toOnes[index]
            fields.updateValue(link.map { .string($0.recordName) }, forKey: field.plain)
            if let companion = field.companion {
                fields.updateValue(link?.orderKey.map { .int64($0) }, forKey: companion)
            }
        }
    }
}

/// A record type with the fields of all its entities, as they travel.
package struct RecordType: Sendable {
    package var name: String
    package var fields: [(name: String, type: String)]
}

extension RecordMapping {
    /// The record types of the model, by name; those of pairs apart.
    package var recordTypesWithFields: [RecordType] {
        var fields: [String: [String: String]] = [:]
        for entity in layout.entities {
            var own = [RecordNames.entityName: FieldType.string.rawValue]
            for slot in entity.attributes.indices {
                let type = entity.attributes[slot].attribute.attributeType
                own[names.attribute(slot, of: entity).plain] = FieldNames.wireType(of: type)
            }
            for slot in entity.toOnes.indices {
                own[names.toOne(slot, of: entity).plain] = FieldType.string.rawValue
            }
            fields[recordType(of: entity.number), default: [:]].merge(own) { first, _ in first }
        }
        return fields.sorted { $0.key < $1.key }.map { name, fields in
            RecordType(
                name: name,
                fields: fields.sorted { $0.key < $1.key }.map { (name: $0.key, type: $0.value) })
        }
    }
}
