import Foundation
import MirrorEngine
import MirrorTestKit
import RecordWire
import SQLiteDriver
import SQLiteStore
import Stores
import Testing

/// Every round ends, with its reason, and one bad record does not hold up the others.
@Suite struct RoundEndTests {
    let service: SimulatedService
    let a: Device
    let b: Device

    init() throws {
        service = try Device.service()
        a = try Device(1, service)
        b = try Device(2, service)
    }

    private func operations(_ request: RecordRequest) -> [RecordOperation]? {
        if case .modifyRecords(let modify) = request { modify.operations } else { nil }
    }

    private func batches(_ device: Device) -> [Int] {
        device.requests.compactMap { operations($0)?.count }
    }

    // MARK: A full quota

    @Test func whatDidNotFitIsSentAgainOnceInAnHour() throws {
        try a.insert("Note", ["title": .text("n")])
        var isFull = true
        a.intercept = { request in
            guard isFull, let operations = operations(request) else { return nil }
            let refusals = operations.map {
                RecordResult.failure(
                    RecordError(
                        .quotaExceeded, "The quota is used up.",
                        recordName: $0.record.recordName))
            }
            return .records(RecordsReply(results: refusals))
        }
        #expect(try a.sync().refused == 1)
        #expect(try a.mirrored.status()?.refusals.count == 1)
        isFull = false
        #expect(try a.sync().exported == 0)
        a.clock.advance(seconds: 3_601)
        #expect(try a.sync().exported == 1)
        #expect(try a.mirrored.status()?.isInSync == true)
    }

    /// Lets the device be told that its user's quota is used up by what it makes and changes, until
    /// something of that user's is deleted.
    private func fillQuota(of device: Device) {
        var isFull = true
        device.intercept = { request in
            guard isFull, let operations = operations(request) else { return nil }
            let isDeletion = operations.map { [.delete, .forceDelete].contains($0.kind) }
            if isDeletion.contains(true) {
                isFull = false
                // Alone, so that what is refused beside it in the request is sent again.
                guard isDeletion.allSatisfy({ $0 }) else { throw RecordError(.limitExceeded, "") }
                return nil
            }
            let refusals = operations.map {
                RecordResult.failure(
                    RecordError(.quotaExceeded, "", recordName: $0.record.recordName))
            }
            return .records(RecordsReply(results: refusals))
        }
    }

    @Test func aDeletionHereMakesRoomForWhatDidNotFit() throws {
        let old = try a.insert("Note", ["title": .text("old")])
        try a.sync()
        try a.insert("Note", ["title": .text("new")])
        fillQuota(of: a)
        #expect(try a.sync().refused == 1)
        try a.delete(old)
        #expect(try a.sync().isInSync)
        #expect(try a.mirrored.status()?.isInSync == true)
        try b.sync()
        #expect(try b.value(b.only("Note"), "title") == .text("new"))
    }

    @Test func aDeletionElsewhereMakesRoomForWhatDidNotFit() throws {
        try a.insert("Note", ["title": .text("old")])
        for device in [a, b] { try device.sync() }
        try a.insert("Note", ["title": .text("new")])
        fillQuota(of: a)
        #expect(try a.sync().refused == 1)
        try b.delete(b.only("Note"))
        try b.sync()
        a.intercept = { _ in nil }
        #expect(try a.sync().exported == 1)
        #expect(try a.mirrored.status()?.isInSync == true)
    }

    @Test(arguments: [true, false])
    func whatDidNotFitIsSentAgainByHandAlone(isByHand: Bool) async throws {
        try a.insert("Note", ["title": .text("new")])
        fillQuota(of: a)
        #expect(try a.sync().refused == 1)
        let session = MirrorSession(
            mirrored: a.mirrored, container: "test", channel: MeteredChannel(service: service))
        let summary =
            isByHand ? try await session.sync() : try await scheduledRound(of: session)
        #expect(summary.exported == (isByHand ? 1 : 0))
        #expect(summary.isInSync == isByHand)
    }

    /// The first round that a scheduler runs.
    private func scheduledRound(of session: MirrorSession) async throws -> SyncSummary {
        let (rounds, continuation) = AsyncStream<SyncSummary>.makeStream()
        let scheduler = MirrorScheduler(
            session,
            observe: { event in
                if case .round(let summary) = event { continuation.yield(summary) }
            })
        scheduler.start()
        defer { scheduler.stop() }
        var iterator = rounds.makeAsyncIterator()
        return try #require(await iterator.next())
    }

