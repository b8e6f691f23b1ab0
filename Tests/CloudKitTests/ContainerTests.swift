import CoreData
import Foundation
import MirrorEngine
import Platform
import Testing

@testable import CloudKit

/// Containers that meet at a service over TLS.
@Suite struct ContainerTests {
    @Test func twoDevicesMeet() async throws {
        let service = try LocalService()
        let (desk, phone) = (try service.container("desk"), try service.container("phone"))
        try desk.write("one")
        #expect(try await desk.container.sync())
        #expect(try await phone.container.sync())
        #expect(try phone.texts() == ["one"])
        try phone.write("two")
        #expect(try await phone.container.sync())
        #expect(try await desk.container.sync())
        #expect(try desk.texts() == ["one", "two"])
    }

    @Test func aSaveIsSentByItself() async throws {
        let service = try LocalService()
        let desk = try service.container("desk", runsByItself: true)
        #expect(await eventually { !desk.events.withLock { $0.isEmpty } })
        try desk.write("one")
        #expect(
            await eventually {
                desk.events.withLock { $0.contains { $0.type == .export && $0.succeeded } }
            })
        let phone = try service.container("phone", runsByItself: true)
        #expect(try await eventually { try phone.texts() == ["one"] })
    }

    @Test func aPauseHoldsSavesBackAndItsEndSendsThem() async throws {
        let service = try LocalService()
        let desk = try service.container("desk", runsByItself: true)
        #expect(await eventually { !desk.events.withLock { $0.isEmpty } })
        desk.container.pause()
        try desk.write("one")
        #expect(try desk.container.status(of: desk.store)?.pending.inserts == 1)
        desk.container.resume()
        #expect(
            try await eventually { try desk.container.status(of: desk.store)?.isInSync == true })
    }

    @Test func whatAnotherDeviceSavesComesByItself() async throws {
        let service = try LocalService()
        let phone = try service.container("phone", runsByItself: true)
        #expect(await eventually { !phone.events.withLock { $0.isEmpty } })
        let desk = try service.container("desk")
        try desk.write("one")
        #expect(try await desk.container.sync())
        #expect(try await eventually { try phone.texts() == ["one"] })
        #expect(try phone.container.status(of: phone.store)?.activity?.state == .running)
    }

    @Test func valuesOfTheSizeThatIsAskedForAreAssets() async throws {
        let service = try LocalService()
        let text = String(repeating: "large ", count: 100)
        let desk = try service.container("desk") { $0.assetValueBytesMax = 500 }
        let phone = try service.container("phone")
        let id = try desk.write(text)
        #expect(try await desk.container.sync())
        #expect(try await phone.container.sync())
        #expect(try phone.texts() == [text])
        #expect(desk.container.record(for: id)?["CD_text"] as? String == nil)
        let small = try desk.write("small")
        #expect(try await desk.container.sync())
        #expect(desk.container.record(for: small)?["CD_text"] as? String == "small")
        let options = NSPersistentCloudKitContainerOptions(containerIdentifier: "c")
        options.assetValueBytesMax = 7
        #expect((options.copy() as? NSPersistentCloudKitContainerOptions)?.assetValueBytesMax == 7)
    }

    @Test func anObjectTellsHowItStands() async throws {
        let service = try LocalService(assetBytesMax: 1_000_000)
        let desk = try service.container("desk")
        let id = try desk.write("one")
        #expect(try desk.container.syncState(forManagedObjectWith: id) == .waiting)
        #expect(try await desk.container.syncUntilQuiescent())
        #expect(try desk.container.syncState(forManagedObjectWith: id) == .synced)
        let later = try desk.write("two")
        #expect(try desk.container.syncState(forManagedObjectWith: later) == .waiting)
        let large = try desk.write(String(repeating: "x", count: 1_200_000))
        #expect(try await desk.container.syncUntilQuiescent() == false)
        guard case .refused(let reason)? = try desk.container.syncState(forManagedObjectWith: large)
        else {
            Issue.record("it was taken")
            return
        }
        #expect(!reason.isEmpty)
        #expect(try desk.container.syncState(forManagedObjectWith: later) == .synced)
        #expect(desk.container.mirroredStore(of: desk.store) != nil)
    }

    @Test func eventsAreTypedMessagesToo() async throws {
        let service = try LocalService()
        let desk = try service.container("desk")
        let told = Lock<[NSPersistentCloudKitContainer.EventType]>([])
        let token = NotificationCenter.default.addObserver(
            of: desk.container, for: .eventChanged
        ) { message in told.withLock { $0.append(message.event.type) } }
        try desk.write("one")
        #expect(try await desk.container.sync())
        #expect(await eventually { told.withLock { $0.contains(.export) } })
        NotificationCenter.default.removeObserver(token)
        let event = try #require(desk.events.withLock { $0.first })
        let note = Notification(
            name: NSPersistentCloudKitContainer.eventChangedNotification, object: desk.container,
            userInfo: [NSPersistentCloudKitContainer.eventNotificationUserInfoKey: event])
        let message = try #require(
            NSPersistentCloudKitContainer.EventChangedMessage.makeMessage(note))
        #expect(message.event === event)
        let again = NSPersistentCloudKitContainer.EventChangedMessage.makeNotification(message)
        #expect(again.name == note.name && again.object as AnyObject === desk.container)
    }

    @Test func eventsAreToldAndKept() async throws {
        let service = try LocalService()
        let desk = try service.container("desk")
        try desk.write("one")
        #expect(try await desk.container.sync())
        let all = desk.events.withLock { $0 }
        let told = all.filter { $0.endDate != nil }
        #expect(told.count == 3 && Set(told.map(\.type)) == [.setup, .import, .export])
        #expect(all.filter { $0.endDate == nil }.map(\.type) == [.setup, .import, .export])
        #expect(told.allSatisfy { $0.succeeded })
        #expect(all.allSatisfy { $0.storeIdentifier == desk.store.identifier })
        // Each was told when it began, too.
        let begun = all.filter { $0.endDate == nil }
        #expect(begun.allSatisfy { !$0.succeeded })
        #expect(Set(begun.map(\.identifier)) == Set(told.map(\.identifier)))
        for event in told {
            let places = all.indices.filter { all[$0].identifier == event.identifier }
            #expect(places.map { all[$0].endDate != nil } == [false, true])
        }
        let kept = try desk.fetchEvents(.fetchEvents(after: Date.distantPast))
        // The import brought nothing, which is not kept.
        let written = told.filter { $0.type != .import }
        #expect(kept.map(\.identifier) == written.map(\.identifier))
        let rest = try desk.fetchEvents(.fetchEvents(after: kept[0]))
        #expect(rest.map(\.identifier) == kept.dropFirst().map(\.identifier))
        let counted = NSPersistentCloudKitContainerEventRequest.fetchEvents(
            after: nil as NSPersistentCloudKitContainer.Event?)
        counted.resultType = .countEvents
        let context = desk.container.newBackgroundContext()
        let count = try context.performAndWait { try context.execute(counted) }
        #expect(
            (count as? NSPersistentCloudKitContainerEventResult)?.result as? Int == kept.count)
    }

    /// Apps show that they wait until the first import has ended, which brings nothing mostly.
    @Test func eachLaunchIsToldASetupAndAnImport() async throws {
        let service = try LocalService()
        for launch in 0..<2 {
            let desk = try service.container("desk")
            #expect(try await desk.container.sync())
            let told = desk.events.withLock { $0 }
            #expect(told.map(\.type) == [.setup, .setup, .import, .import], "launch \(launch)")
            #expect(told.map { $0.endDate != nil } == [false, true, false, true])
            #expect(try await desk.container.sync())
            #expect(desk.events.withLock { $0 }.count == told.count)
        }
    }

    /// However many pages and batches it takes.
    @Test func whatARoundExportsAndImportsIsOneEventEach() async throws {
        let service = try LocalService()
        let (desk, phone) = (try service.container("desk"), try service.container("phone"))
        for round in 0..<2 {
            for number in 0..<3 { try desk.write("\(round) \(number)") }
            #expect(try await desk.container.sync())
            try phone.write("mine \(round)")
            #expect(try await phone.container.sync())
        }
        let told = phone.events.withLock { $0 }.filter { $0.endDate != nil }
        #expect(told.map(\.type) == [.setup, .import, .export, .import, .export])
        let mirrored = try #require(phone.container.mirroredStore(of: phone.store))
        let kept = try mirrored.events()
        #expect(kept.map(\.affected) == [0, 3, 1, 3, 1])
        #expect(Set(kept.map(\.identifier)) == Set(told.map(\.identifier)))
    }

    @Test func eventsAreFoundByPredicateAndSorted() async throws {
        let service = try LocalService()
        let desk = try service.container("desk")
        try desk.write("one")
        #expect(try await desk.container.sync())
        let request = NSPersistentCloudKitContainerEventRequest.fetchForEvents()
        request.predicate = NSPredicate(format: "type == %d AND succeeded == YES", 2)
        request.sortDescriptors = [NSSortDescriptor(key: "startDate", ascending: false)]
        #expect(
            try desk.fetchEvents(.fetchEvents(matchingFetch: request)).map(\.type) == [.export])
        request.predicate = NSPredicate(format: "succeeded == NO")
        #expect(try desk.fetchEvents(.fetchEvents(matchingFetch: request)).isEmpty)
    }

    @Test func aServiceThatIsNotThereIsAnEventWithItsError() async throws {
        let service = try LocalService()
        var address = service.address
        address.url = try #require(URL(string: "https://127.0.0.1:1"))
        let desk = try Device(
            url: service.folder.appendingPathComponent("lonely.sqlite"), address: address,
            runsByItself: false)
        #expect(desk.failure == nil)
        try desk.write("kept")
        await #expect(throws: CKError.self) { try await desk.container.sync() }
        let event = try #require(desk.events.withLock { $0.last })
        #expect(!event.succeeded && (event.error as? CKError)?.code == .networkUnavailable)
        let kept = try desk.fetchEvents(.fetchEvents(after: Date.distantPast))
        #expect(kept.last?.error?.localizedDescription.isEmpty == false)
        #expect((kept.last?.error as? CKError)?.code == .networkUnavailable)
        #expect(try desk.texts() == ["kept"])
    }

    @Test func aStoreThatCannotBeMirroredIsOpenAllTheSame() throws {
        let service = try LocalService()
        let desk = try Device(
            url: service.folder.appendingPathComponent("alone.sqlite"), address: nil,
            runsByItself: false)
        #expect((desk.failure as? CKError)?.code == .serviceUnavailable)
        try desk.write("kept")
        #expect(try desk.texts() == ["kept"])
        #expect(try desk.container.status(of: desk.store) == nil)
    }

    @Test func aRecordIsWhatTheServiceHas() async throws {
        let service = try LocalService()
        let desk = try service.container("desk")
        let id = try desk.write("one", stars: 3)
        #expect(desk.container.record(for: id) == nil)
        #expect(try await desk.container.sync())
        let record = try #require(desk.container.record(for: id))
        #expect(record.recordType == "CD_Note")
        #expect(record["CD_text"] as? String == "one")
        #expect(record["CD_stars"] as? Int64 == 3)
        #expect(record.recordChangeTag != nil && record.changedKeys().isEmpty)
        #expect(record.recordID == desk.container.recordID(for: id))
        #expect(record.recordID.zoneID.zoneName == "com.apple.coredata.cloudkit.zone")
        #expect(desk.container.records(for: [id]).keys.contains(id))
        #expect(desk.container.recordIDs(for: [id])[id] == record.recordID)
        #expect(desk.container.canUpdateRecord(forManagedObjectWith: id))
    }

    @Test func anObjectThatWasNeverSentHasNoRecordAndOneThatIsGoneNoState() async throws {
        let service = try LocalService()
        let desk = try service.container("desk")
        try desk.write("one")
        #expect(try await desk.container.sync())
        let id = try desk.write("two")
        #expect(try desk.container.syncState(forManagedObjectWith: id) == .waiting)
        #expect(desk.container.recordID(for: id) == nil)
        #expect(desk.container.record(for: id) == nil)
        let context = desk.container.newBackgroundContext()
        try context.performAndWait {
            context.delete(try context.existingObject(with: id))
            try context.saveInOrder()
        }
        #expect(try desk.container.syncState(forManagedObjectWith: id) == nil)
    }

    @Test func aPurgeEmptiesStoreAndZone() async throws {
        let service = try LocalService()
        let (desk, phone) = (try service.container("desk"), try service.container("phone"))
        let id = try desk.write("one")
        #expect(try await desk.container.sync())
        #expect(try await phone.container.sync())
        let zone = try #require(desk.container.recordID(for: id)).zoneID
        #expect(
            try await desk.container.purgeObjectsAndRecordsInZone(with: zone, in: desk.store)
                == zone)
        #expect(try await phone.container.sync())
        #expect(try desk.texts().isEmpty && phone.texts().isEmpty)
        let other = CKRecordZone.ID(zoneName: "another")
        await #expect(throws: CKError.self) {
            try await desk.container.purgeObjectsAndRecordsInZone(with: other, in: nil)
        }
    }

    /// What the model's rules would keep goes as well: none of them is asked.
    @Test(arguments: [NSDeleteRule.denyDeleteRule, .nullifyDeleteRule])
    func aPurgeAsksNoRuleOfTheModel(rule: NSDeleteRule) async throws {
        let model = LinkedModel.make(rule)
        let service = try LocalService()
        let desk = try service.container("desk", model: model)
        let phone = try service.container("phone", model: model)
        let context = desk.container.newBackgroundContext()
        let id = try context.performAndWait {
            let owner = NSEntityDescription.insertNewObject(forEntityName: "A", into: context)
            let member = NSEntityDescription.insertNewObject(forEntityName: "B", into: context)
            member.setValue(owner, forKey: "owner")
            try context.saveInOrder()
            return owner.objectID
        }
        for device in [desk, phone] { #expect(try await device.container.sync()) }
        let zone = try #require(desk.container.recordID(for: id)).zoneID
        _ = try await desk.container.purgeObjectsAndRecordsInZone(with: zone, in: desk.store)
        #expect(try await phone.container.sync())
        for device in [desk, phone] {
            for name in ["A", "B"] { #expect(try LinkedModel.count(name, in: device) == 0) }
        }
        // Contexts that knew the objects know them no more.
        let count = try context.performAndWait {
            try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "A")).count
        }
        #expect(count == 0)
        #expect(try desk.container.status(of: desk.store)?.isInSync == true)
    }

    /// What a store has put aside is of its zone as well.
    @Test func aPurgeDeletesRecordsThatTheStoreCannotRead() async throws {
        let service = try LocalService()
        let desk = try service.container("desk")
        let pad = try service.container("pad", model: LinkedModel.make(.nullifyDeleteRule))
        let id = try desk.write("one")
        let context = pad.container.newBackgroundContext()
        try context.performAndWait {
            let owner = NSEntityDescription.insertNewObject(forEntityName: "A", into: context)
            let member = NSEntityDescription.insertNewObject(forEntityName: "B", into: context)
            member.setValue(owner, forKey: "owner")
            try context.saveInOrder()
        }
        for device in [pad, desk] { _ = try await device.container.sync() }
        #expect(try desk.container.status(of: desk.store)?.keptForLater.count == 2)
        let zone = try #require(desk.container.recordID(for: id)).zoneID
        _ = try await desk.container.purgeObjectsAndRecordsInZone(with: zone, in: desk.store)
        #expect(try desk.container.status(of: desk.store)?.keptForLater.isEmpty == true)
        _ = try await pad.container.sync()
        for name in ["A", "B"] { #expect(try LinkedModel.count(name, in: pad) == 0) }
        #expect(try pad.container.status(of: pad.store)?.isInSync == true)
    }

    @Test func whatNeedsSharesIsRefused() async throws {
        let service = try LocalService()
        let desk = try service.container("desk")
        #expect(try desk.container.fetchShares(in: nil).isEmpty)
        await #expect(throws: CKError.self) { _ = try await desk.container.share([], to: nil) }
        await #expect(throws: CKError.self) {
            _ = try await desk.container.acceptShareInvitations(from: [], into: desk.store)
        }
    }

    @Test func theSchemaNamesTypesAndFields() throws {
        let service = try LocalService()
        let desk = try service.container("desk")
        try desk.container.initializeCloudKitSchema(options: [.dryRun])
        let types = try #require(desk.container.mirror(of: desk.store)).session.store.recordSchema
        #expect(types.map(\.name) == ["CD_Note"])
        #expect(
            types[0].fields.map { "\($0.name) \($0.type)" } == [
                "CD_entityName STRING", "CD_stars INT64", "CD_text STRING",
                "CD_text_ckAsset ASSETID", "CD_written TIMESTAMP",
            ])
    }

    @Test func theSchemaIsThatOfAllStores() throws {
        let service = try LocalService()
        let model = LocalService.model
        let tag = NSEntityDescription()
        tag.name = "Tag"
        let both = NSManagedObjectModel()
        both.entities = model.entities.compactMap { $0.copy() as? NSEntityDescription } + [tag]
        both.setEntities([both.entities[0]], forConfigurationName: "Notes")
        both.setEntities([tag], forConfigurationName: "Tags")
        let container = NSPersistentCloudKitContainer(name: "Both", managedObjectModel: both)
        container.runner = IdleRunner()
        let options = NSPersistentCloudKitContainerOptions(containerIdentifier: "iCloud.a")
        options.recordService = service.address
        container.persistentStoreDescriptions = ["Notes", "Tags"].map { name in
            let description = NSPersistentStoreDescription(
                url: service.folder.appendingPathComponent("\(name).sqlite"))
            description.configuration = name
            description.cloudKitContainerOptions = options
            return description
        }
        container.loadPersistentStores { _, error in #expect(error == nil) }
        #expect(try container.recordTypes().map(\.name) == ["CD_Note", "CD_Tag"])
    }

    @Test func aDescriptionKeepsItsOptionsAcrossACopy() throws {
        let description = NSPersistentStoreDescription()
        #expect(description.cloudKitContainerOptions == nil)
        description.cloudKitContainerOptions = NSPersistentCloudKitContainerOptions(
            containerIdentifier: "iCloud.a")
        let copy = try #require(description.copy() as? NSPersistentStoreDescription)
        #expect(copy.cloudKitContainerOptions?.containerIdentifier == "iCloud.a")
        description.cloudKitContainerOptions = nil
        #expect(description.cloudKitContainerOptions == nil)
    }
}

/// Owners with members that cannot be without one.
private enum LinkedModel {
    /// `rule` is what the deletion of an owner does to its members.
    static func make(_ rule: NSDeleteRule) -> NSManagedObjectModel {
        let (owner, member) = (NSEntityDescription(), NSEntityDescription())
        owner.name = "A"
        member.name = "B"
        let (members, back) = (NSRelationshipDescription(), NSRelationshipDescription())
        members.name = "members"
        members.destinationEntity = member
        members.maxCount = 0
        members.deleteRule = rule
        members.inverseRelationship = back
        back.name = "owner"
        back.destinationEntity = owner
        back.maxCount = 1
        back.isOptional = false
        back.inverseRelationship = members
        owner.properties = [members]
        member.properties = [back]
        let model = NSManagedObjectModel()
        model.entities = [owner, member]
        return model
    }

    static func count(_ entity: String, in device: Device) throws -> Int {
        let context = device.container.newBackgroundContext()
        return try context.performAndWait {
            try context.count(for: NSFetchRequest<NSManagedObject>(entityName: entity))
        }
    }
}
