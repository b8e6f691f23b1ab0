import RecordService
import RecordWire
import Testing

@Suite(.everyBackend) struct ZoneTests {
    private let notes = ServiceFixture.zone

    @Test func zonesAreMadeListedFoundAndDeleted() throws {
        let fixture = try ServiceFixture(makesZone: false)
        #expect(try fixture.zones(.listZones).map { $0.zone?.zoneID } == [ZoneID()])
        let made = try fixture.zones(
            .modifyZones([
                ZoneOperation(.create, notes), ZoneOperation(.create, ZoneID(zoneName: "b")),
            ]))
        #expect(made.map { $0.zone?.zoneID } == [notes, ZoneID(zoneName: "b")])
        #expect(made.allSatisfy { $0.zone?.syncToken != nil && $0.zone?.atomic == true })
        #expect(
            try fixture.zones(.listZones).map { $0.zone?.zoneID.zoneName }
                == ["_defaultZone", "b", "notes"])
        let found = try fixture.zones(
            .lookupZones([notes, ZoneID(), ZoneID(zoneName: "x")]))
        #expect(found.map { $0.zone?.zoneID } == [notes, ZoneID(), nil])
        #expect(found[2].error?.code == .zoneNotFound)
        let gone = try fixture.zones(.modifyZones([ZoneOperation(.delete, notes)]))
        #expect(gone[0].zone?.deleted == true)
        #expect(try fixture.zones(.lookupZones([notes]))[0].error?.code == .zoneNotFound)
    }

    @Test func makingAndDeletingTwiceAnswersTheSame() throws {
        let fixture = try ServiceFixture()
        try fixture.save(.note("a"))
        #expect(try fixture.createZone(notes).zone?.zoneID == notes)
        #expect(try fixture.lookup(["a"])[0].record != nil)
        for _ in 0..<2 {
            let gone = try fixture.zones(.modifyZones([ZoneOperation(.delete, notes)]))
            #expect(gone[0].zone?.deleted == true)
        }
        let never = try fixture.zones(
            .modifyZones([ZoneOperation(.delete, ZoneID(zoneName: "never"))]))
        #expect(never[0].error?.code == .zoneNotFound)
    }

    @Test func aZoneMadeAgainIsEmptyAndItsOldTokensAndTagsAreVoid() throws {
        let fixture = try ServiceFixture()
        let old = try fixture.save(.note("a"))
        let token = try fixture.changes(since: nil).syncToken
        _ = try fixture.zones(.modifyZones([ZoneOperation(.delete, notes)]))
        #expect(try fixture.changes(since: token).failure?.code == .zoneNotFound)
        #expect(throws: RecordError.self) { try fixture.save(.note("a")) }
        try fixture.createZone(notes)
        let reply = try fixture.changes(since: token)
        #expect(reply.failure?.code == .changeTokenExpired)
        #expect(reply.zoneID == notes)
        #expect(try fixture.changes(since: nil).records.isEmpty)
        let new = try fixture.save(.note("a"), .create)
        #expect(new.recordChangeTag != old.recordChangeTag)
    }

    @Test func zonesBelongToTheirOwner() throws {
        var fixture = try ServiceFixture()
        try fixture.save(.note("a"))
        let named = ZoneID(zoneName: "notes", ownerRecordName: "_anna")
        #expect(try fixture.lookup(["a"], zone: named)[0].record?.zoneID == notes)
        let alias = ZoneID(zoneName: "notes", ownerRecordName: "__defaultOwner__")
        #expect(try fixture.lookup(["a"], zone: alias)[0].record != nil)
        fixture.caller = Caller(userRecordName: "_bo")
        for zone in [named, notes] {
            let error = #expect(throws: RecordError.self) { try fixture.lookup(["a"], zone: zone) }
            #expect(error?.code == .zoneNotFound)
        }
        #expect(try fixture.changes(since: nil, zone: named).failure?.code == .zoneNotFound)
        #expect(try fixture.databaseChanges(since: nil).zones.isEmpty)
    }

    @Test func namesThatAreReservedOrLongAreRefused() throws {
        let fixture = try ServiceFixture()
        for (name, code) in [
            ("_mine", RecordError.Code.badRequest), ("", .badRequest),
            (String(repeating: "z", count: 256), .limitExceeded),
        ] {
            #expect(try fixture.createZone(ZoneID(zoneName: name)).error?.code == code)
        }
        let error = #expect(throws: RecordError.self) {
            try fixture.zones(
                .modifyZones([ZoneOperation(.create, notes), ZoneOperation(.delete, notes)]))
        }
        #expect(error?.code == .badRequest)
        let undeletable = try fixture.zones(.modifyZones([ZoneOperation(.delete, ZoneID())]))
        #expect(undeletable[0].error?.code == .badRequest)
    }

    @Test func aDatabaseHoldsSoManyZones() throws {
        var limits = ServiceLimits()
        limits.zonesPerDatabaseMax = 2
        let fixture = try ServiceFixture(limits: limits)
        try fixture.createZone(ZoneID(zoneName: "b"))
        let third = ZoneID(zoneName: "c")
        let error = try fixture.createZone(third).error
        #expect(error?.code == .limitExceeded)
        #expect(error?.reason.contains("2 zones") == true)
        #expect(try fixture.zones(.lookupZones([third]))[0].error?.code == .zoneNotFound)
        _ = try fixture.zones(.modifyZones([ZoneOperation(.delete, notes)]))
        #expect(try fixture.createZone(third).zone?.zoneID == third)
    }
}
