import Foundation
import Platform
import PostgresTesting
import RecordServer
import RecordService
import RecordWire
import SQLiteDriver
import ServiceConsole
import Testing

/// Backups and the bucket of assets, as an administrator's program asks for them.
@Suite struct StorageTests {
    private let folder: URL
    private let fixture: ConsoleFixture

    init() throws {
        folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("diptych-storage-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        fixture = try ConsoleFixture(
            audit: AuditLog(folder.appendingPathComponent("audit.jsonl"), by: "root"),
            path: folder.appendingPathComponent("records.sqlite").path,
            backups: folder.appendingPathComponent("backups"))
        _ = try fixture.service.handle(
            .listZones, target: RecordTarget(container: ConsoleFixture.container),
            caller: Caller(userRecordName: fixture.anna.userRecordName))
    }

    private func ask(
        _ method: String, _ path: String, of fixture: ConsoleFixture? = nil,
        token: String? = nil
    ) throws -> HTTPResponse {
        let fixture = fixture ?? self.fixture
        return try fixture.send(
            method, "/console/api/" + path,
            headers: [("Authorization", "Bearer \(token ?? fixture.administrator.secret)")])
    }

    /// The backups once none is at work.
    private func settled() throws -> [[String: Any]] {
        for _ in 0..<300_000 {
            let all = try ask("GET", "backups").list()
            guard all.contains(where: { $0["isAtWork"] as? Bool == true }) else { return all }
            usleep(2_000)
        }
        throw ConsoleTestError.stream
    }

