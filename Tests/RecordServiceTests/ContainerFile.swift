import Foundation
import SQLiteDriver

@testable import RecordService

/// Where a test's container has its rows.
enum ContainerFile {
    /// The only one beside the service's file.
    static func path(_ service: String) throws -> String {
        let found = all(of: service).dropFirst()
        guard found.count == 1, let only = found.first else { throw CocoaError(.fileNoSuchFile) }
        return only
    }

    /// The one of a container by its name.
    static func path(_ service: String, of container: String) throws -> String {
        let file = try Connection(path: service, access: .readOnly).value(
            "SELECT file FROM container_files WHERE container = ?", [.text(container)])?.string
        guard let file else { throw CocoaError(.fileNoSuchFile) }
        return folder(service) + "/" + file
    }

    /// The service's, and those of its containers.
    static func all(of service: String) -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder(service))) ?? []
        return [service]
            + names.filter { $0.hasSuffix(".sqlite") }.sorted().map { folder(service) + "/" + $0 }
    }

    static func folder(_ service: String) -> String { service + ".containers" }

    /// The first that has the tables of a statement.
    static func holder(of sql: String, _ service: String) throws -> Connection {
        for path in all(of: service) {
            let file = try Connection(path: path, access: .readOnly)
            if (try? file.compile(sql)) != nil { return file }
        }
        throw CocoaError(.fileNoSuchFile)
    }
}

/// A file of version 4, in which all containers were in the service's.
enum FormerFile {
    /// Makes one of the files that are there.
    static func make(of service: String) throws {
        let file = try Connection(path: service)
        let containers = try file.rows("SELECT container FROM container_files")
            .compactMap { $0.first?.string }
        try file.script(SQLiteSchema.recordTables + SQLiteSchema.epochTables)
        try file.script(FieldUseTable.table + UsageTables.zoneTable + UsageTables.ownerIndex)
        for table in SQLiteTransaction.containerTables { try file.script(table) }
        for container in containers {
            try take(ContainerFile.path(service, of: container), into: file)
        }
        try file.script(
            """
            DROP TABLE container_files; DROP TABLE asset_places; DROP TABLE share_places;
            DROP TABLE owner_places; DROP TABLE asset_sizes; DROP TABLE asset_releases;
            PRAGMA user_version = 4;
            """)
        try FileManager.default.removeItem(atPath: ContainerFile.folder(service))
    }

    /// Numbers of databases and zones of several containers are made different.
    private static func take(_ container: String, into file: Connection) throws {
        try file.run("ATTACH ? AS one", [.text(container)])
        defer { _ = try? file.script("DETACH one") }
        func last(_ table: String) throws -> Int64 {
            try file.value("SELECT ifnull(max(id), 0) FROM main.\(table)")?.int64 ?? 0
        }
        let (databases, zones) = (try last("databases"), try last("zones"))
        let indexes = try last("query_indexes")
        let shifted = [
            "database": databases, "zone": zones, "query_index": indexes, "through_zone": zones,
        ]
        let tables = try file.rows(
            "SELECT name FROM one.sqlite_schema WHERE type = 'table'"
        ).compactMap { $0.first?.string }.filter {
            !$0.hasPrefix("sqlite_") && !["service", "asset_sizes", "asset_releases"].contains($0)
        }
        let own = ["databases": databases, "zones": zones, "query_indexes": indexes]
        for table in tables {
            let columns = try file.rows("SELECT name FROM pragma_table_info('\(table)', 'one')")
                .compactMap { $0.first?.string }
            let values = columns.map { column in
                if column == "id", let shift = own[table] { return "id + \(shift)" }
                if table == "epochs", column == "place" {
                    return "place + CASE kind WHEN 1 THEN \(zones) ELSE \(databases) END"
                }
                return shifted[column].map { "\(column) + \($0)" } ?? column
            }
            try file.script(
                """
                INSERT INTO main.\(table)(\(columns.joined(separator: ", ")))
                SELECT \(values.joined(separator: ", ")) FROM one.\(table)
                """)
        }
    }
}
