import Foundation
import Platform
import RecordService
import RecordWire
import SQLiteDriver
import Testing

/// Work on a service's database beside the service.
@Suite(.everyBackend) struct AdministrationTests {
    @Test func aBackupIsOneStateAndTheServiceGoesOn() throws {
        try withDatabasePath { path in
            let fixture = try ServiceFixture(path: path)
            let administration = try ServiceAdministration(path: path, platform: .system)
            let isOver = Lock(false)
            let saved = Lock(0)
            let writer = Thread {
                // Each request saves a pair: half of one would be two states at once.
                while !isOver.withLock({ $0 }) {
                    let number = saved.withLock { $0 }
                    _ = try? fixture.modify(
                        ["a", "b"].map {
                            RecordOperation(.forceUpdate, .note("\($0)\(number)"))
                        })
                    saved.withLock { $0 += 1 }
                }
                saved.withLock { $0 = -1 }
            }
            writer.start()
            while saved.withLock({ $0 < 5 }) { usleep(1_000) }
            let before = saved.withLock { $0 }
            _ = try administration.backUp(to: path + ".backup")
            isOver.withLock { $0 = true }
            while saved.withLock({ $0 >= 0 }) { usleep(1_000) }
            let copy = try ServiceFixture(path: path + ".backup", seed: 2, makesZone: false)
            let records = try copy.changes(since: nil, limit: 1_000).records
            #expect(records.count >= before * 2 && records.count % 2 == 0)
            let mode = try FileManager.default.attributesOfItem(atPath: path + ".backup")
            #expect((mode[.posixPermissions] as? NSNumber)?.intValue == 0o600)
            #expect(!FileManager.default.fileExists(atPath: path + ".backup.part"))
        }
    }

    /// A folder of earlier backups keeps what it has, where that is whole.
    @Test func anAssetThatIsCutInABackupIsCopiedAgain() throws {
        let folder = try AssetFolder()
        let fixture = try ServiceFixture(path: folder.database)
        try fixture.save(fixture.note("r", fixture.upload()))
        let other = folder.database + ".other"
        func copy() throws {
            try ServiceAdministration.copyAssets(
                besides: folder.database, to: other, platform: .system)
        }
        try copy()
        let kept = URL(fileURLWithPath: other + "-assets")
            .appendingPathComponent(try #require(folder.kept().first))
        try Data("cut".utf8).write(to: kept)
        try copy()
        #expect(try Data(contentsOf: kept) == ServiceFixture.picture)
    }

    @Test func assetsComeAlong() throws {
        let folder = try AssetFolder()
        let fixture = try ServiceFixture(path: folder.database)
        try fixture.save(fixture.note("r", fixture.upload()))
        let damaged = try fixture.upload(Data("whole".utf8))
        for file in folder.kept().map(folder.assets.appendingPathComponent)
        where try Data(contentsOf: file).count == 5 {
            try Data("wrong".utf8).write(to: file)
        }
        let notices = Lock<[ServiceNotice]>([])
        let backup = folder.database + ".backup"
        _ = try ServiceAdministration(
            path: folder.database, platform: .system,
            log: { notice in notices.withLock { $0.append(notice) } }
        ).backUp(to: backup)
        #expect(damaged.size == 5 && notices.withLock { $0.count } == 1)
        // Back again, in an empty place.
        let other = folder.database + ".other"
        for suffix in ["", ".containers"] {
            try FileManager.default.copyItem(atPath: backup + suffix, toPath: other + suffix)
        }
        try ServiceAdministration.copyAssets(besides: backup, to: other, platform: .system)
        try ServiceAdministration.copyAssets(besides: backup, to: other, platform: .system)
        let restored = try ServiceFixture(path: other, seed: 3, makesZone: false)
        #expect(try restored.content(of: restored.asset(of: "r")) == ServiceFixture.picture)
    }

    @Test func nothingIsWrittenOver() throws {
        try withDatabasePath { path in
            _ = try ServiceFixture(path: path)
            let administration = try ServiceAdministration(path: path, platform: .system)
            for name in [".there", ".cut.part"] {
                try Data("mine".utf8).write(to: URL(fileURLWithPath: path + name))
            }
            for target in [".there", ".cut"] {
                let error = #expect(throws: RecordError.self) {
                    _ = try administration.backUp(to: path + target)
                }
                #expect(error?.code == .badRequest)
            }
            for name in [".there", ".cut.part"] {
                #expect(try String(contentsOfFile: path + name, encoding: .utf8) == "mine")
            }
            #expect(throws: RecordError.self) {
                _ = try administration.backUp(to: path + ".no/such/folder")
            }
        }
    }

    @Test func administeringBeginsNoEpoch() throws {
        try withStorage { storage in
            let fixture = try ServiceFixture(storage)
            let before = try storage.texts("SELECT epoch FROM service")
            let administration = try storage.administration()
            let user = try administration.accounts.createUser(label: "Ann")
            let token = try administration.accounts.issueUserToken(
                userRecordName: user.userRecordName, label: "t")
            let api = try administration.accounts.issueAPIToken(
                container: ServiceFixture.container, label: "t")
            #expect(try storage.texts("SELECT epoch FROM service") == before)
            // The running service knows at once.
            func caller() throws -> Caller {
                try fixture.service.authenticate(
                    apiToken: api.secret, userToken: token.secret,
                    container: ServiceFixture.container)
            }
            #expect(try caller().userRecordName == user.userRecordName)
            try administration.accounts.revoke(tokenID: token.description.id)
            #expect(throws: RecordError.self) { try caller() }
        }
    }

    @Test func theUsageCountsWhatIsThere() throws {
        try withStorage { storage in
            let fixture = try ServiceFixture(storage)
            try fixture.createZone(ZoneID(zoneName: "empty"))
            for name in ["a", "b", "c"] { try fixture.save(.note(name)) }
            _ = try fixture.modify([RecordOperation(.forceDelete, .note("c"))])
            let usage = try storage.administration().usage()
            let entry = try #require(usage.first)
            #expect(usage.count == 1 && entry.container == ServiceFixture.container)
            #expect(entry.users == 1 && entry.zones == 2)
            #expect(entry.records == 2 && entry.deletions == 1 && entry.bytes > 10)
        }
    }

    @Test func whatIsNoServicesFileIsRefused() throws {
        try withDatabasePath { path in
            #expect(throws: RecordError.self) {
                try ServiceAdministration(path: path, platform: .system)
            }
            #expect(!FileManager.default.fileExists(atPath: path))
            _ = try Connection(path: path).run("CREATE TABLE mine (x)")
            #expect(throws: RecordError.self) {
                try ServiceAdministration(path: path, platform: .system)
            }
        }
    }
}
