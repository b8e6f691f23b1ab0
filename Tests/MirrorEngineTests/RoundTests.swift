import Foundation
import MirrorEngine
import MirrorTestKit
import Platform
import Predicates
import RecordWire
import SQLiteDriver
import SQLiteStore
import Stores
import Testing

/// Two devices and a service: what one saves, the other has.
@Suite struct RoundTests {
    let service: SimulatedService
    let a: Device
    let b: Device

    init() throws {
        service = try Device.service()
        a = try Device(1, service)
        b = try Device(2, service)
    }

    @Test func anObjectTravelsWithEveryValueExact() throws {
        let values: [String: AttributeValue] = [
            "title": .text("Ünï\u{0}code\n"), "views": .integer(.max), "rating": .double(0.1),
            "price": .decimal(Decimal(string: "12345678901234.567")!),
            "edited": .date(700_000_000.123456), "link": .uri("https://example.org/a?b=c"),
            "token": .uuid(UUID(uuidString: "8394571D-30E0-4D4A-8BEA-9AB943989253")!),
        ]
        let row = try a.insert("Note", values)
        let stored = try #require(try a.store.row(row))
        #expect(try a.sync().exported == 1)
        #expect(try b.sync().imported.applied == 1)
        #expect(try b.rows("Note").map(\.attributes) == [stored.attributes])
        let again = try b.sync()
        #expect(again.exported == 0 && again.imported.received == 0)
    }

    /// A line that earlier versions made for an object that was gone.
    @Test func aLineThatHasNoObjectAndWasNeverSentGoes() throws {
        try a.insert("Note", ["title": .text("ghost")])
        _ = try a.mirrored.prepare(container: "test")
        while try a.mirrored.analyse().moreWaiting {}
        #expect(try a.mirrored.status()?.pending.total == 1)
        try a.store.write { transaction in
            _ = try transaction.connection.run("DELETE FROM ZNOTE")
        }
        try a.insert("Folder", ["name": .text("f")])
        try a.sync()
        #expect(try a.mirrored.status()?.pending.total == 0)
        try b.sync()
        #expect(try b.rows("Folder").count == 1 && b.rows("Note").isEmpty)
    }

    @Test func aSubentityArrivesAsWhatItIs() throws {
        try a.insert("TodoNote", ["title": .text("t"), "isDone": .integer(1)])
        try a.sync()
        try b.sync()
        #expect(try b.rows("Note").isEmpty)
        #expect(try b.rows("TodoNote").count == 1)
    }

    @Test func linksAndPairsArriveInAnyOrder() throws {
        let folder = try a.insert("Folder", ["name": .text("f")])
        let note = try a.insert("Note")
        let tag = try a.insert("Tag")
        try a.link(note, "folder", folder, order: 2048)
        try a.pair(note, "tags", with: tag)
        try a.pair(tag, "pinned", with: note)
        try a.sync()
        b.intercept = { request in try reversed(request, service) }
        try b.sync()
        let arrived = try b.only("Note")
        #expect(try b.target(arrived, "folder") == b.only("Folder"))
        #expect(try b.members(arrived, "tags") == [b.only("Tag")])
        #expect(try b.members(b.only("Tag"), "pinned") == [arrived])
    }

    /// Names that sort behind all others are new without a look, and once.
    @Test(arguments: [[0, 1, 2], [2, 1, 0], [2, 2, 0, 1, 1, 0], [1, 2, 2, 0, 0]])
    func recordsArriveInAnyOrderOfTheirNamesAndMoreThanOnce(order: [Int]) throws {
        for label in ["x", "y", "z"] { try a.insert("Tag", ["label": .text(label)]) }
        try a.sync()
        b.intercept = { [service] request in
            guard case .zoneChanges = request,
                case .zoneChanges(var zones) = try service.handle(request, from: "b")
            else { return nil }
            let records = zones[0].records.sorted { $0.recordName < $1.recordName }
            if records.count == 3 { zones[0].records = order.map { records[$0] } }
            return .zoneChanges(zones)
        }
        #expect(try b.sync().isInSync)
        #expect(Set(try b.rows("Tag").map { try b.value($0.id, "label") }).count == 3)
        #expect(try b.rows("Tag").count == 3)
        b.intercept = { _ in nil }
        try a.set(a.rows("Tag")[1].id, "label", .text("new"))
        try a.sync()
        #expect(try b.sync().imported.applied == 1)
        #expect(try b.rows("Tag").count == 3)
    }

    /// A service that hands out each page backwards.
    private func reversed(
        _ request: RecordRequest, _ service: SimulatedService
    ) throws -> RecordResponse? {
        guard case .zoneChanges = request,
            case .zoneChanges(var pages) = try service.handle(request, from: "b")
        else { return nil }
        for index in pages.indices { pages[index].records.reverse() }
        return .zoneChanges(pages)
    }

