import CloudKit
import CoreData
import Foundation
import MirrorEngine
import RecordWire
import Testing

/// What several owners share with one user, whose app has one store of the shared database.
@Suite struct FurtherOwnersTests {
    private let world: SharingWorld
    /// Dora, who shares a note with everybody who has its address.
    private let dora: Device
    private let share: CKShare

    init() async throws {
        world = try SharingWorld()
        let user = try world.service.user("dora")
        dora = try world.service.container("dora", of: user.address, model: SharingWorld.model)
        try dora.write("hers", in: "Note")
        let id = try dora.id(of: "hers")
        let context = dora.container.newBackgroundContext()
        let note = context.performAndWait { context.object(with: id) }
        let (_, made, _) = try await dora.container.share([note], to: nil)
        made.publicPermission = .readWrite
        share = try await dora.container.persistUpdatedShare(made, in: dora.store)
    }

    private func accept(_ device: Device) async throws {
        try await world.accept(share, on: device)
    }

    private func reopened(_ name: String) throws -> Device {
        let address = try #require(world.phone.address)
        return try world.service.container(name, of: address, model: SharingWorld.model) {
            $0.databaseScope = .shared
        }
    }

    @Test func whatTwoOwnersShareIsFoundTogether() async throws {
        try await world.open()
        try await accept(world.phone)
        let phone = world.phone
        #expect(try phone.texts("Note") == ["hers", "map", "tickets"])
        #expect(phone.container.furtherStores(of: phone.store).count == 1)
        #expect(try phone.container.fetchShares(in: phone.store).count == 2)
        let id = try phone.id(of: "hers")
        #expect(id.persistentStore === phone.container.furtherStores(of: phone.store).first)
        let known = try phone.container.fetchShares(matching: [id])[id]?.recordID
        #expect(known?.recordName == share.recordID.recordName)
        #expect(phone.container.canUpdateRecord(forManagedObjectWith: id))
        // Edits go to their own owner; what is new goes with what it is linked with.
        try phone.edit("hers") { note, context in
            note.setValue("ours", forKey: "text")
            let label = NSEntityDescription.insertNewObject(forEntityName: "Label", into: context)
            label.setValue("nice", forKey: "text")
            note.setValue(NSSet(object: label), forKey: "labels")
        }
        try phone.edit("map") { note, _ in note.setValue("my map", forKey: "text") }
        try await world.settle([phone, dora, world.desk])
        #expect(try dora.texts("Note") == ["ours"] && dora.texts("Label") == ["nice"])
        #expect(try world.desk.texts("Note") == ["diary", "my map", "tickets"])
        #expect(try world.desk.texts("Label") == ["urgent"])
        // The user's other device finds both by itself.
        try await world.settle([world.tablet])
        #expect(try world.tablet.texts("Note") == ["my map", "ours", "tickets"])
        #expect(try await world.tablet.container.sync())
    }

    @Test func theyAreThereAgainWhenTheStoresAreLoaded() async throws {
        do {
            let device = try reopened("pad")
            try await world.open()
            try await accept(device)
            try await world.settle([device])
            #expect(try device.texts("Note") == ["hers", "map", "tickets"])
        }
        try dora.edit("hers") { note, _ in note.setValue("still hers", forKey: "text") }
        try await world.settle([dora])
        let device = try reopened("pad")
        #expect(device.failure == nil)
        #expect(try device.texts("Note") == ["hers", "map", "tickets"])
        _ = try await device.container.sync()
        #expect(try device.texts("Note") == ["map", "still hers", "tickets"])
        #expect(device.container.furtherStores(of: device.store).count == 1)
    }

