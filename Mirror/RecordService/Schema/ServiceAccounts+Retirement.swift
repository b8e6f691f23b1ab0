internal import Foundation
internal import Platform
public import RecordWire

/// How much would go with a field.
public struct FieldHolders: Hashable, Sendable {
    /// Records that have a value in the field.
    public var records = 0
    /// Users who have such records; the public database counts as one.
    public var databases = 0

    public init(records: Int = 0, databases: Int = 0) {
        self.records = records
        self.databases = databases
    }
}

/// Fields that new clients do not need any more. They are hidden from them first, and taken out of
/// records by a deed of its own, when no old client is left.
extension ServiceAccounts {
    /// Hides a field from clients of `version` and later, in development; nil shows it to all
    /// again, in the environment that is named. Nothing is changed in any record: older clients,
    /// and those that say no version, read and write it as before. Throws NOT_FOUND for a type that
    /// is unknown there, BAD_REQUEST for a field that it does not have or that is part of a natural
    /// key. A running service knows of it at once.
    public func retire(
        _ field: String, of recordType: String, from version: ClientVersion?, container: String,
        environment: String = "development"
    ) throws(RecordError) {
        try check(container, environment)
        guard version == nil || environment == DatabaseKey.development else {
            throw RecordError(
                .badRequest, "Fields are retired in development; deploy that to production.")
        }
        try backend.write { transaction in
            try transaction.holdSchema(ofContainer: container)
            let known = try self.schema(container, environment, transaction)
            guard var type = known[recordType] else {
                throw RecordError(
                    .notFound, "There is no record type \(recordType) in \(environment).")
            }
            if let problem = type.retire(field, from: version) {
                throw RecordError(.badRequest, "The field is not retired: \(problem).")
            }
            var schema = try imported(container, environment, transaction)
            let addition = RecordSchema.TypeDefinition(
                name: type.name, fields: type[field].map { [$0] } ?? [])
            schema = schema.merged(with: RecordSchema(recordTypes: [addition]))
            schema.setRetirement(of: field, in: recordType, to: version)
            try transaction.saveSchema(schema.text, container: container, environment: environment)
        }
        try audit?.note(
            .schemaImported, container, ["retired": "\(recordType).\(field)"])
    }

    /// How many records have a value in a field now. Cost: a line for each user.
    public func holders(
        of field: String, in recordType: String, container: String, environment: String
    ) throws(RecordError) -> FieldHolders {
        try check(container, environment)
        let key = FieldKey(field, of: recordType)
        return try backend.read {
            try $0.countUses(of: key, container: container, environment: environment)
        }
    }

    /// Takes a retired field out of an environment's schema, and out of each record that has it: an
    /// edit by the service, which all devices hear of. What is taken out is gone. Returns how many
    /// records it was. Throws BAD_REQUEST for a field that is not retired there. Cost: looks at all
    /// records, and writes fifty of them at a time, between which others write; when it is broken
    /// off, it goes on where it is called again.
    @discardableResult
    public func removeField(
        _ field: String, of recordType: String, container: String, environment: String
    ) throws(RecordError) -> FieldHolders {
        try check(container, environment)
        let before = try holders(
            of: field, in: recordType, container: container, environment: environment)
        let isKnown = try backend.write { transaction in
            try transaction.holdSchema(ofContainer: container)
            var schema = try imported(container, environment, transaction)
            let found = schema[recordType]?[field]
            guard found?.retiredFrom != nil else { return false }
            guard environment != DatabaseKey.development else { return true }
            schema.remove(field, from: recordType)
            try transaction.saveSchema(schema.text, container: container, environment: environment)
            return true
        }
        guard isKnown else {
            throw RecordError(
                .badRequest,
                "\(recordType).\(field) is not retired in \(environment); retire it first, and "
                    + "remove it when no older client is left.")
        }
        let zones = try backend.write {
            try $0.zonesForDeclaring(container: container, environment: environment)
        }
        let removal = FieldRemoval(
            field: field, recordType: recordType, backend: backend, platform: platform)
        for zone in zones {
            try removal.run(
                DatabaseKey(container, environment, owner: zone.owner), zone: zone.name, zone.id)
        }
        if environment == DatabaseKey.development {
            try backend.write { transaction in
                var schema = try imported(container, environment, transaction)
                schema.remove(field, from: recordType)
                try transaction.saveSchema(
                    schema.text, container: container, environment: environment)
            }
        }
        try audit?.note(
            .schemaImported, container,
            ["removed": "\(recordType).\(field)", "records": "\(before.records)"])
        return before
    }
}

