import RecordService
import RecordWire
import Testing

/// What references with actions do: a target that is validated is there, what goes with its target
/// goes.
@Suite(.everyBackend) struct ReferenceTests {
    private func child(
        _ name: String, of parents: [String], _ action: RecordReference.Action
    ) -> Record {
        var record = Record.note(name)
        record.fields["parents"] = .list(
            type: .reference,
            parents.map { .reference(RecordReference(recordName: $0, action: action)) })
        return record
    }

    private func delete(_ name: String) -> RecordOperation {
        RecordOperation(.forceDelete, Record(recordName: name, recordType: ""))
    }

    private func isThere(_ name: String, _ fixture: ServiceFixture) throws -> Bool {
        try fixture.lookup([name])[0].record != nil
    }

    // MARK: DELETE_SELF

    @Test func whatGoesWithItsTargetGoes() throws {
        let fixture = try ServiceFixture()
        try fixture.save(.note("a"))
        try fixture.save(child("b", of: ["a"], .deleteSelf))
        try fixture.save(child("c", of: ["x", "b"], .deleteSelf))
        try fixture.save(child("d", of: ["a"], .none))
        let before = try #require(try fixture.changes(since: nil).syncToken)
        guard
            case .records(let reply) = try fixture.send(
                .modifyRecords(
                    ModifyRecords(operations: [delete("a")], zoneID: ServiceFixture.zone)))
        else { throw WrongAnswer() }
        for name in ["a", "b", "c"] { #expect(try !isThere(name, fixture)) }
        #expect(try isThere("d", fixture))
        let feed = try fixture.changes(since: before).records
        #expect(feed.map(\.recordName) == ["a", "b", "c"] && feed.allSatisfy(\.deleted))
        // The writer has not heard of b and c: it reads on from its own deletion.
        #expect(reply.previousSyncToken == nil)
        let rest = try fixture.changes(since: reply.syncToken).records
        #expect(rest.map(\.recordName) == ["b", "c"])
    }

    @Test func recordsThatDeleteEachOtherGo() throws {
        let fixture = try ServiceFixture()
        try fixture.save(child("a", of: ["b"], .deleteSelf))
        try fixture.save(child("b", of: ["a", "b"], .deleteSelf))
        #expect(try fixture.modify([delete("b")])[0].error == nil)
        #expect(try !isThere("a", fixture))
    }

    @Test func aReferenceThatWasTakenAwayDeletesNothing() throws {
        let fixture = try ServiceFixture()
        try fixture.save(.note("a"))
        try fixture.save(child("b", of: ["a"], .deleteSelf))
        try fixture.save(child("c", of: ["a"], .deleteSelf))
        var free = Record.note("b")
        free.fields.updateValue(nil, forKey: "parents")
        try fixture.save(free)
        #expect(try fixture.modify([delete("a"), delete("c")]).allSatisfy { $0.error == nil })
        #expect(try isThere("b", fixture))
        try fixture.save(.note("a"))
        try fixture.save(.note("c"))
        #expect(try fixture.modify([delete("a")])[0].error == nil)
        #expect(try isThere("c", fixture))
    }

    @Test func aRequestThatWritesAndDeletesDoesBoth() throws {
        let fixture = try ServiceFixture()
        try fixture.save(.note("a"))
        let results = try fixture.modify([
            delete("a"), RecordOperation(.forceUpdate, child("b", of: ["a"], .deleteSelf)),
        ])
        #expect(results.allSatisfy { $0.error == nil })
        #expect(try !isThere("b", fixture))
    }

    @Test func thereAreSoManyThatGoWithOneTarget() throws {
        var limits = ServiceLimits()
        limits.work.sourcesMax = 2
        limits.work.cascadeMax = 3
        let fixture = try ServiceFixture(limits: limits)
        for name in ["a", "b"] {
            try fixture.save(.note(name))
            for number in 0..<2 {
                try fixture.save(child("\(name)\(number)", of: [name], .deleteSelf))
            }
        }
        let third = try fixture.modify([
            RecordOperation(.forceUpdate, child("a2", of: ["a"], .deleteSelf)),
            RecordOperation(.forceUpdate, child("a1", of: ["a"], .deleteSelf)),
        ])
        #expect(third[0].error?.code == .limitExceeded && third[1].error == nil)
        let refused = #expect(throws: RecordError.self) {
            try fixture.modify([delete("a"), delete("b")])
        }
        #expect(refused?.code == .limitExceeded)
        #expect(try isThere("a", fixture) && isThere("a0", fixture))
        #expect(try fixture.modify([delete("a")])[0].error == nil)
    }

    // MARK: VALIDATE

