internal import Platform
internal import RecordWire

/// Schemas that were read, by their texts, so that a text is read once.
final class SchemaMemory: Sendable {
    private let known = Lock<[String: RecordSchema]>([:])
    private static let schemasMax = 16

    /// The schema that writes into an environment must fit; nil where everything fits: in
    /// development, and in production before the first deployment.
    func binding(
        _ key: DatabaseKey, _ transaction: any BackendTransaction
    ) throws -> RecordSchema? {
        guard key.environment != DatabaseKey.development,
            let text = try transaction.schemaText(
                container: key.container, environment: key.environment)
        else { return nil }
        if let schema = known.withLock({ $0[text] }) { return schema }
        let schema = try RecordSchema(text: text)
        known.withLock { known in
            if known.count >= Self.schemasMax { known.removeAll() }
            known[text] = schema
        }
        return schema
    }
}
