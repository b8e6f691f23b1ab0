internal import RecordWire
internal import SQLiteDriver

/// Rows of references that do something when their targets go.
extension SQLiteTransaction {
    static let linkTable = """
        CREATE TABLE IF NOT EXISTS reference_links(
            zone INTEGER NOT NULL, target TEXT NOT NULL, action INTEGER NOT NULL,
            source TEXT NOT NULL,
            PRIMARY KEY (zone, target, action, source)) WITHOUT ROWID;
        CREATE INDEX IF NOT EXISTS reference_links_by_source ON reference_links(zone, source);
        """

    func hasLinks(in zone: Int64) throws -> Bool {
        try first("SELECT 1 FROM reference_links WHERE zone = ?", [.integer(zone)]) { _ in true }
            ?? false
    }

    func sources(
        of target: String, _ action: ReferenceLink.Action, in zone: Int64, limit: Int
    ) throws -> [String] {
        try all(
            """
            SELECT source FROM reference_links WHERE zone = ? AND target = ? AND action = ?
            ORDER BY source LIMIT ?
            """,
            [.integer(zone), .text(target), .integer(action.rawValue), SQLiteValue(limit)]
        ) { $0.text(at: 0) ?? "" }
    }

    func replaceLinks(_ links: [ExactName: Set<ReferenceLink>], in zone: Int64) throws {
        for (source, links) in links {
            try connection.run(
                "DELETE FROM reference_links WHERE zone = ? AND source = ?",
                [.integer(zone), .text(source.text)])
            for link in links {
                try connection.run(
                    "INSERT INTO reference_links(zone, target, action, source) VALUES (?, ?, ?, ?)",
                    [
                        .integer(zone), .text(link.target.text), .integer(link.action.rawValue),
                        .text(source.text),
                    ])
            }
        }
    }
}
