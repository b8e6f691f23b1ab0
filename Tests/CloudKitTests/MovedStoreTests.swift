import CloudKit
import CoreData
import Foundation
import MirrorEngine
import Testing

/// A mirrored store that an app moves to another place.
@Suite struct MovedStoreTests {
    private func settle(_ devices: Device...) async throws {
        for _ in 0..<2 { for device in devices { _ = try await device.container.sync() } }
    }

    /// An app that moves its store into the folder of a group goes on with the same container.
    @Test func theMirrorGoesAlong() async throws {
        let service = try LocalService()
        let desk = try service.container("desk")
        let phone = try service.container("phone")
        try desk.write("sent")
        try await settle(desk, phone)
        let former = desk.store
        let kept = desk.container.mirroredStore(of: former)
        let coordinator = desk.container.persistentStoreCoordinator
        let made = try coordinator.migratePersistentStore(
            former, to: service.folder.appendingPathComponent("moved.sqlite"),
            options: former.options, type: .sqlite)
        #expect(desk.container.mirroredStore(of: former) == nil)
        #expect(throws: MirrorError.self) { try kept?.reset() }
        try desk.write("later")
        #expect(try await desk.container.sync())
        #expect(try await phone.container.sync())
        #expect(try phone.texts() == ["later", "sent"])
        // There is no mirror for other types.
        try coordinator.migratePersistentStore(
            made, to: service.folder.appendingPathComponent("moved.xml"), type: .xml)
        #expect(try await !desk.container.sync())
    }

    /// What the mirror knows moves along, so that nothing is sent as new that was sent already; and
    /// where the former file is mirrored too, the two name alike what both had not sent.
    @Test func aStoreThatIsMovedGoesOnBeingMirrored() async throws {
        let service = try LocalService()
        let desk = try service.container("desk")
        let phone = try service.container("phone")
        try desk.write("sent")
        try await settle(desk, phone)
        try desk.write("unsent")
        let former = desk.store
        desk.container.stopMirroring(former)
        let coordinator = desk.container.persistentStoreCoordinator
        let made = try coordinator.migratePersistentStore(
            former, to: service.folder.appendingPathComponent("moved.sqlite"),
            options: former.options, type: .sqlite)
        #expect(made.identifier != former.identifier)
        #expect(try desk.texts() == ["sent", "unsent"])
        try coordinator.remove(made)
        let moved = try service.container("moved")
        #expect(moved.failure == nil)
        #expect(moved.store.identifier == made.identifier)
        try await settle(moved, phone)
        for device in [moved, phone] { #expect(try device.texts() == ["sent", "unsent"]) }
        let again = try service.container("desk")
        try await settle(again, moved, phone)
        for device in [again, moved, phone] { #expect(try device.texts() == ["sent", "unsent"]) }
    }

    /// Copies of one file have one identifier, by which a container knows its stores: the second
    /// took the place of the first, which nobody synced any more, while rounds said all was equal.
    /// A coordinator takes only one of them.
    @Test func aCopyIsMirroredBesideItsOriginalOnceItHasAnIdentifierOfItsOwn() async throws {
        let service = try LocalService()
        let desk = try service.container("desk")
        let phone = try service.container("phone") { $0.zoneName = "copy" }
        let coordinator = desk.container.persistentStoreCoordinator
        let place = service.folder.appendingPathComponent("copy.sqlite")
        try coordinator.replacePersistentStore(
            at: place, withPersistentStoreFrom: try #require(desk.store.url), type: .sqlite)
        let original = desk.store
        let error = #expect(throws: (any Error).self) {
            try coordinator.addPersistentStore(
                type: .sqlite, at: place, options: original.options)
        }
        #expect((error as NSError?)?.code == NSPersistentStoreOpenError + 1)
        #expect(try desk.container.status(of: original) != nil)
        let elsewhere = NSPersistentStoreCoordinator(
            managedObjectModel: coordinator.managedObjectModel)
        let copy = try elsewhere.addPersistentStore(
            type: .sqlite, at: place, options: original.options)
        #expect(copy.identifier == original.identifier)
        let own = service.folder.appendingPathComponent("own.sqlite")
        try elsewhere.remove(
            elsewhere.migratePersistentStore(
                copy, to: own, options: original.options, type: .sqlite))
        let made = try coordinator.addPersistentStore(
            type: .sqlite, at: own, options: original.options)
        let options = NSPersistentCloudKitContainerOptions(
            containerIdentifier: NSPersistentCloudKitContainer.defaultContainerIdentifier)
        options.recordService = service.address
        options.zoneName = "copy"
        try desk.container.startMirroring(made, with: options)
        let context = desk.container.newBackgroundContext()
        try await context.perform {
            for (store, text) in [(original, "original"), (made, "copy")] {
                let note = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
                note.setValue(text, forKey: "text")
                context.assign(note, to: store)
            }
            try context.saveInOrder()
        }
        #expect(try await desk.container.sync())
        #expect(try await phone.container.sync())
        #expect(try phone.texts() == ["copy"])
    }
}
