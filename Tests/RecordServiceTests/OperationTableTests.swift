import Foundation
import RecordService
import RecordWire
import Testing

/// Each operation on each state of a record with each tag: what comes back and what is kept.
@Suite(.everyBackend) struct OperationTableTests {
    enum State: CaseIterable, Sendable { case absent, live, deleted }
    enum Tag: CaseIterable, Sendable { case right, stale, missing }

    /// The kept record has `title` and `body`; operations give `title` and clear `mark`.
    enum Outcome: Equatable, Sendable {
        /// Exactly the given fields.
        case fresh
        /// The given fields and the ones there before.
        case merged
        case gone
        case refused(RecordError.Code)
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let kind: RecordOperation.Kind
        let state: State
        let tag: Tag
        var testDescription: String { "\(kind) on \(state), tag \(tag)" }
    }

    static let cases = RecordOperation.Kind.allCases.flatMap { kind in
        State.allCases.flatMap { state in
            Tag.allCases.map { Case(kind: kind, state: state, tag: $0) }
        }
    }

    /// The table itself, from the protocol page.
    static func expected(_ test: Case) -> Outcome {
        switch (test.kind, test.state, test.tag) {
        case (.create, .live, _): .refused(.exists)
        case (.create, .absent, _), (.create, .deleted, .right): .fresh
        case (.create, .deleted, .stale): .refused(.conflict)
        case (.create, .deleted, .missing): .refused(.exists)
        case (.update, .live, .right): .merged
        case (.replace, .live, .right): .fresh
        case (.update, .absent, _), (.replace, .absent, _): .refused(.notFound)
        case (.update, _, .missing), (.replace, _, .missing): .refused(.badRequest)
        case (.update, _, _), (.replace, _, _): .refused(.conflict)
        case (.forceUpdate, .live, _): .merged
        case (.forceUpdate, _, _), (.forceReplace, _, _): .fresh
        case (.delete, .absent, _): .refused(.notFound)
        case (.delete, .live, .stale): .refused(.conflict)
        case (.delete, _, _), (.forceDelete, _, _): .gone
        }
    }

    @Test(arguments: cases)
    func everyOperationOnEveryState(_ test: Case) throws {
        let fixture = try ServiceFixture()
        let before = try prepare(test.state, fixture)
        let start = try fixture.changes(since: nil).syncToken
        var record = Record(recordName: "r", recordType: "Note")
        record.fields = ["title": .string("new"), "mark": nil]
        record.recordChangeTag = tag(test.tag, before)
        let result = try fixture.modify([RecordOperation(test.kind, record)])[0]
        try check(result, Self.expected(test), before, fixture)
        let written = try fixture.changes(since: start).records
        try checkFeed(written, Self.expected(test), test.state)
    }

    private func prepare(_ state: State, _ fixture: ServiceFixture) throws -> Record? {
        guard state != .absent else { return nil }
        let first = Record(
            recordName: "r", recordType: "Note",
            fields: ["title": .string("old"), "body": .string("b"), "mark": .int64(1)])
        let saved = try fixture.save(first, .create)
        guard state == .deleted else { return saved }
        return try fixture.modify([RecordOperation(.forceDelete, saved)])[0].record
    }

    private func tag(_ tag: Tag, _ before: Record?) -> String? {
        switch tag {
        case .right: before?.recordChangeTag ?? "1"
        case .stale: "zz"
        case .missing: nil
        }
    }

    private func check(
        _ result: RecordResult, _ expected: Outcome, _ before: Record?, _ fixture: ServiceFixture
    ) throws {
        let kept = try fixture.lookup(["r"])[0]
        switch expected {
        case .fresh, .merged:
            var fields: RecordFields = ["title": .string("new")]
            if expected == .merged { fields["body"] = .string("b") }
            let record = try #require(result.record)
            #expect(record.fields == fields)
            #expect(record.recordChangeTag != before?.recordChangeTag)
            #expect(kept == result)
            let isNew = before == nil || before?.deleted == true
            #expect((record.created == record.modified) == isNew)
        case .gone:
            let record = try #require(result.record)
            #expect(record.deleted && record.fields.isEmpty && record.recordName == "r")
            #expect(kept.error?.code == .notFound)
        case .refused(let code):
            let error = try #require(result.error)
            #expect(error.code == code)
            #expect(error.recordName == "r")
            #expect(!error.reason.isEmpty)
            let shows = code == .conflict || code == .exists
            #expect(error.serverRecord == (shows ? before : nil))
            #expect(kept.record == (before?.deleted == true ? nil : before))
        }
    }

