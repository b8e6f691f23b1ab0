import Foundation
import MirrorEngine
import MirrorTestKit
import ObjectModel
import RecordWire
import SQLiteDriver
import SQLiteStore
import Stores
import Testing

/// Values that strangers wrote: none traps, none ends later rounds.
@Suite struct HostileValueTests {
    let service: SimulatedService
    let model: NSManagedObjectModel
    let device: Device

    init() throws {
        service = try Device.service()
        model = SampleModel.make()
        model.entitiesByName["Tag"]?.properties += [
            SampleModel.attribute("small", .integer16AttributeType),
            SampleModel.attribute("middle", .integer32AttributeType),
        ]
        device = try Device(1, service, model: model, policy: MergePolicy(standard: .latest))
        try device.sync()
    }

    private func write(_ records: [Record]) throws {
        let zone = ZoneID(zoneName: device.mirrored.settings.zoneName)
        let operations = records.map { RecordOperation(.forceReplace, $0) }
        _ = try service.handle(
            .modifyRecords(ModifyRecords(operations: operations, zoneID: zone)), from: "stranger")
    }

    private func record(
        _ name: String, _ entity: String, _ fields: [String: FieldValue]
    ) -> Record {
        var record = Record(recordName: name, recordType: "CD_\(entity)")
        record.fields = RecordFields(fields.mapValues { $0 })
        record.fields["CD_entityName"] = .string(entity)
        return record
    }

    @Test(arguments: [Int64.max, .max - 1, .min, -1, 1 << 62])
    func aTimeBeyondAllClocksIsNoTime(milliseconds: Int64) throws {
        try write([
            record(
                "n", "Tag",
                ["CD_label": .string("x"), "CD_editTimes": .string("label \(milliseconds) d")])
        ])
        #expect(try device.sync().error == nil)
        for label in ["y", "z"] {
            try device.set(device.only("Tag"), "label", .text(label))
            #expect(try device.sync().error == nil)
        }
        let zone = device.mirrored.settings.zoneName
        let kept = try #require(try service.records(inZone: zone)["n"])
        #expect(kept.fields["CD_label"] == .some(.string("z")))
        let other = try Device(2, service, model: model, policy: MergePolicy(standard: .latest))
        try other.sync()
        try other.set(other.only("Tag"), "label", .text("later"))
        try other.sync()
        try device.sync()
        #expect(try device.value(device.only("Tag"), "label") == .text("later"))
    }

    @Test func twoMembersAtTheLastPlaceGetPlacesAnew() throws {
        try write(
            [record("f", "Folder", [:])]
                + ["a", "b", "c"].map {
                    record(
                        $0, "Note",
                        [
                            "CD_title": .string($0), "CD_folder": .string("f"),
                            "CD_folder_order": .int64($0 == "c" ? .min : .max),
                        ])
                })
        #expect(try device.sync().error == nil)
        #expect(try device.sync().error == nil)
        let titles = try device.members(device.only("Folder"), "notes")
            .map { try device.value($0, "title") }
        #expect(titles == ["c", "a", "b"].map { .text($0) })
        let other = try Device(2, service, model: model)
        try other.sync()
        let there = try other.members(other.only("Folder"), "notes")
            .map { try other.value($0, "title") }
        #expect(there == titles)
    }

    /// An object that was deleted, came back and cannot be read here is no deleted one: links to it
    /// wait, and stay at the service.
    @Test(arguments: ["Folder", "FolderOfTomorrow"])
    func aLinkToWhatCameBackUnreadableStays(entity: String) throws {
        let note = record("n", "Note", ["CD_folder": .string("f")])
        try write([record("f", "Folder", ["CD_name": .string("x")]), note])
        try device.sync()
        let zone = ZoneID(zoneName: device.mirrored.settings.zoneName)
        let bare = Record(recordName: "f", recordType: "CD_Folder")
        _ = try service.handle(
            .modifyRecords(
                ModifyRecords(operations: [RecordOperation(.forceDelete, bare)], zoneID: zone)),
            from: "stranger")
        try device.sync()
        try write([record("f", entity, ["CD_name": .int64(1)]), note])
        #expect(try service.records(inZone: zone.zoneName)["f"] != nil)
        for _ in 0..<3 { try device.sync() }
        #expect(try device.rows("Folder").isEmpty)
        let kept = try #require(try service.records(inZone: zone.zoneName)["n"])
        #expect(kept.fields["CD_folder"] == .some(.string("f")))
    }

    // MARK: Names

