import Dispatch
import Foundation
import Platform
import RecordService
import RecordWire
import Testing

/// Natural keys: fields whose values are unique in a zone.
@Suite(.everyBackend) struct NaturalKeyTests {
    private let fixture: ServiceFixture
    private var accounts: ServiceAccounts { fixture.service.accounts }
    private let container = ServiceFixture.container

    init() throws {
        fixture = try ServiceFixture()
        try fixture.save(book("first", "0"))
        try accounts.declareUnique(["isbn"], of: "Book", container: container)
    }

    private func book(_ name: String, _ isbn: String?, tag: String? = nil) -> Record {
        Record(
            recordName: name, recordType: "Book", recordChangeTag: tag,
            fields: ["isbn": isbn.map { .string($0) }, "title": .string("of \(name)")])
    }

    private func write(
        _ kind: RecordOperation.Kind, _ record: Record, _ fixture: ServiceFixture? = nil
    ) throws -> RecordError? {
        try (fixture ?? self.fixture).modify([RecordOperation(kind, record)])[0].error
    }

    private func deletion(_ name: String) -> RecordOperation {
        RecordOperation(.forceDelete, Record(recordName: name, recordType: "Book"))
    }

    @Test func aSecondRecordIsRefusedWithTheFirst() throws {
        #expect(try write(.create, book("a", "1")) == nil)
        let refused = try #require(try write(.create, book("b", "1")))
        #expect(refused.code == .uniqueFieldError && refused.recordName == "b")
        #expect(refused.code.httpStatus == 409)
        #expect(refused.serverRecord?.recordName == "a")
        #expect(refused.serverRecord?.fields["title"] == .string("of a"))
        #expect(refused.reason.contains("The record a has the same Book(isbn)"))
        // Nothing of it was written, and the holder may be written again.
        #expect(try fixture.lookup(["b"])[0].error?.code == .notFound)
        #expect(try write(.forceUpdate, book("a", "1")) == nil)
        // What has no value has no key, and other types have other keys.
        #expect(try write(.create, book("c", nil)) == nil)
        #expect(try write(.create, book("d", nil)) == nil)
        var note = book("e", "1")
        note.recordType = "Note"
        #expect(try write(.create, note) == nil)
    }

    @Test func aKeyIsFreeWhenItsHolderGoesOrChanges() throws {
        let a = try fixture.save(book("a", "1"))
        #expect(try write(.forceUpdate, book("b", "1"))?.code == .uniqueFieldError)
        #expect(try write(.update, book("a", "2", tag: a.recordChangeTag)) == nil)
        #expect(try write(.forceUpdate, book("b", "1")) == nil)
        _ = try fixture.modify([deletion("b")])
        #expect(try write(.forceUpdate, book("c", "1")) == nil)
        // A field that is cleared frees the key as well.
        #expect(try write(.forceUpdate, book("c", nil)) == nil)
        #expect(try write(.forceUpdate, book("d", "1")) == nil)
        // Replacing without the field, too.
        var bare = Record(recordName: "d", recordType: "Book")
        bare.fields["title"] = .string("t")
        #expect(try write(.forceReplace, bare) == nil)
        #expect(try write(.forceUpdate, book("e", "1")) == nil)
        #expect(try write(.forceUpdate, book("d", "1"))?.serverRecord?.recordName == "e")
    }

