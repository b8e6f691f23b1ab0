public import RecordWire

/// What the records of a container may hold. Development learns from what is saved; production
/// takes everything until a schema is deployed to it, and from then on what the schema has. A
/// running service knows of changes at once.
extension ServiceAccounts {
    private static let fieldsMax = 10_000
    private static let production = "production"

    /// The schema of an environment: what was imported or deployed, what its records have beyond
    /// it, the fields that may be queried, and the grants of roles. Where users have a field with
    /// different types, the first by name stands there. Throws NOT_FOUND for an unknown container
    /// or environment. Cost: looks at the fields of all databases.
    public func schema(
        container: String, environment: String
    ) throws(RecordError) -> RecordSchema {
        try check(container, environment)
        return try backend.read(.container(container)) { try schema(container, environment, $0) }
    }

    /// Takes a schema into development, beside what the records there have, and returns what is new
    /// by it. Fields with an index may be queried from now on, also in production; the grants of
    /// each record type that has some replace those that were. Throws BAD_REQUEST for a field that
    /// records or production have with another type, NOT_FOUND for an unknown container, and
    /// UNIQUE_FIELD_ERROR where records have a natural key in common. What clients see again, since
    /// the schema retires it later or not at all, they are told as by `retire`.
    @discardableResult
    public func importSchema(
        _ schema: RecordSchema, container: String
    ) throws(RecordError) -> SchemaDifference {
        try importSchema(schema, container: container, agreed: nil)
    }

    /// The same. Where `agreed` is given, it is what somebody agreed to, as
    /// `SchemaDifference.lines` tells it: CONFLICT is thrown where it would be something else by
    /// now, as where another text was taken in.
    package func importSchema(
        _ schema: RecordSchema, container: String, agreed: [String]?
    ) throws(RecordError) -> SchemaDifference {
        try check(container, DatabaseKey.development)
        let (added, shown) = try backend.write(.container(container)) { transaction in
            try seeingAgain(container, DatabaseKey.development, transaction) {
                try Self.expected(takeIn(schema, container, transaction), agreed)
            }
        }
        try audit?.note(.schemaImported, container, ["changes": "\(added.lines.count)"])
        try tellAgain(shown, container: container, environment: DatabaseKey.development)
        return added
    }

    /// What `importSchema` would return or throw, and nothing of it done. Writers of the container
    /// wait as long as they would for the deed itself.
    package func previewOfImport(
        _ schema: RecordSchema, container: String
    ) throws(RecordError) -> SchemaDifference {
        try check(container, DatabaseKey.development)
        return try undone(container) { try takeIn(schema, container, $0) }
    }

    /// Adds to production what development has beyond it, and returns that. Nothing is ever taken
    /// away, and from now on production takes only records that fit. Where `agreed` is given, it is
    /// what somebody agreed to, as `SchemaDifference.lines` tells it: CONFLICT is thrown where it
    /// would be something else by now. Throws BAD_REQUEST for a field that production has with
    /// another type, NOT_FOUND for an unknown container, and UNIQUE_FIELD_ERROR where records of
    /// production have a natural key in common.
    @discardableResult
    public func deploySchema(
        container: String, agreed: [String]? = nil
    ) throws(RecordError) -> SchemaDifference {
        try check(container, Self.production)
        let (added, shown) = try backend.write(.container(container)) { transaction in
            try seeingAgain(container, Self.production, transaction) {
                try Self.expected(deploy(container, transaction), agreed)
            }
        }
        try audit?.note(.schemaDeployed, container, ["changes": "\(added.lines.count)"])
        try tellAgain(shown, container: container, environment: Self.production)
        return added
    }

    /// What `deploySchema` would return or throw, and nothing of it done. Writers of the container
    /// wait as long as they would for the deed itself.
    package func previewOfDeployment(
        container: String
    ) throws(RecordError) -> SchemaDifference {
        try check(container, Self.production)
        return try undone(container) { try deploy(container, $0) }
    }

    // MARK: Parts

    private static func expected(
        _ difference: SchemaDifference, _ agreed: [String]?
    ) throws(RecordError) -> SchemaDifference {
        guard agreed == nil || agreed == difference.lines else {
            throw RecordError(
                .conflict,
                "Development or production has changed since this was shown; look again.")
        }
        return difference
    }

