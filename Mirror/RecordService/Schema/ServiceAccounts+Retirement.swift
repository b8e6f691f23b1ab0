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
    /// key. A running service knows of it at once. What clients see again by it they are told as
    /// `removeField` tells what is gone; nil does so in any case.
    public func retire(
        _ field: String, of recordType: String, from version: ClientVersion?, container: String,
        environment: String = "development"
    ) throws(RecordError) {
        try check(container, environment)
        guard version == nil || environment == DatabaseKey.development else {
            throw RecordError(
                .badRequest, "Fields are retired in development; deploy that to production.")
        }
        var shown = Set(version == nil ? [FieldKey(field, of: recordType)] : [])
        try backend.write(.container(container)) { transaction in
            try transaction.holdSchema(ofContainer: container)
            let known = try self.schema(container, environment, transaction)
            guard var type = known[recordType] else {
                throw RecordError(
                    .notFound, "There is no record type \(recordType) in \(environment).")
            }
            if let problem = type.retire(field, from: version) {
                throw RecordError(.badRequest, "The field is not retired: \(problem).")
            }
            let former = try imported(container, environment, transaction)
            var schema = former
            let addition = RecordSchema.TypeDefinition(
                name: type.name, fields: type[field].map { [$0] } ?? [])
            schema = schema.merged(with: RecordSchema(recordTypes: [addition]))
            schema.setRetirement(of: field, in: recordType, to: version)
            shown.formUnion(former.fieldsSeenAgain(by: schema))
            try transaction.saveSchema(schema.text, container: container, environment: environment)
        }
        let called = "\(recordType).\(field)"
        try audit?.note(
            .schemaImported, container,
            version.map { ["retired": called, "from": $0.description] }
                ?? ["kept": called, "environment": environment])
        try tellAgain(shown, container: container, environment: environment)
    }

    /// Tells devices again of records that they read without fields that they see now: an edit by
    /// the service of each record that has one. Cost: looks at all records, and writes fifty of
    /// them at a time, between which others write. What is broken off is done anew by showing the
    /// field again. Throws the first refusal of a record when all others are done.
    func tellAgain(
        _ fields: Set<FieldKey>, container: String, environment: String
    ) throws(RecordError) {
        for key in fields {
            try sweep(
                .tellAgain, key.field.text, of: key.recordType.text, container: container,
                environment: environment)
        }
    }

    private func sweep(
        _ deed: FieldSweep.Deed, _ field: String, of recordType: String, container: String,
        environment: String
    ) throws(RecordError) {
        let zones = try backend.write(.container(container)) {
            try $0.zonesForDeclaring(container: container, environment: environment)
        }
        var sweep = FieldSweep(
            deed, field: field, recordType: recordType, backend: backend, platform: platform)
        for zone in zones {
            try sweep.run(
                DatabaseKey(container, environment, owner: zone.owner),
                ZoneID(zoneName: zone.name))
        }
        if let refusal = sweep.refusal { throw refusal }
    }

    /// How many records have a value in a field now. Cost: a line for each user.
    public func holders(
        of field: String, in recordType: String, container: String, environment: String
    ) throws(RecordError) -> FieldHolders {
        try check(container, environment)
        let key = FieldKey(field, of: recordType)
        return try backend.read(.container(container)) {
            try $0.countUses(of: key, container: container, environment: environment)
        }
    }

    /// Takes a retired field out of an environment's schema, and out of each record that has it: an
    /// edit by the service, which all devices hear of. What is taken out is gone. Returns how many
    /// records it was. Throws BAD_REQUEST for a field that is not retired there. Cost: looks at all
    /// records, and writes fifty of them at a time, between which others write; when it is broken
    /// off, it goes on where it is called again. What is written or deleted meanwhile stays so.
    /// Throws the first refusal of a record, which keeps the field, when all others are done.
    @discardableResult
    public func removeField(
        _ field: String, of recordType: String, container: String, environment: String
    ) throws(RecordError) -> FieldHolders {
        try check(container, environment)
        let before = try holders(
            of: field, in: recordType, container: container, environment: environment)
        let isKnown = try backend.write(.container(container)) { transaction in
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
        try sweep(
            .clear, field, of: recordType, container: container, environment: environment)
        if environment == DatabaseKey.development {
            try backend.write(.container(container)) { transaction in
                var schema = try imported(container, environment, transaction)
                schema.remove(field, from: recordType)
                try transaction.saveSchema(
                    schema.text, container: container, environment: environment)
            }
        }
        try audit?.note(
            .schemaImported, container,
            [
                "removed": "\(recordType).\(field)", "records": "\(before.records)",
                "environment": environment,
            ])
        return before
    }
}

extension RecordSchema {
    /// The fields that clients of some version see by `later` and do not by this schema.
    func fieldsSeenAgain(by later: RecordSchema) -> Set<FieldKey> {
        var seen: Set<FieldKey> = []
        let places = later.places
        for type in recordTypes {
            let known = places[ExactName(type.name)].map { later.recordTypes[$0] }
            for field in type.fields {
                guard let former = field.retiredFrom else { continue }
                if let version = known?[field.name]?.retiredFrom, version <= former {
                    continue
                }
                seen.insert(FieldKey(field.name, of: type.name))
            }
        }
        return seen
    }

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
