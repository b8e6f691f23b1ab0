internal import Foundation
package import RecordWire
internal import SQLiteDriver

/// Looks through a backup as a restore does before it puts one in place, but leaves its files byte
/// for byte as they are, and nothing beside them. Nobody works with a backup, so no lock is taken.
package struct BackupCheck {
    private let path: String

    package init(_ path: String) { self.path = path }

    /// Returns the containers that the backup says to be without, and what SQLite finds wrong with
    /// the files that it has. Throws INTERNAL_ERROR for what is no backup of this version. Cost:
    /// reads all files whole.
    package func run() throws(RecordError) -> (lacking: [String], damage: [String]) {
        do {
            if let cut = journal(path) { return ([], [cut]) }
            let connection = try Self.open(path)
            try SQLiteSchema.require(connection)
            let lacking = try CopyGaps.read(connection)
            return (lacking, try damage(connection, besides: Set(lacking.map { ExactName($0) })))
        } catch {
            throw SQLiteFailure.opening(error)
        }
    }

    /// What stands in a log beside a file is a part of it, which a restore takes in, too.
    private static func open(_ path: String) throws -> Connection {
        var facts = stat()
        let hasLog = stat(path + "-wal", &facts) == 0 && facts.st_size > 0
        return try Connection(path: path, access: hasLog ? .abandoned : .immutable)
    }

    /// A journal takes back a write that was cut off, and only where the file may be written.
    private func journal(_ path: String) -> String? {
        var facts = stat()
        guard stat(path + "-journal", &facts) == 0, facts.st_size > 0 else { return nil }
        let name = URL(fileURLWithPath: path + "-journal").lastPathComponent
        return "\(name) says that a write was cut off"
    }

    private func damage(
        _ connection: Connection, besides lacking: Set<ExactName>
    ) throws -> [String] {
        var damage = try Self.damage(connection)
        // Without its list nobody knows which files there are.
        let rows = try? connection.rows(
            """
            SELECT container, file, id FROM container_files JOIN containers ON name = container
            WHERE made = 1 ORDER BY container
            """)
        for row in rows ?? [] {
            guard let name = row[0].string, !lacking.contains(ExactName(name)) else { continue }
            let file = ContainerFileName.folder(beside: path) + "/" + (row[1].string ?? "")
            let found = look(at: file, of: name, id: row[2].int64 ?? 0)
            damage += found.map { "container \(name): \($0)" }
        }
        return damage
    }

    private func look(at file: String, of container: String, id: Int64) -> [String] {
        if let cut = journal(file) { return [cut] }
        do {
            let connection = try Self.open(file)
            try ContainerSchema.prepare(connection, container, id: id, mayMake: false)
            return try Self.damage(connection)
        } catch {
            return [SQLiteFailure.opening(error).reason]
        }
    }

    private static func damage(_ connection: Connection) throws -> [String] {
        do {
            return try connection.rows("PRAGMA quick_check(20)")
                .compactMap { $0.first?.string }.filter { $0 != "ok" }
        } catch let fault as SQLiteFault where fault.isCorrupt || fault.isNotADatabase {
            return [fault.message]
        }
    }
}
