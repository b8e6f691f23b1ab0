import Foundation
import Testing

@testable import SQLiteDriver

/// Savepoints and statements that may have to put back more than stays in memory.
@Suite struct SavepointTests {
    private static let rows = 20_000

    /// Ten megabytes in pages that were there before.
    @Test(arguments: [false, true]) func muchIsChangedAndPutBack(_ isUndone: Bool) throws {
        struct Undone: Error {}
        let file = FileManager.default.temporaryDirectory
            .appendingPathComponent("savepoint-\(UUID().uuidString).sqlite")
        defer { for end in ["", "-wal", "-shm"] { unlink(file.path + end) } }
        let connection = try Connection(path: file.path)
        _ = try connection.pragma("journal_mode = WAL")
        try connection.script(
            """
            CREATE TABLE t(id INTEGER PRIMARY KEY, text TEXT);
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(Self.rows))
            INSERT INTO t SELECT i, printf('%0500d', i) FROM n;
            """)
        try connection.transaction {
            do {
                try connection.transaction {
                    try connection.run("UPDATE t SET text = printf('%0500d', -id)")
                    if isUndone { throw Undone() }
                }
            } catch is Undone {}
        }
        let changed = try connection.value("SELECT count(*) FROM t WHERE text LIKE '-%'")
        #expect(changed?.int64 == (isUndone ? 0 : Int64(Self.rows)))
    }
}
