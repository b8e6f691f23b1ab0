internal import Foundation
internal import Platform
internal import RecordWire
package import SQLiteDriver

/// Batches under way, each in one piece. As soon as one of their records is to be found by its
/// name, and at the end of each round, they are spread: a row for each record that may be at the
/// service, and one for each operation in the log of exports.
extension Ledger {
    static let sentBatchTable =
        "CREATE TABLE IF NOT EXISTS ADIPTYCHBATCH (Z_PK INTEGER PRIMARY KEY, ZIDENTIFIER VARCHAR, "
        + "ZRECORDS BLOB)"

    /// Keeps what goes under way as `identifier`.
    func keepSent(_ batch: SentBatch, as identifier: String) throws {
        rare.note(.sentBatches)
        try connection.run(
            "INSERT INTO ADIPTYCHBATCH (ZIDENTIFIER, ZRECORDS) VALUES (?, ?)",
            [.text(identifier), .blob(Data(batch.bytes))])
    }

    /// Forgets a batch that the service took as a whole. Returns whether it was in one piece still.
    func dropSent(_ identifier: String) throws -> Bool {
        guard try mayHold(.sentBatches) else { return false }
        try connection.run(
            "DELETE FROM ADIPTYCHBATCH WHERE ZIDENTIFIER = ?", [.text(identifier)])
        return connection.changes > 0
    }

    /// Makes rows of all batches. Throws `MirrorError` for one that cannot be read.
    func spreadBatches() throws {
        guard try mayHold(.sentBatches) else { return }
        let batches = try connection.rows(
            "SELECT ZIDENTIFIER, ZRECORDS FROM ADIPTYCHBATCH ORDER BY Z_PK")
        for batch in batches {
            let identifier = batch[0].string ?? ""
            guard let entries = batch[1].data.flatMap(SentBatch.entries(of:)) else {
                throw MirrorError(
                    .ledgerDamaged,
                    "What was sent last, as kept in the store's mirroring tables, cannot be read. "
                        + "Run 'diptych reset' to fetch the records anew; local edits are kept.")
            }
            for entry in entries {
                guard let record = entry.record else { continue }
                try keepInFlight(record, of: entry.recordName, mark: entry.mark)
            }
            try listExported(entries, in: identifier)
        }
        try connection.run("DELETE FROM ADIPTYCHBATCH")
        rare.empty(.sentBatches)
    }

    /// Drops what cannot be read.
    func dropDamagedBatches() throws {
        guard try mayHold(.sentBatches) else { return }
        for row in try connection.rows("SELECT Z_PK, ZRECORDS FROM ADIPTYCHBATCH")
        where row[1].data.flatMap(SentBatch.entries(of:)) == nil {
            try connection.run("DELETE FROM ADIPTYCHBATCH WHERE Z_PK = ?", [row[0]])
        }
    }

    /// When a record's write or deletion went under way in a batch that is in one piece; for who
    /// only reads.
    package func underWay(_ name: String) throws -> [(date: SQLiteValue, isDeletion: Bool)] {
        guard try mayHold(.sentBatches) else { return [] }
        let batches = try connection.rows(
            "SELECT b.ZRECORDS, m.ZEXPORTEDAT FROM ADIPTYCHBATCH b JOIN ANSCKEXPORTMETADATA m "
                + "ON m.ZIDENTIFIER = b.ZIDENTIFIER ORDER BY b.Z_PK")
        return batches.flatMap { batch in
            (batch[0].data.flatMap(SentBatch.entries(of:)) ?? [])
                .filter { $0.recordName.isExactly(name) }
                .map { (batch[1], $0.record == nil) }
        }
    }
}
