internal import Foundation
internal import Platform
internal import RecordWire
internal import SQLiteDriver

/// What the service's file learns of the containers' afterwards.
extension SQLiteBackend {
    private static let sliceMax = 500

    func settle() throws(RecordError) {
        try atEachPlace { place throws(RecordError) in
            guard case .container(let name) = place else { return }
            try main.translating {
                try files.with(name) { file in
                    try file.translating {
                        while try takeReleases(file, name) {}
                        try adopt(file, name)
                    }
                }
            }
        }
        try main.translating { try ContainerSearch(files).requireNothingHidden() }
    }

    /// First the service's file, then the container's: what is told twice is looked at twice.
    private func takeReleases(_ file: SQLiteFile, _ container: String) throws -> Bool {
        let released = try file.read {
            try SQLiteTransaction($0).releases(limit: Self.sliceMax)
        }
        guard !released.isEmpty else { return false }
        try main.translating {
            try main.write { service in
                for release in released {
                    try service.run(
                        "UPDATE assets SET idle_since = 0 WHERE checksum = ?",
                        [.blob(release.checksum)])
                }
            }
        }
        try main.settings.platform.faults.reach("service.settle.told")
        try file.write { try SQLiteTransaction($0).forget(released) }
        return true
    }

    /// What a container holds that the service's file does not know: one of the two was put back
    /// from a backup.
    func adopt(_ file: SQLiteFile, _ container: String) throws {
        var last = Data()
        while let end = try adoptContents(file, container, after: last) { last = end }
        let (guids, owners) = try file.read { connection in
            (
                try connection.rows("SELECT guid FROM shares").compactMap { $0.first?.string },
                try connection.rows("SELECT DISTINCT owner FROM databases WHERE owner <> ''")
                    .compactMap { $0.first?.string }
            )
        }
        let (newGUIDs, newOwners) = try main.translating {
            try main.read { connection in
                let service = SQLiteTransaction(connection)
                return (
                    try guids.filter { try service.container(ofShortGUID: $0) != container },
                    try owners.filter {
                        try connection.value(
                            "SELECT 1 FROM owner_places WHERE owner = ? AND container = ?",
                            [.text($0), .text(container)]) == nil
                    }
                )
            }
        }
        guard !newGUIDs.isEmpty || !newOwners.isEmpty else { return }
        try main.translating {
            try main.write { connection in
                let service = SQLiteTransaction(connection)
                for guid in newGUIDs { try service.notePlace(ofShortGUID: guid, container) }
                for owner in newOwners { try service.notePlace(ofOwner: owner, container) }
            }
        }
    }

    /// Returns the last that was looked at; nil behind the end.
    private func adoptContents(
        _ file: SQLiteFile, _ container: String, after last: Data
    ) throws -> Data? {
        let page = try file.read { connection in
            try connection.rows(
                "SELECT checksum, size FROM asset_sizes WHERE checksum > ? ORDER BY checksum "
                    + "LIMIT ?", [.blob(last), SQLiteValue(Self.sliceMax)])
        }
        guard let end = page.last?.first?.data else { return nil }
        let unknown = try main.translating {
            try main.read { service in
                try page.filter {
                    try service.value(
                        """
                        SELECT 1 FROM assets JOIN asset_places USING (checksum)
                        WHERE checksum = ? AND container = ?
                        """, [$0[0], .text(container)]) == nil
                }
            }
        }
        guard !unknown.isEmpty else { return end }
        try main.translating {
            try main.write { service in
                for row in unknown {
                    _ = try service.run(
                        "INSERT OR IGNORE INTO assets(checksum, size, idle_since) VALUES (?, ?, 0)",
                        [row[0], row[1]])
                    _ = try service.run(
                        "INSERT OR IGNORE INTO asset_places(checksum, container) VALUES (?, ?)",
                        [row[0], .text(container)])
                }
            }
        }
        return end
    }
}