    @Test func aPartialUpdateIsCheckedWithWhatTheRecordHas() throws {
        try accounts.declareUnique(["isbn", "title"], of: "Book", container: container)
        try accounts.undeclareUnique(
            ["isbn"], of: "Book", container: container, environment: "development")
        for name in ["a", "b"] { #expect(try write(.create, book(name, "1")) == nil) }
        var half = Record(recordName: "b", recordType: "Book")
        half.fields["title"] = .string("of a")
        #expect(try write(.forceUpdate, half)?.code == .uniqueFieldError)
        half.fields["title"] = .string("of c")
        #expect(try write(.forceUpdate, half) == nil)
    }

    /// What one field has at its end is not what the next has at its beginning, whatever byte of
    /// ours stands between them.
    @Test func valuesOfOneKeyDoNotRunTogether() throws {
        try accounts.declareUnique(["isbn", "title"], of: "Book", container: container)
        let books = [
            ("a", "12", "3"), ("b", "1", "23"), ("c", "4\u{1}5", "6"), ("d", "4", "5\u{1}6"),
        ]
        for (name, isbn, title) in books {
            var record = book(name, isbn)
            record.fields["title"] = .string(title)
            #expect(try write(.create, record) == nil)
        }
    }

    /// Records are looked at in slices, of which none loses its last or its first.
    @Test func aDeclarationLooksAtEachOfManyRecords() throws {
        let count = 1_003
        var notes = (0..<count).map { number in
            var note = Record(recordName: String(10_000 + number), recordType: "Note")
            note.fields["number"] = .int64(Int64(number))
            return note
        }
        for start in stride(from: 0, to: count, by: 200) {
            let slice = notes[start..<min(start + 200, count)]
            let results = try fixture.modify(slice.map { RecordOperation(.create, $0) })
            #expect(results.allSatisfy { $0.error == nil })
        }
        #expect(try accounts.declareUnique(["number"], of: "Note", container: container))
        for number in notes.indices {
            notes[number].recordName = "other \(number)"
        }
        for start in stride(from: 0, to: count, by: 200) {
            let slice = notes[start..<min(start + 200, count)]
            let results = try fixture.modify(slice.map { RecordOperation(.create, $0) })
            #expect(results.allSatisfy { $0.error?.code == .uniqueFieldError })
        }
    }

    @Test(arguments: [false, true])
    func theOrderOfARequestDoesNotMatter(isAtomic: Bool) throws {
        try fixture.save(book("a", "1"))
        try fixture.save(book("b", "2"))
        // Taken before it is freed, along a chain.
        let moved = try fixture.modify(
            [
                RecordOperation(.create, book("c", "1")),
                RecordOperation(.forceUpdate, book("a", "2")),
                RecordOperation(.forceUpdate, book("b", "3")),
            ], atomic: isAtomic)
        #expect(moved.compactMap(\.error).isEmpty)
        let replaced = try fixture.modify(
            [RecordOperation(.create, book("d", "3")), deletion("b")], atomic: isAtomic)
        #expect(replaced.compactMap(\.error).isEmpty)
        // Two that exchange theirs are both refused, and so is the second of two that take one.
        let exchange = try fixture.modify(
            [
                RecordOperation(.forceUpdate, book("a", "1")),
                RecordOperation(.forceUpdate, book("c", "2")),
            ], atomic: isAtomic)
        #expect(exchange.map { $0.error?.code } == [.uniqueFieldError, .uniqueFieldError])
        let twice = try fixture.modify(
            [
                RecordOperation(.create, book("x", "9")), RecordOperation(.create, book("y", "9")),
            ], atomic: isAtomic)
        #expect(
            twice.map { $0.error?.code } == [isAtomic ? .atomicError : nil, .uniqueFieldError])
        #expect(twice[1].error?.reason.contains("The record x") == true)
        #expect(try fixture.lookup(["x"])[0].error?.code == (isAtomic ? .notFound : nil))
    }

    @Test func recordsThatGoWithOthersFreeTheirs() throws {
        try fixture.save(book("a", "1"))
        var chapter = book("b", "2")
        chapter.fields["of"] = .reference(RecordReference(recordName: "a", action: .deleteSelf))
        try fixture.save(chapter)
        _ = try fixture.modify([deletion("a")])
        #expect(try write(.create, book("c", "2")) == nil)
        _ = try fixture.zones(.modifyZones([ZoneOperation(.delete, ServiceFixture.zone)]))
        try fixture.createZone(ServiceFixture.zone)
        #expect(try write(.create, book("d", "2")) == nil)
        // Another zone is another matter.
        try fixture.createZone(ZoneID(zoneName: "other"))
        let there = try fixture.modify(
            [RecordOperation(.create, book("e", "2"))], zone: ZoneID(zoneName: "other"))
        #expect(there[0].error == nil)
    }

