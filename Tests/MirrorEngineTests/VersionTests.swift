import Foundation
import MirrorEngine
import MirrorTestKit
import ObjectModel
import RecordWire
import SQLiteStore
import Stores
import Testing

/// Devices of an older and a newer version of a model side by side: what one does not know is not
/// lost.
@Suite struct VersionTests {
    let world: VersionedWorld
    let old: Device
    let new: Device
    let note: RowID

    /// A note with a subtitle that only the newer device knows.
    init() throws {
        world = try VersionedWorld()
        (old, new, note) = try world.neighbours()
    }

    private func subtitle(_ device: Device) throws -> AttributeValue? {
        try device.value(device.only("Note"), "subtitle")
    }

    @Test func anOlderDevicesEditErasesNothingItDoesNotKnow() throws {
        try old.set(note, "title", .text("u"))
        try world.settle(old, new)
        #expect(try new.value(new.only("Note"), "headline") == .text("u"))
        #expect(try subtitle(new) == .text("s"))
    }

    @Test func anUpdatedDeviceHasWhatItReceivedBefore() throws {
        let updated = try world.updated(old)
        #expect(try updated.sync().exported == 0)
        #expect(try subtitle(updated) == .text("s"))
        try updated.set(updated.only("Note"), "headline", .text("u"))
        try world.settle(updated, new)
        #expect(try subtitle(new) == .text("s") && subtitle(updated) == .text("s"))
        #expect(try updated.mirrored.conflicts().isEmpty && new.mirrored.conflicts().isEmpty)
    }

    @Test func anUpdateSendsAndReceivesNothing() throws {
        for number in 0..<5 {
            let tag = try old.insert("Tag", ["label": .text("\(number)")])
            try old.pair(note, "tags", with: tag)
        }
        try world.settle(old, new)
        let updated = try world.updated(old)
        let result = try updated.sync()
        #expect(result.exported == 0 && result.imported.received == 0)
        #expect(try new.sync().imported.received == 0)
        #expect(try updated.members(updated.only("Note"), "labels").count == 5)
    }

    @Test func whatWaitedIsSentAfterTheUpdate() throws {
        try old.set(note, "title", .text("u"))
        let tag = try old.insert("Tag", ["label": .text("x")])
        try old.pair(note, "tags", with: tag)
        let updated = try world.updated(old)
        #expect(try updated.sync().exported == 3)
        try world.settle(new, updated)
        #expect(try new.value(new.only("Note"), "headline") == .text("u"))
        #expect(try new.members(new.only("Note"), "labels").count == 1)
        #expect(try subtitle(updated) == .text("s"))
    }

    @Test func aDeletionThatWaitedIsSentAfterTheUpdate() throws {
        try old.delete(note)
        let updated = try world.updated(old)
        try world.settle(updated, new)
        #expect(try new.rows("Note").isEmpty && updated.rows("Note").isEmpty)
    }

    @Test(arguments: [true, false])
    func anEditMadeBetweenUpdateAndRoundIsMerged(isRemote: Bool) throws {
        let policy = MergePolicy(standard: isRemote ? .remote : .local)
        let updated = try world.updated(old, policy: policy)
        try updated.set(updated.only("Note"), "subtitle", .text("mine"))
        try world.settle(updated, new)
        let expected = AttributeValue.text(isRemote ? "s" : "mine")
        #expect(try subtitle(new) == expected && subtitle(updated) == expected)
        #expect(try updated.mirrored.conflicts().map(\.property) == ["subtitle"])
    }

    @Test func anAnswerThatWasLostBeforeTheUpdateIsNoConflict() throws {
        try old.set(note, "title", .text("u"))
        old.intercept = { [service = world.service, old] request in
            guard case .modifyRecords = request else { return nil }
            _ = try service.handle(request, from: try old.mirrored.deviceID())
            throw MirrorError(.stopped, "killed")
        }
        _ = try old.sync()
        let updated = try world.updated(old)
        try world.settle(updated, new)
        #expect(try updated.mirrored.conflicts().isEmpty)
        #expect(try new.value(new.only("Note"), "headline") == .text("u"))
    }

    // MARK: Defaults

    @Test func mandatoryAttributesOfOlderRecordsGetTheirDefaults() throws {
        for device in [new, try world.updated(old)] {
            try device.sync()
            #expect(try device.value(device.only("Note"), "stars") == .integer(3))
            #expect(try device.value(device.only("Note"), "mood") == .text("calm"))
        }
    }

