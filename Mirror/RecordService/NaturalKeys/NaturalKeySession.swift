internal import COpenSSL
internal import Foundation
internal import RecordWire

/// The natural keys of one zone's records, inside one transaction: which record has which, as the
/// request found it and leaves it.
final class NaturalKeySession {
    private let zone: Int64
    private let transaction: any BackendTransaction
    private let declared: [ExactName: [RecordSchema.NaturalKey]]
    /// Who has a value by now; the inner nil: nobody.
    private var holders: [NaturalKeyValue: ExactName?] = [:]
    /// What the records that were written have.
    private var written: [ExactName: [NaturalKeyValue]] = [:]
    /// In whose way records that were refused are.
    private(set) var refused: [ExactName: ExactName] = [:]

    init(
        _ zone: Int64, _ transaction: any BackendTransaction,
        _ declared: [ExactName: [RecordSchema.NaturalKey]]
    ) {
        self.zone = zone
        self.transaction = transaction
        self.declared = declared
    }

    /// Asks at once for what the operations will ask for one by one, as far as they give whole
    /// keys.
    func expect(_ operations: [RecordOperation]) throws {
        guard !declared.isEmpty else { return }
        let values = operations.flatMap { operation in
            operation.record.recordType.isEmpty
                ? [] : Self.values(operation.record.fields, of: keys(operation.record.recordType))
        }
        let found = try transaction.holders(of: values, in: zone)
        for value in values { holders[value] = .some(found[value].map { ExactName($0) }) }
    }

    /// What the record would be called, and the first other record that is called so.
    func check(
        _ name: String, _ type: String, _ fields: RecordFields
    ) throws -> (values: [NaturalKeyValue], holder: (name: String, key: NaturalKeyValue)?) {
        guard !declared.isEmpty else { return ([], nil) }
        let values = Self.values(fields, of: keys(type))
        let name = ExactName(name)
        for value in values {
            guard let holder = try holder(of: value), holder != name else { continue }
            refused[name] = holder
            return (values, (holder.text, value))
        }
        refused[name] = nil
        return (values, nil)
    }

    /// The record has these and none else.
    func give(
        _ values: [NaturalKeyValue], to name: String, _ type: String,
        after former: RecordFields
    ) {
        guard declared[ExactName(type)] != nil else { return }
        let name = ExactName(name)
        for value in written[name] ?? Self.values(former, of: keys(type)) {
            holders[value] = .some(nil)
        }
        for value in values { holders[value] = name }
        written[name] = values
    }

    func save() throws {
        guard !written.isEmpty else { return }
        let names = written.keys.sorted { $0.text < $1.text }
        try transaction.removeKeys(of: names.map(\.text), in: zone)
        try transaction.addKeys(
            names.flatMap { name in (written[name] ?? []).map { ($0, name.text) } }, in: zone)
    }

    private func holder(of value: NaturalKeyValue) throws -> ExactName? {
        if let known = holders[value] { return known }
        let found = try transaction.holders(of: [value], in: zone)[value].map { ExactName($0) }
        holders[value] = .some(found)
        return found
    }

    private func keys(_ type: String) -> [(RecordSchema.NaturalKey, String)] {
        (declared[ExactName(type)] ?? []).map { ($0, $0.name(of: type)) }
    }

    // MARK: Values

    /// What a record is called by each key of which it has all fields.
    static func values(
        _ fields: RecordFields, of keys: [(RecordSchema.NaturalKey, name: String)]
    ) -> [NaturalKeyValue] {
        keys.compactMap { key, name in
            var message: [UInt8] = []
            for field in key.fields {
                guard let value = fields[field].flatMap({ $0 }), let form = QueryForm.one(of: value)
                else { return nil }
                withUnsafeBytes(of: UInt64(form.bytes.count).bigEndian) { message += $0 }
                message += form.bytes
            }
            var digest = [UInt8](repeating: 0, count: Int(SHA256_DIGEST_LENGTH))
            diptych_sha256(message, message.count, &digest)
            return NaturalKeyValue(key: name, digest: Data(digest))
        }
    }
}

extension RecordSchema.NaturalKey {
    /// As rows call it, such as `Book(author, title)`.
    func name(of recordType: String) -> String { "\(recordType)(\(text))" }
}

extension RecordSchema {
    /// By record type, those types alone that have some.
    var naturalKeys: [ExactName: [NaturalKey]] {
        var found: [ExactName: [NaturalKey]] = [:]
        for type in recordTypes where !type.naturalKeys.isEmpty {
            found[ExactName(type.name)] = type.naturalKeys.sorted()
        }
        return found
    }
}