    @Test func duplicatesKeepAKeyFromBeingDeclared() throws {
        for name in ["a", "b", "c"] {
            var note = Record(recordName: name, recordType: "Note")
            note.fields["number"] = .int64(7)
            try fixture.save(note)
        }
        let refused = #expect(throws: RecordError.self) {
            try accounts.declareUnique(["number"], of: "Note", container: container)
        }
        #expect(refused?.code == .uniqueFieldError)
        #expect(
            refused?.reason.contains("a and b have one Note(number) in the zone notes of _anna; a")
                == true)
        // Nothing is left of the attempt.
        let schema = try accounts.schema(container: container, environment: "development")
        #expect(schema["Note"]?.naturalKeys.isEmpty == true)
        var note = Record(recordName: "d", recordType: "Note")
        note.fields["number"] = .int64(7)
        #expect(try write(.create, note) == nil)
        _ = try fixture.modify(["a", "b", "c"].map(deletion))
        #expect(try accounts.declareUnique(["number"], of: "Note", container: container))
        #expect(try !accounts.declareUnique(["number"], of: "Note", container: container))
        note.recordName = "e"
        #expect(try write(.create, note)?.serverRecord?.recordName == "d")
    }

    @Test func whatCannotBeAKeyIsRefused() throws {
        var note = Record(recordName: "a", recordType: "Note")
        note.fields["tags"] = .list(type: .string, [.string("x")])
        note.fields["secret"] = .encrypted(.string("x"))
        try fixture.save(note)
        for (field, code) in [
            ("tags", RecordError.Code.badRequest), ("secret", .badRequest), ("none", .badRequest),
            ("___createTime", .badRequest),
        ] {
            let refused = #expect(throws: RecordError.self) {
                try accounts.declareUnique([field], of: "Note", container: container)
            }
            #expect(refused?.code == code)
        }
        let unknown = #expect(throws: RecordError.self) {
            try accounts.declareUnique(["x"], of: "None", container: container)
        }
        #expect(unknown?.code == .notFound)
        let absent = #expect(throws: RecordError.self) {
            try accounts.undeclareUnique(
                ["title"], of: "Book", container: container, environment: "development")
        }
        #expect(absent?.code == .notFound)
    }

    @Test func aDeploymentBringsKeysToProduction() throws {
        var production = fixture
        production.target.environment = "production"
        try production.createZone(ServiceFixture.zone)
        for name in ["a", "b"] { try production.save(book(name, "1")) }
        let refused = #expect(throws: RecordError.self) {
            try accounts.deploySchema(container: container)
        }
        #expect(refused?.code == .uniqueFieldError && refused?.reason.contains("a and b") == true)
        _ = try production.modify([deletion("b")])
        let added = try accounts.deploySchema(container: container)
        #expect(added.lines.contains("+ Book: UNIQUE (isbn)"))
        #expect(try write(.create, book("c", "1"), production)?.code == .uniqueFieldError)
        try accounts.undeclareUnique(
            ["isbn"], of: "Book", container: container, environment: "production")
        #expect(try write(.create, book("c", "1"), production) == nil)
        #expect(try write(.create, book("z", "0"))?.code == .uniqueFieldError)
    }

    @Test func anImportedTextDeclaresAndTakesAway() throws {
        let text = """
            DEFINE SCHEMA
            RECORD TYPE Book ( isbn STRING, title STRING
                // diptych: UNIQUE (title)
            );
            """
        let change = try accounts.importSchema(try RecordSchema(text: text), container: container)
        #expect(change.lines == ["+ Book: UNIQUE (title)", "- Book: UNIQUE (isbn)"])
        #expect(try write(.create, book("second", "0")) == nil)
        var same = book("third", "5")
        same.fields["title"] = .string("of first")
        #expect(try write(.create, same)?.serverRecord?.recordName == "first")
    }

    /// What a participant does not see is not told, in a share of one record.
    @Test func aHiddenHolderIsNotNamed() throws {
        var open = fixture
        open.target.database = "public"
        #expect(
            try open.modify([RecordOperation(.create, book("mine", "5"))], zone: nil)[0].error
                == nil)
        try accounts.setGrant(
            RoleGrant(
                recordType: "Book", role: "_icloud", creates: true, reads: false, writes: false),
            container: container)
        open.caller = Caller(userRecordName: "_bert")
        let refused = try open.modify([RecordOperation(.create, book("his", "5"))], zone: nil)[0]
        #expect(refused.error?.code == .uniqueFieldError)
        #expect(refused.error?.serverRecord == nil)
        #expect(refused.error?.reason.contains("mine") == false)
    }
}