    @Test func aBackupIsMadeCheckedAndNoted() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        #expect(try ask("GET", "backups").list().isEmpty)
        let begun = try ask("POST", "backups").list()
        #expect(begun.count == 1)
        let made = try #require(try settled().first)
        let name = try #require(made["name"] as? String)
        #expect(name == "records-20231114T221320Z.sqlite")
        #expect(made["failure"] == nil && (made["lacking"] as? [String])?.isEmpty == true)
        #expect(made["bytes"] as? Int ?? 0 > 0)
        #expect((made["made"] as? NSNumber)?.int64Value == 1_700_000_000_000)
        let path = folder.appendingPathComponent("backups/\(name)").path
        let copy = try RecordService(path: path, platform: .system)
        #expect(try copy.accounts.users().count == 2)
        #expect(try ask("POST", "backups/\(name)/check").status == 200)
        let checked = try #require(try settled().first)
        #expect((checked["damage"] as? [String])?.isEmpty == true)
        let acts = try ask("GET", "audit").list()
        #expect(acts.last?["act"] as? String == "backup")
        #expect((acts.last?["by"] as? String)?.hasPrefix("token desk (") == true)
        // Another in the same second would be the same.
        let again = try ask("POST", "backups")
        #expect(again.status == 503)
        let facts = try FileManager.default.attributesOfItem(
            atPath: folder.appendingPathComponent("backups").path)
        #expect((facts[.posixPermissions] as? NSNumber)?.intValue == 0o700)
    }

    @Test func aDamagedBackupAndAFailedOneSaySo() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        _ = try ask("POST", "backups")
        let name = try #require(try settled().first?["name"] as? String)
        let path = folder.appendingPathComponent("backups/\(name)")
        try Data("no database, but quite long enough".utf8).write(to: path)
        _ = try ask("POST", "backups/\(name)/check")
        #expect(try settled().first?["failure"] as? String != nil)
        for wrong in ["none", "..%2Frecords.sqlite", "records-x.sqlite"] {
            #expect(try ask("POST", "backups/\(wrong)/check").status == 404)
        }
        try FileManager.default.removeItem(at: folder.appendingPathComponent("backups"))
        try Data().write(to: folder.appendingPathComponent("backups"))
        fixture.clock.advance(seconds: 5)
        _ = try ask("POST", "backups")
        let failed = try #require(try settled().last)
        #expect(failed["failure"] as? String != nil && failed["bytes"] == nil)
    }

    @Test func whatABackupLacksIsToldAlsoAfterAStart() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try fixture.service.accounts.createContainer("broken")
        let path = folder.appendingPathComponent("records.sqlite").path
        let file = try #require(
            try Connection(path: path).value(
                "SELECT file FROM container_files WHERE container = 'broken'")?.string)
        try Data("damaged".utf8).write(
            to: URL(fileURLWithPath: ServiceAdministration.containersFolder(besides: path))
                .appendingPathComponent(file))
        _ = try ask("POST", "backups")
        let made = try #require(try settled().first)
        #expect(made["lacking"] as? [String] == ["broken"])
        // Another knows of it by what the file says.
        let name = try #require(made["name"] as? String)
        let backups = folder.appendingPathComponent("backups")
        let other = try ConsoleFixture(backups: backups)
        for _ in 0..<2 {
            let told = try #require(try ask("GET", "backups", of: other).list().first)
            #expect(told["lacking"] as? [String] == ["broken"] && told["damage"] == nil)
        }
        // Of one that cannot be read nobody knows, and its own name tells no time.
        let stranger = backups.appendingPathComponent("records-of-mine.sqlite")
        try Data("no database, but quite long enough".utf8).write(to: stranger)
        let told = try ask("GET", "backups", of: other).list()
        #expect(told.map { $0["name"] as? String } == [name, "records-of-mine.sqlite"])
        #expect(told.last?["lacking"] == nil && told.last?["made"] as? Int != nil)
        let beside = try FileManager.default.contentsOfDirectory(atPath: backups.path)
        #expect(!beside.contains { $0.hasSuffix("-wal") || $0.hasSuffix("-shm") })
    }

    /// All files of the folder of backups, also those of containers.
    private func backupFiles() throws -> [String: Data] {
        let place = folder.appendingPathComponent("backups").path
        let names = try FileManager.default.subpathsOfDirectory(atPath: place)
        var files: [String: Data] = [:]
        for name in names {
            var isFolder: ObjCBool = false
            let path = place + "/" + name
            _ = FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
            if !isFolder.boolValue { files[name] = try Data(contentsOf: URL(filePath: path)) }
        }
        return files
    }

    @Test func aCheckLeavesABackupAsItWas() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        _ = try ask("POST", "backups")
        let name = try #require(try settled().first?["name"] as? String)
        let before = try backupFiles()
        #expect(before.count >= 2)
        _ = try ask("POST", "backups/\(name)/check")
        #expect(try settled().first?["damage"] as? [String] == [])
        let after = try backupFiles()
        #expect(after.keys.sorted() == before.keys.sorted())
        #expect(after == before)
    }

    /// A restore takes in what stands in a log beside a backup, so a check looks at it, too.
    @Test func aCheckReadsTheLogBesideABackupAndLeavesIt() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        _ = try ask("POST", "backups")
        let name = try #require(try settled().first?["name"] as? String)
        let place = folder.appendingPathComponent("backups")
        let path = place.appendingPathComponent(name).path
        var bytes: [String: Data] = [:]
        do {
            let writer = try Connection(path: path, access: .readWrite)
            _ = try writer.pragma("journal_mode = WAL")
            try writer.script(
                """
                INSERT INTO container_files(container, file, id, made)
                    VALUES ('late', 'late', 1, 1);
                CREATE TABLE IF NOT EXISTS lacking_containers(container TEXT PRIMARY KEY);
                INSERT INTO lacking_containers VALUES ('late');
                """)
            for end in ["", "-wal"] { bytes[end] = try Data(contentsOf: URL(filePath: path + end)) }
        }
        for (end, bytes) in bytes { try bytes.write(to: URL(filePath: path + end)) }
        let before = try backupFiles()
        _ = try ask("POST", "backups/\(name)/check")
        let checked = try settled().first
        #expect(checked?["lacking"] as? [String] == ["late"])
        #expect(checked?["damage"] as? [String] == [])
        let after = try backupFiles()
        #expect(after.keys.sorted() == before.keys.sorted())
        #expect(after == before)
    }

    @Test(.enabled(if: TestServer.isInstalled)) func withPostgreSQLBackupsAreItsOwnTools() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let address = try TestServer.shared.get().makeDatabase()
        let other = try ConsoleFixture(
            backups: folder.appendingPathComponent("backups"),
            database: PostgresDatabase(address: address, assetsFolder: nil))
        #expect(try ask("GET", "session", of: other).object()["storage"] as? String == "postgres")
        #expect(try ask("GET", "session").object()["storage"] as? String == "files")
        let user = try ask("GET", "session", token: fixture.tokenOfAnna.secret).object()
        #expect(user["storage"] == nil)
        #expect(try ask("POST", "backups", of: other).status == 400)
    }

    @Test func withoutAFolderThereAreNoBackupsAndWithoutABucketNoObjects() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let plain = try ConsoleFixture()
        for (method, path) in [
            ("GET", "backups"), ("POST", "backups"), ("GET", "objects"), ("DELETE", "objects"),
        ] {
            #expect(try ask(method, path, of: plain).status == 400)
        }
        #expect(try ask("GET", "objects").text.contains("folder"))
    }

    @Test func onlyAdministratorsAsk() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        for (method, path) in [
            ("GET", "backups"), ("POST", "backups"), ("POST", "backups/x/check"),
            ("GET", "objects"), ("DELETE", "objects"),
        ] {
            let answer = try ask(method, path, token: fixture.tokenOfAnna.secret)
            #expect(answer.status == 403, "\(method) \(path)")
            #expect(try fixture.send(method, "/console/api/" + path).status == 401)
        }
        #expect(try ask("GET", "backups").list().isEmpty)
    }

    // MARK: Objects

    /// A bucket with one object that nothing names.
    private final class Shelf: ObjectStore {
        private let gone = Lock<[String]>([])
        var removed: [String] { gone.withLock { $0 } }
        static let stray = "ab/" + String(repeating: "c", count: 62)
        var place: String { "a shelf" }

        func put(_ object: StoredObject, from descriptor: Int32) throws(ObjectStoreFailure) {}
        func remove(_ name: String) throws(ObjectStoreFailure) {
            gone.withLock { $0.append(name) }
        }
        func has(_ object: StoredObject) throws(ObjectStoreFailure) -> Bool { false }

        func get(
            _ object: StoredObject, _ range: Range<Int64>,
            _ take: (UnsafeRawBufferPointer) -> Bool
        ) throws(ObjectStoreFailure) -> Bool { false }

        func list(after mark: String?) throws(ObjectStoreFailure) -> ObjectPage {
            var page = ObjectPage()
            let old = Date(timeIntervalSince1970: 1_600_000_000)
            page.objects = [ListedObject(name: Self.stray, size: 7, modified: old)].compactMap {
                $0
            }
            return page
        }
    }

    @Test func whatTheBucketHasTooMuchIsListed() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let fixture = try ConsoleFixture(objects: ObjectPlace(Shelf(), cache: nil))
        let answer = try ask("GET", "objects", of: fixture).object()
        #expect(answer["orphanCount"] as? Int == 1 && answer["orphanBytes"] as? Int == 7)
        #expect(answer["missingCount"] as? Int == 0)
        let orphans = try #require(answer["orphans"] as? [[String: Any]])
        #expect(orphans.first?["name"] as? String == Shelf.stray)
        #expect(answer["removed"] as? Int == 0)
    }

    @Test func whatTheBucketHasTooMuchIsRemovedAndNoted() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let shelf = Shelf()
        let fixture = try ConsoleFixture(
            audit: AuditLog(folder.appendingPathComponent("audit.jsonl"), by: "root"),
            objects: ObjectPlace(shelf, cache: nil))
        _ = try ask("GET", "objects", of: fixture)
        let user = fixture.tokenOfAnna.secret
        #expect(try ask("DELETE", "objects", of: fixture, token: user).status == 403)
        #expect(shelf.removed.isEmpty)
        let answer = try ask("DELETE", "objects", of: fixture).object()
        #expect(answer["removed"] as? Int == 1 && answer["orphanCount"] as? Int == 1)
        #expect(shelf.removed == [Shelf.stray])
        let act = try #require(try ask("GET", "audit", of: fixture).list().last)
        #expect(act["act"] as? String == "assetsRemoved")
        #expect((act["by"] as? String)?.hasPrefix("token desk (") == true)
        // A page of somebody else's cannot ask for it.
        let session = try fixture.signIn(fixture.administrator.secret)
        let forged = try fixture.send(
            "DELETE", "/console/api/objects", headers: [("Cookie", session.cookie)])
        #expect(forged.status == 403 && shelf.removed.count == 1)
    }
}
