import Foundation
import Platform
import RecordWire
import SQLiteDriver
import Testing

@testable import RecordService

/// Files of containers are found again by what they say of themselves, where the service's own
/// file was lost or put back from another time.
@Suite struct ContainerSearchTests {
    private static let other = "iCloud.org.example.other"
    private let notices = Lock<[ServiceNotice]>([])

    private func start(_ path: String, seed: UInt64) throws -> RecordService {
        let platform = Environment(
            clock: SteppingClock(), randomness: SeededRandomness(seed: seed), faults: OneFault())
        notices.withLock { $0 = [] }
        return try RecordService(path: path, platform: platform) { notice in
            notices.withLock { $0.append(notice) }
        }
    }

    private func said(_ word: String) -> Int {
        notices.withLock { $0.filter { $0.description.contains(word) }.count }
    }

    private func fill(_ path: String) throws {
        let fixture = try ServiceFixture(path: path)
        try fixture.save(.note("a"))
        try fixture.save(fixture.note("picture", fixture.upload(Data("picture".utf8))))
        try fixture.service.accounts.createContainer(Self.other)
        var other = fixture
        other.target.container = Self.other
        try other.createZone(ServiceFixture.zone)
        try other.save(.note("b"))
    }

    private func names(_ fixture: ServiceFixture, _ container: String) throws -> [String] {
        var fixture = fixture
        fixture.target.container = container
        return try fixture.changes(since: nil).records.map(\.recordName)
    }

    private func remove(_ path: String) throws {
        for end in ["", "-wal", "-shm"] where FileManager.default.fileExists(atPath: path + end) {
            try FileManager.default.removeItem(atPath: path + end)
        }
    }

    private func bytes(_ path: String) throws -> Data {
        try Data(contentsOf: URL(fileURLWithPath: path))
    }

    // MARK: Found