    /// What a deed changes, and the fields that clients of some version see again by it.
    private func seeingAgain(
        _ container: String, _ environment: String, _ transaction: any BackendTransaction,
        _ deed: () throws -> SchemaDifference
    ) throws -> (SchemaDifference, Set<FieldKey>) {
        try transaction.holdSchema(ofContainer: container)
        let former = try imported(container, environment, transaction)
        let added = try deed()
        let later = try imported(container, environment, transaction)
        return (added, former.fieldsSeenAgain(by: later))
    }

    private func takeIn(
        _ schema: RecordSchema, _ container: String, _ transaction: any BackendTransaction
    ) throws -> SchemaDifference {
        let development = DatabaseKey.development
        try transaction.holdSchema(ofContainer: container)
        let before = try self.schema(container, development, transaction)
        let former = try imported(container, development, transaction)
        let used = try learnt(container, development, transaction)
        let deployed = try imported(container, Self.production, transaction)
        for other in [used, deployed] {
            try Self.requireSameTypes(SchemaDifference(from: other, to: schema))
        }
        try transaction.saveSchema(schema.text, container: container, environment: development)
        try declare(schema, container, transaction)
        _ = try settleKeys(from: former, to: schema, container, development, transaction)
        return SchemaDifference(
            from: before, to: try self.schema(container, development, transaction))
    }

    private func deploy(
        _ container: String, _ transaction: any BackendTransaction
    ) throws -> SchemaDifference {
        try transaction.holdSchema(ofContainer: container)
        try requireDeployable(container, transaction)
        let former = try imported(container, Self.production, transaction)
        let from = try self.schema(container, DatabaseKey.development, transaction)
        let before = try self.schema(container, Self.production, transaction)
        try Self.requireSameTypes(SchemaDifference(from: before, to: from))
        let after = before.merged(with: from)
        try transaction.saveSchema(after.text, container: container, environment: Self.production)
        _ = try settleKeys(from: former, to: after, container, Self.production, transaction)
        return SchemaDifference(from: before, to: after)
    }

    /// What `body` returns, after all that it wrote was undone.
    private func undone(
        _ container: String,
        _ body: (any BackendTransaction) throws -> SchemaDifference
    ) throws(RecordError) -> SchemaDifference {
        var found: SchemaDifference?
        var failure = RecordError(.atomicError, "This was a preview.")
        do throws(RecordError) {
            try backend.write(.container(container)) { transaction -> Void in
                found = nil
                found = try body(transaction)
                // Whatever a transaction throws undoes it.
                throw failure
            }
        } catch {
            failure = error
        }
        guard let found else { throw failure }
        return found
    }

    func check(_ container: String, _ environment: String) throws(RecordError) {
        try requireContainer(container)
        guard [DatabaseKey.development, Self.production].contains(environment) else {
            throw RecordError(.notFound, "The environment is development or production.")
        }
    }

    func schema(
        _ container: String, _ environment: String, _ transaction: any BackendTransaction
    ) throws -> RecordSchema {
        var schema = try imported(container, environment, transaction)
            .merged(with: try learnt(container, environment, transaction))
        let declared = Dictionary(
            grouping: try transaction.declarations(container: container),
            by: { ExactName($0.recordType) }
        ).mapValues { Set($0.map { ExactName($0.field) }) }
        for type in schema.recordTypes.indices {
            guard let names = declared[ExactName(schema.recordTypes[type].name)] else { continue }
            for field in schema.recordTypes[type].fields.indices
            where schema.recordTypes[type].fields[field].indexes.isEmpty
                && names.contains(ExactName(schema.recordTypes[type].fields[field].name))
            {
                schema.recordTypes[type].fields[field].indexes = [.queryable]
            }
        }
        try addGrants(to: &schema, container, transaction)
        return schema
    }

    func imported(
        _ container: String, _ environment: String, _ transaction: any BackendTransaction
    ) throws -> RecordSchema {
        let text = try transaction.schemaText(container: container, environment: environment)
        return try text.map { try RecordSchema(text: $0) } ?? RecordSchema()
    }

