import Dispatch
import Foundation
import Platform
import RecordWire
import SQLiteDriver
import Testing

@testable import RecordService

/// What one container does neither delays nor breaks another. Over SQLite alone, where each has a
/// file of its own.
@Suite struct ContainerIsolationTests {
    private static let other = "iCloud.org.example.other"

    /// The same service's other container, with the zone.
    private func other(_ fixture: ServiceFixture, _ name: String = other) throws -> ServiceFixture {
        if name.allSatisfy({ $0 == "." }) {
            // Of a time when it could be made.
            try fixture.service.backend.write { try $0.addContainer(name, at: 0) }
        } else {
            try fixture.service.accounts.createContainer(name)
        }
        var other = fixture
        other.target.container = name
        try other.createZone(ServiceFixture.zone)
        return other
    }

    private func code(_ body: () throws -> Void) -> RecordError.Code? {
        #expect(throws: RecordError.self) { try body() }?.code
    }

    // MARK: Waiting

    @Test func aContainerWhoseWriterIsHeldDelaysNoOther() throws {
        try withDatabasePath { path in
            let fixture = try ServiceFixture(path: path)
            let other = try other(fixture)
            let (held, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            let isOver = Lock(false)
            fixture.faults.atNext("service.write.beforeCommit") {
                held.signal()
                _ = mayEnd.wait(timeout: .now() + 600)
                isOver.withLock { $0 = true }
            }
            let group = DispatchGroup()
            DispatchQueue.global().async(group: group) { _ = try? fixture.save(.note("a")) }
            held.wait()
            try other.save(.note("b"))
            _ = try other.service.accounts.createUser(label: "Bert")
            #expect(try other.lookup(["b"])[0].record != nil)
            #expect(!isOver.withLock { $0 })
            mayEnd.signal()
            group.wait()
            #expect(try fixture.lookup(["a"])[0].record != nil)
        }
    }

    /// The bound of docs/OPERATIONS.md: past a quota goes at most what is being written at that
    /// moment in all containers but one.
    @Test func aQuotaIsPassedByWhatOtherContainersAreWritingAtMost() throws {
        try withDatabasePath { path in
            var limits = ServiceLimits()
            limits.retention.quota = UserQuota(recordsMax: 4)
            let fixture = try ServiceFixture(path: path, limits: limits)
            let places = try [fixture, other(fixture), other(fixture, "third")]
            try fixture.save(.note("first"))
            @Sendable func fill(_ place: ServiceFixture) throws -> Int {
                let names = (0..<5).map { RecordOperation(.forceUpdate, .note("r\($0)")) }
                return try place.modify(names).count { $0.error == nil }
            }
            let (held, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            fixture.faults.atNext("service.write.beforeCommit") {
                held.signal()
                _ = mayEnd.wait(timeout: .now() + 600)
            }
            let written = Lock<[Int]>([])
            let group = DispatchGroup()
            // Two requests of one container share its writer, and see one another.
            DispatchQueue.global().async(group: group) {
                let count = (try? fill(places[0])) ?? -1
                written.withLock { $0.append(count) }
            }
            held.wait()
            DispatchQueue.global().async(group: group) {
                let more = RecordOperation(.forceUpdate, .note("more"))
                let count = (try? places[0].modify([more]).count { $0.error == nil }) ?? -1
                written.withLock { $0.append(count) }
            }
            // The first is not committed yet, so there is room for as many once more.
            #expect(try fill(places[1]) == 3)
            #expect(try fill(places[2]) == 0)
            mayEnd.signal()
            group.wait()
            #expect(written.withLock { $0.sorted() } == [0, 3])
            for place in places {
                let more = try place.modify([RecordOperation(.forceUpdate, .note("last"))])
                #expect(more[0].error?.code == .quotaExceeded)
            }
        }
    }

    @Test func anotherProcessThatHoldsAContainerHoldsNoOther() throws {
        try withDatabasePath { path in
            var limits = ServiceLimits()
            limits.work.lockWaitMilliseconds = 50
            let fixture = try ServiceFixture(path: path, limits: limits)
            let other = try other(fixture)
            let holder = try Connection(
                path: ContainerFile.path(path, of: ServiceFixture.container), access: .readWrite)
            try holder.script("BEGIN IMMEDIATE")
            #expect(code { try fixture.save(.note("a")) } == .tryAgainLater)
            try other.save(.note("b"))
            try holder.script("ROLLBACK")
            try fixture.save(.note("a"))
        }
    }

    // MARK: Damage

    @Test func aDamagedContainerHarmsNoOther() throws {
        try withDatabasePath { path in
            do { try other(try ServiceFixture(path: path)).save(.note("b")) }
            let file = try ContainerFile.path(path, of: ServiceFixture.container)
            try Data(repeating: 0xEE, count: 40_960).write(to: URL(fileURLWithPath: file))
            let notices = Lock<[ServiceNotice]>([])
            let service = try RecordService(path: path, platform: .system) { notice in
                notices.withLock { $0.append(notice) }
            }
            func ask(_ container: String) throws -> RecordResponse {
                try service.handle(
                    .listZones, target: RecordTarget(container: container),
                    caller: Caller(userRecordName: "_anna"))
            }
            #expect(code { _ = try ask(ServiceFixture.container) } == .internalError)
            #expect(notices.withLock { $0.last?.fields["container"] } == ServiceFixture.container)
            _ = try ask(Self.other)
            #expect(service.unreadiness() == nil)
            #expect(try service.largestContainers(limit: 9).map(\.name) == [Self.other])
            #expect(try service.usage().map(\.container) == [Self.other])
            let damage = try service.damageInFile()
            #expect(damage.count == 1 && damage[0].contains(ServiceFixture.container))
            // What goes through all of them says so, and does the rest.
            #expect(code { try service.forgetOldDeletions() } == .internalError)
            #expect(code { try service.collectAssets() } == .internalError)
            let administration = try ServiceAdministration(path: path, platform: .system)
            #expect(try administration.backUp(to: path + ".copy") == [ServiceFixture.container])
            #expect(ContainerFile.all(of: path + ".copy").count == 2)
            #expect(!FileManager.default.fileExists(atPath: path + ".copy.part.containers"))
        }
    }

    @Test func aFileThatIsLostOrAnothersIsRefusedAndNotMadeAgain() throws {
        try withDatabasePath { path in
            do { try other(try ServiceFixture(path: path)).save(.note("b")) }
            let file = try ContainerFile.path(path, of: ServiceFixture.container)
            try FileManager.default.removeItem(atPath: file)
            let service = try RecordService(path: path, platform: .system)
            func zones(_ container: String) throws {
                _ = try service.handle(
                    .listZones, target: RecordTarget(container: container),
                    caller: Caller(userRecordName: "_anna"))
            }
            #expect(code { try zones(ServiceFixture.container) } == .internalError)
            #expect(!FileManager.default.fileExists(atPath: file))
            try FileManager.default.copyItem(
                atPath: ContainerFile.path(path, of: Self.other), toPath: file)
            #expect(code { try zones(ServiceFixture.container) } == .internalError)
            try Data().write(to: URL(fileURLWithPath: file))
            #expect(code { try zones(ServiceFixture.container) } == .internalError)
            try zones(Self.other)
        }
    }

    @Test func aDiskThatFailsUnderOneContainerStopsThatOne() throws {
        try withDatabasePath { path in
            let fixture = try ServiceFixture(path: path)
            let other = try other(fixture)
            fixture.faults.arm(
                "service.write.beforeCommit",
                SQLiteFault(code: 10 | 4 << 8, message: "disk I/O error"))
            for _ in 0..<2 {
                let error = #expect(throws: RecordError.self) { try fixture.save(.note("a")) }
                #expect(error?.reason.contains("takes no writes") == true)
            }
            try other.save(.note("b"))
            // It stays so, however many others are opened meanwhile.
            for index in 0..<ContainerFiles.openMax + 8 {
                try self.other(fixture, "c\(index)").save(.note("b"))
            }
            #expect(throws: RecordError.self) { try fixture.save(.note("a")) }
            #expect(fixture.service.unreadiness()?.contains("no more writes") == true)
        }
    }

    /// What was written before it may be lost with it, so no second try comes after.
    @Test func aDiskThatFailsUnderAnOpeningStopsThatOneToo() throws {
        try withDatabasePath { path in
            do { try other(try ServiceFixture(path: path)).save(.note("b")) }
            let fixture = try ServiceFixture(path: path, seed: 2, makesZone: false)
            fixture.faults.arm(
                "service.container.begins",
                SQLiteFault(code: 10 | 4 << 8, message: "disk I/O error"))
            for _ in 0..<2 {
                let error = #expect(throws: RecordError.self) { try fixture.save(.note("a")) }
                #expect(error?.reason.contains("takes no writes") == true)
            }
            try other(fixture).save(.note("c"))
            #expect(fixture.service.unreadiness()?.contains("no more writes") == true)
        }
    }

    // MARK: Files

    @Test func containersByTheHundredNeedFewFiles() throws {
        try withDatabasePath { path in
            let fixture = try ServiceFixture(path: path)
            var tokens: [String: String] = [:]
            let names = (0..<ContainerFiles.openMax + 20).map { "container.\($0)" }
            for name in names {
                let other = try other(fixture, name)
                try other.save(.note("in-\(name)"))
                tokens[name] = try other.changes(since: nil).syncToken
            }
            let backend = try #require(fixture.service.backend as? SQLiteBackend)
            #expect(backend.files.openCount <= ContainerFiles.openMax)
            for name in names {
                var again = fixture
                again.target.container = name
                try again.save(.note("more"))
                let page = try again.changes(since: tokens[name])
                #expect(page.failure == nil && page.records.map(\.recordName) == ["more"])
                let all = try again.changes(since: nil)
                #expect(all.records.map(\.recordName).sorted() == ["in-\(name)", "more"])
                // To be closed and opened again is no start.
                #expect(all.epochs?.epochs.count == 1)
            }
            #expect(backend.files.openCount <= ContainerFiles.openMax)
        }
    }

    @Test func namesNeitherMeetNorLeaveTheFolder() throws {
        try withDatabasePath { path in
            let fixture = try ServiceFixture(path: path)
            let long = String(repeating: "n", count: 254)
            let names = ["a.B", "A.b", "..", ".", "-", long + "a", long + "b"]
            for name in names { try other(fixture, name).save(.note(name)) }
            for name in names {
                var again = fixture
                again.target.container = name
                #expect(try again.changes(since: nil).records.map(\.recordName) == [name])
            }
            let files = ContainerFile.all(of: path).dropFirst().map { $0.lowercased() }
            #expect(Set(files).count == names.count + 1)
            #expect(files.allSatisfy { $0.split(separator: "/").last?.utf8.count ?? 0 < 80 })
        }
    }

    @Test func aNewContainersFileIsFoundAgainAfterAKill() throws {
        try withDatabasePath { path in
            let fixture = try ServiceFixture(path: path)
            fixture.faults.arm("service.container.made", SQLiteFault(code: 1, message: "killed"))
            #expect(throws: RecordError.self) { try other(fixture) }
            try other(fixture).save(.note("b"))
            #expect(ContainerFile.all(of: path).count == 3)
        }
    }

    // MARK: Several processes

    @Test func whatAnotherWritesIsNoticedAlsoInAClosedContainer() throws {
        try withDatabasePath { path in
            let here = try ServiceFixture(path: path)
            let there = try ServiceFixture(path: path, seed: 2, makesZone: false)
            let backend = try #require(here.service.backend as? SQLiteBackend)
            _ = try backend.wasChangedElsewhere()
            #expect(try !backend.wasChangedElsewhere())
            try there.save(.note("a"))
            #expect(try backend.wasChangedElsewhere())
            #expect(try !backend.wasChangedElsewhere())
            for index in 0..<ContainerFiles.openMax { _ = try other(here, "c\(index)") }
            while try backend.wasChangedElsewhere() {}
            try there.save(.note("b"))
            #expect(try backend.wasChangedElsewhere())
        }
    }

    @Test func aContainerThatCannotBeAskedHidesNoOther() throws {
        try withDatabasePath { path in
            let fixture = try ServiceFixture(path: path)
            let backend = try #require(fixture.service.backend as? SQLiteBackend)
            let failure = SQLiteFault(code: 10 | 3 << 8, message: "disk I/O error")
            fixture.faults.arm("service.write.beforeCommit", failure)
            #expect(throws: RecordError.self) { try fixture.save(.note("a")) }
            fixture.faults.arm("service.openWriter", failure)
            #expect(try backend.wasChangedElsewhere())
            try fixture.save(.note("a"))
            _ = try backend.wasChangedElsewhere()
            #expect(try !backend.wasChangedElsewhere())
        }
    }

    // MARK: Rules that look at several files

    @Test func aQuotaCountsAllContainers() throws {
        try withDatabasePath { path in
            var limits = ServiceLimits()
            limits.retention.quota = UserQuota(recordsMax: 2)
            let fixture = try ServiceFixture(path: path, limits: limits)
            let other = try other(fixture)
            try fixture.save(.note("a"))
            try other.save(.note("b"))
            let refused = try other.modify([RecordOperation(.create, .note("c"))])
            #expect(refused[0].error?.code == .quotaExceeded)
            _ = try fixture.modify([RecordOperation(.forceDelete, .note("a"))])
            try other.save(.note("c"))
        }
    }

    /// The service's file says that the owner may have something there, the container's that not.
    @Test func aNewOwnerWhoIsCutOffBetweenTheFilesHasNothing() throws {
        try withDatabasePath { path in
            var limits = ServiceLimits()
            limits.retention.quota = UserQuota(recordsMax: 1)
            let fixture = try ServiceFixture(path: path, limits: limits)
            try fixture.service.accounts.createContainer(Self.other)
            var other = fixture
            other.target.container = Self.other
            // Its file is made apart from what is cut off.
            _ = try other.databaseChanges(since: nil)
            fixture.faults.arm("service.write.beforeCommit", RecordError(.tryAgainLater, "cut"))
            #expect(throws: RecordError.self) { try other.createZone(ServiceFixture.zone) }
            let places = try Connection(path: path, access: .readOnly)
                .rows("SELECT 1 FROM owner_places WHERE owner = '_anna'")
            #expect(places.count == 2)
            try fixture.save(.note("a"))
            let reply = try other.databaseChanges(since: nil)
            #expect(reply.zones.isEmpty)
            try other.createZone(ServiceFixture.zone)
            let refused = try other.modify([RecordOperation(.create, .note("b"))])
            #expect(refused[0].error?.code == .quotaExceeded)
        }
    }

    /// A share of a request that was undone is nobody's page, and the address leads to no other.
    @Test func aShareThatIsCutOffBetweenTheFilesIsNotThere() throws {
        try withDatabasePath { path in
            let fixture = try ServiceFixture(path: path)
            let world = try SharingFixture(in: Self.other, of: fixture)
            fixture.faults.arm("service.write.beforeCommit", RecordError(.tryAgainLater, "cut"))
            #expect(throws: RecordError.self) { try world.shareRoot() }
            for guid in try Connection(path: path, access: .readOnly)
                .rows("SELECT guid FROM share_places").compactMap({ $0.first?.string })
            {
                #expect(try fixture.service.publicShare(shortGUID: guid) == nil)
            }
            _ = try world.shareRoot()
            let known = try Connection(path: path, access: .readOnly)
                .value(
                    "SELECT count(*) FROM share_places WHERE container = ?",
                    [
                        .text(Self.other)
                    ])?.int64
            #expect(known ?? 0 > 0)
        }
    }

    /// The service's file cannot take the note of where the new participant has something.
    @Test func aShareThatCannotBeNotedIsNotAccepted() throws {
        try withDatabasePath { path in
            var limits = ServiceLimits()
            limits.work.lockWaitMilliseconds = 50
            let fixture = try ServiceFixture(path: path, limits: limits)
            let world = try SharingFixture(in: Self.other, of: fixture)
            let share = try world.shareRoot()
            let holder = try Connection(path: path, access: .readWrite)
            try holder.script("BEGIN IMMEDIATE")
            #expect(code { _ = try world.accept(share, world.bert) } == .tryAgainLater)
            try holder.script("ROLLBACK")
            let stored = try #require(try world.anna.lookup(["share"])[0].record)
            #expect(stored.participants?.map(\.status) == [.accepted, .invited])
            #expect(try world.accept(share, world.bert).error == nil)
            #expect(try world.bert.zones(.listZones).count == 1)
            #expect(try world.feed(world.bert).names.sorted() == ["a", "b", "root", "share"])
        }
    }

    @Test func aContentStaysWhileAnyContainerNamesIt() throws {
        let folder = try AssetFolder()
        let fixture = try ServiceFixture(folder.storage)
        let other = try other(fixture)
        for one in [fixture, other] { try one.save(one.note("r", one.upload())) }
        #expect(folder.kept().count == 1)
        func pass() throws {
            for _ in 0..<3 {
                fixture.clock.advance(seconds: 5 * 86_400)
                try fixture.service.collectAssets()
            }
        }
        _ = try fixture.modify([RecordOperation(.forceDelete, Record.note("r"))])
        try pass()
        #expect(try other.content(of: other.asset(of: "r")) == ServiceFixture.picture)
        // What the container let go of is known however often it is told.
        fixture.faults.arm("service.settle.told", SQLiteFault(code: 1, message: "killed"))
        _ = try other.modify([RecordOperation(.forceDelete, Record.note("r"))])
        #expect(throws: RecordError.self) { try fixture.service.collectAssets() }
        try pass()
        #expect(folder.kept().isEmpty)
    }

    @Test func anUploadThatIsCutOffBetweenTheFilesIsCollected() throws {
        let folder = try AssetFolder()
        let fixture = try ServiceFixture(folder.storage)
        let upload = try fixture.service.beginUpload(key: try fixture.uploadKey())
        try ServiceFixture.send(ServiceFixture.picture, to: upload)
        fixture.faults.arm("service.write.beforeCommit", RecordError(.tryAgainLater, "cut"))
        #expect(throws: RecordError.self) { try upload.finish() }
        #expect(folder.kept().count == 1)
        // Sent again it is taken as if nothing had been.
        try fixture.save(fixture.note("r", fixture.upload()))
        fixture.clock.advance(seconds: 9 * 86_400)
        try fixture.service.collectAssets()
        #expect(try fixture.content(of: fixture.asset(of: "r")) == ServiceFixture.picture)
    }

    @Test func aContentNamedByAContainerThatCannotBeReadStays() throws {
        let folder = try AssetFolder()
        let path = folder.database
        do {
            let fixture = try ServiceFixture(folder.storage)
            let other = try other(fixture)
            try other.save(other.note("r", other.upload()))
        }
        let file = try ContainerFile.path(path, of: Self.other)
        let good = try Data(contentsOf: URL(fileURLWithPath: file))
        try Data(repeating: 0xEE, count: 40_960).write(to: URL(fileURLWithPath: file))
        do {
            let fixture = try ServiceFixture(folder.storage, seed: 3, makesZone: false)
            for _ in 0..<4 {
                fixture.clock.advance(seconds: 30 * 86_400)
                #expect(throws: RecordError.self) { try fixture.service.collectAssets() }
            }
        }
        #expect(folder.kept().count == 1)
        try good.write(to: URL(fileURLWithPath: file))
        var fixture = try ServiceFixture(folder.storage, seed: 4, makesZone: false)
        fixture.target.container = Self.other
        #expect(try fixture.content(of: fixture.asset(of: "r")) == ServiceFixture.picture)
    }

    @Test func aDamagedContainerKeepsNothingOfTheOthersFromGoing() throws {
        let folder = try AssetFolder()
        do {
            let fixture = try ServiceFixture(folder.storage)
            try other(fixture).save(.note("b"))
            try fixture.save(fixture.note("r", fixture.upload()))
            _ = try fixture.modify([RecordOperation(.forceDelete, Record.note("r"))])
        }
        let file = try ContainerFile.path(folder.database, of: Self.other)
        try Data(repeating: 0xEE, count: 40_960).write(to: URL(fileURLWithPath: file))
        let fixture = try ServiceFixture(folder.storage, seed: 3, makesZone: false)
        for _ in 0..<15 {
            fixture.clock.advance(seconds: 86_400)
            // The deletions say so, and the assets.
            let failures = fixture.service.forgetWhatIsOld()
            #expect(failures.map(\.code) == [.internalError, .internalError])
        }
        #expect(folder.kept().isEmpty)
    }

    /// The service's file is older than what it stands beside.
    @Test func whatAContainerHoldsIsKnownAgainAfterItsOwnRestore() throws {
        let folder = try AssetFolder()
        let path = folder.database
        do {
            let fixture = try ServiceFixture(folder.storage)
            try FileManager.default.copyItem(atPath: path, toPath: path + ".old")
            try FileManager.default.copyItem(atPath: path + "-wal", toPath: path + ".old-wal")
            try fixture.save(fixture.note("r", fixture.upload()))
        }
        for suffix in ["", "-wal"] {
            try? FileManager.default.removeItem(atPath: path + suffix)
            try FileManager.default.copyItem(
                atPath: path + ".old" + suffix, toPath: path + suffix)
        }
        try? FileManager.default.removeItem(atPath: path + "-shm")
        let fixture = try ServiceFixture(folder.storage, seed: 3, makesZone: false)
        fixture.clock.advance(seconds: 30 * 86_400)
        try fixture.service.collectAssets()
        fixture.clock.advance(seconds: 30 * 86_400)
        try fixture.service.collectAssets()
        #expect(try fixture.content(of: fixture.asset(of: "r")) == ServiceFixture.picture)
    }
}