    @Test func aTargetThatIsValidatedIsThere() throws {
        let fixture = try ServiceFixture()
        let early = try fixture.modify([
            RecordOperation(.create, child("b", of: ["a"], .validate))
        ])
        #expect(early[0].error?.code == .validatingReferenceError)
        #expect(try !isThere("b", fixture))
        let both = try fixture.modify([
            RecordOperation(.create, child("b", of: ["a"], .validate)),
            RecordOperation(.create, .note("a")),
        ])
        #expect(both.allSatisfy { $0.error == nil })
        #expect(
            try fixture.modify([delete("a")])[0].error?.code == .validatingReferenceError)
        #expect(try isThere("a", fixture))
        #expect(try fixture.modify([delete("a"), delete("b")]).allSatisfy { $0.error == nil })
    }

    @Test func aTargetThatDoesNotComeFailsTheRequest() throws {
        let fixture = try ServiceFixture()
        try fixture.save(.note("a"))
        let refused = #expect(throws: RecordError.self) {
            try fixture.modify([
                RecordOperation(.create, child("b", of: ["c"], .validate)),
                RecordOperation(.update, .note("c", tag: "1")),
            ])
        }
        #expect(refused?.code == .validatingReferenceError)
        #expect(refused?.code.httpStatus == 412)
        #expect(try !isThere("b", fixture))
    }

    /// A refused write counts on nothing.
    @Test func aTargetOfARefusedWriteNeedNotCome() throws {
        let fixture = try ServiceFixture()
        let results = try fixture.modify([
            RecordOperation(.create, child("a", of: ["b", "none", "b"], .validate)),
            RecordOperation(.update, .note("b", tag: "1")),
            RecordOperation(.create, .note("c")),
        ])
        #expect(
            results.map { $0.error?.code } == [.validatingReferenceError, .notFound, nil])
        #expect(try isThere("c", fixture))
    }

    @Test func whatIsValidatedDoesNotGoWithAnother() throws {
        let fixture = try ServiceFixture()
        try fixture.save(.note("a"))
        try fixture.save(child("b", of: ["a"], .deleteSelf))
        try fixture.save(child("c", of: ["b"], .validate))
        let refused = #expect(throws: RecordError.self) { try fixture.modify([delete("a")]) }
        #expect(refused?.code == .validatingReferenceError)
        #expect(try isThere("a", fixture) && isThere("b", fixture))
    }

    // MARK: Zones

    @Test func aReferenceWithAnActionStaysInItsZone() throws {
        let fixture = try ServiceFixture()
        var record = Record.note("b")
        let elsewhere = ZoneID(zoneName: "other")
        record.fields["parent"] = .reference(
            RecordReference(recordName: "a", zoneID: elsewhere, action: .deleteSelf))
        let results = try fixture.modify([RecordOperation(.forceUpdate, record)])
        #expect(results[0].error?.code == .badRequest)
        record.fields["parent"] = .reference(
            RecordReference(recordName: "a", zoneID: elsewhere, action: .some(.none)))
        try fixture.save(record)
        record.fields["parent"] = .reference(
            RecordReference(recordName: "a", zoneID: ServiceFixture.zone, action: .deleteSelf))
        try fixture.save(record)
    }

    /// Zones of several users have one name: what is deleted in this one is not another's record.
    @Test func aReferenceIntoAnothersZoneOfThatNameIsNoneIntoThisOne() throws {
        let fixture = try ServiceFixture()
        try fixture.save(.note("a"))
        func child(
            of name: String, _ owner: String?, _ action: RecordReference.Action
        ) -> Record {
            let zone = ZoneID(zoneName: ServiceFixture.zone.zoneName, ownerRecordName: owner)
            var record = Record.note("b")
            record.fields["parent"] = .reference(
                RecordReference(recordName: name, zoneID: zone, action: action))
            return record
        }
        for action in [RecordReference.Action.deleteSelf, .validate] {
            let refused = try fixture.modify(
                [RecordOperation(.forceUpdate, child(of: "a", "_ben", action))])
            #expect(refused[0].error?.code == .badRequest)
        }
        try fixture.save(child(of: "a", "_ben", .none))
        #expect(try fixture.modify([delete("a")])[0].error == nil)
        #expect(try isThere("b", fixture))
        try fixture.save(.note("c"))
        for owner in [nil, "_anna", "_defaultOwner", "__defaultOwner__"] {
            try fixture.save(child(of: "c", owner, .validate))
        }
    }

    @Test func aZoneMadeAnewHasNoLinks() throws {
        let fixture = try ServiceFixture()
        try fixture.save(.note("a"))
        try fixture.save(child("b", of: ["a"], .validate))
        _ = try fixture.zones(.modifyZones([ZoneOperation(.delete, ServiceFixture.zone)]))
        try fixture.createZone(ServiceFixture.zone)
        try fixture.service.removeDeletedRecords()
        try fixture.save(.note("a"))
        #expect(try fixture.modify([delete("a")])[0].error == nil)
    }
}