    /// What the records have. Shares are in no schema, and names with control characters cannot be.
    private func learnt(
        _ container: String, _ environment: String, _ transaction: any BackendTransaction
    ) throws -> RecordSchema {
        var schema = RecordSchema()
        let used = try transaction.usedFields(
            container: container, environment: environment, limit: Self.fieldsMax)
        for (key, wireName) in used {
            let (type, name) = (key.recordType.text, key.field.text)
            guard let fieldType = RecordSchema.FieldType(wireName: wireName),
                !type.isExactly(Record.shareType), RecordSchema.canSpell(type),
                RecordSchema.canSpell(name)
            else { continue }
            if schema.recordTypes.last?.name.isExactly(type) != true {
                schema.recordTypes.append(RecordSchema.TypeDefinition(name: type))
            }
            let last = schema.recordTypes.count - 1
            guard schema.recordTypes[last].fields.last?.name.isExactly(name) != true else {
                continue
            }
            schema.recordTypes[last].fields.append(
                RecordSchema.Field(name: name, type: fieldType))
        }
        return schema
    }

    /// What the text of a schema cannot hold would be missing in production without a word, and
    /// each record that has it refused there.
    private func requireDeployable(
        _ container: String, _ transaction: any BackendTransaction
    ) throws {
        let used = try transaction.usedFields(
            container: container, environment: DatabaseKey.development, limit: Self.fieldsMax + 1)
        guard used.count <= Self.fieldsMax else {
            throw RecordError(
                .limitExceeded,
                "The records of development have more than the \(Self.fieldsMax) fields that a "
                    + "schema holds; delete those that only trials made, and deploy again.")
        }
        let first = used.map { $0.key }.first { key in
            !key.recordType.text.isExactly(Record.shareType)
                && ![key.recordType, key.field].allSatisfy { RecordSchema.canSpell($0.text) }
        }
        guard let first else { return }
        let name = "\(first.recordType.text).\(first.field.text)"
            .unicodeScalars.map { $0.escaped(asASCII: true) }.joined()
        throw RecordError(
            .badRequest,
            "No schema can hold the name \(name), which records of development have, since there "
                + "are control characters in it; clear the field there, or delete the records.")
    }

    private func addGrants(
        to schema: inout RecordSchema, _ container: String, _ transaction: any BackendTransaction
    ) throws {
        let grants = try transaction.roleGrants(container: container)
        let own = Set(grants.map(\.role)).subtracting(StandardRole.names)
        schema.roles = Array(own.union(schema.roles)).sorted()
        let ofTypes = Dictionary(grouping: grants) { ExactName($0.recordType) }
        for place in schema.recordTypes.indices {
            guard let rows = ofTypes[ExactName(schema.recordTypes[place].name)] else { continue }
            schema.recordTypes[place].grants = rows.compactMap(\.schemaGrant)
        }
    }

    private func declare(
        _ schema: RecordSchema, _ container: String, _ transaction: any BackendTransaction
    ) throws {
        for type in schema.recordTypes {
            for field in type.fields where !field.indexes.isEmpty && !field.isSystem {
                try transaction.declare(field.name, of: type.name, container: container)
            }
            guard !type.grants.isEmpty else { continue }
            for grant in type.grants where grant.role == StandardRole.world {
                guard grant.permissions == [.read] else {
                    throw RecordError(
                        .badRequest,
                        "The schema lets _world write \(type.name); grant it to _icloud.")
                }
            }
            _ = try transaction.removeRoleGrants(of: type.name, container: container)
            for grant in type.grants {
                try transaction.save(
                    RoleGrantRow(grant, recordType: type.name), container: container)
            }
        }
    }

    private static func requireSameTypes(_ difference: SchemaDifference) throws(RecordError) {
        guard let first = difference.retyped.first else { return }
        throw RecordError(
            .badRequest,
            "\(first.recordType).\(first.to.name) is \(first.from.type.text) already and cannot "
                + "become \(first.to.type.text); use another name for the new field.")
    }
}

extension RoleGrantRow {
    fileprivate init(_ grant: RecordSchema.Grant, recordType: String) {
        self.init(
            recordType: recordType, role: grant.role,
            creates: grant.permissions.contains(.create),
            reads: grant.permissions.contains(.read),
            writes: grant.permissions.contains(.write))
    }

    /// nil for one that allows nothing, which no schema can say.
    fileprivate var schemaGrant: RecordSchema.Grant? {
        var permissions: Set<RecordSchema.Grant.Permission> = []
        if creates { permissions.insert(.create) }
        if reads { permissions.insert(.read) }
        if writes { permissions.insert(.write) }
        return permissions.isEmpty ? nil : RecordSchema.Grant(permissions, to: role)
    }
}
