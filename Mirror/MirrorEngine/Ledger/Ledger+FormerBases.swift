package import RecordWire
internal import SQLiteDriver

/// What objects were before a deletion that this device did not follow, because they were edited
/// here: another device may keep them too, and what both of them stand on is this. The table is
/// made when there is something to keep; the service's next state of the object takes its place.
extension Ledger {
    private static let formerBases = "ADIPTYCHFORMERBASE"
    /// So many of the newest are kept.
    private static let formerBasesMax: Int64 = 100_000

    func keepFormerBase(_ record: Record) throws {
        try connection.run(
            "CREATE TABLE IF NOT EXISTS \(Self.formerBases) (Z_PK INTEGER PRIMARY KEY, "
                + "ZRECORDNAME VARCHAR UNIQUE, ZRECORD BLOB)")
        rare.note(.formerBases)
        try connection.run(
            "INSERT OR REPLACE INTO \(Self.formerBases) (ZRECORDNAME, ZRECORD) VALUES (?, ?)",
            [.text(record.recordName), .blob(RecordArchive.encode(record))])
        try connection.run(
            "DELETE FROM \(Self.formerBases) WHERE Z_PK <= ?",
            [.integer(connection.lastInsertedRowID - Self.formerBasesMax)])
    }

    package func formerBase(of name: String) throws -> Record? {
        guard try mayHold(.formerBases) else { return nil }
        return try connection.value(
            "SELECT ZRECORD FROM \(Self.formerBases) WHERE ZRECORDNAME = ?", [.text(name)]
        )?.data.map(Self.decode)
    }

    func forgetFormerBase(of name: String) throws {
        guard try mayHold(.formerBases) else { return }
        try connection.run(
            "DELETE FROM \(Self.formerBases) WHERE ZRECORDNAME = ?", [.text(name)])
    }

    func forgetFormerBases() throws {
        guard try mayHold(.formerBases) else { return }
        try connection.run("DELETE FROM \(Self.formerBases)")
        rare.empty(.formerBases)
    }
}