    @Test func theRecordInAConflictIsMergedWithoutAnotherRead() throws {
        let note = try a.insert("Note", ["title": .text("new")])
        try a.sync()
        try b.sync()
        try a.set(note, "title", .text("by a"))
        try b.set(b.only("Note"), "rating", .double(2))
        var isFirst = true
        a.intercept = { [b] request in
            guard case .modifyRecords = request, isFirst else { return nil }
            isFirst = false
            try b.sync()
            return nil
        }
        let before = a.requests.count
        #expect(try a.sync().exported == 1)
        #expect(a.requests[before...].map(\.word) == ["changes", "modify", "modify", "changes"])
        #expect(try a.value(note, "rating") == .double(2))
        try b.sync()
        #expect(try b.value(b.only("Note"), "title") == .text("by a"))
    }

    @Test func aValueThatWasClearedCanComeBack() throws {
        let note = try a.insert("Note", ["title": .text("x")])
        try a.sync()
        for title: AttributeValue in [.null, .text("x")] {
            try a.set(note, "title", title)
            try a.sync()
            try b.sync()
            #expect(try b.value(b.only("Note"), "title") == title)
        }
    }

    @Test func aPageThatWasAskedForEarlierIsNotApplied() throws {
        let zone = try a.mirrored.prepare(container: "test")
        let early = PageRequest(token: zone.token, toldWriteIDs: true, marks: zone.marks)
        try b.insert("Note")
        try b.sync()
        try a.sync()
        let token = try a.mirrored.prepare(container: "test").token
        #expect(token != early.token)
        var page = ZoneChangesReply(zoneID: ZoneID(zoneName: a.mirrored.settings.zoneName))
        page.syncToken = "another"
        #expect(try a.mirrored.apply(page, to: early) == nil)
        #expect(try a.mirrored.prepare(container: "test").token == token)
        let now = PageRequest(token: token, toldWriteIDs: true, marks: zone.marks)
        #expect(try a.mirrored.apply(page, to: now) != nil)
    }

    /// The zone was deleted after it took a batch, and another session has compared the store with
    /// the new one before the answer is recorded.
    @Test func anAnswerOfAZoneThatIsGoneSettlesNothing() throws {
        try a.sync()
        try a.insert("Note", ["title": .text("x")])
        let zone = a.mirrored.settings.zoneID
        let batch = try a.mirrored.nextBatch()
        let answer = try handle(
            .modifyRecords(ModifyRecords(operations: batch.operations, zoneID: zone)))
        for kind in [ZoneOperation.Kind.delete, .create] {
            _ = try handle(.modifyZones([ZoneOperation(kind, zone)]))
        }
        try a.mirrored.forgetZone()
        try a.mirrored.noteZoneExists()
        let whole = ZoneChanges.Zone(zoneID: zone, syncToken: nil)
        guard case .records(let reply) = answer,
            case .zoneChanges(let pages) = try handle(.zoneChanges(ZoneChanges(zones: [whole]))),
            let page = pages.first
        else { throw Missing(name: "answer") }
        let marks = try a.mirrored.prepare(container: "test").marks
        let asked = PageRequest(token: nil, toldWriteIDs: true, marks: marks)
        #expect(try a.mirrored.apply(page, to: asked) != nil)
        #expect(try a.mirrored.record(batch, reply).exported == 0)
        try settle([a, b])
        #expect(try b.value(b.only("Note"), "title") == .text("x"))
    }

    private func handle(_ request: RecordRequest) throws -> RecordResponse {
        try service.handle(request, from: a.mirrored.deviceID())
    }

    /// The history is read in stretches: at the one with the edit the row is gone already, and no
    /// predicate finds it.
    @Test func aDeletionOfWhatWasChosenIsToldHoweverTheHistoryIsRead() throws {
        var selection = SyncSelection()
        selection.include(entity: "Note", where: NSPredicate(format: "title != nil"))
        let chooser = try Device(7, service, selecting: .given(selection)) {
            $0.historyTransactionsMax = 1
        }
        let note = try chooser.insert("Note", ["title": .text("x")])
        try settle([chooser, b])
        #expect(try b.rows("Note").count == 1)
        try chooser.set(note, "title", .text("y"))
        try chooser.delete(note)
        try settle([chooser, b])
        #expect(try b.rows("Note").isEmpty)
    }

