internal import Platform
internal import RecordWire

/// Schemas that were read, by their texts, so that a text is read once.
final class SchemaMemory: Sendable {
    /// A schema, and what of it every write asks for.
    private struct Known {
        let schema: RecordSchema
        let naturalKeys: [ExactName: [RecordSchema.NaturalKey]]
    }

    private let known = Lock<[String: Known]>([:])
    private static let schemasMax = 16

    /// The schema that writes into an environment must fit; nil where everything fits: in
    /// development, and in production before the first deployment.
    func binding(
        _ key: DatabaseKey, _ transaction: any BackendTransaction
    ) throws -> RecordSchema? {
        guard key.environment != DatabaseKey.development else { return nil }
        return try known(key, transaction)?.schema
    }

    /// The natural keys of an environment's record types, in development as well.
    func naturalKeys(
        _ key: DatabaseKey, _ transaction: any BackendTransaction
    ) throws -> [ExactName: [RecordSchema.NaturalKey]] {
        try known(key, transaction)?.naturalKeys ?? [:]
    }

    /// What the schema of an environment hides from clients of a version.
    func retiredFields(
        container: String, environment: String, for version: ClientVersion,
        _ transaction: any BackendTransaction
    ) throws -> RetiredFields {
        guard let known = try known(container, environment, transaction) else { return .none }
        return RetiredFields(known.schema, for: version)
    }

    private func known(
        _ key: DatabaseKey, _ transaction: any BackendTransaction
    ) throws -> Known? {
        try known(key.container, key.environment, transaction)
    }

    private func known(
        _ container: String, _ environment: String, _ transaction: any BackendTransaction
    ) throws -> Known? {
        guard
            let text = try transaction.schemaText(container: container, environment: environment)
        else { return nil }
        if let found = known.withLock({ $0[text] }) { return found }
        let schema = try RecordSchema(text: text)
        let found = Known(schema: schema, naturalKeys: schema.naturalKeys)
        known.withLock { known in
            if known.count >= Self.schemasMax { known.removeAll() }
            known[text] = found
        }
        return found
    }
}
