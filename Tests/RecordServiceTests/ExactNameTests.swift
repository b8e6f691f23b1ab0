import RecordService
import RecordWire
import Testing

/// "é" as one scalar and as two look alike and are two names.
@Suite(.everyBackend) struct ExactNameTests {
    private let composed = "caf\u{E9}"
    private let decomposed = "cafe\u{301}"

    @Test func recordsOfNamesThatLookAlikeAreTwo() throws {
        let fixture = try ServiceFixture()
        let results = try fixture.modify([
            RecordOperation(.create, .note(composed, "one")),
            RecordOperation(.create, .note(decomposed, "two")),
        ])
        #expect(results.allSatisfy { $0.error == nil })
        let found = try fixture.lookup([composed, decomposed])
        #expect(found.map { $0.record?.fields["title"] } == [.string("one"), .string("two")])
        #expect(
            found.map { Array($0.record?.recordName.utf8 ?? "".utf8) }
                == [Array(composed.utf8), Array(decomposed.utf8)])
        var lookup = LookupRecords(
            recordNames: [composed, decomposed], zoneID: ServiceFixture.zone)
        lookup.desiredKeysByName = [ExactName(composed): []]
        guard case .records(let reply) = try fixture.send(.lookupRecords(lookup)) else {
            throw WrongAnswer()
        }
        #expect(reply.results.map { $0.record?.fields.count } == [0, 1])
    }

    @Test func zonesOfNamesThatLookAlikeAreTwo() throws {
        let fixture = try ServiceFixture()
        let zones = [composed, decomposed].map { ZoneID(zoneName: $0) }
        #expect(zones[0] != zones[1] && Set(zones).count == 2)
        let made = try fixture.zones(.modifyZones(zones.map { ZoneOperation(.create, $0) }))
        #expect(made.allSatisfy { $0.error == nil })
        _ = try fixture.modify([RecordOperation(.create, .note("a"))], zone: zones[0])
        #expect(try fixture.lookup(["a"], zone: zones[1])[0].error?.code == .notFound)
        var stray = Record.note("b")
        stray.zoneID = zones[0]
        let error = #expect(throws: RecordError.self) {
            try fixture.modify([RecordOperation(.create, stray)], zone: zones[1])
        }
        #expect(error?.code == .badRequest)
    }

    @Test func aFieldOfAnotherSpellingIsRefusedAndLosesNothing() throws {
        let fixture = try ServiceFixture()
        try fixture.save(
            Record(recordName: "r", recordType: "T", fields: [composed: .string("kept")]))
        let other = Record(recordName: "r", recordType: "T", fields: [decomposed: .string("x")])
        let error = try fixture.modify([RecordOperation(.forceUpdate, other)])[0].error
        #expect(error?.code == .badRequest)
        #expect(error?.reason.contains("code points") == true)
        #expect(try fixture.lookup(["r"])[0].record?.fields[composed] == .string("kept"))
    }

    @Test func aContainerIsNamedByItsBytes() throws {
        var fixture = try ServiceFixture()
        try fixture.service.accounts.createContainer("K")
        fixture.target.container = "K"
        #expect(try fixture.zones(.listZones).count == 1)
        fixture.target.container = "\u{212A}"
        let error = #expect(throws: RecordError.self) { try fixture.zones(.listZones) }
        #expect(error?.code == .notFound)
    }
}