    /// A schema that lacks a field is deployed by others, and nobody tells this device.
    @Test(arguments: ["development", "production"])
    func whatASchemaLacksIsSentAgainOnceInAnHour(environment: String) throws {
        let device = try Device(3, service) { $0.scope.environment = environment }
        try device.insert("Note", ["title": .text("n")])
        device.refuseAll(.badRequest, "The schema of production does not have the field.")
        #expect(try device.sync().refused == 1)
        #expect(try device.mirrored.status()?.refusals.count == 1)
        device.intercept = { _ in nil }
        #expect(try device.sync().exported == 0)
        device.clock.advance(seconds: 3_601)
        #expect(try device.sync().exported == (environment == "production" ? 1 : 0))
    }

    /// As a service says that a deployment may cure it.
    private func refuseForTheSchema(_ device: Device) throws {
        let body = #"{"serverErrorCode":"BAD_REQUEST","reason":"No field.","detail":"SCHEMA"}"#
        let refusal = try WireCodec.decodeError(Data(body.utf8))
        device.intercept = { request in
            guard let operations = self.operations(request) else { return nil }
            return .records(
                RecordsReply(
                    results: operations.map {
                        var refusal = refusal
                        refusal.recordName = $0.record.recordName
                        return .failure(refusal)
                    }))
        }
    }

    @Test func whatAServiceSaysItsSchemaLacksIsSentAgainOnceInAnHourAnywhere() throws {
        try a.insert("Note", ["title": .text("n")])
        try refuseForTheSchema(a)
        #expect(try a.sync().refused == 1)
        a.intercept = { _ in nil }
        #expect(try a.sync().exported == 0)
        a.clock.advance(seconds: 3_601)
        #expect(try a.sync().exported == 1)
        #expect(try a.mirrored.status()?.isInSync == true)
    }

    /// Objects, links and deletions, in a round by hand and in the first of a program.
    @Test(arguments: [true, false])
    func whatTheSchemaLackedGoesByHandAndAtALaunch(isByHand: Bool) async throws {
        let (gone, kept) = (try a.insert("Note"), try a.insert("Note"))
        let tag = try a.insert("Tag", ["label": .text("t")])
        try a.sync()
        try a.delete(gone)
        try a.pair(kept, "tags", with: tag)
        try a.insert("Note", ["title": .text("new")])
        try refuseForTheSchema(a)
        #expect(try a.sync().refused == 3)
        let session = MirrorSession(
            mirrored: a.mirrored, container: "test", channel: MeteredChannel(service: service))
        let summary =
            isByHand ? try await session.sync() : try await scheduledRound(of: session)
        #expect(summary.exported == 3 && summary.isInSync)
        try b.sync()
        #expect(try b.rows("Note").count == 2)
    }

    /// The record above it in a share was refused, and goes after a deployment.
    @Test(arguments: [true, false])
    func whatNamesARecordThatWasRefusedGoesLater(isByHand: Bool) async throws {
        try a.insert("Note", ["title": .text("n")])
        a.refuseAll(.validatingReferenceError, "The parent is not there.")
        #expect(try a.sync().refused == 1)
        a.intercept = { _ in nil }
        #expect(try a.sync().exported == 0)
        if isByHand {
            let session = MirrorSession(
                mirrored: a.mirrored, container: "test",
                channel: MeteredChannel(service: service))
            #expect(try await session.sync().exported == 1)
        } else {
            a.clock.advance(seconds: 3_601)
            #expect(try a.sync().exported == 1)
        }
        #expect(try a.mirrored.status()?.isInSync == true)
    }

    /// One that has no word of its own for it.
    @Test func whatProductionRefusesAsItIsGoesByHand() async throws {
        let device = try Device(3, service) { $0.scope.environment = "production" }
        try device.insert("Note", ["title": .text("n")])
        device.refuseAll(.badRequest, "The schema of production does not have the field.")
        #expect(try device.sync().refused == 1)
        let session = MirrorSession(
            mirrored: device.mirrored, container: "test",
            channel: MeteredChannel(service: service))
        #expect(try await session.sync().exported == 1)
        #expect(try device.mirrored.status()?.isInSync == true)
    }

    /// What is to be sent again is looked for before the round.
    @Test func whatKeepsARoundFromBeginningIsKeptAsItsError() async throws {
        try a.insert("Note", ["title": .text("n")])
        a.refuseAll(.quotaExceeded, "It is full.")
        #expect(try a.sync().refused == 1)
        try a.store.write { transaction in
            _ = try transaction.connection.run(
                "CREATE TRIGGER obstacle BEFORE DELETE ON ADIPTYCHREFUSAL "
                    + "BEGIN SELECT RAISE(ABORT, 'damaged'); END")
        }
        let session = MirrorSession(
            mirrored: a.mirrored, container: "test", channel: MeteredChannel(service: service))
        await #expect(throws: (any Error).self) { try await session.sync() }
        #expect(try a.mirrored.status()?.lastError != nil)
    }

