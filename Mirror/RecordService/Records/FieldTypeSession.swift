internal import RecordWire

/// The types that fields have in one database, inside one transaction.
///
/// The first type saved in a field of a record type stays as long as a record has the field; when
/// the last one is gone, another type may come. Users share no types: each has a database.
final class FieldTypeSession {
    /// What is known of one field; the use is nil where no record has it.
    fileprivate final class Field {
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
    /// What records must fit; nil where everything fits.
    private let schema: RecordSchema?
    /// What was read of one record type, by name.
    private final class Table {
        let recordType: ExactName
        var fields: [ExactName: Field] = [:]
        /// The fields of the record that was checked last, in its order: the next one often has the
        /// same, which then are not looked up by their names.
        var latest: [(name: String, field: Field)] = []

        init(_ recordType: ExactName) { self.recordType = recordType }
    }

    /// Fields that were checked, each with the type it gets.
    struct Checked {
        fileprivate var fields: [(Field, type: String)] = []
    }

    private var known: [ExactName: Table] = [:]
    /// The table that was asked for last: many records of a request have one type.
    private var latest: Table?

    init(
        _ database: Int64, _ transaction: any BackendTransaction, schema: RecordSchema? = nil
    ) {
        self.database = database
        self.transaction = transaction
        self.schema = schema
    }

    /// Throws BAD_REQUEST when a field has another type than records that are there, or than the
    /// schema says, and for what the schema does not have.
    func check(_ fields: RecordFields, of recordType: String) throws -> Checked {
        try checkSchema(fields, of: recordType)
        let table = table(of: recordType)
        var checked = Checked()
        checked.fields.reserveCapacity(fields.count)
        var place = 0
        for (name, value) in fields where !SharingField.isReserved(name) {
            guard let type = value?.schemaType else { continue }
            let field = try field(name, of: table, at: place)
            place += 1
            if let use = field.use, use.records > 0, use.type != type {
                throw Self.mismatch(name, recordType, type, use.type)
            }
            checked.fields.append((field, type))
        }
        return checked
    }

    /// Takes note of a record that has the checked fields, and none before.
    func add(_ checked: Checked) {
        for (field, type) in checked.fields { add(1, to: field, type) }
    }

    private func checkSchema(
        _ fields: RecordFields, of recordType: String
    ) throws(RecordError) {
        // Shares are in no schema.
        guard let schema, !recordType.isExactly(Record.shareType) else { return }
        guard let type = schema[recordType] else {
            throw Self.undeployed("the record type \(recordType)")
        }
        // What belongs to sharing is in none either.
        for (name, value) in fields where !SharingField.isReserved(name) {
            guard let wireName = value?.schemaType else { continue }
            guard let field = type[name] else {
                throw Self.undeployed("the field \(name) of \(recordType)")
            }
            let given = RecordSchema.FieldType(wireName: wireName)
            guard given == field.type else {
                throw Self.mismatch(name, recordType, wireName, field.type.wireName)
            }
        }
    }

    private static func undeployed(_ what: String) -> RecordError {
        .ofSchema(
            "The schema of production does not have \(what); who runs the service deploys it from "
                + "development.")
    }

    /// Takes note that a record with the fields `old` has the fields `new` now.
    func replace(
        _ old: RecordFields, with new: RecordFields, of recordType: String
    ) throws {
        let table = table(of: recordType)
        for (name, value) in new where !SharingField.isReserved(name) {
            guard let type = value?.schemaType, (old[name] ?? nil) == nil else { continue }
            add(1, to: try field(name, of: table), type)
        }
        for (name, value) in old where !SharingField.isReserved(name) {
            guard let type = value?.schemaType, (new[name] ?? nil) == nil else { continue }
            add(-1, to: try field(name, of: table), type)
        }
    }

    /// Takes note that a record with these fields is gone.
    func remove(_ fields: RecordFields, of recordType: String) throws {
        try replace(fields, with: [:], of: recordType)
    }

    func save() throws {
        for field in known.values.flatMap(\.fields.values) where field.isChanged {
            guard let use = field.use else { continue }
            try transaction.save(use, of: field.key, in: database)
            field.isChanged = false
        }
    }

    private func table(of recordType: String) -> Table {
        if let latest, latest.recordType.text.isExactly(recordType) { return latest }
        let name = ExactName(recordType)
        let table = known[name] ?? Table(name)
        known[name] = table
        latest = table
        return table
    }

    /// The field that is the one at `place` of a record.
    private func field(_ name: String, of table: Table, at place: Int) throws -> Field {
        if place < table.latest.count, table.latest[place].name.isExactly(name) {
            return table.latest[place].field
        }
        let field = try field(name, of: table)
        table.latest.removeSubrange(min(place, table.latest.count)...)
        if place == table.latest.count { table.latest.append((name, field)) }
        return field
    }

    private func field(_ name: String, of table: Table) throws -> Field {
        let name = ExactName(name)
        if let field = table.fields[name] { return field }
        let key = FieldKey(name.text, of: table.recordType.text)
        let field = Field(key, try transaction.fieldUse(key, in: database))
        table.fields[name] = field
        return field
    }

    private func add(_ count: Int64, to field: Field, _ type: String) {
        field.isChanged = true
        guard let records = field.use?.records, records > 0 else {
            field.use = FieldUse(type: type, records: max(0, count))
            return
        }
        field.use?.records = max(0, records + count)
    }

    private static func mismatch(
        _ field: String, _ recordType: String, _ type: String, _ first: String
    ) -> RecordError {
        .ofSchema(
            "The field \(field) of \(recordType) was first saved as \(first) and is now \(type). "
                + "Send \(first), use another field name, or remove the field from all records "
                + "first.")
    }
}