/// Clears one field in the records of zones, a slice at a time.
private struct FieldRemoval {
    let field: String
    let recordType: String
    let backend: any Backend
    let platform: Environment
    private let limits = ServiceLimits()
    private static let sliceMax = 50

    init(field: String, recordType: String, backend: any Backend, platform: Environment) {
        self.field = field
        self.recordType = recordType
        self.backend = backend
        self.platform = platform
    }

    func run(_ key: DatabaseKey, zone: String, _ id: Int64) throws(RecordError) {
        var after = ""
        while true {
            var names: [String] = []
            let reached = try backend.read { transaction in
                var reached: String?
                names = []
                try transaction.liveRecords(in: id, after: after) { row in
                    guard names.count < Self.sliceMax else {
                        reached = names.last
                        return false
                    }
                    guard row.type.isExactly(recordType),
                        let fields = try? RecordArchive.decodeFields(row.fields),
                        fields[field] != nil
                    else { return true }
                    names.append(row.name)
                    return true
                }
                return reached
            }
            if !names.isEmpty { try clear(names, ZoneID(zoneName: zone), key) }
            guard let reached else { return }
            after = reached
        }
    }

    private func clear(
        _ names: [String], _ zone: ZoneID, _ key: DatabaseKey
    ) throws(RecordError) {
        let operations = names.map { name in
            var record = Record(recordName: name, recordType: recordType)
            record.fields.updateValue(nil, forKey: field)
            return RecordOperation(.forceUpdate, record)
        }
        var rules = AccessRules(
            publicAccess: PublicAccess(), caller: Caller(userRecordName: key.owner),
            schemas: SchemaMemory())
        rules.isService = true
        var modify = ModifyRecords(operations: operations, zoneID: zone, atomic: false)
        modify.desiredKeys = []
        let modification = try RecordModification(
            modify, at: ZoneAddress(key: key, shown: zone, participant: nil),
            stamp: RecordStamp(timestamp: platform.milliseconds), limits: limits,
            dialect: .extended, rules: rules,
            draw: .init(
                number: { platform.randomness.next() },
                name: { platform.randomness.uuid().uuidString },
                secret: { platform.randomness.uuid().uuidString }),
            actsForService: true)
        let damage = DamageReport(path: "", log: { _ in })
        var broken: Set<ExactName> = []
        var written = RecordModification.Written()
        _ = try backend.write {
            try modification.perform($0, damage: damage, broken: &broken, written: &written)
        }
        backend.announce(.database(key))
    }
}

extension RecordSchema {
    fileprivate mutating func setRetirement(
        of field: String, in recordType: String, to version: ClientVersion?
    ) {
        guard let (type, place) = place(of: field, in: recordType) else { return }
        recordTypes[type].fields[place].retiredFrom = version
    }

    fileprivate mutating func remove(_ field: String, from recordType: String) {
        guard let (type, place) = place(of: field, in: recordType) else { return }
        recordTypes[type].fields.remove(at: place)
    }

    private func place(of field: String, in recordType: String) -> (type: Int, field: Int)? {
        guard
            let type = recordTypes.firstIndex(where: { $0.name.isExactly(recordType) }),
            let place = recordTypes[type].fields.firstIndex(where: { $0.name.isExactly(field) })
        else { return nil }
        return (type, place)
    }
}
