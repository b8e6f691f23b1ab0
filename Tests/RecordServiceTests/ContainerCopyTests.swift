import Foundation
import Platform
import RecordWire
import SQLiteDriver
import Testing

@testable import RecordService

/// Copies of a service whose containers have files of their own.
@Suite struct ContainerCopyTests {
    private static let names = ["one", "two", "three"]

    private func fill(_ path: String) throws -> ServiceFixture {
        let fixture = try ServiceFixture(path: path, makesZone: false)
        for name in Self.names {
            try fixture.service.accounts.createContainer(name)
            let one = at(name, fixture)
            try one.createZone(ServiceFixture.zone)
            try one.save(.note("in-\(name)"))
        }
        return fixture
    }

    private func at(_ container: String, _ fixture: ServiceFixture) -> ServiceFixture {
        var fixture = fixture
        fixture.target.container = container
        return fixture
    }

    private func expectAll(at path: String) throws {
        let fixture = try ServiceFixture(path: path, seed: 9, makesZone: false)
        #expect(try fixture.service.damageInFile().isEmpty)
        for name in Self.names {
            let page = try at(name, fixture).changes(since: nil)
            #expect(page.records.map(\.recordName) == ["in-\(name)"])
        }
    }

    @Test func aBackupHoldsEachContainer() throws {
        try withDatabasePath { path in
            let fixture = try fill(path)
            let backup = path + ".backup"
            _ = try ServiceAdministration(path: path, platform: .system).backUp(to: backup)
            for name in Self.names { try at(name, fixture).save(.note("later")) }
            for file in ContainerFile.all(of: backup) {
                let facts = try FileManager.default.attributesOfItem(atPath: file)
                #expect((facts[.posixPermissions] as? NSNumber)?.intValue == 0o600)
            }
            // As it comes back, also over what a restore before it left.
            let other = path + ".other"
            for _ in 0..<2 {
                try? FileManager.default.removeItem(atPath: other)
                try FileManager.default.copyItem(atPath: backup, toPath: other)
                try ServiceAdministration.copyContainers(besides: backup, to: other)
            }
            try expectAll(at: other)
            try expectAll(at: backup)
        }
    }

