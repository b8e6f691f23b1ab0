internal import Foundation
internal import Platform
internal import RecordWire
internal import SQLiteDriver

/// Makes a damaged file of the time when it held all containers readable from end to end, so that
/// it can be split. A copy of it as it was is kept beside it.
///
/// Only rows of records may be lost: what is known of such a record by the indexes stays, as a row
/// that cannot be read, so that it is refused alone as before. Where anything else cannot be read,
/// which may be a right or the end of a token, the file is refused and stays as it is.
struct FileMending {
    private let path: String
    private let settings: SQLiteSettings
    private let source: Connection

    private static let namesToldMax = 10
    /// Made anew by the first query that needs them.
    private static let indexTables = ["query_entries", "query_indexes"]

    /// Records of which the page is damaged.
    private struct Lost {
        var count = 0
        var names: [String] = []
    }

    init(_ path: String, _ settings: SQLiteSettings) throws {
        self.path = path
        self.settings = settings
        // In no transaction: SQLite ends none as usual that met a damaged page.
        source = try Connection(path: path, access: .readOnly)
    }

    /// Nobody else works on the file meanwhile. Killed at any moment, it is as it was or mended.
    /// Throws INTERNAL_ERROR for one that cannot be. Cost: reads and writes all of it twice, and
    /// needs room for it twice.
    func run() throws {
        let part = path + ".mending"
        remove(part)
        defer { remove(part) }
        let target = try Connection(path: part)
        try target.script("PRAGMA page_size = \(try source.pragma("page_size")?.int64 ?? 4_096)")
        let lost = try target.transaction(.immediate) { try mend(into: target) }
        let kept = try keep()
        do {
            try settings.platform.faults.reach("service.mend.kept")
            // In one transaction.
            try Connection(path: path, access: .readWrite).replaceContents(with: target)
        } catch {
            remove(kept)
            throw error
        }
        tell(lost, kept)
    }

    private func remove(_ file: String) {
        for end in ["", "-journal", "-wal", "-shm"] { unlink(file + end) }
    }

    // MARK: What can be read

    private func mend(into target: Connection) throws -> Lost {
        let parts = try source.rows(
            "SELECT type, name, sql FROM sqlite_schema "
                + "WHERE sql IS NOT NULL AND substr(name, 1, 7) <> 'sqlite_'")
        var lost = Lost()
        var hasIndexes = true
        for part in parts where part[0] == "table" {
            let name = part[1].string ?? ""
            try target.run(part[2].string ?? "")
            do {
                try copy(name, to: target)
            } catch let fault as SQLiteFault where fault.isCorrupt {
                if name == "records" {
                    lost = try copyRecordsOneByOne(to: target)
                } else if Self.indexTables.contains(name) {
                    hasIndexes = false
                } else {
                    throw refusal(name)
                }
            }
        }
        for part in parts where part[0] == "index" { try target.run(part[2].string ?? "") }
        // What replaces a lost record would stand in them beside it.
        if !hasIndexes || lost.count > 0 {
            for name in Self.indexTables { try target.run("DELETE FROM \(name)") }
        }
        if lost.count > 0 { try UsageTables.countAnew(target) }
        for pragma in ["application_id", "user_version"] {
            try target.script("PRAGMA \(pragma) = \(try source.pragma(pragma)?.int64 ?? 0)")
        }
        return lost
    }

    /// Throws SQLITE_CORRUPT at the first row that cannot be read; those before it are copied.
    private func copy(
        _ table: String, rows: String = "", _ values: [SQLiteValue] = [], to target: Connection
    ) throws {
        let columns = try source.rows("SELECT name FROM pragma_table_info(?)", [.text(table)])
            .compactMap { $0.first?.string }
        let marks = columns.map { _ in "?" }.joined(separator: ", ")
        let insert = try target.prepare("INSERT OR REPLACE INTO \(table) VALUES (\(marks))")
        let list = columns.joined(separator: ", ")
        let select = try source.prepare("SELECT \(list) FROM \(table) NOT INDEXED \(rows)")
        defer { select.reset() }
        try select.bind(values)
        while try select.step() {
            try insert.bind((0..<columns.count).map { select.value(at: $0) })
            _ = try insert.perform()
        }
    }

