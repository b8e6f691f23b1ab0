public import RecordWire

/// What the records of one type in a database are made of.
public struct RecordTypeDescription: Hashable, Sendable {
    public struct Field: Hashable, Sendable {
        public var name: String
        /// As the protocol spells it, such as `STRING` or `INT64_LIST`.
        public var type: String
        /// How many records have the field.
        public var records: Int64
    }

    public var name: String
    /// By name.
    public var fields: [Field]
}

extension RecordService {
    /// What each container holds, by name and environment; only those of which somebody has a
    /// database. Cost: looks at every record.
    public func usage() throws(RecordError) -> [ContainerUsage] {
        try backend.read { try $0.usage() }
    }

    private static let fieldsMax = 10_000

    /// The record types that a database's records have, with their fields, by name; of a private
    /// database that of `owner`. Throws NOT_FOUND for what this service does not keep. Cost: one
    /// row a field, at most ten thousand.
    public func recordTypes(
        in target: RecordTarget, owner: String
    ) throws(RecordError) -> [RecordTypeDescription] {
        try accounts.requireContainer(target.container)
        let key = try DatabaseKey(
            target, caller: Caller(userRecordName: owner), request: .listZones)
        let uses = try backend.read(key.place) { transaction in
            guard let database = try transaction.database(key) else {
                return [(FieldKey, FieldUse)]()
            }
            return try transaction.fieldUses(in: database.id, limit: Self.fieldsMax)
        }
        var types: [RecordTypeDescription] = []
        for (key, use) in uses {
            if types.last?.name.isExactly(key.recordType.text) != true {
                types.append(RecordTypeDescription(name: key.recordType.text, fields: []))
            }
            types[types.count - 1].fields.append(
                RecordTypeDescription.Field(
                    name: key.field.text, type: use.type, records: use.records))
        }
        return types
    }
}
