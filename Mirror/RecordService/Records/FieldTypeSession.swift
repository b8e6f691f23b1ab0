internal import RecordWire

/// The types that fields have in one database, inside one transaction.
///
/// The first type saved in a field of a record type stays as long as a record has the field; when
/// the last one is gone, another type may come. Users share no types: each has a database.
final class FieldTypeSession {
    /// What is known of one field; the use is nil where no record has it.
    private final class Field {
        let key: FieldKey
        var use: FieldUse?
        var isChanged = false

        init(_ key: FieldKey, _ use: FieldUse?) {
            self.key = key
            self.use = use
        }
    }

    private let database: Int64
    private let transaction: any BackendTransaction
    /// What was read, by record type and by name.
    private var known: [ExactName: [ExactName: Field]] = [:]

    init(_ database: Int64, _ transaction: any BackendTransaction) {
        self.database = database
        self.transaction = transaction
    }

    /// Throws BAD_REQUEST when a field has another type than records that are there.
    func check(_ fields: [String: FieldValue?], of recordType: String) throws {
        let recordType = ExactName(recordType)
        for (name, value) in fields where !SharingField.isReserved(name) {
            guard let type = value?.schemaType,
                let use = try field(name, of: recordType).use, use.records > 0, use.type != type
            else { continue }
            throw Self.mismatch(name, recordType.text, type, use.type)
        }
    }

    /// Takes note that a record with the fields `old` has the fields `new` now.
    func replace(
        _ old: [String: FieldValue?], with new: [String: FieldValue?], of recordType: String
    ) throws {
        let recordType = ExactName(recordType)
        for (name, value) in new where !SharingField.isReserved(name) {
            guard let type = value?.schemaType, (old[name] ?? nil) == nil else { continue }
            add(1, to: try field(name, of: recordType), type)
        }
        for (name, value) in old where !SharingField.isReserved(name) {
            guard let type = value?.schemaType, (new[name] ?? nil) == nil else { continue }
            add(-1, to: try field(name, of: recordType), type)
        }
    }

    /// Takes note that a record with these fields is gone.
    func remove(_ fields: [String: FieldValue?], of recordType: String) throws {
        try replace(fields, with: [:], of: recordType)
    }

    func save() throws {
        for field in known.values.flatMap(\.values) where field.isChanged {
            guard let use = field.use else { continue }
            try transaction.save(use, of: field.key, in: database)
            field.isChanged = false
        }
    }

    private func field(_ name: String, of recordType: ExactName) throws -> Field {
        let name = ExactName(name)
        if let field = known[recordType]?[name] { return field }
        let key = FieldKey(name.text, of: recordType.text)
        let field = Field(key, try transaction.fieldUse(key, in: database))
        known[recordType, default: [:]][name] = field
        return field
    }

    private func add(_ count: Int64, to field: Field, _ type: String) {
        var use = field.use ?? FieldUse(type: type, records: 0)
        if use.records <= 0 { use = FieldUse(type: type, records: 0) }
        use.records = max(0, use.records + count)
        field.use = use
        field.isChanged = true
    }

    private static func mismatch(
        _ field: String, _ recordType: String, _ type: String, _ first: String
    ) -> RecordError {
        RecordError(
            .badRequest,
            "The field \(field) of \(recordType) was first saved as \(first) and is now \(type). "
                + "Send \(first), use another field name, or remove the field from all records "
                + "first.")
    }
}