    /// A killed process leaves what it wrote, with a mark that says whose it is.
    @Test func aBackupThatWasCutOffIsNotInTheWay() throws {
        try withDatabasePath { path in
            _ = try fill(path)
            let backup = path + ".backup"
            let (part, folder) = (backup + ".part", backup + ".part.containers")
            let left = path + ".left"
            let faults = OneFault()
            var platform = Environment.system
            platform.faults = faults
            let desk = try ServiceAdministration(path: path, platform: platform)
            // Keeps what lies there just before the copy gets its name.
            faults.atNext("backup.linking") {
                for suffix in ["", ".mark"] {
                    try FileManager.default.copyItem(
                        atPath: part + suffix, toPath: left + suffix)
                }
            }
            _ = try desk.backUp(to: backup)
            for name in [part, folder, part + ".mark"] {
                #expect(!FileManager.default.fileExists(atPath: name), "\(name)")
            }
            for suffix in ["", ".containers"] {
                try FileManager.default.removeItem(atPath: backup + suffix)
            }
            for suffix in ["", ".mark"] {
                try FileManager.default.moveItem(atPath: left + suffix, toPath: part + suffix)
            }
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true)
            try Data("half".utf8).write(to: URL(fileURLWithPath: folder + "/one.sqlite"))
            _ = try desk.backUp(to: backup)
            try expectAll(at: backup)
            for name in [part, folder, part + ".mark"] {
                #expect(!FileManager.default.fileExists(atPath: name), "\(name)")
            }
        }
    }

    /// Nor is what another process writes just now, or what is somebody's, taken for a leftover.
    @Test func onlyWhatWasCutOffIsRemoved() throws {
        try withDatabasePath { path in
            _ = try fill(path)
            let backup = path + ".backup"
            let mark = backup + ".part.mark"
            let desk = try ServiceAdministration(path: path, platform: .system)
            func expectRefusal(_ what: String) {
                let error = #expect(throws: RecordError.self, "\(what)") {
                    _ = try desk.backUp(to: backup)
                }
                #expect(error?.code == .badRequest, "\(what)")
            }
            try Data("mine".utf8).write(to: URL(fileURLWithPath: mark))
            expectRefusal("a mark of somebody's")
            #expect(try String(contentsOfFile: mark, encoding: .utf8) == "mine")
            try FileManager.default.removeItem(atPath: mark)
            let held = open(mark, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
            #expect(flock(held, LOCK_EX) == 0)
            expectRefusal("a mark that is held")
            close(held)
            _ = try desk.backUp(to: backup)
            try expectAll(at: backup)
        }
    }

    /// What is left of a copy would stand in the way of the next one of its name.
    @Test func aBackupWhoseTaskIsCancelledLeavesNothing() async throws {
        let task = Task {
            try withDatabasePath { path in
                _ = try fill(path)
                let administration = try ServiceAdministration(path: path, platform: .system)
                let backup = path + ".backup"
                withUnsafeCurrentTask { $0?.cancel() }
                let error = #expect(throws: RecordError.self) {
                    _ = try administration.backUp(to: backup)
                }
                #expect(error?.code == .tryAgainLater)
                for name in [backup, backup + ".part"] {
                    #expect(!FileManager.default.fileExists(atPath: name))
                    #expect(!FileManager.default.fileExists(atPath: name + ".containers"))
                }
            }
        }
        try await task.value
    }

    /// The assets come after the rows, and take their time: nobody else reads the copy meanwhile.
    @Test func aBackupIsPrivateFromItsFirstByte() throws {
        try withDatabasePath { path in
            _ = try fill(path)
            let (part, folder) = (path + ".copy", path + ".copied")
            let backend = try SQLiteBackend(
                administering: path, platform: .system, maySplit: false, log: { _ in })
            #expect(try backend.copy(to: part, containersTo: folder).isEmpty)
            let facts = try FileManager.default.attributesOfItem(atPath: part)
            #expect((facts[.posixPermissions] as? NSNumber)?.intValue == 0o600)
        }
    }

    /// As on sticks and shares, which is where backups go.
    @Test func aBackupNeedsNoSecondNames() throws {
        try withDatabasePath { path in
            _ = try fill(path)
            let faults = OneFault()
            var platform = Environment.system
            platform.faults = faults
            let desk = try ServiceAdministration(path: path, platform: platform)
            let (first, second) = (path + ".first", path + ".second")
            faults.arm("backup.linking", POSIXError(.EPERM))
            _ = try desk.backUp(to: first)
            #expect(faults.count("backup.linking") == 1)
            try expectAll(at: first)
            #expect(!FileManager.default.fileExists(atPath: first + ".part"))
            // What came meanwhile stays.
            faults.atNext("backup.linking") {
                try Data("mine".utf8).write(to: URL(fileURLWithPath: second))
                throw POSIXError(.EPERM)
            }
            #expect(throws: RecordError.self) { _ = try desk.backUp(to: second) }
            #expect(try Data(contentsOf: URL(fileURLWithPath: second)) == Data("mine".utf8))
            #expect(FileFolder.names(in: ContainerFileName.folder(beside: second)).isEmpty)
        }
    }

    /// Damages the container so that it opens and cannot be read through.
    private func damage(_ container: String, _ path: String) throws {
        let file = try ContainerFile.path(path, of: container)
        _ = try Connection(path: file).rows("PRAGMA wal_checkpoint(TRUNCATE)")
        var bytes = try Data(contentsOf: URL(fileURLWithPath: file))
        let place = try #require(bytes.range(of: Data("in-\(container)Note".utf8))?.lowerBound)
        let page = place / 4_096 * 4_096
        bytes.replaceSubrange(page..<page + 4_096, with: Data(repeating: 0xEE, count: 4_096))
        try bytes.write(to: URL(fileURLWithPath: file))
    }

    @Test func aBackupLacksWhatCannotBeReadAndSaysSo() throws {
        try withDatabasePath { path in
            do { _ = try fill(path) }
            try damage("two", path)
            try Data().write(
                to: URL(fileURLWithPath: ContainerFile.path(path, of: "three")))
            let (first, second) = (path + ".backup", path + ".second")
            let desk = try ServiceAdministration(path: path, platform: .system)
            #expect(try desk.backUp(to: first).sorted() == ["three", "two"])
            #expect(try desk.lackingContainers().isEmpty)
            do {
                let backup = try ServiceAdministration(path: first, platform: .system)
                #expect(try backup.lackingContainers() == ["three", "two"])
                #expect(try backup.damageInBackup().isEmpty)
                #expect(try backup.damageInFile().count == 2)
                let fixture = try ServiceFixture(path: first, seed: 9, makesZone: false)
                #expect(
                    try at("one", fixture).changes(since: nil).records.map(\.recordName)
                        == ["in-one"])
                #expect(throws: RecordError.self) { try at("two", fixture).changes(since: nil) }
                // A copy of it says what that lacks, and no more.
                let file = try ContainerFile.path(first, of: "two")
                try FileManager.default.copyItem(
                    atPath: ContainerFile.path(path, of: "one"), toPath: file)
                let one = try Connection(path: path).rows(
                    "SELECT id FROM container_files WHERE container = 'two'")
                try Connection(path: file).run(
                    "UPDATE service SET container = 'two', id = ?", [one[0][0]])
                #expect(try backup.lackingContainers() == ["three"])
                #expect(try backup.backUp(to: second) == ["three"])
            }
            let again = try ServiceAdministration(path: second, platform: .system)
            #expect(try again.lackingContainers() == ["three"])
        }
    }

    @Test func aBackupWritesOverNoFolder() throws {
        try withDatabasePath { path in
            _ = try fill(path)
            let administration = try ServiceAdministration(path: path, platform: .system)
            for taken in [".containers", ".part.containers"] {
                let backup = path + ".at" + taken
                try FileManager.default.createDirectory(
                    atPath: backup + taken, withIntermediateDirectories: true)
                let error = #expect(throws: RecordError.self) {
                    _ = try administration.backUp(to: backup)
                }
                #expect(error?.code == .badRequest)
                #expect(!FileManager.default.fileExists(atPath: backup))
            }
        }
    }

    @Test func aBackupWithoutOneOfItsFilesIsNamed() throws {
        try withDatabasePath { path in
            _ = try fill(path)
            let backup = path + ".backup"
            _ = try ServiceAdministration(path: path, platform: .system).backUp(to: backup)
            try FileManager.default.removeItem(
                atPath: ContainerFile.path(backup, of: "two"))
            let damage = try ServiceAdministration(path: backup, platform: .system).damageInFile()
            #expect(damage.count == 1 && damage[0].contains("two"))
        }
    }

    /// Who administers does not know whether the service of before is at work.
    @Test func aFormerFileIsSplitByItsServiceOrByWhoIsAlone() throws {
        try withDatabasePath { path in
            do { _ = try fill(path) }
            try FormerFile.make(of: path)
            let error = #expect(throws: RecordError.self) {
                try ServiceAdministration(path: path, platform: .system)
            }
            #expect(error?.reason.contains("older version") == true)
            #expect(try Connection(path: path).pragma("user_version")?.int64 == 4)
            #expect(!FileManager.default.fileExists(atPath: ContainerFile.folder(path)))
            let alone = try ServiceAdministration(path: path, platform: .system, isAlone: true)
            #expect(try alone.damageInFile().isEmpty)
            try expectAll(at: path)
        }
    }
}
