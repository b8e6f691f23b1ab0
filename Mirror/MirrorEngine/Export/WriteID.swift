internal import Foundation
internal import ObjectModel
internal import RecordWire
internal import SQLiteDriver
internal import SQLiteStore
internal import Stores

/// Names writes and new objects so that two copies of one store file give one name to what both
/// hold, and different names to what each did by itself.
///
/// A name is the digest of what is named: the store's identifier, the history transaction and its
/// time, the record as it will stand and the version it was made upon. Equal names stand for equal
/// writes. Rows go by the numbers that they had in that transaction, whatever a migration has given
/// them since.
struct WriteNaming {
    let ledger: Ledger
    /// NSStoreUUID, which a copy of the file shares, or remembers.
    let storeIdentifier: String
    /// The transaction that was asked for last, with its time: many writes are of one.
    private var latest: SavedMoment?

    init(ledger: Ledger, storeIdentifier: String) {
        self.ledger = ledger
        self.storeIdentifier = storeIdentifier
    }

    /// The ID under which a record is sent; `fields` is the archive of its fields. `saved` goes
    /// before what the history says of the transaction.
    mutating func writeID(
        of result: Record, fields: Data, transaction: Int64, saved: SavedMoment? = nil
    ) throws -> String {
        var message: [UInt8] = []
        message.reserveCapacity(fields.count + 160)
        append([storeIdentifier, result.recordName, result.recordChangeTag ?? ""], to: &message)
        append(try saved ?? moment(of: transaction), to: &message)
        message.append(contentsOf: fields)
        return Data(SHA2.sha256(message).prefix(Self.bytesCount)).base64EncodedString()
    }

    /// The record name of an object that was inserted in a history transaction: first its time,
    /// then the row's key, so that names sort as the objects were made, then the digest.
    mutating func recordName(of row: RowID, insertedIn transaction: Int64) throws -> String {
        var message: [UInt8] = []
        append([storeIdentifier], to: &message)
        let former = try ledger.formerRow(of: row)
        let row = former?.row ?? row
        let saved = try former?.inserted ?? moment(of: transaction)
        append(Int64(row.entity), to: &message)
        append(row.key, to: &message)
        append(saved, to: &message)
        let digest = Self.word(of: message)
        // A name-based UUID of the free kind.
        return UUID(
            version: 8, milliseconds: saved.date.timeIntervalSince1970 * 1000,
            order: UInt16(truncatingIfNeeded: row.key >> 4),
            rest: UInt64(truncatingIfNeeded: row.key) << 58 | digest & Self.digestMask
        ).spelled
    }

    /// The record name of a pair that came to be in a list which was edited at a moment. Which end
    /// leads where both are one relationship is no part of it.
    func recordName(of pair: JoinRecord, isReflexive: Bool, saved: SavedMoment) -> String {
        var message: [UInt8] = []
        append([storeIdentifier, pair.entityNames, pair.relationshipNames], to: &message)
        let ends = [pair.first, pair.second]
        append(isReflexive ? ends.sorted() : ends, to: &message)
        append(saved, to: &message)
        let digest = Self.word(of: message)
        return UUID(
            version: 8, milliseconds: saved.date.timeIntervalSince1970 * 1000,
            order: UInt16(truncatingIfNeeded: digest), rest: digest
        ).spelled
    }

    private static func word(of message: [UInt8]) -> UInt64 {
        SHA2.sha256(message).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// What four bits of the row's key leave of the last word.
    private static let digestMask: UInt64 = 1 << 58 - 1

    /// The name of what a transaction counted with one object's counter.
    mutating func countLabel(
        of property: String, _ row: RowID, amount: Int64, transaction: Int64
    ) throws -> String {
        var message: [UInt8] = []
        append([storeIdentifier, property], to: &message)
        let row = try ledger.formerRow(of: row)?.row ?? row
        append(Int64(row.entity), to: &message)
        append(row.key, to: &message)
        append(amount, to: &message)
        append(try moment(of: transaction), to: &message)
        return Data(SHA2.sha256(message).prefix(Self.bytesCount)).base64EncodedString()
    }

    /// 96 bits: 16 characters of base64, without padding.
    private static let bytesCount = 12

    private mutating func moment(of transaction: Int64) throws -> SavedMoment {
        guard transaction > 0 else { return SavedMoment(transaction: transaction, time: 0) }
        if let latest, latest.transaction == transaction { return latest }
        let date = try ledger.connection.value(
            "SELECT ZTIMESTAMP FROM ATRANSACTION WHERE Z_PK = ?", [.integer(transaction)])
        let time = Int64(bitPattern: (date?.double ?? 0).bitPattern)
        let moment = SavedMoment(transaction: transaction, time: time)
        latest = moment
        return moment
    }

    private func append(_ texts: [String], to message: inout [UInt8]) {
        for text in texts {
            message.append(contentsOf: text.utf8)
            message.append(0)
        }
    }

    private func append(_ moment: SavedMoment, to message: inout [UInt8]) {
        append(moment.transaction, to: &message)
        append(moment.time, to: &message)
    }

    private func append(_ number: Int64, to message: inout [UInt8]) {
        withUnsafeBytes(of: number.bigEndian) { message.append(contentsOf: $0) }
    }
}
