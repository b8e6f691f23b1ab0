import Dispatch
import Foundation
import Platform
import PostgresTesting
import RecordService
import RecordWire
import Testing

/// What every backend promises, with several services over the same rows and threads in each.
@Suite struct BackendContractTests {
    /// Rows that services may share, and the services.
    final class Shared {
        private let folder: URL?
        private let storage: ServiceStorage

        init(_ place: StoragePlace) throws {
            guard place == .sqlite else {
                folder = nil
                storage = try place.make()
                return
            }
            let folder = FileManager.default.temporaryDirectory
                .appendingPathComponent("backend-contract-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            self.folder = folder
            storage = .file(folder.appendingPathComponent("service.sqlite").path)
        }

        /// Not before the services are done with it.
        func remove() {
            if let folder { try? FileManager.default.removeItem(at: folder) }
        }

        func service(_ seed: UInt64, faults: OneFault = OneFault()) throws -> ServiceFixture {
            try ServiceFixture(storage, seed: seed, faults: faults) { notice in
                Issue.record("\(notice)")
            }
        }

        func services() throws -> [ServiceFixture] { [try service(1), try service(2)] }
    }

    private static let threads = 6

    /// Runs `body` on threads that share the services; returns what was thrown.
    private func inParallel(
        _ services: [ServiceFixture], _ body: @Sendable (Int, ServiceFixture) throws -> Void
    ) -> [any Error] {
        let errors = Lock<[any Error]>([])
        DispatchQueue.concurrentPerform(iterations: Self.threads) { thread in
            do {
                try body(thread, services[thread % services.count])
            } catch {
                errors.withLock { $0.append(error) }
            }
        }
        return errors.withLock { $0 }
    }