/// Writers that contend for keys, of several services over one storage.
@Suite(.everyBackend) struct NaturalKeyContestTests {
    private static let writers = 4
    private static let rounds = 40

    private func book(_ name: String, _ isbn: Int) -> Record {
        Record(recordName: name, recordType: "Book", fields: ["isbn": .int64(Int64(isbn))])
    }

    /// Whatever order they come in, each key has one holder at the end, and the holders are those
    /// that were told so.
    @Test func noKeyEverHasTwoHolders() throws {
        try withStorage { storage in
            let services = try (0..<2).map { try ServiceFixture(storage, seed: UInt64($0 + 1)) }
            try services[0].save(book("seed", -1))
            try services[0].service.accounts.declareUnique(
                ["isbn"], of: "Book", container: ServiceFixture.container)
            let failures = Lock<[String]>([])
            DispatchQueue.concurrentPerform(iterations: Self.writers) { writer in
                let random = SeededRandomness(seed: UInt64(100 + writer))
                for round in 0..<Self.rounds {
                    let record = book("w\(writer)-\(round % 7)", random.below(12))
                    do {
                        let error = try services[writer % 2].modify([
                            RecordOperation(
                                random.below(4) == 0 ? .forceDelete : .forceUpdate, record)
                        ])[0].error
                        if let error, error.code != .uniqueFieldError {
                            failures.withLock { $0.append("\(error)") }
                        }
                    } catch { failures.withLock { $0.append("\(error)") } }
                }
            }
            #expect(failures.withLock { $0 } == [])
            var holders: [FieldValue: [String]] = [:]
            for record in try services[0].changes(since: nil).records where !record.deleted {
                guard let isbn = record.fields["isbn"].flatMap({ $0 }) else { continue }
                holders[isbn, default: []].append(record.recordName)
            }
            #expect(holders.values.filter { $0.count > 1 }.isEmpty)
            #expect(holders.count > 3)
        }
    }

    /// A key is declared while others write, also into zones that are made meanwhile: it is
    /// refused, or it holds for all that is there.
    @Test func aDeclarationMissesNobody() throws {
        try withStorage { storage in
            let services = try (0..<2).map { try ServiceFixture(storage, seed: UInt64($0 + 1)) }
            try services[0].save(book("seed", -1))
            let declared = Lock(false)
            DispatchQueue.concurrentPerform(iterations: Self.writers) { writer in
                let fixture = services[writer % 2]
                guard writer > 0 else {
                    let accounts = fixture.service.accounts
                    for _ in 0..<20 {
                        let isNew = try? accounts.declareUnique(
                            ["isbn"], of: "Book", container: ServiceFixture.container)
                        if isNew == true { declared.withLock { $0 = true } }
                    }
                    return
                }
                for round in 0..<8 {
                    var own = fixture
                    own.caller = Caller(userRecordName: "_user\(round)")
                    let record = book("w\(writer)", round)
                    _ = try? own.modify([RecordOperation(.forceUpdate, record)], zone: nil)
                }
            }
            for round in 0..<8 {
                var own = services[0]
                own.caller = Caller(userRecordName: "_user\(round)")
                let names = (1..<Self.writers).map { "w\($0)" }
                let found = try own.lookup(names, zone: nil).compactMap(\.record)
                #expect(!declared.withLock { $0 } || found.count <= 1)
            }
        }
    }
}