    @Test func aDefaultIsTheSameOnAllDevices() throws {
        try new.set(new.only("Note"), "mood", .null)
        try world.settle(new, old)
        let updated = try world.updated(old)
        let fresh = try world.device(isLater: true)
        try world.settle(updated, new, fresh)
        for device in [updated, new, fresh] {
            #expect(try device.value(device.only("Note"), "mood") == .null)
            #expect(try device.value(device.only("Note"), "stars") == .integer(3))
        }
        try fresh.set(fresh.only("Note"), "mood", .text("calm"))
        try world.settle(fresh, new, updated)
        for device in [updated, new, fresh] {
            #expect(try device.value(device.only("Note"), "mood") == .text("calm"))
        }
    }

    // MARK: What the older device does not know at all

    @Test func unknownObjectsLinksAndPairsComeWithTheUpdate() throws {
        let row = try new.only("Note")
        let person = try new.insert("Person", ["name": .text("p")])
        let draft = try new.insert("DraftNote", ["reason": .text("r")])
        let tag = try new.insert("Tag", ["label": .text("x")])
        let folder = try new.insert("Binder", ["name": .text("b")])
        try new.link(row, "author", person)
        try new.link(draft, "binder", folder, order: 1024)
        try new.pair(person, "follows", with: tag)
        try new.pair(draft, "labels", with: tag)
        try world.settle(new, old)
        #expect(try old.rows("Folder").count == 1)
        try old.set(note, "title", .text("u"))
        try world.settle(old, new)
        let updated = try world.updated(old)
        let result = try updated.sync()
        #expect(result.exported == 0 && result.imported.received == 0)
        let (draft2, person2) = (try updated.only("DraftNote"), try updated.only("Person"))
        #expect(try updated.value(draft2, "reason") == .text("r"))
        #expect(try updated.target(updated.only("Note"), "author") == person2)
        #expect(try updated.target(draft2, "binder") == updated.only("Binder"))
        #expect(try updated.members(person2, "follows") == [updated.only("Tag")])
        #expect(try updated.members(draft2, "labels") == [updated.only("Tag")])
        try world.settle(updated, new)
        #expect(try new.members(person, "follows") == [tag])
    }

    /// What waited for the update leads to objects whose deletion nobody looked at before it.
    @Test func whatWasDeletedBeforeTheUpdateIsLedToByNothing() throws {
        let draft = try new.insert("DraftNote", ["reason": .text("r")])
        let tag = try new.insert("Tag", ["label": .text("x")])
        let folder = try new.insert("Binder", ["name": .text("b")])
        try new.link(draft, "binder", folder, order: 1024)
        try new.pair(draft, "labels", with: tag)
        try world.settle(new, old)
        try old.delete(old.only("Folder"))
        try old.delete(old.only("Tag"))
        let updated = try world.updated(old)
        try world.settle(updated, new)
        let draft2 = try updated.only("DraftNote")
        #expect(try updated.target(draft2, "binder") == nil)
        #expect(try updated.members(draft2, "labels").isEmpty)
        #expect(try new.rows("Binder").isEmpty && new.rows("Tag").isEmpty)
    }

    @Test func whatIsUnknownAndDeletedStaysAway() throws {
        let person = try new.insert("Person", ["name": .text("p")])
        let tag = try new.insert("Tag")
        try new.pair(person, "follows", with: tag)
        try world.settle(new, old)
        try new.pair(person, "follows", with: tag, adding: false)
        try new.delete(person)
        try world.settle(new, old)
        let updated = try world.updated(old)
        try world.settle(updated, new)
        #expect(try updated.rows("Person").isEmpty && new.rows("Person").isEmpty)
    }

    @Test func theStatusTellsWhatIsKeptForALaterModel() throws {
        try new.insert("Person", ["name": .text("p")])
        try world.settle(new, old)
        let kept = try #require(try old.mirrored.status()).keptForLater
        #expect(kept.map(\.reason) == [.unknownEntity])
        #expect(try old.mirrored.status()?.isInSync == true)
    }

    // MARK: Ways on which an older device makes a record anew