    @Test(.enabled(if: TestServer.isInstalled, StoragePlace.missing))
    func postgreSQLIsAmongThem() { #expect(StoragePlace.present.contains(.postgres)) }

    // MARK: Writers and readers

    @Test(arguments: StoragePlace.present)
    func noNumberIsGivenTwiceOrSkippedAndReadersMeetEach(place: StoragePlace) throws {
        let shared = try Shared(place)
        defer { shared.remove() }
        let services = try shared.services()
        let reader = try ReaderOfChanges(services[1])
        let changes = Lock<[Int64]>([])
        let errors = inParallel(services) { thread, fixture in
            if thread == 0 { return try reader.readUntil(count: (Self.threads - 1) * 8 * 5) }
            for batch in 0..<8 {
                let results = try fixture.modify(
                    (0..<5).map {
                        RecordOperation(.create, .note("\(thread)-\(batch)-\($0)"))
                    })
                let tags = results.compactMap { $0.record?.recordChangeTag }
                changes.withLock { $0 += tags.compactMap { ChangeTag(text: $0)?.change } }
            }
        }
        #expect(errors.isEmpty, "\(errors)")
        let count = (Self.threads - 1) * 8 * 5
        #expect(changes.withLock { $0.sorted() } == Array(1...Int64(count)))
        #expect(reader.names.count == count && Set(reader.names).count == count)
    }

    /// Follows a zone's feed while others write, with small pages.
    private final class ReaderOfChanges: @unchecked Sendable {
        // @unchecked: one thread reads, and the test looks when that has ended.
        private let fixture: ServiceFixture
        private(set) var names: [String] = []

        init(_ fixture: ServiceFixture) throws { self.fixture = fixture }

        func readUntil(count: Int) throws {
            var token: String?
            while names.count < count {
                let page = try fixture.changes(since: token, limit: 7)
                let numbers = page.records.compactMap {
                    $0.recordChangeTag.flatMap { ChangeTag(text: $0)?.change }
                }
                #expect(numbers == numbers.sorted())
                names += page.records.map(\.recordName)
                token = page.syncToken
            }
        }
    }

    @Test(arguments: StoragePlace.present)
    func whoNamesTheRightTagMeetsNoConflict(place: StoragePlace) throws {
        let shared = try Shared(place)
        defer { shared.remove() }
        let services = try shared.services()
        let errors = inParallel(services) { thread, fixture in
            var tag: String?
            for turn in 0..<12 {
                let result = try fixture.modify([
                    RecordOperation(
                        tag == nil ? .create : .update,
                        .note("own-\(thread)", "\(turn)", tag: tag))
                ])[0]
                if let error = result.error { throw error }
                tag = result.record?.recordChangeTag
            }
        }
        #expect(errors.isEmpty, "\(errors)")
    }

    @Test(arguments: StoragePlace.present)
    func noWriteOfSeveralToOneRecordIsLost(place: StoragePlace) throws {
        let shared = try Shared(place)
        defer { shared.remove() }
        let services = try shared.services()
        try services[0].save(.note("sum", "0"))
        let errors = inParallel(services) { _, fixture in
            var done = 0
            while done < 8 {
                let old = try fixture.lookup(["sum"])[0].record
                guard let old, case .string(let text)?? = old.fields["title"] else {
                    throw WrongAnswer()
                }
                let next = Record.note("sum", "\((Int(text) ?? 0) + 1)", tag: old.recordChangeTag)
                let result = try fixture.modify([RecordOperation(.update, next)])[0]
                guard let error = result.error else {
                    done += 1
                    continue
                }
                guard error.code == .conflict else { throw error }
            }
        }
        #expect(errors.isEmpty, "\(errors)")
        let last = try services[1].lookup(["sum"])[0].record
        #expect(last?.fields["title"] == .string("\(Self.threads * 8)"))
    }

    @Test(arguments: StoragePlace.present)
    func ofSeveralWhoMakeTheSameOneDoes(place: StoragePlace) throws {
        let shared = try Shared(place)
        defer { shared.remove() }
        let services = try shared.services()
        let made = Lock(0)
        let errors = inParallel(services) { _, fixture in
            // The container, the zone, the database and the default zone too are made by all.
            try fixture.service.accounts.createContainer("iCloud.org.example.other")
            var fixture = fixture
            fixture.target.container = "iCloud.org.example.other"
            for turn in 0..<5 {
                try fixture.createZone(ZoneID(zoneName: "z\(turn)"))
                let results = try fixture.modify(
                    [RecordOperation(.create, .note("one-\(turn)"))], zone: nil)
                if results[0].error == nil { made.withLock { $0 += 1 } }
            }
        }
        #expect(errors.isEmpty, "\(errors)")
        #expect(made.withLock { $0 } == 5)
    }

    @Test(arguments: StoragePlace.present)
    func aFieldGetsOneType(place: StoragePlace) throws {
        let shared = try Shared(place)
        defer { shared.remove() }
        let services = try shared.services()
        try services[0].createZone(ZoneID(zoneName: "other"))
        let kept = Lock<[Bool]>([])
        // In two zones of one database: their locks are not enough.
        let errors = inParallel(services) { thread, fixture in
            let value: FieldValue = thread % 2 == 0 ? .string("s") : .int64(1)
            let zone = thread % 4 < 2 ? ServiceFixture.zone : ZoneID(zoneName: "other")
            let record = Record(
                recordName: "r\(thread)", recordType: "T", fields: ["field": value])
            let result = try fixture.modify([RecordOperation(.create, record)], zone: zone)[0]
            if result.error == nil { kept.withLock { $0.append(thread % 2 == 0) } }
        }
        #expect(errors.isEmpty, "\(errors)")
        #expect(kept.withLock { $0.count == 3 && Set($0).count == 1 })
    }

    @Test(arguments: StoragePlace.present)
    func aReaderSeesATransactionWholeOrNotAtAll(place: StoragePlace) throws {
        let shared = try Shared(place)
        defer { shared.remove() }
        let services = try shared.services()
        let names = (0..<20).map { "pair-\($0)" }
        @Sendable func write(_ turn: Int, _ fixture: ServiceFixture) throws {
            _ = try fixture.modify(
                names.map { RecordOperation(.forceUpdate, .note($0, "\(turn)")) }, atomic: true)
        }
        try write(0, services[0])
        let errors = inParallel(services) { thread, fixture in
            for turn in 0..<10 {
                if thread < 2 { try write(turn * 10 + thread, fixture) }
                let titles = Set(try fixture.lookup(names).map { $0.record?.fields["title"] })
                #expect(titles.count == 1)
            }
        }
        #expect(errors.isEmpty, "\(errors)")
    }

    // MARK: What goes

    @Test(arguments: StoragePlace.present)
    func aZoneThatIsDeletedWhileOthersWriteIsEmpty(place: StoragePlace) throws {
        let shared = try Shared(place)
        defer { shared.remove() }
        let services = try shared.services()
        let zone = ZoneID(zoneName: "short")
        try services[0].createZone(zone)
        let errors = inParallel(services) { thread, fixture in
            for turn in 0..<10 {
                if thread == 0, turn == 5 {
                    _ = try fixture.zones(.modifyZones([ZoneOperation(.delete, zone)]))
                    continue
                }
                do {
                    _ = try fixture.modify(
                        [RecordOperation(.create, .note("\(thread)-\(turn)"))], zone: zone)
                } catch let error as RecordError where error.code == .zoneNotFound {
                    continue
                }
            }
        }
        #expect(errors.isEmpty, "\(errors)")
        try services[1].createZone(zone)
        #expect(try services[1].changes(since: nil, zone: zone).records.isEmpty)
        try services[1].service.removeDeletedRecords()
        // The last record of a type is gone with the zone: another type may come.
        var record = Record.note("after")
        record.fields["title"] = .int64(1)
        #expect(
            try services[1].modify([RecordOperation(.create, record)], zone: zone)[0].error == nil)
    }

