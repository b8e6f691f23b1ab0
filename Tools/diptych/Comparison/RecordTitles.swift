internal import Foundation
internal import MirrorEngine
internal import ObjectModel
internal import RecordWire
internal import SQLiteStore
internal import Stores

/// What people call the objects behind record names, and the properties behind fields.
struct RecordTitles {
    private let mirrored: MirroredStore

    init(_ mirrored: MirroredStore) { self.mirrored = mirrored }

    /// "Book/p3" as `inspect` has it; of a record whose object is not here, its entity and the
    /// beginning of its name; of a pair, its relationship and its ends.
    func title(of record: Record, in transaction: StoreTransaction, _ ledger: Ledger?) throws
        -> String
    {
        let pair = try JoinRecord(record) { try ledger?.entry(named: $0) != nil }
        if let pair { return try title(of: pair, in: transaction, ledger) }
        return try title(named: record.recordName, in: transaction, ledger)
            ?? "\(entity(of: record)) \(record.recordName.suffix(8))"
    }

    func title(of pair: JoinRecord, in transaction: StoreTransaction, _ ledger: Ledger?) throws
        -> String
    {
        let name = pair.relationshipNames.split(separator: ":").first ?? ""
        let ends = try [pair.first, pair.second].map {
            try title(named: $0, in: transaction, ledger) ?? String($0.suffix(8))
        }
        return "\(ends[0]).\(name) \(ends[1])"
    }

    /// The object that a record name stands for; nil where it is not here.
    func title(
        named name: String, in transaction: StoreTransaction, _ ledger: Ledger?
    ) throws -> String? {
        guard let row = try ledger?.entry(named: name)?.row, try transaction.row(row) != nil else {
            return nil
        }
        return title(of: row)
    }

    func title(of row: RowID) -> String {
        "\(mirrored.store.layout.entity(row.entity)?.name ?? "?")/p\(row.key)"
    }

    private func entity(of record: Record) -> String {
        if let name = mirrored.settings.mapping.entity(of: record)?.name { return name }
        return record.recordType.hasPrefix("CD_")
            ? String(record.recordType.dropFirst(3)) : record.recordType
    }

    /// The properties that the fields of a record carry, by name.
    func properties(of record: Record) -> [String] {
        guard let entity = mirrored.settings.mapping.entity(of: record) else { return [] }
        let plain = Dictionary(
            (entity.attributes.map(\.name) + entity.toOnes.map(\.name)).map {
                ("CD_" + $0.replacing(".", with: "_"), $0)
            }, uniquingKeysWith: { one, _ in one })
        return record.fields.keys.compactMap { plain[$0] }.sorted()
    }
}