    private func checkFeed(_ written: [Record], _ expected: Outcome, _ state: State) throws {
        switch expected {
        case .fresh, .merged: #expect(written.map(\.deleted) == [false])
        case .gone: #expect(written.map(\.deleted) == (state == .deleted ? [] : [true]))
        case .refused: #expect(written.isEmpty)
        }
    }

    @Test func stampsSayWhoAndWhere() throws {
        var fixture = try ServiceFixture()
        let first = try fixture.save(.note("r"), .create)
        #expect(first.created?.userRecordName == "_anna")
        #expect(first.created?.deviceID == "device-1")
        fixture.target.deviceID = "device-2"
        let second = try fixture.save(.note("r", "x", tag: first.recordChangeTag), .update)
        #expect(second.created == first.created)
        #expect(second.modified?.deviceID == "device-2")
        #expect((second.modified?.timestamp ?? 0) > (first.modified?.timestamp ?? 0))
        #expect(second.zoneID == ServiceFixture.zone)
    }

    @Test func aRecordWithoutANameIsGivenOne() throws {
        let fixture = try ServiceFixture()
        let saved = try fixture.save(.note(""), .create)
        #expect(UUID(uuidString: saved.recordName) != nil)
        let result = try fixture.modify([RecordOperation(.update, .note("", tag: "1"))])[0]
        #expect(result.error?.code == .badRequest)
    }

    @Test func desiredKeysLimitWhatTheAnswerShowsNotWhatIsKept() throws {
        let fixture = try ServiceFixture()
        let record = Record(
            recordName: "r", recordType: "Note", fields: ["a": .int64(1), "b": .int64(2)])
        let shown = try fixture.modify([RecordOperation(.create, record)], desiredKeys: ["b"])
        #expect(shown[0].record?.fields == ["b": .int64(2)])
        #expect(try fixture.lookup(["r"])[0].record?.fields == record.fields)
        var lookup = LookupRecords(recordNames: ["r"], zoneID: ServiceFixture.zone)
        lookup.desiredKeys = []
        lookup.desiredKeysByName = ["r": ["a"]]
        guard case .records(let reply) = try fixture.send(.lookupRecords(lookup)) else {
            throw WrongAnswer()
        }
        #expect(reply.results[0].record?.fields == ["a": .int64(1)])
    }

    /// The protocol's page about assets has the keys inside an operation's record.
    @Test func aRecordOfARequestSaysWhichOfItsFieldsAreAnswered() throws {
        let fixture = try ServiceFixture()
        let body = #"""
            {"zoneID":{"zoneName":"notes"},"desiredKeys":["a"],"operations":[
            {"operationType":"create","record":{"recordName":"r","recordType":"Note",
            "fields":{"a":{"value":1},"b":{"value":2}},"desiredKeys":["b"]}},
            {"operationType":"create","record":{"recordName":"s","recordType":"Note",
            "fields":{"a":{"value":1},"b":{"value":2}}}}]}
            """#
        let request = try WireCodec.decodeRequest(
            path: "records/modify", method: "POST", body: Data(body.utf8))
        guard case .records(let reply) = try fixture.send(request) else { throw WrongAnswer() }
        #expect(
            reply.results.map { $0.record?.fields } == [["b": .int64(2)], ["a": .int64(1)]])
        let text = String(decoding: try WireCodec.encode(request).body, as: UTF8.self)
        #expect(text.contains(#""desiredKeys":["b"]}}"#))
    }

    @Test func everyFieldTypeIsKeptAsItCame() throws {
        let fixture = try ServiceFixture()
        var place = RecordLocation(latitude: -0.0, longitude: -180)
        place.timestamp = .min
        let fields: RecordFields = [
            "s": .string("é\u{0}"), "i": .int64(.min), "d": .double(-.infinity),
            "t": .timestamp(1),
            "b": .bytes(Data([0, 1])), "r": .reference(RecordReference(recordName: "x")),
            "p": .location(place), "e": .list(type: .bytes, []),
            "l": .list(type: .string, [.string("x"), .string("")]),
        ]
        let saved = try fixture.save(Record(recordName: "r", recordType: "T", fields: fields))
        #expect(saved.fields == fields)
        #expect(try fixture.lookup(["r"])[0].record == saved)
        #expect(try fixture.changes(since: nil).records == [saved])
    }

    @Test func theDefaultZoneTakesRecords() throws {
        let fixture = try ServiceFixture(makesZone: false)
        #expect(try fixture.lookup(["r"], zone: nil)[0].error?.code == .notFound)
        let saved = try fixture.modify([RecordOperation(.create, .note("r"))], zone: nil)[0]
        #expect(saved.record?.zoneID == ZoneID())
        #expect(try fixture.lookup(["r"], zone: nil)[0] == saved)
        #expect(try fixture.databaseChanges(since: nil).zones.isEmpty)
    }
}