    @Test(arguments: StoragePlace.present)
    func deletionsAreForgottenBesideWriters(place: StoragePlace) throws {
        let shared = try Shared(place)
        defer { shared.remove() }
        let services = try shared.services()
        var token: String?
        for number in 0..<30 {
            try services[0].save(.note("old-\(number)"))
            _ = try services[0].modify([
                RecordOperation(
                    .forceDelete, Record(recordName: "old-\(number)", recordType: ""))
            ])
            if number == 9 { token = try services[0].changes(since: nil).syncToken }
        }
        // Who began after the deletions has none of what was deleted.
        let beginner = try services[0].changes(since: nil, limit: 1).syncToken
        for fixture in services { fixture.clock.advance(seconds: 86_400 * 200) }
        let errors = inParallel(services) { thread, fixture in
            if thread < 2 { return try fixture.service.forgetOldDeletions() }
            for turn in 0..<5 { try fixture.save(.note("new-\(thread)-\(turn)")) }
        }
        #expect(errors.isEmpty, "\(errors)")
        let all = try services[1].changes(since: nil).records
        #expect(all.count == 20 && !all.contains { $0.deleted })
        #expect(try services[0].changes(since: token).failure?.code == .changeTokenExpired)
        #expect(try services[0].changes(since: beginner).records.count == 20)
    }

    // MARK: Names and failures

    @Test(arguments: StoragePlace.present)
    func namesAreTheirBytes(place: StoragePlace) throws {
        let shared = try Shared(place)
        defer { shared.remove() }
        let fixture = try shared.service(1)
        let names = [
            "a", "A", "a\0b", "a\0c", "\u{E9}", "e\u{301}", "ß", "ss", "zzz", "Ω", "\u{1}",
        ]
        for name in names { try fixture.save(.note(name, name)) }
        let found = try fixture.lookup(names)
        #expect(found.map { $0.record?.fields["title"] } == names.map { .string($0) })
        #expect(try fixture.changes(since: nil).records.count == names.count)
    }

    @Test(arguments: StoragePlace.present)
    func aFailureBeforeTheEndLeavesNothing(place: StoragePlace) throws {
        let faults = OneFault()
        let shared = try Shared(place)
        defer { shared.remove() }
        let fixture = try shared.service(1, faults: faults)
        faults.arm("service.write.beforeCommit", RecordError(.internalError, "stop"))
        #expect(throws: RecordError.self) { try fixture.save(.note("a")) }
        #expect(try fixture.lookup(["a"])[0].error?.code == .notFound)
        #expect(try fixture.save(.note("b")).recordChangeTag.flatMap(ChangeTag.init)?.change == 1)
    }

    @Test(arguments: StoragePlace.present)
    func largeRecordsComeThroughTheFeed(place: StoragePlace) throws {
        let shared = try Shared(place)
        defer { shared.remove() }
        let fixture = try shared.service(1)
        let text = String(repeating: "x", count: 300_000)
        for number in 0..<12 {
            try fixture.save(.note("big-\(number)", text + "\(number)"))
            try fixture.save(.note("small-\(number)"))
        }
        var token: String?
        var names: [String] = []
        while true {
            let page = try fixture.changes(since: token)
            names += page.records.map(\.recordName)
            token = page.syncToken
            guard page.moreComing else { break }
        }
        #expect(Set(names).count == 24 && names.count == 24)
    }

    /// New names, and those of records that are there, are large or were deleted, in one request.
    @Test(arguments: StoragePlace.present)
    func namesOfAllKindsAreWrittenTogether(place: StoragePlace) throws {
        let shared = try Shared(place)
        defer { shared.remove() }
        let fixture = try shared.service(1)
        let text = String(repeating: "x", count: 100_000)
        let former = try ["small", "big", "gone"].map { name in
            try fixture.save(.note(name, name == "big" ? text : "before"))
        }
        var grave = former[2]
        grave.recordChangeTag = try fixture.save(grave, .forceDelete).recordChangeTag
        let operations: [(RecordOperation.Kind, Record)] = [
            (.create, .note("new", "after")), (.update, former[0]), (.forceDelete, .note("never")),
            (.update, former[1]), (.forceUpdate, grave), (.create, .note("newer", text)),
        ]
        let results = try fixture.modify(
            operations.map { kind, record in
                var record = record
                if kind != .forceDelete { record.fields["title"] = .string("after") }
                return RecordOperation(kind, record)
            })
        #expect(results.compactMap(\.error).isEmpty)
        let page = try fixture.changes(since: nil)
        #expect(page.records.map(\.recordName) == operations.map(\.1.recordName))
        for record in page.records {
            #expect(record.deleted == (record.recordName == "never"))
            #expect(record.deleted || record.fields["title"] == .string("after"))
        }
        #expect(page.records[1].created?.timestamp == former[0].created?.timestamp)
    }
}
