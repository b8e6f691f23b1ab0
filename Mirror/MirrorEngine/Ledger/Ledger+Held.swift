internal import RecordWire
internal import SQLiteDriver

/// Records that are held back until others are here, and what they wait for.
extension Ledger {
    func hasHeld() throws -> Bool {
        try connection.value("SELECT 1 FROM ADIPTYCHHELD LIMIT 1") != nil
    }

    func hold(_ name: String, for targets: [String]) throws {
        try forgetHeld(name)
        for target in targets {
            try connection.run(
                "INSERT OR IGNORE INTO ADIPTYCHHELD (ZRECORDNAME, ZTARGET) VALUES (?, ?)",
                [.text(name), .text(target)])
        }
    }

    /// The record is on its way into the store.
    func release(_ name: String) throws {
        try connection.run(
            "DELETE FROM ADIPTYCHASIDE WHERE ZRECORDNAME = ? AND ZREASON = ?",
            [.text(name), .text(KeptRecord.Reason.incompleteGraph.rawValue)])
        try forgetHeld(name)
    }

    func forgetHeld(_ name: String) throws {
        try connection.run("DELETE FROM ADIPTYCHHELD WHERE ZRECORDNAME = ?", [.text(name)])
    }

    /// The names of the records that wait for one.
    func held(waitingFor name: String) throws -> [String] {
        try connection.rows(
            "SELECT ZRECORDNAME FROM ADIPTYCHHELD WHERE ZTARGET = ? ORDER BY 1", [.text(name)]
        ).compactMap { $0[0].string }
    }

    func heldRecord(named name: String) throws -> Record? {
        let bytes = try connection.value(
            "SELECT ZRECORD FROM ADIPTYCHASIDE WHERE ZRECORDNAME = ? AND ZREASON = ?",
            [.text(name), .text(KeptRecord.Reason.incompleteGraph.rawValue)])
        return try bytes?.data.map(Self.decode)
    }

    /// Some of the held records, in the order of their names.
    func held(limit: Int) throws -> [Record] {
        try connection.rows(
            "SELECT ZRECORD FROM ADIPTYCHASIDE WHERE ZREASON = ? ORDER BY ZRECORDNAME LIMIT ?",
            [.text(KeptRecord.Reason.incompleteGraph.rawValue), SQLiteValue(limit)]
        ).compactMap { try $0[0].data.map(Self.decode) }
    }
}