    @Test func aDeletionTravelsAndClearsWhatPointedThere() throws {
        let folder = try a.insert("Folder")
        let note = try a.insert("Note")
        try a.link(note, "folder", folder, order: 2048)
        try a.sync()
        try b.sync()
        try a.link(note, "folder", nil)
        try a.delete(folder)
        try a.sync()
        let child = try b.insert("Note", ["title": .text("made meanwhile")])
        try b.link(child, "folder", b.only("Folder"), order: 4096)
        try b.sync()
        #expect(try b.rows("Folder").isEmpty)
        #expect(try b.target(child, "folder") == nil)
        try a.sync()
        #expect(try a.rows("Note").count == 2)
    }

    @Test func whatWasMadeAndDeletedBetweenTwoRoundsIsNeverSent() throws {
        let note = try a.insert("Note")
        try a.delete(note)
        let result = try a.sync()
        #expect(result.exported == 0)
        #expect(try service.records(inZone: a.mirrored.settings.zoneName).isEmpty)
    }

    @Test func onlyChangedFieldsTravel() throws {
        let note = try a.insert("Note", ["title": .text("one"), "rating": .double(1)])
        try a.sync()
        try a.set(note, "title", .text("two"))
        try a.sync()
        let updates = a.requests.compactMap { request -> [RecordOperation]? in
            if case .modifyRecords(let modify) = request { modify.operations } else { nil }
        }.flatMap { $0 }.filter { $0.kind == .update }
        #expect(updates.map { Set($0.record.fields.keys) } == [["CD_title"]])
    }

    @Test func ownWritesAreNotReadBack() throws {
        for index in 0..<5 { try a.insert("Note", ["views": .integer(Int64(index))]) }
        #expect(try a.sync().imported.received == 0)
        #expect(try a.sync().imported.received == 0)
    }

    @Test func aLostZoneIsMadeAgainAndNothingHereIsDeleted() throws {
        try a.insert("Note", ["title": .text("kept")])
        try a.sync()
        let zone = ZoneID(zoneName: a.mirrored.settings.zoneName)
        _ = try service.handle(.modifyZones([ZoneOperation(.delete, zone)]), from: "somebody")
        let result = try a.sync()
        #expect(result.isInSync && result.exported == 1)
        #expect(try a.rows("Note").count == 1)
        #expect(try service.records(inZone: zone.zoneName).count == 1)
    }

    @Test func anExpiredTokenReadsTheZoneAnewWithoutHarm() throws {
        try a.insert("Note", ["title": .text("x")])
        try a.sync()
        try b.sync()
        var refused = false
        b.intercept = { request in
            guard case .zoneChanges = request, !refused else { return nil }
            refused = true
            var page = ZoneChangesReply(zoneID: ZoneID(zoneName: "z"))
            page.failure = RecordError(.changeTokenExpired, "The token is too old.")
            return .zoneChanges([page])
        }
        let result = try b.sync()
        #expect(result.isInSync && result.imported.applied == 0)
        #expect(try b.rows("Note").count == 1)
    }

    @Test func purgedHistoryIsMadeGoodByComparingEverything() throws {
        let kept = try a.insert("Note", ["title": .text("one")])
        let lost = try a.insert("Note")
        try a.sync()
        try a.set(kept, "title", .text("two"))
        try a.delete(lost)
        try a.insert("Tag")
        try a.loseHistory()
        try a.insert("Cover")
        let result = try a.sync()
        #expect(result.isInSync)
        try b.sync()
        #expect(try b.rows("Note").count == 1)
        #expect(try b.value(b.only("Note"), "title") == .text("two"))
        #expect(try b.rows("Tag").count == 1 && b.rows("Cover").count == 1)
    }

    /// Whoever purges, and however much: what the mirror has not seen stays, and a purge never
    /// makes it compare or send everything.
    @Test func aPurgeStopsBeforeWhatTheMirrorHasNotSeen() throws {
        let note = try a.insert("Note", ["title": .text("one")])
        for _ in 0..<5 { try a.insert("Tag") }
        try a.sync()
        #expect(try a.store.deleteHistory(.all).heldBy.isEmpty)
        #expect(try a.store.history(after: 0, limit: nil).isEmpty)
        #expect(try a.sync().exported == 0)
        try a.set(note, "title", .text("two"))
        try a.insert("Cover")
        let held = try a.store.deleteHistory(.all)
        #expect(held.transactions == 0 && held.heldBy == ["NSCloudKitMirroringDelegate"])
        #expect(try a.mirrored.analyse().waiting == 2)
        #expect(try a.sync().exported == 2)
        try b.sync()
        #expect(try b.value(b.only("Note"), "title") == .text("two"))
        #expect(try a.store.deleteHistory(.all).heldBy.isEmpty)
    }