    // MARK: What another made

    /// A role may have been given meanwhile; in one's own database nobody gives any.
    @Test(arguments: [true, false])
    func whatIsNotOnesToWriteIsSentAgainOnceInAnHour(isPublic: Bool) throws {
        let device = try Device(3, service) { $0.scope.isPublic = isPublic }
        try device.insert("Note", ["title": .text("n")])
        var isDenied = true
        device.intercept = { request in
            guard isDenied, let operations = operations(request) else { return nil }
            let refusals = operations.map {
                RecordResult.failure(
                    RecordError(
                        .accessDenied, "The record is another user's.",
                        recordName: $0.record.recordName))
            }
            return .records(RecordsReply(results: refusals))
        }
        #expect(try device.sync().refused == 1)
        isDenied = false
        #expect(try device.sync().exported == 0)
        device.clock.advance(seconds: 3_601)
        #expect(try device.sync().exported == (isPublic ? 1 : 0))
    }

    // MARK: Too large

    @Test func aRequestThatIsTooLargeIsSentInHalves() throws {
        for index in 0..<20 { try a.insert("Note", ["views": .integer(Int64(index))]) }
        a.intercept = { request in
            guard let count = operations(request)?.count, count > 3 else { return nil }
            throw RecordError(.limitExceeded, "The records take too many bytes.")
        }
        let result = try a.sync()
        #expect(result.error == nil && result.exported == 20 && result.refused == 0)
        #expect(batches(a).filter { $0 <= 3 }.reduce(0, +) == 20)
        #expect(try a.mirrored.status()?.isInSync == true)
    }

    /// A plain service has no word for it but that the request is bad; one of a single record that
    /// is refused so ends the round.
    @Test(arguments: [3, 0])
    func whatAPlainServiceRefusesAsAWholeIsSentInHalves(takenMax: Int) throws {
        let device = try Device(3, Device.service(.plain))
        for index in 0..<20 { try device.insert("Note", ["views": .integer(Int64(index))]) }
        device.intercept = { request in
            guard let count = operations(request)?.count, count > takenMax else { return nil }
            throw RecordError(.badRequest, "array 'operations' length is greater than max size")
        }
        let result = try device.sync()
        #expect((result.error == nil) == (takenMax > 0))
        #expect(result.exported == (takenMax > 0 ? 20 : 0) && result.refused == 0)
        #expect(try device.mirrored.status()?.refusals.isEmpty == true)
        #expect(try device.mirrored.status()?.isInSync == (takenMax > 0))
    }

    @Test func oneRecordThatNoRequestHoldsIsPutAsideAndTheRestGoesOn() throws {
        for index in 0..<7 { try a.insert("Note", ["title": .text("n\(index)")]) }
        let huge = try a.insert("Note", ["title": .text("huge")])
        func isHuge(_ operation: RecordOperation) -> Bool {
            operation.record.fields["CD_title"] == .some(.string("huge"))
        }
        a.intercept = { request in
            guard operations(request)?.contains(where: isHuge) == true else { return nil }
            throw RecordError(.limitExceeded, "The request is too large.")
        }
        let result = try a.sync()
        #expect(result.error == nil && result.exported == 7 && result.refused == 1)
        #expect(try a.mirrored.status()?.refusals.count == 1)
        let sent = batches(a).count
        #expect(try a.sync().exported == 0 && batches(a).count == sent)
        try a.set(huge, "title", .text("small"))
        #expect(try a.sync().exported == 1)
        #expect(try a.mirrored.status()?.isInSync == true)
    }

    @Test func aRefusalForSizeIsTriedAgainAfterAReset() throws {
        try a.insert("Note", ["title": .text("huge")])
        a.intercept = { request in
            guard operations(request) != nil else { return nil }
            throw RecordError(.limitExceeded, "The request is too large.")
        }
        #expect(try a.sync().refused == 1)
        a.intercept = { _ in nil }
        try a.mirrored.reset()
        #expect(try a.sync().exported == 1)
        #expect(try a.mirrored.status()?.isInSync == true)
    }

