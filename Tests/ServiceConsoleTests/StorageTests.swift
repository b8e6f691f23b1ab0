import Foundation
import Platform
import RecordServer
import RecordService
import RecordWire
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
        for _ in 0..<5_000 {
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
        let path = folder.appendingPathComponent("backups/\(name)").path
        let copy = try RecordService(path: path, platform: .system)
        #expect(try copy.accounts.users().count == 2)
        #expect(try ask("POST", "backups/\(name)/check").status == 200)
        let checked = try #require(try settled().first)
        #expect((checked["damage"] as? [String])?.isEmpty == true)
        let acts = try ask("GET", "audit").list()
        #expect(acts.last?["act"] as? String == "backup")
        #expect(acts.last?["by"] as? String == "token desk")
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

    @Test func withoutAFolderThereAreNoBackupsAndWithoutABucketNoObjects() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let plain = try ConsoleFixture()
        for (method, path) in [("GET", "backups"), ("POST", "backups"), ("GET", "objects")] {
            #expect(try ask(method, path, of: plain).status == 400)
        }
        #expect(try ask("GET", "objects").text.contains("folder"))
    }

    @Test func onlyAdministratorsAsk() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        for (method, path) in [
            ("GET", "backups"), ("POST", "backups"), ("POST", "backups/x/check"),
            ("GET", "objects"),
        ] {
            let answer = try ask(method, path, token: fixture.tokenOfAnna.secret)
            #expect(answer.status == 403, "\(method) \(path)")
            #expect(try fixture.send(method, "/console/api/" + path).status == 401)
        }
        #expect(try ask("GET", "backups").list().isEmpty)
    }

    // MARK: Objects

    /// A bucket with one object that nothing names.
    private struct Shelf: ObjectStore {
        static let stray = "ab/" + String(repeating: "c", count: 62)
        var place: String { "a shelf" }

        func put(_ object: StoredObject, from descriptor: Int32) throws(ObjectStoreFailure) {}
        func remove(_ name: String) throws(ObjectStoreFailure) {}
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
    }
}
