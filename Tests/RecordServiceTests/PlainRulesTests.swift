import RecordService
import RecordWire
import Testing

/// What a service of the plain dialect answers otherwise. (SERVICE §10)
@Suite(.everyBackend) struct PlainRulesTests {
    let fixture: ServiceFixture

    init() throws { fixture = try ServiceFixture(dialect: .plain) }

    private func modify(
        _ kind: RecordOperation.Kind, tag: String? = nil, name: String = "n",
        change: (inout Record) -> Void = { _ in }
    ) throws -> RecordResult {
        var record = Record(
            recordName: name, recordType: "Note", recordChangeTag: tag,
            fields: ["text": .string("x")])
        if kind == .delete || kind == .forceDelete { record.fields = [:] }
        change(&record)
        let request = ModifyRecords(
            operations: [RecordOperation(kind, record)], zoneID: ServiceFixture.zone)
        guard case .records(let reply) = try fixture.send(.modifyRecords(request)) else {
            throw RecordError(.internalError, "another answer")
        }
        #expect(reply.previousSyncToken == nil && reply.epochs == nil)
        return try #require(reply.results.first)
    }

    private func code(_ result: RecordResult) -> String {
        switch result {
        case .record(let record): record.deleted ? "deleted" : "done"
        case .failure(let error): error.code.rawValue
        }
    }

    @Test func aDeletionIsANameThatMayBeMadeAgain() throws {
        guard case .record(let made) = try modify(.create) else {
            Issue.record("not made")
            return
        }
        guard case .record(let gone) = try modify(.delete, tag: made.recordChangeTag) else {
            Issue.record("not deleted")
            return
        }
        #expect(gone.deleted && gone.recordChangeTag == nil && gone.modified == nil)
        #expect(try code(modify(.update, tag: made.recordChangeTag)) == "NOT_FOUND")
        #expect(try code(modify(.delete, tag: made.recordChangeTag)) == "NOT_FOUND")
        #expect(try code(modify(.forceDelete)) == "deleted")
        #expect(try code(modify(.forceDelete, name: "never")) == "deleted")
        #expect(try code(modify(.create)) == "done")
    }

    @Test func aConflictTellsNoRecord() throws {
        _ = try modify(.create)
        guard case .failure(let error) = try modify(.update, tag: "0") else {
            Issue.record("taken")
            return
        }
        #expect(error.code == .conflict && error.serverRecord == nil)
        #expect(!error.reason.contains("serverRecord"))
        guard case .failure(let exists) = try modify(.create) else {
            Issue.record("made twice")
            return
        }
        #expect(exists.code == .exists && exists.serverRecord == nil)
    }

    @Test func anExtensionIsAnUnknownKey() throws {
        let error = #expect(throws: RecordError.self) {
            _ = try modify(.create) { $0.writeID = "w" }
        }
        #expect(error?.code == .badRequest && error?.reason.contains("writeID") == true)
        var changes = ZoneChanges(zones: [])
        changes.waitSeconds = 1
        #expect(throws: RecordError.self) { try fixture.send(.zoneChanges(changes)) }
    }

    @Test func anUnknownTokenIsABadRequest() throws {
        let zone = ZoneChanges.Zone(zoneID: ServiceFixture.zone, syncToken: "bm8gdG9rZW4")
        guard
            case .zoneChanges(let pages) = try fixture.send(
                .zoneChanges(ZoneChanges(zones: [zone])))
        else { return }
        #expect(pages.first?.failure?.code == .badRequest)
    }

    @Test func twoHundredOperationsAreTaken() throws {
        #expect(fixture.service.limits.operationsPerRequestMax == 200)
        let records = (0...200).map {
            RecordOperation(.create, Record(recordName: "r\($0)", recordType: "Note"))
        }
        #expect(throws: RecordError.self) {
            try fixture.send(
                .modifyRecords(ModifyRecords(operations: records, zoneID: ServiceFixture.zone)))
        }
    }

    @Test(arguments: [
        ("SERVER_RECORD_CHANGED", RecordError.Code.conflict), ("UNKNOWN_ITEM", .notFound),
        ("ATOMIC_FAILURE", .atomicError), ("BATCH_REQUEST_FAILED", .atomicError),
        ("CONFLICT", .conflict), ("NEW_WORD", RecordError.Code(rawValue: "NEW_WORD")),
    ])
    func otherServicesWordsAreRead(word: String, code: RecordError.Code) {
        #expect(RecordError.Code(rawValue: word).canonical == code)
    }
}