    @Test func whatWasRefusedAndThenDeletedIsDeletedThere() throws {
        let cover = try a.insert("Cover", ["image": .data(Data([1]))])
        try a.sync()
        try b.sync()
        try a.set(cover, "image", .data(Data(repeating: 1, count: 1_200_000)))
        #expect(try a.sync().refused == 1)
        try a.delete(cover)
        #expect(try a.sync().exported == 1)
        try b.sync()
        #expect(try b.rows("Cover").isEmpty)
        #expect(try a.mirrored.status()?.isInSync == true)
    }

    @Test func aBatchStaysBelowItsBytes() throws {
        let text = String(repeating: "\u{1}", count: 100_000)
        for _ in 0..<8 { try a.insert("Note", ["title": .text(text)]) }
        let batch = try a.firstBatch()
        #expect(batch.bytes <= a.mirrored.settings.sizes.batchBytesMax)
        #expect(batch.items.count == 2)
    }

    // MARK: Rest

    /// The first look at a store is part of reading the zone, and may note more than any round
    /// would send otherwise.
    @Test func theFirstExportOfALargeStoreEndsInOneRound() throws {
        let many = Device.manyBatches
        let large = try Device(3, service) { $0.batchRecordsMax = 1 }
        for index in 0..<many { try large.insert("Tag", ["label": .text("t\(index)")]) }
        let result = try large.sync()
        #expect(result.error == nil && result.exported == many)
    }

    @Test func whatIsSavedDuringARoundIsSentInIt() throws {
        let many = Device.manyBatches
        let busy = try Device(3, service) { $0.batchRecordsMax = 1 }
        try busy.insert("Tag", ["label": .text("first")])
        var isFirst = true
        busy.intercept = { [busy] request in
            guard isFirst, operations(request) != nil else { return nil }
            isFirst = false
            for index in 0..<many { try busy.insert("Tag", ["label": .text("t\(index)")]) }
            return nil
        }
        let result = try busy.sync()
        busy.intercept = { _ in nil }
        #expect(result.error == nil && result.exported == many + 1)
    }

    @Test func failuresOfSendingEndTheRoundThoughTheZoneCanBeRead() throws {
        try a.insert("Note")
        a.intercept = { request in
            guard operations(request) != nil else { return nil }
            throw RecordError(.tryAgainLater, "The disk is full.")
        }
        let result = try a.sync()
        #expect(result.error?.code == .offline && !result.isInSync)
        #expect(batches(a).count == RoundLimits().attemptsMax + 1)
    }

    @Test func aBusyZoneDoesNotKeepAFailingRoundAlive() throws {
        try a.insert("Note")
        try b.sync()
        a.intercept = { [b, service] request in
            guard operations(request) == nil else {
                throw RecordError(.tryAgainLater, "The disk is full.")
            }
            b.intercept = { _ in nil }
            b.service = service
            try b.insert("Tag")
            try b.sync()
            return nil
        }
        #expect(try a.sync().error?.code == .offline)
        #expect(batches(a).count == RoundLimits().attemptsMax + 1)
    }

    @Test func aRefusedZoneEndsTheRoundWithTheServicesWords() throws {
        a.intercept = { request in
            switch request {
            case .modifyZones:
                return .zones([.failure(RecordError(.badRequest, "A zone's name begins oddly."))])
            case .zoneChanges(let changes):
                var page = ZoneChangesReply(zoneID: changes.zones[0].zoneID)
                page.failure = RecordError(.zoneNotFound, "There is no such zone.")
                return .zoneChanges([page])
            default: return nil
            }
        }
        let result = try a.sync()
        #expect(result.error?.message.contains("begins oddly") == true)
        #expect(a.requests.count < 3)
    }

    @Test func aZoneThatVanishesEachTimeIsAStormAndNoLoop() throws {
        a.intercept = { request in
            guard case .zoneChanges(let changes) = request else { return nil }
            var page = ZoneChangesReply(zoneID: changes.zones[0].zoneID)
            page.failure = RecordError(.zoneNotFound, "There is no such zone.")
            return .zoneChanges([page])
        }
        #expect(try a.sync().error?.code == .stopped)
        #expect(a.requests.count < 300)
    }

    @Test func aConflictWithoutEndIsAStormAndNoLoop() throws {
        try a.insert("Note", ["title": .text("mine")])
        var stranger = 0
        a.intercept = { request in
            guard let operation = operations(request)?.first else { return nil }
            stranger += 1
            var record = operation.record
            record.fields["CD_title"] = .string("theirs \(stranger)")
            record.recordChangeTag = "t\(stranger)"
            record.writeID = nil
            var error = RecordError(.conflict, "The tag is stale.")
            error.serverRecord = record
            return .records(RecordsReply(results: [.failure(error)]))
        }
        #expect(try a.sync().error?.code == .stopped)
        #expect(a.requests.count < 300)
    }

