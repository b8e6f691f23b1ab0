internal import Foundation
internal import ObjectModel
package import RecordWire
internal import Stores

/// Sealed values that travel with another record than the one they were sealed for: a device
/// without their key made two objects one, or brought an object back under another name, and could
/// neither read nor seal them. Each says for what it was sealed, so that it opens all the same.
///
/// They are a field of the record they travel with. Whoever has the key reads them as values of
/// that record, and takes them out when it writes the property.
struct CarriedSeals: Hashable {
    struct Seal: Hashable {
        /// The names for which the value was sealed.
        let record: String
        let field: String
        let value: Data
    }

    private(set) var seals: [Seal]

    init(_ seals: [Seal] = []) { self.seals = Self.ordered(seals) }

    /// Those in the fields of a record.
    init(_ fields: RecordFields) {
        guard case .bytes(let data)?? = fields[RecordNames.carriedSeals],
            let records = try? RecordArchive.decodeFields(data)
        else {
            self.init()
            return
        }
        self.init(
            records.flatMap { record, value -> [Seal] in
                guard case .bytes(let data) = value,
                    let own = try? RecordArchive.decodeFields(data)
                else { return [] }
                return own.flatMap { field, value -> [Seal] in
                    guard case .list(_, let values) = value else { return [] }
                    return values.compactMap {
                        guard case .bytes(let bytes) = $0 else { return nil }
                        return Seal(record: record, field: field, value: bytes)
                    }
                }
            })
    }

    var isEmpty: Bool { seals.isEmpty }

    /// The field they travel in; nil where there are none.
    var field: FieldValue? {
        guard !isEmpty else { return nil }
        let records = Dictionary(grouping: seals, by: \.record).mapValues { own -> FieldValue? in
            let fields = Dictionary(grouping: own, by: \.field).mapValues { values -> FieldValue? in
                .list(type: .bytes, values.map { .bytes($0.value) })
            }
            return .bytes(RecordArchive.encodeFields(RecordFields(fields)))
        }
        return .bytes(RecordArchive.encodeFields(RecordFields(records)))
    }

    func union(_ other: CarriedSeals) -> CarriedSeals { CarriedSeals(seals + other.seals) }

    func filter(_ isKept: (Seal) -> Bool) -> CarriedSeals { CarriedSeals(seals.filter(isKept)) }

    /// One order on all devices, and none twice.
    private static func ordered(_ seals: [Seal]) -> [Seal] {
        guard seals.count > 1 else { return seals }
        return Set(seals).sorted {
            ($0.record, $0.field, $0.value.base64EncodedString())
                < ($1.record, $1.field, $1.value.base64EncodedString())
        }
    }
}

extension RecordMapping {
    /// What a record carries of one attribute.
    func carried(_ slot: Int, _ entity: EntityLayout, in record: Record) -> [CarriedSeals.Seal] {
        guard record.fields[RecordNames.carriedSeals] != nil else { return [] }
        let field = names.attribute(slot, of: entity)
        return CarriedSeals(record.fields).seals
            .filter { $0.field == field.plain || $0.field == field.fallback }
    }

    /// The value of an attribute without a field of its own that the record carries: the first that
    /// opens here. nil where it carries none, null where no key is here.
    func carriedValue(
        _ slot: Int, _ entity: EntityLayout, in record: Record
    ) throws -> AttributeValue? {
        let seals = carried(slot, entity, in: record)
        guard !seals.isEmpty else { return nil }
        for seal in seals {
            let value = try value(of: seal, slot, entity)
            if !value.isNull { return value }
        }
        return .null
    }

    /// Whether the record carries a value of the property that opens here.
    func carriesReadable(_ slot: PropertySlot, of entity: EntityLayout, in record: Record) -> Bool {
        guard case .attribute(let index) = slot else { return false }
        let value = try? carriedValue(index, entity, in: record)
        return value.map { !$0.isNull } ?? false
    }

    /// A carried value; null where its key is not here. Throws `.sealBroken`, `.fieldMismatch`.
    func value(
        of seal: CarriedSeals.Seal, _ slot: Int, _ entity: EntityLayout
    ) throws -> AttributeValue {
        let type = entity.attributes[slot].attribute.attributeType
        guard sealedSlots[entity.number]?.contains(slot) == true else {
            // A device of another version took bytes for sealed ones.
            return try AttributeCoding.value(plain: .bytes(seal.value), exact: nil, type: type)
        }
        let former = Record(recordName: seal.record, recordType: "")
        return try open(.bytes(seal.value), in: seal.field, of: former, type: type)
    }