    @Test func containersOutliveTheServicesOwnFile() throws {
        try withDatabasePath { path in
            try fill(path)
            try remove(path)
            do {
                let service = try start(path, seed: 2)
                #expect(
                    try service.accounts.containers() == [ServiceFixture.container, Self.other])
                #expect(said("in use again") == 2)
                #expect(try service.accounts.users().map(\.userRecordName) == ["_anna"])
                _ = try service.accounts.issueUserToken(userRecordName: "_anna", label: "new")
                #expect(try service.damageInFile().isEmpty)
            }
            let fixture = try ServiceFixture(path: path, seed: 3, makesZone: false)
            #expect(try names(fixture, ServiceFixture.container) == ["a", "picture"])
            #expect(try names(fixture, Self.other) == ["b"])
            fixture.clock.advance(seconds: 90 * 86_400)
            for _ in 0..<2 {
                #expect(try fixture.service.collectAssets() == 0)
                fixture.clock.advance(seconds: 90 * 86_400)
            }
            #expect(
                try fixture.content(of: fixture.asset(of: "picture")) == Data("picture".utf8))
            _ = try start(path, seed: 4)
            #expect(notices.withLock { $0.isEmpty })
        }
    }

    @Test func aContainerThatIsYoungerThanTheServicesOwnFileIsFound() throws {
        try withDatabasePath { path in
            do { _ = try ServiceFixture(path: path) }
            let early = try bytes(path)
            try fill(path)
            try remove(path)
            try early.write(to: URL(fileURLWithPath: path))
            let fixture = try ServiceFixture(path: path, seed: 3, makesZone: false)
            #expect(try names(fixture, Self.other) == ["b"])
            #expect(try names(fixture, ServiceFixture.container) == ["a", "picture"])
        }
    }

    /// As a start of a version that did not look for it leaves it.
    @Test func aContainerThatWasMadeAnewAndNotUsedTakesItsFileOfBefore() throws {
        try withDatabasePath { path in
            try fill(path)
            try remove(path)
            let folder = ContainerFile.folder(path)
            try FileManager.default.moveItem(atPath: folder, toPath: folder + ".away")
            do { try start(path, seed: 5).accounts.createContainer(Self.other) }
            try FileManager.default.moveItem(atPath: folder + ".away", toPath: folder)
            let fixture = try ServiceFixture(path: path, seed: 3, makesZone: false)
            #expect(try names(fixture, Self.other) == ["b"])
        }
    }

    /// Who opened the new file meanwhile writes nothing into it.
    @Test func aNewFileThatLostItsPlaceMeanwhileTakesNothing() throws {
        try withDatabasePath { path in
            let fixture = try ServiceFixture(path: path)
            try fixture.service.accounts.createContainer(Self.other)
            fixture.faults.atNext("service.container.made") {
                try Connection(path: path).run(
                    "UPDATE container_files SET id = 7 WHERE container = ?", [.text(Self.other)])
            }
            var other = fixture
            other.target.container = Self.other
            let error = #expect(throws: RecordError.self) {
                try other.createZone(ServiceFixture.zone)
            }
            #expect(error?.code == .tryAgainLater)
        }
    }

    // MARK: Left alone

    /// Returns the folder with what nobody can say whose it is.
    private func scatter(_ path: String) throws -> [String: Data] {
        let folder = ContainerFile.folder(path)
        let own = try ContainerFile.path(path, of: Self.other)
        let strange = [
            "damaged-0123456789abcdef.sqlite": Data(repeating: 0xEE, count: 8_192),
            "empty-0123456789abcdef.sqlite": Data(),
            "other.sqlite": Data("mine".utf8),
            "copy.sqlite": try bytes(own),
        ]
        for (name, bytes) in strange {
            try bytes.write(to: URL(fileURLWithPath: folder + "/" + name))
        }
        let program = try Connection(path: folder + "/program.sqlite")
        try program.script("CREATE TABLE service(id, epoch, container); CREATE TABLE x(y);")
        return strange
    }

    @Test func whatSaysNotWhoseItIsStaysAndIsToldOnce() throws {
        try withDatabasePath { path in
            try fill(path)
            let strange = try scatter(path)
            let service = try start(path, seed: 2)
            #expect(try service.accounts.containers().count == 2)
            for name in Array(strange.keys) + ["program.sqlite"] { #expect(said(name) == 1) }
            #expect(notices.withLock { $0.count } == 5)
            for (name, bytes) in strange {
                #expect(try self.bytes(ContainerFile.folder(path) + "/" + name) == bytes)
            }
        }
    }

    /// An asset may be named there alone.
    @Test func noUnknownAssetGoesWhileAFileIsNotUsed() throws {
        try withDatabasePath { path in
            try fill(path)
            _ = try scatter(path)
            let fixture = try ServiceFixture(path: path, seed: 2, makesZone: false)
            let error = #expect(throws: RecordError.self) { try fixture.service.collectAssets() }
            #expect(error?.reason.contains("may name assets") == true)
            for name in ["damaged", "empty"] {
                try remove(ContainerFile.folder(path) + "/\(name)-0123456789abcdef.sqlite")
            }
            #expect(try fixture.service.collectAssets() == 0)
        }
    }

    @Test func twoFilesOfOneContainerAreBothLeft() throws {
        try withDatabasePath { path in
            try fill(path)
            let first = try ContainerFile.path(path, of: Self.other)
            try remove(path)
            let second = ContainerFileName.text(Self.other, id: 77)
            let copy = ContainerFile.folder(path) + "/" + second
            try FileManager.default.copyItem(atPath: first, toPath: copy)
            try Connection(path: copy).script("UPDATE service SET id = 77")
            let service = try start(path, seed: 2)
            #expect(try service.accounts.containers() == [ServiceFixture.container])
            #expect(said("several say") == 2)
            // One of them is put away.
            try remove(copy)
            #expect(try start(path, seed: 3).accounts.containers().count == 2)
        }
    }

    @Test func aContainerInUseKeepsItsFile() throws {
        try withDatabasePath { path in
            try fill(path)
            let folder = ContainerFile.folder(path)
            try remove(path)
            try FileManager.default.moveItem(atPath: folder, toPath: folder + ".away")
            do {
                let fixture = try ServiceFixture(path: path, seed: 5)
                try fixture.save(.note("new"))
            }
            for name in try FileManager.default.contentsOfDirectory(atPath: folder + ".away") {
                try FileManager.default.moveItem(
                    atPath: folder + ".away/" + name, toPath: folder + "/" + name)
            }
            let service = try start(path, seed: 6)
            #expect(said("another file is in use") == 1)
            // Its picture is known nowhere else.
            #expect(throws: RecordError.self) { try service.collectAssets() }
            let fixture = try ServiceFixture(path: path, seed: 7, makesZone: false)
            #expect(try names(fixture, ServiceFixture.container) == ["new"])
            #expect(try names(fixture, Self.other) == ["b"])
        }
    }
}
