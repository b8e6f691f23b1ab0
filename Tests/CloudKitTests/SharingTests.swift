import CloudKit
import CoreData
import Foundation
import MirrorEngine
import Platform
import RecordWire
import Testing

/// Objects that one user shares with another, through the container's calls and over TLS.
@Suite struct SharingTests {
    @Test func aSharedFolderComesWithAllThatIsLinkedAndNothingElse() async throws {
        let world = try SharingWorld()
        let folder = try world.fill()
        let (ids, share, container) = try await world.desk.container.share([folder], to: nil)
        #expect(ids.count == 4)
        #expect(
            container.containerIdentifier
                == NSPersistentCloudKitContainer.defaultContainerIdentifier)
        #expect(share.publicPermission == .none && share.participants.map(\.role) == [.owner])
        try await world.accept(try await world.invite(share, .readWrite), on: world.phone)
        #expect(try world.phone.texts("Folder") == ["journey"])
        #expect(try world.phone.texts("Note") == ["map", "tickets"])
        #expect(try world.phone.texts("Label") == ["urgent"])
        let labels = try world.phone.edit("tickets") { note, _ in
            #expect((note.value(forKey: "folder") as? NSManagedObject) != nil)
            #expect((note.value(forKey: "labels") as? NSSet)?.count == 1)
        }
        #expect(world.phone.container.canUpdateRecord(forManagedObjectWith: labels))
        // The same user's other device takes the zone by itself, the owner's knows the share.
        try await world.settle()
        #expect(try world.tablet.texts("Note") == ["map", "tickets"])
        let known = try world.laptop.container.fetchShares(in: world.laptop.store)
        #expect(known.map(\.recordID) == [share.recordID])
        let id = try world.laptop.id(of: "map")
        #expect(try world.laptop.container.fetchShares(matching: [id])[id] != nil)
        let alone = try world.laptop.id(of: "diary")
        #expect(try world.laptop.container.fetchShares(matching: [alone]).isEmpty)
        #expect(try await world.carla.container.sync())
        #expect(try world.carla.texts("Note").isEmpty)
        for device in [world.desk, world.laptop, world.phone, world.tablet] {
            #expect(try device.container.status(of: device.store)?.isInSync == true)
        }
    }

    /// Who taps the invitation that they sent has all of it already.
    @Test func theOwnerTakesNoPartInTheirOwnShare() async throws {
        let world = try SharingWorld()
        let share = try await world.open()
        let guest = try world.service.container("guest", model: SharingWorld.model) {
            $0.databaseScope = .shared
        }
        let metadata = try await guest.container.shareMetadata(for: try #require(share.url))
        #expect(metadata.participantRole == .owner)
        let found = try await guest.container.acceptShareInvitations(
            from: [metadata], into: guest.store)
        #expect(found.map(\.participantRole) == [.owner])
        #expect(try await guest.container.sync())
        #expect(try guest.texts("Note").isEmpty)
    }

    @Test func editsTravelBothWays() async throws {
        let world = try SharingWorld()
        try await world.open()
        try world.phone.edit("map") { note, _ in note.setValue("map of the coast", forKey: "text") }
        try world.phone.edit("journey", in: "Folder") { folder, context in
            let note = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
            note.setValue("picnic", forKey: "text")
            note.setValue(folder, forKey: "folder")
            let label = NSEntityDescription.insertNewObject(forEntityName: "Label", into: context)
            label.setValue("nice", forKey: "text")
            note.setValue(NSSet(object: label), forKey: "labels")
        }
        try world.desk.edit("tickets") { note, _ in note.setValue("two tickets", forKey: "text") }
        try world.desk.edit("journey", in: "Folder") { folder, context in
            let note = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
            note.setValue("hotel", forKey: "text")
            note.setValue(folder, forKey: "folder")
        }
        try await world.settle()
        let notes = ["hotel", "map of the coast", "picnic", "two tickets"]
        for device in [world.phone, world.tablet] {
            #expect(try device.texts("Note") == notes)
            #expect(try device.texts("Label") == ["nice", "urgent"])
        }
        for device in [world.desk, world.laptop] {
            #expect(try device.texts("Note") == (notes + ["diary"]).sorted())
            #expect(try device.container.status(of: device.store)?.isInSync == true)
        }
        try world.phone.edit("picnic") { note, context in context.delete(note) }
        try await world.settle()
        #expect(
            try world.laptop.texts("Note")
                == ["diary", "hotel", "map of the coast", "two tickets"])
    }

    @Test func whatIsMadeLaterAndLinkedWithNothingSharedStaysUnshared() async throws {
        let world = try SharingWorld()
        try await world.open()
        for device in [world.desk, world.laptop] { try device.write("letter", in: "Note") }
        try await world.settle()
        #expect(try world.desk.texts("Note") == ["diary", "letter", "letter", "map", "tickets"])
        #expect(try world.phone.texts("Note") == ["map", "tickets"])
        #expect(try world.tablet.texts("Note") == ["map", "tickets"])
    }

    @Test func whatIsLinkedWithSharedObjectsLaterIsSharedToo() async throws {
        let world = try SharingWorld()
        try await world.open()
        try world.desk.edit("diary") { diary, context in
            let request = NSFetchRequest<NSManagedObject>(entityName: "Folder")
            diary.setValue(try? context.fetch(request).first, forKey: "folder")
        }
        try await world.settle()
        #expect(try world.tablet.texts("Note") == ["diary", "map", "tickets"])
    }

    /// Of two shares of one owner, of which one may only be read.
    @Test func whatIsLinkedWithNothingGoesWhereItsMakerMayWrite() async throws {
        let world = try SharingWorld()
        try await world.open(.readOnly)
        let context = world.desk.container.newBackgroundContext()
        let diary = context.object(with: try world.desk.id(of: "diary"))
        let (_, share, _) = try await world.desk.container.share([diary], to: nil)
        try await world.accept(try await world.invite(share, .readWrite), on: world.phone)
        try await world.settle([world.desk, world.phone])
        try world.phone.write("letter", in: "Note")
        try await world.settle([world.phone, world.desk])
        #expect(try world.desk.texts("Note") == ["diary", "letter", "map", "tickets"])
    }

    @Test func whoIsAddedAgainHasTheNewPermissionAndMayBeRemovedByAnyName() async throws {
        let world = try SharingWorld()
        try await world.open(.readOnly)
        try await world.settle()
        let desk = world.desk
        func share() throws -> CKShare {
            try #require(desk.container.fetchShares(in: desk.store).first)
        }
        let changed = try await world.invite(share(), .readWrite)
        #expect(changed.participants.map(\.permission) == [.readWrite, .readWrite])
        try await world.settle()
        let id = try world.phone.id(of: "map")
        #expect(world.phone.container.canUpdateRecord(forManagedObjectWith: id))
        let info = CKUserIdentity.LookupInfo(userRecordID: CKRecord.ID(recordName: world.bert))
        let found = try await desk.container.fetchParticipants(matching: [info], into: desk.store)
        let left = try share()
        left.removeParticipant(found[0])
        let stored = try await desk.container.persistUpdatedShare(left, in: desk.store)
        #expect(stored.participants.map(\.role) == [.owner])
    }

    @Test func aReaderIsRefusedAndLosesNothing() async throws {
        let world = try SharingWorld()
        let share = try await world.open(.readOnly)
        let id = try world.phone.id(of: "map")
        #expect(!world.phone.container.canUpdateRecord(forManagedObjectWith: id))
        #expect(!world.phone.container.canDeleteRecord(forManagedObjectWith: id))
        #expect(!world.phone.container.canModifyManagedObjects(in: world.phone.store))
        try world.phone.edit("map") { note, _ in note.setValue("my map", forKey: "text") }
        #expect(try await world.phone.container.sync() == false)
        guard
            case .refused(let reason)? = try world.phone.container.syncState(
                forManagedObjectWith: id)
        else {
            Issue.record("it was taken")
            return
        }
        #expect(reason.contains("reading only"))
        // It holds nothing up, and is there.
        try world.desk.edit("tickets") { note, _ in note.setValue("two tickets", forKey: "text") }
        try await world.settle()
        #expect(try world.phone.texts("Note") == ["my map", "two tickets"])
        #expect(try world.desk.texts("Note").contains("map"))
        // With the permission it goes by itself.
        let stored = try #require(
            try world.desk.container.fetchShares(in: world.desk.store).first)
        #expect(stored.recordID == share.recordID)
        let bert = try #require(stored.participants.first { $0.role == .privateUser })
        bert.permission = .readWrite
        _ = try await world.desk.container.persistUpdatedShare(stored, in: world.desk.store)
        try await world.settle()
        #expect(world.phone.container.canUpdateRecord(forManagedObjectWith: id))
        #expect(try world.laptop.texts("Note").contains("my map"))
        #expect(try world.phone.container.status(of: world.phone.store)?.isInSync == true)
    }

    @Test func aRevokedShareTakesItsObjectsAndLeavesUnsentEditsInTheLog() async throws {
        let world = try SharingWorld()
        let share = try await world.open()
        try await world.settle()
        try world.phone.edit("map") { note, _ in note.setValue("my map", forKey: "text") }
        try world.phone.write("picnic", in: "Note")
        let stored = try #require(
            try world.desk.container.fetchShares(in: world.desk.store).first)
        #expect(stored.recordID == share.recordID)
        let bert = try #require(stored.participants.first { $0.role == .privateUser })
        stored.removeParticipant(bert)
        let closed = try await world.desk.container.persistUpdatedShare(
            stored, in: world.desk.store)
        let error = await #expect(throws: CKError.self) {
            try await world.phone.container.sync()
        }
        #expect(error?.code == .zoneNotFound)
        #expect(try world.phone.texts("Note").isEmpty && world.phone.texts("Folder").isEmpty)
        _ = try? await world.tablet.container.sync()
        #expect(try world.tablet.texts("Note").isEmpty)
        let mirrored = try #require(try MirroredStore.known(of: world.phone.store))
        let log = try mirrored.conflicts()
        #expect(log.map(\.rule) == ["shareEnded", "shareEnded"])
        #expect(log.map(\.local) == [.string("my map"), .string("picnic")])
        #expect(log.map(\.winner) == ["remote", "remote"])
        // The owner has all, and nobody else's edits.
        try await world.settle([world.desk, world.laptop])
        #expect(try world.laptop.texts("Note") == ["diary", "map", "tickets"])
        // The store is free for the next share.
        try await world.accept(try await world.invite(closed, .readWrite), on: world.phone)
        #expect(try world.phone.texts("Note") == ["map", "tickets"])
        let entry = try #require(log.last)
        try #require(world.phone.container.mirroredStore(of: world.phone.store))
            .restore(objectOfConflict: entry.id)
        try await world.settle()
        #expect(try world.desk.texts("Note") == ["diary", "map", "picnic", "tickets"])
    }

    @Test func whatWasTakenAwayAndNotSentWhenAShareEndsIsInTheLog() async throws {
        let world = try SharingWorld()
        let share = try await world.open()
        try await world.settle()
        try world.phone.edit("map") { note, context in context.delete(note) }
        try world.phone.edit("tickets") { note, _ in note.setValue(NSSet(), forKey: "labels") }
        try await world.desk.container.endSharing(share, in: world.desk.store)
        _ = try? await world.phone.container.sync()
        let log = try #require(try MirroredStore.known(of: world.phone.store)).conflicts()
        #expect(log.allSatisfy { $0.rule == "shareEnded" && $0.winner == "remote" })
        #expect(log.allSatisfy { $0.local == nil && $0.remote == $0.base && $0.remote != nil })
        #expect(Set(log.map(\.property)) == ["text", "folder", "notes"])
        #expect(log.first { $0.property == "text" }?.remote == .string("map"))
        // The owner has all of it, and so has who takes part again.
        try await world.settle([world.desk, world.laptop])
        #expect(try world.laptop.texts("Note") == ["diary", "map", "tickets"])
    }

    @Test func whoLeavesKeepsNothingAndTakesNothingAway() async throws {
        let world = try SharingWorld()
        try await world.open()
        try await world.settle()
        let share = try #require(
            try world.phone.container.fetchShares(in: world.phone.store).first)
        let zone = share.recordID.zoneID
        #expect(zone.ownerName != CKCurrentUserDefaultName)
        let left = try await world.phone.container.purgeObjectsAndRecordsInZone(
            with: zone, in: world.phone.store)
        #expect(left == zone)
        #expect(try world.phone.texts("Note").isEmpty)
        try await world.settle([world.desk, world.laptop])
        #expect(try world.laptop.texts("Note") == ["diary", "map", "tickets"])
        let rest = try #require(
            try world.desk.container.fetchShares(in: world.desk.store).first)
        #expect(rest.participants.map(\.role) == [.owner])
    }

    @Test func aShareThatEndsLeavesTheOwnerAllObjects() async throws {
        let world = try SharingWorld()
        let share = try await world.open()
        try await world.desk.container.endSharing(share, in: world.desk.store)
        _ = try? await world.phone.container.sync()
        #expect(try world.phone.texts("Note").isEmpty)
        try await world.settle([world.desk, world.laptop])
        #expect(try world.laptop.texts("Note") == ["diary", "map", "tickets"])
        #expect(try world.laptop.container.fetchShares(in: nil).isEmpty)
        // What was shared can be shared anew.
        let context = world.desk.container.newBackgroundContext()
        let id = try world.desk.id(of: "map")
        let note = context.performAndWait { context.object(with: id) }
        let (ids, again, _) = try await world.desk.container.share([note], to: nil)
        #expect(ids.count == 4)
        try await world.accept(try await world.invite(again, .readOnly), on: world.phone)
        #expect(try world.phone.texts("Note") == ["map", "tickets"])
    }

    /// Those had a place in the share that ended.
    @Test func linksComeWithWhatIsSharedASecondTime() async throws {
        let world = try SharingWorld()
        let share = try await world.open()
        try await world.desk.container.endSharing(share, in: world.desk.store)
        _ = try? await world.phone.container.sync()
        #expect(try world.phone.texts("Note").isEmpty)
        let context = world.desk.container.newBackgroundContext()
        let id = try world.desk.id(of: "tickets")
        let note = context.performAndWait { context.object(with: id) }
        let (_, again, _) = try await world.desk.container.share([note], to: nil)
        try await world.accept(try await world.invite(again, .readWrite), on: world.phone)
        try await world.settle()
        for device in [world.phone, world.tablet] {
            try device.edit("tickets") { note, _ in
                #expect((note.value(forKey: "labels") as? NSSet)?.count == 1)
            }
        }
    }

    /// The device that shares it hears of the deletion only then.
    @Test func whatAnotherDeviceDeletedIsNotShared() async throws {
        let world = try SharingWorld()
        let folder = try world.fill()
        try await world.settle([world.desk, world.laptop])
        let laptop = world.laptop
        let ids = [try laptop.id(of: "diary"), try laptop.id(of: "map")]
        try world.desk.edit("diary") { note, context in context.delete(note) }
        try await world.settle([world.desk])
        let context = laptop.container.newBackgroundContext()
        let notes = context.performAndWait { ids.map { context.object(with: $0) } }
        let error = await #expect(throws: CKError.self) {
            _ = try await laptop.container.share([notes[0]], to: nil)
        }
        #expect(error?.code == .unknownItem)
        #expect(try await laptop.container.sync())
        #expect(try laptop.container.fetchShares(in: nil).isEmpty)
        // It keeps no others from being shared.
        let (shared, share, _) = try await laptop.container.share(notes, to: nil)
        #expect(shared.count == 4 && !shared.contains(ids[0]))
        #expect(try await laptop.container.sync())
        let (same, _, _) = try await world.desk.container.share([folder], to: share)
        #expect(same.count == 4)
    }

    /// Two of its owner's devices put it into shares before either had heard of the other's.
    @Test func anObjectStaysInTheShareThatTheServiceHeardOfFirst() async throws {
        let world = try SharingWorld()
        let folder = try world.fill()
        let (desk, laptop) = (world.desk, world.laptop)
        try await world.settle([desk, laptop])
        let diary = try laptop.id(of: "diary")
        let context = laptop.container.newBackgroundContext()
        let note = context.performAndWait { context.object(with: diary) }
        let (_, other, _) = try await laptop.container.share([note], to: nil)
        let mirrored = try #require(laptop.container.mirroredStore(of: laptop.store))
        let root = try #require(try mirrored.shares().first?.sharedRoot)
        let map = try laptop.id(of: "map")
        let shared = try mirrored.share([try #require(map.rowID)], below: root)
        #expect(shared.count == 4)
        let (_, first, _) = try await desk.container.share([folder], to: nil)
        #expect(first.recordID != other.recordID)
        try await world.settle([laptop, desk])
        let error = #expect(throws: MirrorError.self) {
            try mirrored.checkShared(shared, below: root)
        }
        #expect(error?.code == .alreadyShared)
        for device in [laptop, desk] {
            let id = try device.id(of: "map")
            let found = try device.container.fetchShares(matching: [id])[id]
            #expect(found?.recordID == first.recordID)
            #expect(try device.container.status(of: device.store)?.isInSync == true)
        }
    }

    /// Also where the container mirrors it only then.
    @Test func nothingRunsByItselfDuringAPause() async throws {
        let world = try SharingWorld()
        let folder = try world.fill()
        let (_, share, _) = try await world.desk.container.share([folder], to: nil)
        let invited = try await world.invite(share, .readWrite)
        let device = try world.service.container(
            "own", runsByItself: true, of: world.phone.address,
            model: SharingWorld.model
        ) { $0.databaseScope = .shared }
        func state() throws -> MirrorActivity.State? {
            try device.container.status(of: device.store)?.activity?.state
        }
        device.container.pause()
        try await world.accept(invited, on: device)
        #expect(try await eventually { try state() != nil })
        #expect(try state() == .paused)
        device.container.resume()
        #expect(try await eventually { try state() == .running })
    }

    @Test func anObjectIsInOneShare() async throws {
        let world = try SharingWorld()
        let folder = try world.fill()
        let (_, share, _) = try await world.desk.container.share([folder], to: nil)
        let error = await #expect(throws: CKError.self) {
            _ = try await world.desk.container.share([folder], to: nil)
        }
        #expect(error?.code == .alreadyShared)
        #expect(try world.desk.container.fetchShares(in: nil).count == 1)
        let (ids, same, _) = try await world.desk.container.share([folder], to: share)
        #expect(ids.count == 4 && same.recordID == share.recordID)
    }

    @Test func aWholeZoneIsSharedWhereThatIsAskedFor() async throws {
        let world = try SharingWorld()
        let folder = try world.fill()
        let zone = try #require(
            world.desk.container.mirroredStore(of: world.desk.store)
                .map { CKRecordZone.ID(zoneName: $0.zoneID.zoneName) })
        let (_, share, _) = try await world.desk.container.share(
            [folder], to: CKShare(recordZoneID: zone))
        try await world.accept(try await world.invite(share, .readWrite), on: world.phone)
        #expect(try world.phone.texts("Note") == ["diary", "map", "tickets"])
        try world.phone.write("from Bert", in: "Note")
        try await world.settle()
        #expect(try world.laptop.texts("Note") == ["diary", "from Bert", "map", "tickets"])
    }

    @Test func callbacksAreCalled() async throws {
        let world = try SharingWorld()
        let folder = try world.fill()
        world.desk.container.runner = SystemTaskRunner()
        let answers = Answers()
        world.desk.container.share([folder], to: nil) { _, share, _, error in
            answers.add(share, error)
        }
        #expect(await eventually { answers.count == 1 })
        let share = try #require(answers.last)
        share[CKShare.SystemFieldKey.title] = "Journey"
        world.desk.container.persistUpdatedShare(share, in: world.desk.store) { share, error in
            answers.add(share, error)
        }
        #expect(await eventually { answers.count == 2 })
        #expect(answers.last?[CKShare.SystemFieldKey.title] as? String == "Journey")
        #expect(answers.failures == 0)
    }
}

/// What callbacks were told.
private final class Answers: @unchecked Sendable {
    // @unchecked: under a lock.
    private let lock = NSLock()
    private var shares: [CKShare?] = []
    private var errors = 0

    func add(_ share: CKShare?, _ error: (any Error)?) {
        lock.withLock {
            shares.append(share)
            if error != nil { errors += 1 }
        }
    }

    var count: Int { lock.withLock { shares.count } }
    var failures: Int { lock.withLock { errors } }
    var last: CKShare? { lock.withLock { shares.last ?? nil } }
}