    @Test func aKeptEditOfADeletedObjectKeepsUnknownFields() throws {
        let old = try world.device(policy: MergePolicy(deletion: .keepEdited))
        try world.settle(old)
        try old.set(old.only("Note"), "title", .text("kept"))
        try new.delete(new.only("Note"))
        try world.settle(new, old, new)
        #expect(try new.value(new.only("Note"), "headline") == .text("kept"))
        #expect(try subtitle(new) == .text("s"))
    }

    @Test func aRecordThatTheServiceDoesNotKnowIsMadeWithUnknownFields() throws {
        try old.set(note, "title", .text("u"))
        var isAsked = false
        old.intercept = { request in
            guard case .modifyRecords(let modify) = request, !isAsked else { return nil }
            isAsked = true
            return .records(
                RecordsReply(
                    results: modify.operations.map {
                        var error = RecordError(.notFound, "gone")
                        error.recordName = $0.record.recordName
                        return .failure(error)
                    }))
        }
        var fields: RecordFields = [:]
        for _ in 0..<2 { try old.sync() }
        for case .modifyRecords(let modify) in old.requests {
            for operation in modify.operations where operation.kind == .create {
                fields = operation.record.fields
            }
        }
        #expect(fields["CD_subtitle"] == .some(.string("s")))
    }

    @Test func aDeletionTakenBackKeepsUnknownFields() throws {
        let row = try #require(try old.store.row(note))
        try old.delete(note)
        try world.settle(old, new)
        var changes = ChangeSet()
        changes.inserts = [row]
        _ = try old.store.save(changes)
        try world.settle(old, new)
        #expect(try new.value(new.only("Note"), "headline") == .text("t"))
        #expect(try subtitle(new) == .text("s"))
    }

    @Test func aServiceThatLostTheZoneGetsUnknownFieldsAgain() throws {
        let zone = ZoneID(zoneName: old.mirrored.settings.zoneName)
        _ = try world.service.handle(.modifyZones([ZoneOperation(.delete, zone)]), from: "owner")
        try world.settle(old)
        let fresh = try world.device(isLater: true)
        try world.settle(fresh)
        #expect(try subtitle(fresh) == .text("s"))
        try world.settle(new, fresh, old)
        #expect(try subtitle(new) == .text("s"))
    }

    @Test func anUpdateBeforeALostZoneIsSentAgainKeepsUnknownFields() throws {
        let zone = ZoneID(zoneName: old.mirrored.settings.zoneName)
        _ = try world.service.handle(.modifyZones([ZoneOperation(.delete, zone)]), from: "owner")
        old.intercept = { request in
            guard case .modifyRecords = request else { return nil }
            throw MirrorError(.stopped, "killed")
        }
        _ = try old.sync()
        let updated = try world.updated(old)
        try world.settle(updated)
        #expect(try subtitle(updated) == .text("s"))
        let fresh = try world.device(isLater: true)
        try world.settle(fresh)
        #expect(try subtitle(fresh) == .text("s"))
    }

    @Test func aResetKeepsUnknownFields() throws {
        try old.mirrored.reset()
        try old.set(note, "title", .text("u"))
        try world.settle(old, new)
        #expect(try subtitle(new) == .text("s"))
        try old.mirrored.reset()
        let updated = try world.updated(old)
        try world.settle(updated, new)
        #expect(try subtitle(updated) == .text("s") && subtitle(new) == .text("s"))
    }

    @Test func objectsThatBecomeOneKeepUnknownFields() throws {
        let world = try VersionedWorld(
            from: SampleModel.make(uniqueLabels: true),
            to: Self.withColors(SampleModel.makeLater(uniqueLabels: true)))
        for isFirst in [true, false] {
            let label = AttributeValue.text("x\(isFirst)")
            let (old, new) = (try world.device(), try world.device(isLater: true))
            try world.settle(old, new)
            let devices = isFirst ? [old, new] : [new, old]
            try new.insert("Tag", ["label": label, "color": .text("red")])
            try old.insert("Tag", ["label": label])
            for device in devices { try device.sync() }
            try world.settle(old, new)
            let tag = try #require(
                try new.rows("Tag").first { row in
                    try new.value(row.id, "label") == label
                })
            #expect(try new.value(tag.id, "color") == .text("red"))
        }
    }

    private static func withColors(_ model: NSManagedObjectModel) -> NSManagedObjectModel {
        model.entitiesByName["Tag"]?.properties += [
            SampleModel.attribute("color", .stringAttributeType)
        ]
        return model
    }
}