    /// What of a record can be neither read nor sealed anew here. With `isRenamed` it is to travel
    /// under another name; `fields` are those of the record that this model does not know, and lose
    /// what may be sealed of them.
    func carriedOn(
        from record: Record, isRenamed: Bool, leaving fields: inout RecordFields
    ) -> CarriedSeals {
        let entity = entity(of: record)?.number ?? 0
        var seals = CarriedSeals(record.fields).seals.filter { isUnread($0, in: entity) }
        guard isRenamed else { return CarriedSeals(seals) }
        var locked = lockedFields(of: record)
        for (name, value) in fields {
            guard case .bytes(let data)? = value, Sealer.keyID(of: data) != nil else { continue }
            locked[name] = value
            fields[name] = nil
        }
        for (name, value) in locked {
            guard case .bytes(let data)? = value else { continue }
            seals.append(.init(record: record.recordName, field: name, value: data))
        }
        return CarriedSeals(seals)
    }

    /// Whether a carried value is in no row here: its key is not, or it is of no property that this
    /// model knows.
    func isUnread(_ seal: CarriedSeals.Seal, in entity: Int32) -> Bool {
        guard !isLocked(seal.value), let layout = layout.entity(entity) else { return true }
        return !layout.attributes.indices.contains { slot in
            let field = names.attribute(slot, of: layout)
            return seal.field == field.plain || seal.field == field.fallback
        }
    }

    /// Whether the key of a sealed value is not here.
    func isLocked(_ sealed: Data) -> Bool {
        Sealer.keyID(of: sealed).map { sealer?.keys.key($0) == nil } ?? true
    }

    /// The sealed attributes that a record has other values of than `base`, where they cannot be
    /// read here: somebody who has the key edited them.
    func lockedEdits(
        in record: Record, since base: Record?, of entity: EntityLayout
    ) -> [(slot: Int, value: Data)] {
        let known = base.flatMap { $0.deleted ? nil : $0 }
        return (sealedSlots[entity.number] ?? []).compactMap { slot in
            guard isLocked(slot, entity, in: record),
                let value = sealedBytes(slot, entity, in: record),
                known.flatMap({ sealedBytes(slot, entity, in: $0) }) != value
            else { return nil }
            return (slot, value)
        }
    }
}

extension MirrorTransaction {
    /// The name of an object that was deleted here ends, and its row may come back under another:
    /// what was sealed for that name goes on as such.
    func keepForReturn(of entry: RecordEntry) throws {
        try carryKept(for: entry.row, from: entry.recordName)
        try keepForeign(of: entry.base, for: entry.row, isRenamed: true)
        try keepWaitingLinks(of: entry)
    }

    /// Removes an object's line. What was kept for its row, sealed for its name, goes on as such:
    /// the row may come back under another.
    func removeLine(of entry: RecordEntry) throws {
        try carryKept(for: entry.row, from: entry.recordName)
        try ledger.removeEntry(entry)
    }

    /// What was kept for a row under `name` is to travel under another.
    func carryKept(for row: RowID, from name: String) throws {
        var fields = try ledger.foreign(of: row)
        var seals: [CarriedSeals.Seal] = []
        for (field, value) in fields where field != RecordNames.carriedSeals {
            guard case .bytes(let data)? = value, Sealer.keyID(of: data) != nil else { continue }
            seals.append(.init(record: name, field: field, value: data))
            fields[field] = nil
        }
        guard !seals.isEmpty else { return }
        try ledger.dropForeign(of: row)
        try ledger.keepForeign(fields, of: row)
        try keepCarried(CarriedSeals(seals), for: row)
    }

    /// What is in the row now need not go out as it was sealed; what this model does not know, or
    /// has no key for, must. So must what is in `unopened`: values of properties, by field, that
    /// are still to be brought in.
    func keepUnread(of row: RowID, besides unopened: [String: Set<Data>] = [:]) throws {
        var foreign = try ledger.foreign(of: row)
        guard !foreign.isEmpty else { return }
        let sealed = mapping.sealedFieldNames(of: row.entity)
        let carried = CarriedSeals(foreign).filter { seal in
            mapping.isUnread(seal, in: row.entity)
                || unopened[seal.field]?.contains(seal.value) == true
        }
        foreign = foreign.filter { name, value in
            guard sealed.contains(name), case .bytes(let data) = value else { return true }
            return mapping.isLocked(data) || unopened[name]?.contains(data) == true
        }
        foreign[RecordNames.carriedSeals] = nil
        if let field = carried.field { foreign[RecordNames.carriedSeals] = field }
        try ledger.dropForeign(of: row)
        try ledger.keepForeign(foreign, of: row)
    }

    /// Keeps sealed values that are to travel with the record of `row`, in place of older ones of
    /// the same fields.
    func keepCarried(_ seals: CarriedSeals, for row: RowID) throws {
        guard !seals.isEmpty else { return }
        let older = try CarriedSeals(ledger.foreign(of: row)).filter { seal in
            !seals.seals.contains { $0.record == seal.record && $0.field == seal.field }
        }
        let all = older.union(seals)
        try ledger.keepForeign([RecordNames.carriedSeals: all.field], of: row)
    }
}

extension RecordRequest {
    /// Whether it writes a record with a carried value.
    package var carriesSeals: Bool {
        guard case .modifyRecords(let request) = self else { return false }
        return request.operations.contains {
            ($0.record.fields[RecordNames.carriedSeals] ?? nil) != nil
        }
    }
}
