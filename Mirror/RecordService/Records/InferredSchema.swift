internal import Platform
internal import RecordWire

/// Remembers the type that each field of a record type had when it was first saved.
///
/// Rows are only ever added, and the first one stays, so what is remembered here is right for ever;
/// what is not remembered may still be in the table, put there by another process.
final class InferredSchema: Sendable {
    typealias Types = [String: [String: String]]

    private struct Place: Hashable {
        let container: String
        let environment: String
        init(_ key: DatabaseKey) {
            container = key.container
            environment = key.environment
        }
    }
    private let known = Lock<[Place: Types]>([:])

    func session(
        for key: DatabaseKey, _ transaction: any BackendTransaction
    ) throws -> FieldTypeSession {
        FieldTypeSession(known.withLock { $0[Place(key)] ?? [:] }, key, transaction)
    }

    /// Remembers what a committed session learned.
    func keep(_ learned: Types, for key: DatabaseKey) {
        guard !learned.isEmpty else { return }
        known.withLock { known in
            known[Place(key), default: [:]].merge(learned) { $0.merging($1) { first, _ in first } }
        }
    }
}

/// The register inside one transaction.
final class FieldTypeSession {
    private var known: InferredSchema.Types
    private var asked: Set<String> = []
    /// Types read from the table or about to be added to it.
    private(set) var learned: InferredSchema.Types = [:]
    private var added: InferredSchema.Types = [:]
    private let database: DatabaseKey
    private let transaction: any BackendTransaction

    init(
        _ known: InferredSchema.Types, _ database: DatabaseKey,
        _ transaction: any BackendTransaction
    ) {
        self.known = known
        self.database = database
        self.transaction = transaction
    }

    /// Throws BAD_REQUEST when a field has another type than before.
    func check(_ fields: [String: FieldValue?], of recordType: String) throws {
        var new: [String: String] = [:]
        for (name, value) in fields {
            guard let type = value?.wireType else { continue }
            guard let first = try first(of: name, recordType) else {
                new[name] = type
                continue
            }
            guard first == type else { throw Self.mismatch(name, recordType, type, first) }
        }
        guard !new.isEmpty else { return }
        added[recordType, default: [:]].merge(new) { first, _ in first }
        known[recordType, default: [:]].merge(new) { first, _ in first }
    }

    /// Adds the new types to the table.
    func save() throws {
        for (recordType, types) in added {
            try transaction.addFieldTypes(types, of: recordType, in: database)
        }
        learned.merge(added) { $0.merging($1) { first, _ in first } }
        added = [:]
    }

    private func first(of field: String, _ recordType: String) throws -> String? {
        if let type = known[recordType]?[field] { return type }
        guard asked.insert(recordType).inserted else { return nil }
        let stored = try transaction.fieldTypes(of: recordType, in: database)
        known[recordType, default: [:]].merge(stored) { first, _ in first }
        learned[recordType, default: [:]].merge(stored) { first, _ in first }
        return stored[field]
    }

    private static func mismatch(
        _ field: String, _ recordType: String, _ type: String, _ first: String
    ) -> RecordError {
        RecordError(
            .badRequest,
            "The field \(field) of \(recordType) was first saved as \(first) and is now \(type). "
                + "Send \(first), or use another field name.")
    }
}
