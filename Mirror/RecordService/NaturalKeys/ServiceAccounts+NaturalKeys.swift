internal import Foundation
public import RecordWire

/// Fields whose values are unique in a zone: declared in development, brought to production by a
/// deployment. They stand in the schema, as the extension `// diptych: UNIQUE (…)` of its text.
extension ServiceAccounts {
    /// Declares that no two records of a type have these fields alike in one zone, in development.
    /// Returns false where it was declared. Throws UNIQUE_FIELD_ERROR, with the records' names,
    /// where some have; NOT_FOUND for a type or field that development does not know; BAD_REQUEST
    /// for fields whose values cannot be compared. Writers of the container's development wait
    /// until it ends. Cost: looks at all its records.
    @discardableResult
    public func declareUnique(
        _ fields: [String], of recordType: String, container: String
    ) throws(RecordError) -> Bool {
        let development = DatabaseKey.development
        try requireContainer(container)
        let isNew = try backend.write(.container(container)) { transaction in
            try transaction.holdSchema(ofContainer: container)
            let known = try self.schema(container, development, transaction)
            let key = RecordSchema.NaturalKey(fields)
            guard let type = known[recordType] else {
                throw RecordError(
                    .notFound,
                    "There is no record type \(recordType) in development; save a record of it, or "
                        + "import a schema.")
            }
            var addition = RecordSchema.TypeDefinition(
                name: type.name, fields: key.fields.compactMap { type[$0] },
                naturalKeys: type.naturalKeys)
            addition.naturalKeys = []
            if let problem = addition.add(key) {
                throw RecordError(.badRequest, "The key cannot be declared: \(problem).")
            }
            let before = try imported(container, development, transaction)
            let after = before.merged(with: RecordSchema(recordTypes: [addition]))
            try transaction.saveSchema(
                after.text, container: container, environment: development)
            return try settleKeys(
                from: before, to: after, container, development, transaction)
        }
        if isNew {
            try audit?.note(.schemaImported, container, ["unique": recordType])
        }
        return isNew
    }

    /// Takes a natural key away in one environment, from production, too: nothing that was taken is
    /// refused by it. Throws NOT_FOUND where it is not declared.
    public func undeclareUnique(
        _ fields: [String], of recordType: String, container: String, environment: String
    ) throws(RecordError) {
        try check(container, environment)
        try backend.write(.container(container)) { transaction in
            try transaction.holdSchema(ofContainer: container)
            let key = RecordSchema.NaturalKey(fields)
            let before = try imported(container, environment, transaction)
            var after = before
            guard
                let place = after.recordTypes.firstIndex(where: { $0.name.isExactly(recordType) }),
                after.recordTypes[place].naturalKeys.remove(key) != nil
            else {
                throw RecordError(
                    .notFound,
                    "\(recordType) has no key (\(key.text)) in \(environment); the schema shows "
                        + "those that are declared.")
            }
            try transaction.saveSchema(after.text, container: container, environment: environment)
            _ = try settleKeys(from: before, to: after, container, environment, transaction)
        }
        try audit?.note(
            .schemaImported, container,
            ["notUnique": recordType, "environment": environment])
    }

    /// Brings the rows of keys from one schema to another. Returns whether keys were added.
    func settleKeys(
        from before: RecordSchema, to after: RecordSchema, _ container: String,
        _ environment: String, _ transaction: any BackendTransaction
    ) throws -> Bool {
        let (old, new) = (before.naturalKeys, after.naturalKeys)
        guard old != new else { return false }
        let zones = try transaction.zonesForDeclaring(
            container: container, environment: environment)
        var added: [ExactName: [RecordSchema.NaturalKey]] = [:]
        for (type, keys) in new {
            let more = keys.filter { old[type]?.contains($0) != true }
            if !more.isEmpty { added[type] = more }
        }
        var filling = NaturalKeyFilling(keys: added)
        for zone in zones {
            for (type, keys) in old {
                for key in keys where new[type]?.contains(key) != true {
                    try transaction.removeKey(key.name(of: type.text), in: zone.id)
                }
            }
            if !added.isEmpty { try filling.fill(zone, transaction) }
        }
        if let refusal = filling.refusal { throw refusal }
        return !added.isEmpty
    }
}

/// Makes the rows of keys for records that were there before, and finds those that are in each
/// other's way.
private struct NaturalKeyFilling {
    let keys: [ExactName: [RecordSchema.NaturalKey]]
    private var told: [String] = []
    private var duplicates = 0
    private static let chunkMax = 500
    private static let toldMax = 20

    init(keys: [ExactName: [RecordSchema.NaturalKey]]) { self.keys = keys }

    mutating func fill(
        _ zone: (id: Int64, name: String, owner: String), _ transaction: any BackendTransaction
    ) throws {
        var after = ""
        var isWhole = false
        while !isWhole {
            var chunk: [(value: NaturalKeyValue, name: String)] = []
            isWhole = true
            try transaction.liveRecords(in: zone.id, after: after) { row in
                guard chunk.count < Self.chunkMax else {
                    isWhole = false
                    return false
                }
                after = row.name
                guard let own = keys[ExactName(row.type)],
                    let fields = try? RecordArchive.decodeFields(row.fields)
                else { return true }
                let values = NaturalKeySession.values(
                    fields, of: own.map { ($0, $0.name(of: row.type)) })
                chunk += values.map { ($0, row.name) }
                return true
            }
            try add(chunk, zone, transaction)
        }
    }

    private mutating func add(
        _ chunk: [(value: NaturalKeyValue, name: String)],
        _ zone: (id: Int64, name: String, owner: String), _ transaction: any BackendTransaction
    ) throws {
        var holders = try transaction.holders(of: chunk.map(\.value), in: zone.id)
        var free: [(value: NaturalKeyValue, name: String)] = []
        for entry in chunk {
            guard let holder = holders[entry.value] else {
                holders[entry.value] = entry.name
                free.append(entry)
                continue
            }
            duplicates += 1
            guard told.count < Self.toldMax else { continue }
            let owner = zone.owner.isEmpty ? "the public database" : zone.owner
            told.append(
                "\(holder) and \(entry.name) have one \(entry.value.key) in the zone \(zone.name) "
                    + "of \(owner)")
        }
        try transaction.addKeys(free, in: zone.id)
    }

    /// Names the records that have one key, the first twenty pairs.
    var refusal: RecordError? {
        guard duplicates > 0 else { return nil }
        let more = duplicates > told.count ? "; and \(duplicates - told.count) more" : ""
        return RecordError(
            .uniqueFieldError,
            "The key is not declared, for records have it in common. Change or delete one of each: "
                + told.joined(separator: "; ") + more + ".")
    }
}
