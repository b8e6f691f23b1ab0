internal import Foundation
internal import SQLiteDriver
internal import Stores

/// What rows were called before a migration gave them other numbers, and what was saved in a file
/// before another one was made of it: the store keeps both until they were looked at.
extension Ledger {
    private static let formerRows = "ADIPTYCHFORMERROW"

    /// What a row was called when it was inserted or counted upon, and when it was inserted, where
    /// the history does not say so; nil for one that has its number still.
    func formerRow(of row: RowID) throws -> (row: RowID, inserted: SavedMoment?)? {
        guard try mayHold(.formerRows) else { return nil }
        let line = try connection.rows(
            "SELECT ZFORMERENTITY, ZFORMERKEY, ZTRANSACTION, ZDATE FROM \(Self.formerRows) "
                + "WHERE ZENTITYID = ? AND ZENTITYPK = ?", Self.values(row)
        ).first
        guard let line, let entity = line[0].int64, let key = line[1].int64 else { return nil }
        let former = RowID(entity: Int32(truncatingIfNeeded: entity), key: key)
        return (former, SavedMoment(line[2], line[3]))
    }

    /// The rows that were inserted in another file, and not looked at there.
    func formerInsertions() throws -> [RowID] {
        guard try mayHold(.formerRows) else { return [] }
        return try connection.rows(
            "SELECT ZENTITYID, ZENTITYPK FROM \(Self.formerRows) WHERE ZTRANSACTION NOT NULL "
                + "ORDER BY ZTRANSACTION, Z_PK"
        ).compactMap(Self.row)
    }

    /// All that was inserted or counted has its name.
    func forgetFormerRows() throws {
        guard try mayHold(.formerRows) else { return }
        try connection.run("DELETE FROM \(Self.formerRows)")
        rare.empty(.formerRows)
    }

    /// What was saved in another file and not looked at there, but for what `author` saved, oldest
    /// first; the property is nil for an object that was made.
    func unseenSaves(
        without author: String
    ) throws -> [(row: RowID, property: String?, moment: SavedMoment)] {
        let columns = try connection.rows(
            "SELECT 1 FROM pragma_table_info('\(Self.unseenEdits)') WHERE name = 'ZTRANSACTION'")
        guard !columns.isEmpty else { return [] }
        return try connection.rows(
            "SELECT ZENTITYID, ZENTITYPK, ZPROPERTY, ZTRANSACTION, ZDATE FROM "
                + "\(Self.unseenEdits) WHERE ZAUTHOR IS NOT ? ORDER BY ZTRANSACTION, Z_PK",
            [.text(author)]
        ).compactMap { line in
            guard let row = Self.row(line), let moment = SavedMoment(line[3], line[4]) else {
                return nil
            }
            return (row, line[2].string, moment)
        }
    }

    private static func row(_ line: [SQLiteValue]) -> RowID? {
        guard let entity = line[0].int64, let key = line[1].int64 else { return nil }
        return RowID(entity: Int32(truncatingIfNeeded: entity), key: key)
    }
}

/// When something was saved: a transaction of a history, and its time.
struct SavedMoment: Hashable {
    var transaction: Int64
    /// The time's bits.
    var time: Int64

    init(transaction: Int64, time: Int64) {
        (self.transaction, self.time) = (transaction, time)
    }

    init(transaction: Int64, date: Date) {
        let time = date.timeIntervalSinceReferenceDate.bitPattern
        self.init(transaction: transaction, time: Int64(bitPattern: time))
    }

    /// As it is kept; nil where it is not.
    init?(_ transaction: SQLiteValue, _ date: SQLiteValue) {
        guard let number = transaction.int64, let date = date.double else { return nil }
        self.init(transaction: number, date: Date(timeIntervalSinceReferenceDate: date))
    }

    var date: Date {
        Date(
            timeIntervalSinceReferenceDate: Double(bitPattern: UInt64(bitPattern: time)))
    }
}