    @Test func theyAreMirroredAsLongAsTheirFirstIs() async throws {
        try await world.open()
        let phone = world.phone
        try await accept(phone)
        let further = try #require(phone.container.furtherStores(of: phone.store).first)
        phone.container.stopMirroring(phone.store)
        #expect(try phone.container.status(of: further) == nil)
        try dora.edit("hers") { note, _ in note.setValue("still hers", forKey: "text") }
        try await world.settle([dora, phone])
        #expect(try phone.texts("Note") == ["hers", "map", "tickets"])
        let options = NSPersistentCloudKitContainerOptions(
            containerIdentifier: NSPersistentCloudKitContainer.defaultContainerIdentifier)
        options.recordService = phone.address
        options.databaseScope = .shared
        try phone.container.startMirroring(phone.store, with: options)
        _ = try await phone.container.sync()
        #expect(try phone.texts("Note") == ["map", "still hers", "tickets"])
        #expect(phone.container.furtherStores(of: phone.store) == [further])
    }

    @Test func whoLeavesOneKeepsTheOther() async throws {
        try await world.open()
        let phone = world.phone
        try await accept(phone)
        let zone = share.recordID.zoneID
        let known = try #require(
            try phone.container.fetchShares(in: phone.store)
                .first { $0.recordID.recordName == share.recordID.recordName })
        #expect(known.recordID.zoneID != zone)
        _ = try await phone.container.purgeObjectsAndRecordsInZone(
            with: known.recordID.zoneID, in: phone.store)
        #expect(try phone.texts("Note") == ["map", "tickets"])
        #expect(try await phone.container.sync())
        #expect(phone.container.furtherStores(of: phone.store).count == 1)
        // It comes back into the same file.
        try await accept(phone)
        #expect(try phone.texts("Note") == ["hers", "map", "tickets"])
        #expect(phone.container.furtherStores(of: phone.store).count == 1)
    }

    @Test func aShareThatEndsLeavesUnsentEditsInItsLog() async throws {
        try await world.open()
        let phone = world.phone
        try await accept(phone)
        try phone.edit("hers") { note, _ in note.setValue("mine", forKey: "text") }
        try await dora.container.endSharing(share, in: dora.store)
        await #expect(throws: CKError.self) { _ = try await phone.container.sync() }
        #expect(try phone.texts("Note") == ["map", "tickets"])
        #expect(try await phone.container.sync())
        let store = try #require(phone.container.furtherStores(of: phone.store).first)
        let log = try #require(try MirroredStore.known(of: store)).conflicts()
        #expect(log.map(\.local) == [.string("mine")])
        // The container finds it too.
        let found = try #require(phone.container.mirroredStore(of: store))
        #expect(try found.conflicts().map(\.id) == log.map(\.id))
        #expect(try phone.container.status(of: store)?.isInSync == false)
    }

    @Test func theLogOfAShareThatEndedIsThereWhenTheStoresAreLoaded() async throws {
        do {
            let device = try reopened("pad")
            let ending = try await world.open()
            try await accept(device)
            try await world.settle([device])
            try device.edit("map") { note, _ in note.setValue("mine", forKey: "text") }
            try await world.desk.container.endSharing(ending, in: world.desk.store)
            await #expect(throws: CKError.self) { _ = try await device.container.sync() }
        }
        let device = try reopened("pad")
        let store = try #require(device.container.furtherStores(of: device.store).first)
        let found = try #require(device.container.mirroredStore(of: store))
        #expect(try found.conflicts().map(\.local) == [.string("mine")])
    }

    /// Objects that wait for a share are on this device alone.
    @Test func aStoreWithObjectsThatWaitsForAShareIsNotEqual() async throws {
        let carla = world.carla
        try carla.write("first", in: "Note")
        #expect(try await !carla.container.sync())
        try carla.edit("first") { note, context in context.delete(note) }
        #expect(try await carla.container.sync())
        try await world.open()
        let phone = world.phone
        try await accept(phone)
        try await dora.container.endSharing(share, in: dora.store)
        await #expect(throws: CKError.self) { _ = try await phone.container.sync() }
        #expect(try await phone.container.sync())
        let further = try #require(phone.container.furtherStores(of: phone.store).first)
        let context = phone.container.newBackgroundContext()
        try context.performAndWait {
            let note = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
            context.assign(note, to: further)
            try context.saveInOrder()
        }
        #expect(try await !phone.container.sync())
    }

    /// What comes into the store while it waits was made for nobody, or for the owner whose share
    /// it was.
    @Test func whatLiesInAStoreThatWaitsGoesToNoOtherOwner() async throws {
        let former = try await world.open()
        let phone = world.phone
        try await world.desk.container.endSharing(former, in: world.desk.store)
        await #expect(throws: CKError.self) { _ = try await phone.container.sync() }
        try phone.write("late", in: "Note")
        try await accept(phone)
        try await world.settle([phone, dora])
        #expect(try dora.texts("Note") == ["hers"])
        #expect(try phone.texts("Note") == ["hers"])
        #expect(phone.container.furtherStores(of: phone.store).isEmpty)
        let mirrored = try #require(phone.container.mirroredStore(of: phone.store))
        let log = try mirrored.conflicts()
        #expect(log.map(\.rule) == ["shareEnded"] && log.map(\.local) == [.string("late")])
        // Nothing is lost by it.
        try mirrored.restore(objectOfConflict: try #require(log.first).id)
        try await world.settle([phone, dora])
        #expect(try dora.texts("Note") == ["hers", "late"])
    }

    /// One round found the end while another waited for its turn.
    @Test func noRoundTiesAStoreToAZoneThatWasLeft() async throws {
        let former = try await world.open()
        let phone = world.phone
        let mirrored = try #require(phone.container.mirroredStore(of: phone.store))
        try await world.desk.container.endSharing(former, in: world.desk.store)
        await #expect(throws: CKError.self) { _ = try await phone.container.sync() }
        let place = MirrorDestination(
            service: try #require(phone.address).url.absoluteString,
            container: NSPersistentCloudKitContainer.defaultContainerIdentifier)
        let error = #expect(throws: MirrorError.self) {
            _ = try mirrored.prepare(container: place.name)
        }
        #expect(error?.code == .shareEnded)
        #expect(try MirroredStore.boundZone(of: phone.store) == nil)
        try await accept(phone)
        #expect(try phone.texts("Note") == ["hers"])
    }

    @Test func invitationsOfSeveralOwnersAreAcceptedAtOnce() async throws {
        let folder = try world.fill()
        let (_, made, _) = try await world.desk.container.share([folder], to: nil)
        let invited = try await world.invite(made, .readOnly)
        var metadata: [CKShare.Metadata] = []
        for share in [share, invited] {
            let url = try #require(share.url)
            metadata.append(try await world.phone.container.shareMetadata(for: url))
        }
        let found = try await world.phone.container.acceptShareInvitations(
            from: metadata, into: world.phone.store)
        #expect(found.map(\.participantStatus) == [.accepted, .accepted])
        #expect(try world.phone.texts("Note") == ["hers", "map", "tickets"])
    }

    @Test func aStoreWhoseOptionsNameAZoneTakesNoOther() async throws {
        let made = try await world.open()
        let user = try #require(world.carla.address)
        let metadata = try await world.carla.container.shareMetadata(
            for: try #require(share.url))
        let zone = try #require(
            try world.phone.container.fetchShares(in: world.phone.store)
                .first { $0.recordID.recordName == made.recordID.recordName }
        ).recordID.zoneID
        let bound = try world.service.container("bound", of: user, model: SharingWorld.model) {
            $0.databaseScope = .shared
            $0.zoneName = zone.zoneName
            $0.zoneOwnerName = zone.ownerName
        }
        let error = await #expect(throws: CKError.self) {
            _ = try await bound.container.acceptShareInvitations(
                from: [metadata], into: bound.store)
        }
        #expect(error?.code == .zoneBusy)
        // Nothing was accepted.
        try await world.settle([world.carla])
        #expect(try world.carla.texts("Note").isEmpty)
        // A store of one's own takes none at all.
        await #expect(throws: CKError.self) {
            _ = try await world.desk.container.acceptShareInvitations(
                from: [metadata], into: world.desk.store)
        }
    }
}
