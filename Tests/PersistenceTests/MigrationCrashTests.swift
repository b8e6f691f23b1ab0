import CoreData
import FaultFiles
import Foundation
import SQLiteDriver
import Testing

/// The power goes at each single deed of a migration: the store is the old one or the new one.
@Suite(.serialized) struct MigrationCrashTests {
    private let first = VersionDraft.model { draft in
        draft.entity("Person", [text("name"), text("note")])
        draft.entity("Group", [text("name")])
        draft.link("Person", "group", .one, "Group", "members", .many)
    }
    private let second = VersionDraft.model { draft in
        draft.entity("Being", [text("name"), number("size", optional: false, 1)], from: "Person")
        draft.entity("Group", [text("name"), text("about")])
        draft.link("Being", "group", .many, "Group", "members", .many)
    }

    private func fill(_ bench: MigrationBench) throws {
        try bench.fill(first) { context throws in
            let group = context.make("Group", ["name": "G"])
            for index in 0..<20 {
                _ = context.make("Person", ["name": "p\(index)", "note": "n", "group": group])
            }
        }
    }

    /// Checks that the store in `folder` is whole, of either version, and migrates when asked.
    private func expectWhole(_ bench: MigrationBench, _ deed: Int) throws -> Bool {
        let connection = try Connection(path: bench.url.path, access: .readWrite)
        #expect(try connection.value("PRAGMA integrity_check")?.string == "ok", "deed \(deed)")
        let tables = try connection.rows("SELECT name FROM sqlite_master WHERE name = 'ZBEING'")
        let isNew = !tables.isEmpty
        let count = try connection.value("SELECT count(*) FROM \(isNew ? "ZBEING" : "ZPERSON")")
        #expect(count == 20, "deed \(deed)")
        try bench.open(second) { context throws in
            #expect(try context.all("Being").count == 20, "deed \(deed)")
            #expect(try context.one("Group", "G").names("members").count == 20, "deed \(deed)")
            #expect(try context.one("Being", "p7").int("size") == 1)
        }
        return isNew
    }

    /// Migrates copies of one store, each struck one deed later, until one comes through.
    private func strikeEverywhere(_ fault: FaultFileSystem.Fault) throws -> (deeds: Int, new: Int) {
        let faults = FaultFileSystem.shared
        let origin = try MigrationBench()
        try fill(origin)
        var (deed, new) = (0, 0)
        while true {
            deed += 1
            let bench = try MigrationBench()
            try origin.copy(to: bench.folder)
            faults.begin(bench.folder, fault, at: deed)
            let failure: (any Error)?
            do {
                try bench.open(second) { _ in }
                failure = nil
            } catch {
                failure = error
            }
            // What a crash leaves is what lies there before anybody tidies up.
            let left = try MigrationBench()
            try bench.copy(to: left.folder)
            let (_, hasStruck) = faults.end(bench.folder)
            if hasStruck, let failure {
                let code = (failure as NSError).code
                #expect(
                    [NSMigrationError, NSSQLiteError, NSPersistentStoreSaveError].contains(code))
            }
            if try expectWhole(left, deed) { new += 1 }
            if !hasStruck { return (deed - 1, new - 1) }
            try #require(deed < 2_000)
        }
    }

    @Test func aDeedThatFailsLeavesOneOfBoth() throws {
        let (deeds, new) = try strikeEverywhere(.failing)
        print("struck at each of \(deeds) deeds, \(new) times the new store was there")
        #expect(deeds > 20)
    }

    @Test func lostWritesLeaveOneOfBoth() throws {
        let (deeds, new) = try strikeEverywhere(.losingUnsynced)
        print("lost power at each of \(deeds) deeds, \(new) times the new store was there")
        #expect(deeds > 20)
    }

    /// A disk that is full from a given write on is an error, and the same process goes on with the
    /// old store.
    @Test func aFullDiskAtEachWriteLeavesTheOldStore() throws {
        let faults = FaultFileSystem.shared
        let origin = try MigrationBench()
        try fill(origin)
        for deed in stride(from: 1, to: 400, by: 3) {
            let bench = try MigrationBench()
            try origin.copy(to: bench.folder)
            faults.begin(bench.folder, .full, at: deed)
            let failure: (any Error)?
            do {
                try bench.open(second) { _ in }
                failure = nil
            } catch {
                failure = error
            }
            let (_, hasStruck) = faults.end(bench.folder)
            if let failure = failure as NSError? {
                let cause = failure.userInfo[NSUnderlyingErrorKey] as? NSError ?? failure
                #expect(cause.code == NSPersistentStoreSaveError, "\(failure)")
            }
            _ = try expectWhole(bench, deed)
            if !hasStruck { return }
        }
    }
}

extension MigrationBench {
    /// Copies the store's files, as they lie there.
    func copy(to folder: URL) throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: self.folder.path) {
            try FileManager.default.copyItem(
                at: self.folder.appendingPathComponent(name),
                to: folder.appendingPathComponent(name))
        }
    }
}
