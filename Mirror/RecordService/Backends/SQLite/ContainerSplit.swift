internal import Foundation
internal import Platform
internal import RecordWire
internal import SQLiteDriver

/// Takes the containers out of a service's file of the time when it held them all.
///
/// Nobody else writes to the file meanwhile. The containers' files are whole and on the disk before
/// the one transaction that removes the rows here and names those files: killed before its end, the
/// next start finds the file as it was, and files that nothing names: it removes those that hold
/// the same rows as the copies that it makes itself.
struct ContainerSplit {
    private let connection: Connection
    private let settings: SQLiteSettings
    private let folder: String
    private static let part = ".part"

    init(_ connection: Connection, _ settings: SQLiteSettings) {
        self.connection = connection
        self.settings = settings
        folder = ContainerFileName.folder(beside: connection.path)
    }

    func run(next version: Int64) throws {
        let was = try connection.transaction(.immediate) {
            let found = try connection.pragma("user_version")?.int64 ?? 0
            // Another process may have been here meanwhile.
            guard found < version else { return false }
            try split()
            try connection.script("PRAGMA user_version = \(version)")
            try reach("beforeCommit")
            return true
        }
        guard was else { return }
        try reach("afterCommit")
        // What was taken out leaves a big file; in use elsewhere, or without room, it stays big.
        _ = try? connection.withoutWaiting { try connection.script("VACUUM") }
    }

    private func reach(_ point: String) throws {
        try settings.platform.faults.reach("service.split." + point)
    }

    private func split() throws {
        try SQLiteSchema.prepareServiceTables(connection)
        try FileFolder.make(folder)
        for name in FileFolder.names(in: folder) where name.contains(Self.part) {
            unlink(folder + "/" + name)
        }
        let epoch = try connection.value("SELECT epoch FROM service")?.int64 ?? 0
        let containers = try connection.rows(
            "SELECT name FROM containers UNION SELECT container FROM databases"
        ).compactMap { $0.first?.string }
        var names: [String] = []
        do {
            try split(containers, epoch, &names)
        } catch {
            // What nothing names takes room.
            for name in names { for end in ["", Self.part] { unlink(folder + "/" + name + end) } }
            throw error
        }
        try connection.script(Self.places)
        for table in Self.tables { try connection.script("DROP TABLE \(table.name)") }
    }

    private func split(
        _ containers: [String], _ epoch: Int64, _ names: inout [String]
    ) throws {
        let remains = SplitRemains(in: folder)
        for container in containers {
            let id = Int64(bitPattern: settings.platform.randomness.next())
            let name = ContainerFileName.text(container, id: id)
            names.append(name)
            try copy(container, id: id, epoch: epoch, to: folder + "/" + name + Self.part)
            try connection.run(
                "INSERT INTO container_files(container, file, id, made) VALUES (?, ?, ?, 1)",
                [.text(container), .text(name), .integer(id)])
            try reach("copied")
            try remains.remove(of: container, equalTo: folder + "/" + name + Self.part)
            try reach("cleared")
        }
        for name in names {
            try FileFolder.rename(folder + "/" + name + Self.part, to: folder + "/" + name)
        }
        try FileFolder.synchronize(folder)
        try reach("named")
    }

    private func copy(_ container: String, id: Int64, epoch: Int64, to path: String) throws {
        // Closed, with nothing beside it, when the function is left.
        let target = try Connection(path: path)
        _ = try target.pragma("synchronous = FULL")
        try target.run("ATTACH ? AS old", [.text(connection.path)])
        try target.transaction(.deferred) {
            try ContainerSchema.make(target, container, id: id, epoch: epoch)
            try target.run(
                """
                CREATE TEMP TABLE moving_databases AS
                SELECT id FROM old.databases WHERE container = ?
                """, [.text(container)])
            try target.script(Self.movingZones)
            for table in Self.tables { try copy(table, of: container, target) }
            try target.script(Self.sizes)
        }
        try FileFolder.protect(path)
    }

    private func copy(
        _ table: Table, of container: String, _ target: Connection
    ) throws {
        let columns = try target.rows(
            "SELECT name FROM pragma_table_info(?, 'main')", [.text(table.name)]
        ).compactMap { $0.first?.string }.joined(separator: ", ")
        try target.run(
            """
            INSERT INTO main.\(table.name)(\(columns))
            SELECT \(columns) FROM old.\(table.name) WHERE \(table.rows)
            """, table.rows.contains("?") ? [.text(container)] : [])
    }

    // MARK: What is a container's

    private struct Table {
        let name: String
        /// Which of its rows are one container's.
        let rows: String
    }

    private static let tables =
        [
            "zones", "field_uses", "doomed_zones", "query_indexes", "asset_receipts",
        ].map { Table(name: $0, rows: "database IN (SELECT id FROM moving_databases)") }
        + [
            "records", "instances", "query_entries", "reference_links", "natural_keys",
            "share_members", "share_grants", "asset_uses", "zone_usage",
        ].map { Table(name: $0, rows: "zone IN (SELECT id FROM moving_zones)") }
        + [
            "databases", "shares", "subscriptions", "role_grants", "role_members", "schemas",
            "query_declarations",
        ].map { Table(name: $0, rows: "container = ?") }
        + [
            Table(
                name: "epochs",
                rows: """
                    (kind = 1 AND place IN (SELECT id FROM moving_zones))
                    OR (kind = 2 AND place IN (SELECT id FROM moving_databases))
                    """),
            Table(name: "asset_sizes", rows: "0"), Table(name: "asset_releases", rows: "0"),
        ]

    private static let movingZones = """
        CREATE TEMP TABLE moving_zones AS
            SELECT id FROM old.zones WHERE database IN (SELECT id FROM moving_databases)
            UNION SELECT zone FROM old.doomed_zones
            WHERE database IN (SELECT id FROM moving_databases);
        """

    private static let sizes = """
        INSERT INTO main.asset_sizes(checksum, size) SELECT checksum, size FROM old.assets
            WHERE checksum IN (SELECT checksum FROM main.asset_uses
                UNION SELECT checksum FROM main.asset_receipts);
        """

    private static let places = """
        INSERT OR IGNORE INTO asset_places(checksum, container)
            SELECT u.checksum, d.container FROM asset_uses u JOIN databases d ON d.id = u.database
            UNION SELECT r.checksum, d.container
            FROM asset_receipts r JOIN databases d ON d.id = r.database;
        INSERT OR IGNORE INTO share_places(guid, container) SELECT guid, container FROM shares;
        INSERT OR IGNORE INTO owner_places(owner, container)
            SELECT DISTINCT owner, container FROM databases WHERE owner <> '';
        """
}