    @Test func aPageThatPromisesMoreAndMovesNowhereEndsTheRound() throws {
        try a.sync()
        let before = a.requests.count
        a.intercept = { request in
            guard case .zoneChanges(let changes) = request else { return nil }
            var page = ZoneChangesReply(zoneID: changes.zones[0].zoneID)
            page.syncToken = changes.zones[0].syncToken
            page.moreComing = true
            return .zoneChanges([page])
        }
        #expect(try a.sync().error?.code == .serviceRefused)
        #expect(a.requests.count - before < 5)
    }

    @Test func pairsThatNeedNoRequestHideNoneBehindThem() throws {
        let a = try Device(3, service) { $0.batchRecordsMax = 400 }
        let note = try a.insert("Note")
        let tags = try (0..<450).map { try a.insert("Tag", ["label": .text("\($0)")]) }
        for tag in tags { try a.pair(note, "tags", with: tag) }
        try a.sync()
        // All pairs wait, and the first 449 are there already as they stand.
        try a.store.write { _ = try $0.connection.run(Self.lookAgain) }
        try a.pair(note, "tags", with: a.insert("Tag"))
        try a.sync()
        #expect(try a.mirrored.status()?.pending.total == 0)
        #expect(try a.mirrored.status()?.isInSync == true)
    }

    private static let lookAgain = "UPDATE ANSCKMIRROREDRELATIONSHIP SET ZISUPLOADED = 0"

    // MARK: In mid-flight

    @Test func aDecisionWhileABatchIsUnderWayIsSent() throws {
        let a = try Device(3, service, policy: MergePolicy(standard: .remote))
        let note = try a.insert("Note", ["title": .text("old")])
        try a.sync()
        try b.sync()
        try b.set(b.only("Note"), "title", .text("theirs"))
        try b.sync()
        try a.set(note, "title", .text("mine"))
        try a.sync()
        let line = try #require(try a.mirrored.conflicts().first)
        try a.set(note, "rating", .double(1))
        var resolved = false
        a.intercept = { [service] request in
            guard operations(request) != nil, !resolved else { return nil }
            resolved = true
            let response = try service.handle(request, from: try a.mirrored.deviceID())
            try a.mirrored.resolve(conflict: line.id, taking: .local)
            return response
        }
        try a.sync()
        try b.sync()
        #expect(resolved)
        #expect(try b.value(b.only("Note"), "title") == .text("mine"))
    }

    @Test func anAnswerThatMeetsAMovedLedgerChangesNothing() throws {
        let note = try a.insert("Note", ["title": .text("one"), "views": .integer(1)])
        try a.sync()
        try a.set(note, "views", .integer(2))
        let device = try a.mirrored.deviceID()
        var isFirst = true
        a.intercept = { [a, service] request in
            guard operations(request) != nil, isFirst else { return nil }
            isFirst = false
            let response = try service.handle(request, from: device)
            // Another process of the same store runs a whole round, with a count of its own.
            let b = try Device(2, service)
            try b.sync()
            try b.set(b.only("Note"), "views", .integer(5))
            try b.sync()
            a.intercept = { _ in nil }
            try a.sync()
            return response
        }
        try a.sync()
        try a.set(note, "views", .integer(6))
        try a.sync()
        let c = try Device(4, service)
        try c.sync()
        #expect(try c.value(c.only("Note"), "views") == .integer(6))
        #expect(try a.value(note, "views") == .integer(6))
    }

    @Test func aDeletionTakenLateDoesNotForgetAnObjectThatCameBack() throws {
        let a = try Device(3, service, policy: MergePolicy(deletion: .keepEdited))
        let note = try a.insert("Note", ["title": .text("one")])
        try a.sync()
        try a.delete(note)
        _ = try a.mirrored.analyse()
        let batch = try a.mirrored.nextBatch()
        let keeper = try Device(5, service)
        try keeper.sync()
        try keeper.set(keeper.only("Note"), "title", .text("two"))
        try keeper.sync()
        a.intercept = { _ in nil }
        try a.sync()
        #expect(try a.rows("Note").count == 1)
        let taken = batch.items.map { RecordResult.record($0.operation.record) }
        _ = try a.mirrored.record(batch, RecordsReply(results: taken))
        try a.set(a.only("Note"), "title", .text("three"))
        try a.sync()
        #expect(try service.records(inZone: a.mirrored.settings.zoneName).count == 1)
    }
}
