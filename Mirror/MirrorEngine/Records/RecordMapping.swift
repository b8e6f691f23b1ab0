package import Foundation
internal import ObjectModel
internal import Persistence
package import RecordWire
package import Stores

/// How the objects of one model are spelled as records (SERVICE §7).
package final class RecordMapping: Sendable {
    package let layout: ModelLayout
    private let recordTypes: [Int32: String]
    let keys: RecordKeys
    let names: FieldNames
    /// What an attribute without a field has, by entity and slot.
    private let defaults: [Int32: [AttributeValue]]
    /// All fields of an entity's tree.
    private let treeFields: [Int32: Set<String>]
    /// Slots of attributes that each store computes for itself: they do not travel.
    private let derivedSlots: [Int32: [Int]]
    /// Slots of attributes that travel sealed; without entities that have none.
    let sealedSlots: [Int32: [Int]]
    /// Slots of attributes whose columns may give back something else than a record has.
    let settledSlots: [Int32: [SettledSlot]]
    /// nil where no key is given.
    let sealer: Sealer?

    package init(layout: ModelLayout, sealer: Sealer? = nil) {
        self.layout = layout
        self.sealer = sealer
        sealedSlots = Dictionary(
            uniqueKeysWithValues: layout.entities.map { entity in
                let slots = entity.attributes.indices.filter {
                    let attribute = entity.attributes[$0].attribute
                    return attribute.allowsCloudEncryption
                        && !(attribute is NSDerivedAttributeDescription)
                }
                return (entity.number, slots)
            }
        ).filter { !$0.value.isEmpty }
        keys = RecordKeys(layout: layout)
        names = FieldNames(layout: layout, keys: keys)
        treeFields = names.fieldsByTree(of: layout)
        let keys = keys
        recordTypes = Dictionary(
            uniqueKeysWithValues: layout.entities.map { entity in
                let root = entity.entity.rootEntity.name ?? entity.name
                return (entity.number, RecordNames.recordType(rootEntity: keys.entity(root)))
            })
        defaults = Dictionary(
            uniqueKeysWithValues: layout.entities.map { entity in
                (entity.number, entity.attributes.map(Self.defaultValue))
            })
        settledSlots = Dictionary(
            uniqueKeysWithValues: layout.entities.map { ($0.number, SettledSlot.all(of: $0)) })
        derivedSlots = Dictionary(
            uniqueKeysWithValues: layout.entities.map { entity in
                let slots = entity.attributes.indices.filter {
                    entity.attributes[$0].attribute is NSDerivedAttributeDescription
                }
                return (entity.number, slots)
            })
    }

    private static func defaultValue(of slot: EntityLayout.AttributeSlot) -> AttributeValue {
        slot.attribute is NSDerivedAttributeDescription ? .null : slot.attribute.storedDefault
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

    /// Whether an attribute is part of a record: what each store computes for itself is not.
    package func travels(_ slot: Int, of entity: EntityLayout) -> Bool {
        derivedSlots[entity.number]?.contains(slot) != true
    }

    package func recordType(of entity: Int32) -> String { recordTypes[entity] ?? "" }

    /// The whole record of an object.
    package func record(named name: String, for state: ObjectState) throws -> Record {
        let entity = try layout(of: state)
        var fields: RecordFields = [RecordNames.entityName: .string(keys.entity(entity.name))]
        for (slot, field) in names.attributes(of: entity).enumerated() {
            if !state.attributes[slot].isNull {
                try write(slot, field, of: state, entity, named: name, into: &fields)
            } else if let cleared = field.cleared, hasDefault(slot, of: entity) {
                fields[cleared] = .int64(1)
            }
        }
        for (slot, field) in names.toOnes(of: entity).enumerated() {
            guard let link = state.toOnes[slot] else { continue }
            Self.write(link, field, into: &fields)
        }
        return Record(
            recordName: name, recordType: recordType(of: state.entity), fields: fields)
    }

    /// The fields that carry the properties in `slots`, cleared ones as nil, where `base` is what
    /// the service has.
    package func fields(
        of state: ObjectState, in slots: [PropertySlot], upon base: Record
    ) throws -> RecordFields {
        let entity = try layout(of: state)
        var fields: RecordFields = [:]
        for slot in slots {
            try write(slot, of: state, entity, named: base.recordName, into: &fields)
            let field = fieldNames(of: slot, entity)
            for name in [field.cleared, field.fallback, field.asset] {
                guard let name, (base.fields[name] ?? nil) != nil, fields[name] == nil else {
                    continue
                }
                fields.updateValue(nil, forKey: name)
            }
            if let name = field.fallback, let former = base.fields[name] ?? nil,
                let value = formerValue(slot, field, entity, in: fields, like: former)
            {
                fields[name] = value
            }
            if case .attribute(let index) = slot, state.attributes[index].isNull,
                hasDefault(index, of: entity), let name = field.cleared
            {
                fields[name] = .int64(1)
            }
        }
        // Who writes a property knew what was carried of it.
        let carried = CarriedSeals(base.fields)
        if !carried.isEmpty {
            let written = Set(slots.flatMap { fieldNames(of: $0, entity).all })
            let left = carried.filter { !written.contains($0.field) }
            if left != carried { fields.updateValue(left.field, forKey: RecordNames.carriedSeals) }
        }
        return fields
    }

    /// What the field under a property's former name gets beside the property's own, where it is of
    /// this property: another version of the model may know no other name.
    private func formerValue(
        _ slot: PropertySlot, _ field: FieldNames.Names, _ entity: EntityLayout,
        in fields: RecordFields, like former: FieldValue
    ) -> FieldValue? {
        if case .attribute(let index) = slot, isSealed(index, entity) { return nil }
        guard let value = fields[field.plain] ?? nil, value.wireType == former.wireType else {
            return nil
        }
        return value
    }

    /// The entity of a record: the concrete one that it names, nil when this model does not know
    /// it.
    package func entity(of record: Record) -> EntityLayout? {
        if case .string(let key)?? = record.fields[RecordNames.entityName] {
            return self.entity(withKey: key)
        }
        return record.recordType.hasPrefix("CD_")
            ? self.entity(withKey: String(record.recordType.dropFirst(3))) : nil
    }

    /// A record that was written before entities were named by keys has the name.
    private func entity(withKey key: String) -> EntityLayout? {
        layout.entity(named: keys.entityName(key) ?? key)
    }

    /// The object's values as the record has them; an attribute without a field has its default. A
    /// field of the wrong type is named in the error. What is compared with a row is `storedState`.
    package func state(of record: Record, entity: EntityLayout) throws -> ObjectState {
        try state(of: record, entity: entity) { throw $0 }
    }

    /// The same, with the contents of assets as `content` brings them.
    package func state(
        of record: Record, entity: EntityLayout, content: (RecordAsset) throws -> Data?
    ) throws -> ObjectState {
        var state = try state(of: record, entity: entity)
        for slot in entity.attributes.indices where AssetStandIn(state.attributes[slot]) != nil {
            guard let name = names.attribute(slot, of: entity).asset,
                case .asset(let asset)?? = record.fields[name], let bytes = try content(asset),
                let value = self.value(ofAsset: bytes, slot, entity)
            else { continue }
            state.attributes[slot] = value
        }
        return state
    }

    /// The content of an asset as the attribute's value; nil for a text that is none.
    func value(ofAsset bytes: Data, _ slot: Int, _ entity: EntityLayout) -> AttributeValue? {
        guard entity.attributes[slot].attribute.attributeType == .stringAttributeType else {
            return .data(bytes)
        }
        return String(validating: bytes, as: UTF8.self).map { .text($0) }
    }

    /// The values of a record that was agreed on, as the store gives them back, perhaps under
    /// another version of the model: a field that this one cannot read counts as none.
    package func agreedState(of record: Record, entity: EntityLayout) -> ObjectState {
        settled((try? state(of: record, entity: entity) { _ in }) ?? ObjectState(empty: entity))
    }

    /// What an object of the record would be if nobody had written anything: the defaults of what
    /// the record says nothing of.
    package func untouched(by record: Record, entity: EntityLayout) -> ObjectState {
        var state = ObjectState(empty: entity)
        for slot in entity.attributes.indices
        where !isWritten(.attribute(slot), of: entity, in: record) {
            state.attributes[slot] = defaultValue(slot, of: entity)
        }
        return settled(state)
    }

    /// The fields of a record that no entity of its tree has.
    func foreignFields(of record: Record) -> RecordFields {
        guard let entity = entity(of: record) else { return [:] }
        let own = treeFields[entity.number] ?? []
        let kept = SharingField.names.subtracting([SharingField.parent])
        return record.fields.filter {
            $0.value != nil && !own.contains($0.key) && !kept.contains($0.key)
        }
    }

    /// Whether a record says anything of a property.
    func isWritten(_ slot: PropertySlot, of entity: EntityLayout, in record: Record) -> Bool {
        let field = fieldNames(of: slot, entity)
        if field.own.contains(where: { (record.fields[$0] ?? nil) != nil }) { return true }
        switch slot {
        case .attribute(let index): return former(index, field, entity, in: record) != nil
        case .toOne: return field.fallback.map { (record.fields[$0] ?? nil) != nil } ?? false
        }
    }

    /// Whether a record says something of a property that this model can hold, or carries it.
    func isReadable(_ slot: PropertySlot, of entity: EntityLayout, in record: Record) -> Bool {
        guard isWritten(slot, of: entity, in: record) else {
            return carriesReadable(slot, of: entity, in: record)
        }
        switch slot {
        case .attribute(let index):
            let field = names.attribute(index, of: entity)
            return (try? value(of: index, field, entity, in: record)) != nil
        case .toOne: return true
        }
    }

    /// Whether a field is of no entity of the tree.
    func isForeign(_ field: String, to entity: Int32) -> Bool {
        treeFields[entity]?.contains(field) != true
    }

    func fieldNames(of slot: PropertySlot, _ entity: EntityLayout) -> FieldNames.Names {
        switch slot {
        case .attribute(let index): names.attribute(index, of: entity)
        case .toOne(let index): names.toOne(index, of: entity)
        }
    }

    func defaultValue(_ slot: Int, of entity: EntityLayout) -> AttributeValue {
        defaults[entity.number]?[slot] ?? .null
    }

    private func hasDefault(_ slot: Int, of entity: EntityLayout) -> Bool {
        !defaultValue(slot, of: entity).isNull
    }

    private func state(
        of record: Record, entity: EntityLayout, unreadable: (MirrorError) throws -> Void
    ) throws -> ObjectState {
        var state = ObjectState(empty: entity)
        for (slot, field) in names.attributes(of: entity).enumerated() {
            do {
                state.attributes[slot] = try value(of: slot, field, entity, in: record)
            } catch let error as MirrorError {
                try unreadable(error)
            }
        }
        for slot in derivedSlots[entity.number] ?? [] { state.attributes[slot] = .null }
        for (slot, field) in names.toOnes(of: entity).enumerated() {
            state.toOnes[slot] = link(field, in: record)
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
        of slot: Int, _ field: FieldNames.Names, _ entity: EntityLayout, in record: Record
    ) throws -> AttributeValue {
        guard let plain = present(slot, field, entity, in: record) else {
            if let carried = try carriedValue(slot, entity, in: record) { return carried }
            let isCleared = field.cleared.map { (record.fields[$0] ?? nil) != nil } ?? false
            return isCleared ? .null : defaultValue(slot, of: entity)
        }
        if isSealed(slot, entity) {
            let name = (record.fields[field.plain] ?? nil) == nil ? field.fallback : field.plain
            return try open(
                plain, in: name ?? field.plain, of: record,
                type: entity.attributes[slot].attribute.attributeType)
        }
        do {
            return try AttributeCoding.value(
                plain: plain, exact: field.companion.flatMap { record.fields[$0] ?? nil },
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

    private func isSealed(_ slot: Int, _ entity: EntityLayout) -> Bool {
        !sealedSlots.isEmpty && sealedSlots[entity.number]?.contains(slot) ?? false
    }

    /// The field of an attribute, or that of its former name or its asset where only that has a
    /// value.
    private func present(
        _ slot: Int, _ field: FieldNames.Names, _ entity: EntityLayout, in record: Record
    ) -> FieldValue? {
        if let value = record.fields[field.plain] ?? nil { return value }
        if let value = former(slot, field, entity, in: record) { return value }
        return field.asset.flatMap { record.fields[$0] ?? nil }
    }

    /// What stands under an attribute's former name; nil for what it was when it had another type,
    /// or was sealed or open other than now: that is another field.
    func former(
        _ slot: Int, _ field: FieldNames.Names, _ entity: EntityLayout, in record: Record
    ) -> FieldValue? {
        guard let name = field.fallback, let value = record.fields[name] ?? nil else { return nil }
        var isSeal = false
        if case .bytes(let data) = value { isSeal = Sealer.keyID(of: data) != nil }
        guard isSeal == isSealed(slot, entity) else { return nil }
        guard !isSeal else { return value }
        let type = entity.attributes[slot].attribute.attributeType
        return (try? AttributeCoding.value(plain: value, exact: nil, type: type)) == nil
            ? nil : value
    }

    /// The record without the content of an attribute that is an asset in it, so that it says
    /// nothing of the attribute.
    func forgetting(assetOf slot: Int, _ entity: EntityLayout, in record: Record) -> Record {
        var record = record
        if let name = names.attribute(slot, of: entity).asset {
            record.fields.removeValue(forKey: name)
        }
        return record
    }

    /// The record with the values of a state in the place of assets, as far as they are here.
    func inlined(_ record: Record, with state: ObjectState) throws -> Record {
        let entity = try layout(of: state)
        var record = record
        for slot in entity.attributes.indices {
            let field = names.attribute(slot, of: entity)
            guard let name = field.asset, case .asset?? = record.fields[name],
                AssetStandIn(state.attributes[slot]) == nil
            else { continue }
            record.fields.removeValue(forKey: name)
            record.fields[field.plain] = AttributeCoding.fields(for: state.attributes[slot]).plain
        }
        return record
    }

    /// The to-one link at `slot` as the record has it.
    func link(_ slot: Int, of entity: EntityLayout, in record: Record) -> NamedLink? {
        link(names.toOne(slot, of: entity), in: record)
    }

    private func link(_ field: FieldNames.Names, in record: Record) -> NamedLink? {
        let orderKey = field.companion.flatMap { integer($0, in: record) }
        let former = field.fallback.flatMap { record.fields[$0] ?? nil }
        switch (record.fields[field.plain] ?? nil) ?? former {
        case .string(let name)? where !name.isEmpty:
            return NamedLink(name, orderKey: orderKey)
        case .reference(let reference)?:
            return NamedLink(reference.recordName, orderKey: orderKey)
        default: return nil
        }
    }

    private func integer(_ field: String, in record: Record) -> Int64? {
        if case .int64(let value)?? = record.fields[field] { value } else { nil }
    }

    private func write(
        _ slot: PropertySlot, of state: ObjectState, _ entity: EntityLayout,
        named name: String, into fields: inout RecordFields
    ) throws {
        switch slot {
        case .attribute(let index):
            let field = names.attribute(index, of: entity)
            try write(index, field, of: state, entity, named: name, into: &fields)
        case .toOne(let index):
            Self.write(state.toOnes[index], names.toOne(index, of: entity), into: &fields)
        }
    }

    private func write(
        _ slot: Int, _ field: FieldNames.Names, of state: ObjectState, _ entity: EntityLayout,
        named name: String, into fields: inout RecordFields
    ) throws {
        if isSealed(slot, entity) {
            let sealed = try seal(state.attributes[slot], in: field.plain, of: name)
            fields.updateValue(sealed, forKey: field.plain)
            return
        }
        let (plain, exact) = AttributeCoding.fields(for: state.attributes[slot])
        if case .asset? = plain, let name = field.asset {
            fields[name] = plain
            return
        }
        fields.updateValue(plain, forKey: field.plain)
        if let companion = field.companion { fields.updateValue(exact, forKey: companion) }
    }

    private static func write(
        _ link: NamedLink?, _ field: FieldNames.Names, into fields: inout RecordFields
    ) {
        fields.updateValue(link.map { .string($0.recordName) }, forKey: field.plain)
        if let companion = field.companion {
            fields.updateValue(link?.orderKey.map { .int64($0) }, forKey: companion)
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
            for slot in entity.attributes.indices where travels(slot, of: entity) {
                let attribute = entity.attributes[slot].attribute
                let field = names.attribute(slot, of: entity)
                own[field.plain] = FieldNames.wireType(of: attribute)
                if let asset = field.asset { own[asset] = FieldType.asset.rawValue }
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