    /// Names that look alike and are spelled by other bytes are those of two records.
    @Test func aLinkThatMovesBetweenNamesOfOneLookIsSent() throws {
        let model = SampleModel.make()
        SampleModel.connect(
            try #require(model.entitiesByName["Note"]), "author", many: false,
            try #require(model.entitiesByName["Tag"]), "written", many: true)
        let names = ["\u{E9}", "e\u{301}"]
        try write([
            record(names[0], "Tag", ["CD_label": .string("one")]),
            record(names[1], "Tag", ["CD_label": .string("other")]),
            record("n", "Note", ["CD_author": .string(names[0])]),
        ])
        let (one, other) = (
            try Device(3, service, model: model), try Device(4, service, model: model)
        )
        for device in [one, other] { try device.sync() }
        func author(_ device: Device) throws -> AttributeValue? {
            try device.target(device.only("Note"), "author").flatMap {
                try device.value($0, "label")
            }
        }
        #expect(try author(other) == .text("one"))
        let tag = try one.rows("Tag").first {
            try one.value($0.id, "label") == .text("other")
        }
        try one.link(one.only("Note"), "author", #require(tag).id)
        for device in [one, other] { try device.sync() }
        let zone = one.mirrored.settings.zoneName
        let kept = try #require(try service.records(inZone: zone)["n"])
        guard case .string(let sent)?? = kept.fields["CD_author"] else {
            throw Missing(name: "CD_author")
        }
        #expect(Array(sent.utf8) == Array(names[1].utf8))
        #expect(try author(other) == .text("other"))
    }

    /// A pair names its ends with a colon between them, and names may have colons, too.
    @Test(arguments: [["user:42", "n"], ["42", "a:b:c"], ["user:42", "a:b"]])
    func aPairOfNamesWithColonsArrives(names: [String]) throws {
        let other = try Device(2, service, model: model)
        try write([record(names[0], "Tag", [:]), record(names[1], "Note", [:])])
        for device in [device, other] { try device.sync() }
        try device.pair(device.only("Note"), "tags", with: device.only("Tag"))
        for device in [device, other] { #expect(try device.sync().isInSync) }
        #expect(try other.members(other.only("Note"), "tags") == [other.only("Tag")])
        #expect(try other.mirrored.status()?.keptForLater.isEmpty == true)
        // It was sent once.
        let before = device.sendings
        #expect(try device.sync().isInSync)
        #expect(device.sendings == before)
        try other.pair(other.only("Note"), "tags", with: other.only("Tag"), adding: false)
        for device in [other, device] { #expect(try device.sync().isInSync) }
        #expect(try device.members(device.only("Note"), "tags").isEmpty)
    }

    /// Whether its ends come before a pair or after it.
    @Test func aPairOfNamesWithColonsWaitsForItsEnds() throws {
        let kind = try #require(
            PairCatalog(layout: ModelLayout(model: model)).kinds
                .first { $0.relationshipNames.contains("tags") })
        let isFirst = kind.first.name == "tags"
        let (note, tag) = ("a:b", "c:d")
        let pair = JoinRecord(
            kind: kind, first: isFirst ? note : tag, second: isFirst ? tag : note)
        try write([pair.record(named: "p")])
        #expect(try device.sync().error == nil)
        try write([record(note, "Note", [:])])
        #expect(try device.sync().error == nil)
        #expect(try device.members(device.only("Note"), "tags").isEmpty)
        try write([record(tag, "Tag", [:])])
        #expect(try device.sync().error == nil)
        #expect(try device.members(device.only("Note"), "tags") == [device.only("Tag")])
        #expect(try device.mirrored.status()?.keptForLater.isEmpty == true)
    }

    // MARK: Numbers

    @Test(arguments: [
        ("CD_small", Int64.max), ("CD_small", 32_768), ("CD_small", -32_769),
        ("CD_middle", 2_147_483_648), ("CD_middle", .min),
    ])
    func anIntegerOutOfRangeIsPutAsideWithAReason(field: String, value: Int64) throws {
        try write([
            record("odd", "Tag", [field: .int64(value)]),
            record(
                "fine", "Tag", ["CD_small": .int64(-32_768), "CD_middle": .int64(2_147_483_647)]),
        ])
        let result = try device.sync()
        #expect(result.error == nil && result.imported.applied == 1)
        let status = try #require(try device.mirrored.status())
        #expect(status.refusals.map(\.recordName) == ["odd"] && !status.isInSync)
        #expect(status.refusals.first?.reason.contains(field) == true)
        let zone = ZoneID(zoneName: device.mirrored.settings.zoneName)
        let bare = Record(recordName: "odd", recordType: "CD_Tag")
        _ = try service.handle(
            .modifyRecords(
                ModifyRecords(operations: [RecordOperation(.forceDelete, bare)], zoneID: zone)),
            from: "stranger")
        try device.sync()
        #expect(try device.mirrored.status()?.isInSync == true)
    }

    @Test func aSumThatTheAttributeCannotHoldIsNotMade() throws {
        var policy = MergePolicy()
        policy.set(.counter, entity: "Tag", property: "small")
        let layout = ModelLayout(model: model)
        let entity = try #require(layout.entity(named: "Tag"))
        let slot = try #require(entity.attributeSlot("small"))
        func state(_ value: Int64) -> ObjectState {
            var state = ObjectState(empty: entity)
            state.attributes[slot] = .integer(value)
            return state
        }
        let outcome = ObjectMerge(policy: policy, entity: entity).merge(
            base: state(0), local: state(30_000), remote: state(30_000))
        #expect(outcome.merged.attributes[slot] == .integer(30_000))
    }

    @Test func theLogsAreBounded() throws {
        try device.store.write { transaction in
            let ledger = Ledger(
                connection: transaction.connection, platform: device.mirrored.settings.platform)
            for index in 0..<1_200 {
                try ledger.log(.import, started: Date(), affected: index, finished: index)
            }
            _ = try transaction.connection.run(
                "INSERT INTO ADIPTYCHCONFLICT (Z_PK, ZRECORDNAME, ZPROPERTY, ZWINNER, ZDATE) "
                    + "VALUES (1, 'a', 'p', 'waiting', 0), (2, 'b', 'p', 'local', 0), "
                    + "(3, 'c', 'p', 'local', 0), (10003, 'd', 'p', 'local', 0)")
            try ledger.log(
                LostMember(
                    member: "m", owner: "o", entity: "Tag", property: "pinned", rule: "oneOwner"))
        }
        let events = try device.mirrored.events()
        #expect(events.count == 1_000 && events.last?.affected == 1_199)
        try device.sync()
        #expect(try device.mirrored.conflicts().map(\.recordName) == ["a", "d", "o"])
    }
}
