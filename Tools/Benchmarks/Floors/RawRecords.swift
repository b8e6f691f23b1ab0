internal import CSQLite
internal import Foundation

/// Records as plain rows of a name and bytes, in plain SQLite. One thread at a time.
final class RawRecords {
    private let database: RawDatabase

    init(path: String, synchronous: RawDatabase.Synchronous = .normal) throws {
        database = try RawDatabase(path: path, synchronous: synchronous)
        try database.run(
            "CREATE TABLE IF NOT EXISTS records (change INTEGER PRIMARY KEY, name TEXT UNIQUE, "
                + "fields BLOB)")
    }

    /// Writes `count` rows in one transaction.
    func insert(_ count: Int, from first: Int, bytes: Int) throws {
        let blob = [UInt8](repeating: 7, count: bytes)
        try database.transaction("INSERT INTO records VALUES (?, ?, ?)") { statement in
            for change in first..<first + count {
                sqlite3_bind_int64(statement, 1, Int64(change))
                database.bind(Self.name(change), 2, statement)
                _ = blob.withUnsafeBytes {
                    diptych_bind_blob(statement, 3, $0.baseAddress, Int32($0.count))
                }
                try database.finish(statement)
            }
        }
    }

    /// Reads `count` rows and returns how many bytes they have.
    func read(_ count: Int, from first: Int) throws -> Int {
        var bytes = 0
        try database.each(
            "SELECT name, fields FROM records WHERE change >= \(first) ORDER BY change "
                + "LIMIT \(count)"
        ) { row in
            bytes += Int(sqlite3_column_bytes(row, 0) + sqlite3_column_bytes(row, 1))
        }
        return bytes
    }

    /// As long as a record's name, and as scattered.
    private static func name(_ number: Int) -> String {
        let mixed = UInt64(number) &* 0x9E37_79B9_7F4A_7C15
        return String(format: "%016llX-%019d", mixed, number)
    }
}
