internal import Foundation
internal import ObjectModel
internal import RecordWire
internal import Stores

extension RecordError.Code {
    /// Why an object waits that has a value to seal, and no key for it. Given by this device.
    static let keyMissing = RecordError.Code(rawValue: "KEY_MISSING")
    /// Why an object waits with a value to seal that does not fit a record. Given by this device.
    static let sealedTooLarge = RecordError.Code(rawValue: "SEALED_TOO_LARGE")
}

/// Attributes with `allowsCloudEncryption`: their values travel sealed, as BYTES.
extension RecordMapping {
    /// A value as its field has it.
    func seal(
        _ value: AttributeValue, in field: String, of record: String
    ) throws -> FieldValue? {
        guard !value.isNull else { return nil }
        guard let sealer else { throw Self.lacksKey() }
        return .bytes(try sealer.seal(Self.message(of: value), record: record, field: field))
    }

    /// The value of a sealed field: none where its key is not here. Throws `.sealBroken` for what
    /// was not sealed for this field of this record.
    func open(
        _ field: FieldValue, in name: String, of record: Record, type: NSAttributeType
    ) throws -> AttributeValue {
        guard case .bytes(let data) = field, Sealer.keyID(of: data) != nil else {
            throw broken(name, record)
        }
        switch try sealer?.open(data, record: record.recordName, field: name) ?? .locked {
        case .locked: return .null
        case .broken: throw broken(name, record)
        case .opened(let message):
            do {
                let fields = try RecordArchive.decodeFields(message)
                return try AttributeCoding.value(
                    plain: fields["v"] ?? nil, exact: fields["e"] ?? nil, type: type)
            } catch {
                throw broken(name, record)
            }
        }
    }

    private static func message(of value: AttributeValue) -> Data {
        let (plain, exact) = AttributeCoding.fields(for: value)
        var fields: RecordFields = ["v": plain]
        if let exact { fields["e"] = exact }
        return RecordArchive.encodeFields(fields)
    }

    /// Lets the values of a record that is made anew keep the seals that they had before its
    /// deletion: who cannot read them takes another seal for another value.
    func keepSeals(of former: Record, in record: inout Record, _ state: ObjectState) {
        guard former.recordName.isExactly(record.recordName),
            let entity = layout.entity(state.entity)
        else { return }
        let known = agreedState(of: former, entity: entity)
        for slot in sealedSlots[state.entity] ?? []
        where known.attributes[slot] == state.attributes[slot] {
            let name = names.attribute(slot, of: entity).plain
            guard record.fields[name] != nil, let sealed = former.fields[name] else { continue }
            record.fields[name] = sealed
        }
    }

    /// An attribute's value in a record as it is sealed.
    func sealedBytes(_ slot: Int, _ entity: EntityLayout, in record: Record) -> Data? {
        guard let (_, field) = sealedField(slot, entity, in: record), case .bytes(let data) = field
        else { return nil }
        return data
    }

    /// Whether a record has a value of the attribute whose key is not here, or carries one.
    func isLocked(_ slot: Int, _ entity: EntityLayout, in record: Record) -> Bool {
        if let data = sealedBytes(slot, entity, in: record), Sealer.keyID(of: data) != nil,
            isLocked(data)
        {
            return true
        }
        return carried(slot, entity, in: record).contains { isLocked($0.value) }
    }

    /// Whether any of these properties can not be sent: there is no key, or what the service has is
    /// sealed under another one, and would be overwritten unseen.
    func lacksKey(
        for slots: [PropertySlot], of state: ObjectState, upon base: Record?
    ) -> Bool {
        guard let sealed = sealedSlots[state.entity], let entity = layout.entity(state.entity)
        else { return false }
        return slots.contains { slot in
            guard case .attribute(let index) = slot, sealed.contains(index) else { return false }
            return sealer == nil || base.map { isLocked(index, entity, in: $0) } ?? false
        }
    }

    /// Whether any of these properties travels sealed and is larger: it would not fit its record,
    /// and beside it nothing travels sealed.
    func isTooLargeToSeal(
        _ slots: [PropertySlot], of state: ObjectState, bytesMax: Int
    ) -> Bool {
        guard let sealed = sealedSlots[state.entity] else { return false }
        return slots.contains { slot in
            guard case .attribute(let index) = slot, sealed.contains(index) else { return false }
            return state.attributes[index].assetSize ?? 0 > Int64(bytesMax)
        }
    }

    /// The fields of a record whose key is not here.
    func lockedFields(of record: Record) -> RecordFields {
        guard let entity = entity(of: record), let sealed = sealedSlots[entity.number] else {
            return [:]
        }
        var fields: RecordFields = [:]
        for slot in sealed {
            guard let (name, value) = sealedField(slot, entity, in: record),
                case .bytes(let data) = value, Sealer.keyID(of: data) != nil, isLocked(data)
            else { continue }
            fields[name] = value
        }
        return fields
    }

    /// The record as a name of its write is made of it: equal values that were sealed twice are
    /// equal in it.
    func digestible(_ record: Record) throws -> Record {
        guard let sealer, let entity = entity(of: record),
            let sealed = sealedSlots[entity.number]
        else { return record }
        var record = record
        for slot in sealed {
            guard let (name, field) = sealedField(slot, entity, in: record),
                case .bytes(let data) = field,
                case .opened(let message) = try sealer.open(
                    data, record: record.recordName, field: name)
            else { continue }
            record.fields[name] = .bytes(
                sealer.digest(of: message, record: record.recordName, field: name))
        }
        return record
    }

    /// How many values are sealed in the fields that an operation sends.
    func sealsCount(in record: Record, like whole: Record) -> Int {
        guard let entity = entity(of: whole), let sealed = sealedSlots[entity.number] else {
            return 0
        }
        return sealed.count { sealedField($0, entity, in: record) != nil }
    }

    /// The names of an entity's fields that hold sealed values.
    func sealedFieldNames(of entity: Int32) -> Set<String> {
        guard let sealed = sealedSlots[entity], let layout = layout.entity(entity) else {
            return []
        }
        return Set(sealed.map { names.attribute($0, of: layout).plain })
    }

    /// The field of a record that has the value of a sealed attribute.
    func sealedField(
        _ slot: Int, _ entity: EntityLayout, in record: Record
    ) -> (name: String, value: FieldValue)? {
        let field = names.attribute(slot, of: entity)
        if let value = record.fields[field.plain] ?? nil { return (field.plain, value) }
        guard let name = field.fallback else { return nil }
        return former(slot, field, entity, in: record).map { (name, $0) }
    }

    private func broken(_ field: String, _ record: Record) -> MirrorError {
        MirrorError(
            .sealBroken,
            "Field \(field) of record \(record.recordName) was not sealed for it, or was changed "
                + "since. It is put aside; find out who writes to the service.",
            fields: ["record": record.recordName, "field": field])
    }

    private static func lacksKey() -> MirrorError {
        MirrorError(
            .keyMissing, "A value is to be sealed and there is no key. Give the store's key file.")
    }
}