    @Test func aStoreWithRowsFromBeforeMirroringIsSentWhole() throws {
        try a.insert("Note")
        try a.insert("Tag")
        try a.loseHistory()
        try a.sync()
        #expect(try service.records(inZone: a.mirrored.settings.zoneName).count == 2)
    }

    @Test func aRefusedRecordIsToldAndTheRestGoesOn() throws {
        try a.insert("Cover", ["image": .data(Data(repeating: 1, count: 1_200_000))])
        try a.insert("Tag", ["label": .text("small")])
        let result = try a.sync()
        #expect(result.refused == 1 && result.exported == 1)
        let status = try #require(try a.mirrored.status())
        #expect(status.refusals.count == 1 && !status.isInSync)
        try a.set(a.only("Cover"), "image", .data(Data([1])))
        #expect(try a.sync().exported == 1)
        #expect(try a.mirrored.status()?.isInSync == true)
    }

    @Test func anotherServiceIsRefusedForAStoreThatHasOne() throws {
        try a.sync()
        let error = #expect(throws: MirrorError.self) {
            try a.mirrored.prepare(container: "elsewhere")
        }
        #expect(error?.code == .otherContainer)
    }

    @Test func aStoreKeepsToTheEnvironmentOfItsFirstRound() throws {
        try a.sync()
        func prepare(in environment: String?) throws {
            let mirrored = try MirroredStore(
                store: a.store, environment: environment, platform: .system)
            _ = try mirrored.prepare(container: "test")
        }
        let error = #expect(throws: MirrorError.self) { try prepare(in: "production") }
        #expect(error?.code == .otherContainer && error?.fields["known"] == "development")
        // One of an earlier version names none: its app names the one that it named before.
        try a.store.write { transaction in
            _ = try transaction.connection.run(
                "DELETE FROM ANSCKMETADATAENTRY WHERE ZKEY = 'DiptychEnvironment'")
        }
        try prepare(in: "production")
        try prepare(in: nil)
        #expect(try a.mirrored.status()?.environment == "production")
        #expect(throws: MirrorError.self) { try prepare(in: "development") }
    }

    @Test(arguments: [
        ("https://shelf.example", "HTTPS://Shelf.Example:443/"),
        ("http://[::1]", "http://[::1]:80"),
        ("https://shelf.example:8443/Own", "https://shelf.example:8443/Own//"),
    ])
    func anotherSpellingOfTheServiceIsTheSame(one: String, other: String) throws {
        func name(_ service: String) -> String {
            MirrorDestination(service: service, container: "iCloud.Own").name
        }
        #expect(name(one) == "\(one) iCloud.Own" && name(other) == name(one))
        // A store of an earlier version remembers the address as it was given.
        _ = try a.mirrored.prepare(container: "\(other) iCloud.Own")
        _ = try a.mirrored.prepare(container: name(one))
        #expect(try a.mirrored.status()?.container == name(one))
        for elsewhere in ["https://shelf.example/own", "https://shelf.example:8444/Own"] {
            #expect(throws: MirrorError.self) {
                try a.mirrored.prepare(container: name(elsewhere))
            }
        }
    }

    @Test func aThrottledRoundEndsWithItsReason() throws {
        a.intercept = { _ in
            var error = RecordError(.throttled, "Too many requests.")
            error.retryAfterSeconds = 30
            throw error
        }
        let result = try a.sync()
        #expect(!result.isInSync && result.error?.code == .throttled)
        #expect(result.retryAfterSeconds == 30)
        #expect(try a.mirrored.status()?.lastError != nil)
    }

    @Test func aRecordThatTheModelCannotReadIsPutAsideAndToldOf() throws {
        try a.insert("Note", ["title": .text("fine")])
        try a.sync()
        var odd = Record(recordName: "odd", recordType: "CD_Tag")
        odd.fields = ["CD_entityName": .string("Tag"), "CD_label": .int64(5)]
        let zone = ZoneID(zoneName: a.mirrored.settings.zoneName)
        let write = RecordRequest.modifyRecords(
            ModifyRecords(operations: [RecordOperation(.create, odd)], zoneID: zone))
        _ = try service.handle(write, from: "another program")
        let result = try b.sync()
        #expect(result.imported.unknown == 1 && result.imported.applied == 1)
        let status = try #require(try b.mirrored.status())
        #expect(!status.isInSync && status.refusals.map(\.recordName) == ["odd"])
        #expect(status.refusals.first?.reason.contains("CD_label") == true)
    }
}

extension RecordRequest {
    /// What is asked for, in a word.
    fileprivate var word: String {
        switch self {
        case .zoneChanges: "changes"
        case .modifyRecords: "modify"
        default: "other"
        }
    }
}