    /// By the index of their names, so that all that are there are known.
    private func copyRecordsOneByOne(to target: Connection) throws -> Lost {
        try target.script("CREATE TEMP TABLE known(row INTEGER PRIMARY KEY, zone, name)")
        do {
            try source.forEachRow(
                "SELECT rowid, zone, name FROM records INDEXED BY sqlite_autoindex_records_1"
            ) {
                try target.run(
                    "INSERT INTO known VALUES (?, ?, ?)",
                    [$0.value(at: 0), $0.value(at: 1), $0.value(at: 2)])
            }
        } catch let fault as SQLiteFault where fault.isCorrupt {
            throw refusal("records")
        }
        let (changes, deleted) = (try self.changes(), try self.deleted())
        var lost = Lost()
        for known in try target.rows(
            """
            SELECT row, zone, name FROM known
            WHERE NOT EXISTS (SELECT 1 FROM records r WHERE r.zone = known.zone
                AND r.name = known.name) ORDER BY row
            """)
        {
            let row = known[0].int64 ?? 0
            do {
                try copy("records", rows: "WHERE rowid = ?", [known[0]], to: target)
            } catch let fault as SQLiteFault where fault.isCorrupt {
                try target.run(
                    """
                    INSERT INTO records(zone, name, type, change, deleted, created_at, modified_at,
                        fields) VALUES (?, ?, '', ?, ?, 0, 0, ?)
                    """,
                    [
                        known[1], known[2], .integer(changes[row] ?? -row),
                        SQLiteValue(deleted.contains(row)),
                        .blob(deleted.contains(row) ? Data() : Data([0xFF])),
                    ])
                lost.count += 1
                if lost.names.count < Self.namesToldMax { lost.names.append(known[2].string ?? "") }
            }
        }
        return lost
    }

    /// The records' changes by row; as far as their index can be read.
    private func changes() throws -> [Int64: Int64] {
        var changes: [Int64: Int64] = [:]
        try asFarAsReadable("SELECT rowid, change FROM records INDEXED BY records_by_change") {
            changes[$0.int64(at: 0)] = $0.int64(at: 1)
        }
        return changes
    }

    private func deleted() throws -> Set<Int64> {
        var rows: Set<Int64> = []
        try asFarAsReadable(
            "SELECT rowid FROM records INDEXED BY records_by_deletion WHERE deleted = 1"
        ) { rows.insert($0.int64(at: 0)) }
        return rows
    }

    private func asFarAsReadable(_ sql: String, _ body: (Statement) throws -> Void) throws {
        do {
            try source.forEachRow(sql, [], body)
        } catch let fault as SQLiteFault where fault.isCorrupt {
            return
        }
    }

    // MARK: What was there

    /// Page by page, whatever stands in them.
    private func keep() throws -> String {
        var number = 1
        while access("\(path).damaged-\(number)", F_OK) == 0 { number += 1 }
        let kept = "\(path).damaged-\(number)"
        do {
            try Connection(path: kept + ".part").replaceContents(with: source)
            try FileFolder.protect(kept + ".part")
            try FileFolder.rename(kept + ".part", to: kept)
        } catch {
            remove(kept + ".part")
            throw error
        }
        try FileFolder.synchronize(URL(fileURLWithPath: kept).deletingLastPathComponent().path)
        return kept
    }

    private func tell(_ lost: Lost, _ kept: String) {
        settings.log(
            ServiceNotice(
                "The service's file was damaged and is mended; a copy of it as it was is kept. "
                    + "Records that cannot be read are refused alone: replace or delete them from "
                    + "a device, or restore a backup.",
                fields: [
                    "file": path, "kept": kept, "records": "\(lost.count)",
                    "recordNames": lost.names.joined(separator: ", "),
                ]))
    }

    private func refusal(_ table: String) -> RecordError {
        let isPlain = table.utf8.allSatisfy { $0 == UInt8(ascii: "_") || (97...122).contains($0) }
        return RecordError(
            .internalError,
            "The service's database file is damaged beyond single records (table "
                + "\(isPlain ? table : "of another name")) and stays as it is. Restore a backup "
                + "with `diptych service restore FILE`, or mend a copy of it with `sqlite3 FILE "
                + ".recover` and look through its users, tokens and roles.")
    }
}
