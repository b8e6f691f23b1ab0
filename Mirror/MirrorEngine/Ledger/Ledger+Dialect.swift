internal import Platform
package import RecordWire
internal import SQLiteDriver

/// How the service speaks, as the last round learned it.
extension Ledger {
    package var isPlain: Bool { get throws { try setting(.plainDialect) != nil } }

    /// Takes note of the service's dialect. What was known of its epochs says nothing of one that
    /// has none.
    package func note(_ dialect: ServiceDialect) throws {
        guard try isPlain != (dialect == .plain) else { return }
        try set(.plainDialect, to: dialect == .plain ? .integer(1) : .null)
        guard dialect == .plain else { return }
        try setLine(nil)
        try setLostLine(nil)
        try set(.witness, to: .null)
        try set(.echoesWriteIDs, to: .null)
    }

    // MARK: Echoes

    /// How often a plain service took something.
    package func sends() throws -> Int64 { try setting(.plainSends)?.int64 ?? 0 }

    /// A plain service took these records: the zone's changes are to show them. It does not move
    /// the token, so that a loss between writing and reading is noticed by their absence.
    package func expectEchoes(of names: [String]) throws {
        guard try !names.isEmpty && isPlain && !isReconciling else { return }
        try see(names)
        try set(.plainSends, to: .integer(sends() + 1))
    }

    /// Takes note of what a page shows. Returns whether the zone, read to its end, lacks what the
    /// service had taken before it was asked.
    package func lacksEchoes(
        in page: ZoneChangesReply, to request: PageRequest
    ) throws -> Bool {
        guard try isPlain && !isReconciling && hasSeen() else { return false }
        for record in page.records {
            try connection.run(
                "DELETE FROM ADIPTYCHSEEN WHERE ZRECORDNAME = ?", [.text(record.recordName)])
        }
        return try !page.moreComing && sends() == request.marks.sends && hasSeen()
    }

    private func hasSeen() throws -> Bool {
        try connection.value("SELECT 1 FROM ADIPTYCHSEEN LIMIT 1") != nil
    }
}
