internal import RecordWire

/// The types that fields have in one database, inside one transaction.
///
/// The first type saved in a field of a record type stays as long as a record has the field; when
/// the last one is gone, another type may come. Users share no types: each has a database.
final class FieldTypeSession {
    private let database: Int64
    private let transaction: any BackendTransaction
    /// What was read; the inner nil is a field that no record has.
    private var known: [FieldKey: FieldUse?] = [:]
    private var changed: Set<FieldKey> = []

    init(_ database: Int64, _ transaction: any BackendTransaction) {
        self.database = database
        self.transaction = transaction
    }

    /// Throws BAD_REQUEST when a field has another type than records that are there.
    func check(_ fields: [String: FieldValue?], of recordType: String) throws {
        for (name, value) in fields {
            guard let type = value?.schemaType,
                let use = try use(FieldKey(name, of: recordType)), use.records > 0,
                use.type != type
            else { continue }
            throw Self.mismatch(name, recordType, type, use.type)
        }
    }

    /// Takes note that a record with the fields `old` has the fields `new` now.
    func replace(
        _ old: [String: FieldValue?], with new: [String: FieldValue?], of recordType: String
    ) throws {
        for (name, value) in new {
            guard let type = value?.schemaType, old[name].flatMap({ $0 }) == nil else { continue }
            try add(1, to: FieldKey(name, of: recordType), type)
        }
        for (name, value) in old {
            guard let type = value?.schemaType, new[name].flatMap({ $0 }) == nil else { continue }
            try add(-1, to: FieldKey(name, of: recordType), type)
        }
    }

    /// Takes note that a record with these fields is gone.
    func remove(_ fields: [String: FieldValue?], of recordType: String) throws {
        try replace(fields, with: [:], of: recordType)
    }

    func save() throws {
        for field in changed {
            guard let use = known[field].flatMap({ $0 }) else { continue }
            try transaction.save(use, of: field, in: database)
        }
        changed = []
    }

    private func use(_ field: FieldKey) throws -> FieldUse? {
        if let read = known[field] { return read }
        let read = try transaction.fieldUse(field, in: database)
        known[field] = .some(read)
        return read
    }

    private func add(_ count: Int64, to field: FieldKey, _ type: String) throws {
        var use = try use(field) ?? FieldUse(type: type, records: 0)
        if use.records <= 0 { use = FieldUse(type: type, records: 0) }
        use.records = max(0, use.records + count)
        known[field] = use
        changed.insert(field)
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
