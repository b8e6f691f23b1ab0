import CoreData
import Foundation
import Stores
import Testing

/// Objects whose rows cannot be read for a while: nothing is lost, neither stored nor changed.
@Suite struct UnreadableRowTests {
    private let bench: FlakyBench

    init() throws { bench = try FlakyBench() }

    /// A saved object, as a fault of a fresh context.
    private func fault(
        of object: NSManagedObject, in context: NSManagedObjectContext
    ) -> NSManagedObject {
        let fault = context.object(with: object.objectID)
        #expect(fault.isFault)
        return fault
    }

    @Test func aFaultThatCannotBeReadStaysAFault() throws {
        let ada = bench.make("Person", "Ada")
        try bench.context.save()
        let other = bench.newContext()
        let fault = fault(of: ada, in: other)
        bench.rows.whileUnreadable {
            #expect(fault.value(forKey: "name") == nil)
            #expect(fault.isFault && !fault.isDeleted)
            #expect(throws: NSError.self) { try other.save() }
            #expect(fault.value(forKey: "department") == nil)
            #expect(throws: NSError.self, "each failure is told") { try other.save() }
        }
        #expect(fault.value(forKey: "name") as? String == "Ada")
        try other.save()
    }

    @Test func aChangeOfAnUnreadObjectIsSavedOnceItCanBeRead() throws {
        let ada = bench.make("Person", "Ada")
        ada.setValue(36, forKey: "age")
        try bench.context.save()
        let other = bench.newContext()
        let fault = fault(of: ada, in: other)
        try bench.rows.whileUnreadable {
            fault.setManagedValue(Int16(37), forKey: "age")
            fault.setValue("Countess", forKey: "nick")
            #expect(other.hasChanges)
            let before = try bench.rows.lastTransactionNumber()
            for _ in 1...3 { #expect(throws: NSError.self) { try other.save() } }
            #expect(try bench.rows.lastTransactionNumber() == before)
            #expect(other.hasChanges, "the change is not taken as written")
        }
        try other.save()
        #expect(!other.hasChanges && fault.value(forKey: "age") as? Int == 37)
        #expect(fault.value(forKey: "name") as? String == "Ada")
        bench.context.refreshAllObjects()
        #expect(ada.value(forKey: "age") as? Int == 37)
        #expect(ada.value(forKey: "nick") as? String == "Countess")
        #expect(ada.value(forKey: "name") as? String == "Ada")
    }

    @Test func aChangeOfAnUnreadObjectCanBeRolledBack() throws {
        let ada = bench.make("Person", "Ada")
        try bench.context.save()
        let other = bench.newContext()
        let fault = fault(of: ada, in: other)
        bench.rows.whileUnreadable { fault.setValue("Bea", forKey: "name") }
        other.rollback()
        #expect(!other.hasChanges && fault.value(forKey: "name") as? String == "Ada")
        bench.rows.whileUnreadable {
            other.refreshAllObjects()
            fault.setValue("Bea", forKey: "name")
            other.refresh(fault, mergeChanges: false)
            #expect(!other.hasChanges)
        }
    }

    @Test(arguments: [false, true])
    func linksOfUnreadObjectsKeepBothEnds(isToOne: Bool) throws {
        let (ada, old, new) = (
            bench.make("Person", "Ada"), bench.make("Department", "old"),
            bench.make("Department", "new")
        )
        ada.setValue(old, forKey: "department")
        try bench.context.save()
        let other = bench.newContext()
        let person = other.object(with: ada.objectID)
        let department = other.object(with: new.objectID)
        bench.rows.whileUnreadable {
            if isToOne {
                person.setValue(department, forKey: "department")
            } else {
                department.addObject(person, toRelationshipNamed: "employees")
            }
            #expect(throws: NSError.self) { try other.save() }
        }
        try other.save()
        let fresh = bench.newContext()
        let saved = fresh.object(with: ada.objectID)
        #expect(saved.value(forKeyPath: "department.name") as? String == "new")
        let former = fresh.object(with: old.objectID).value(forKey: "employees")
        #expect((former as? Set<NSManagedObject>)?.isEmpty == true)
        #expect(other.object(with: old.objectID).value(forKeyPath: "employees.@count") as? Int == 0)
    }

    @Test func membersThatCannotBeReadAreNotTakenForNone() throws {
        let department = bench.make("Department", "d")
        let people = ["a", "b"].map { bench.make("Person", $0) }
        for person in people { person.setValue(department, forKey: "department") }
        try bench.context.save()
        let other = bench.newContext()
        let own = other.object(with: department.objectID)
        let third = bench.make("Person", "c", in: other)
        bench.rows.whileMembersAreUnreadable {
            #expect((own.value(forKey: "employees") as? Set<NSManagedObject>)?.isEmpty == true)
            #expect(own.hasFault(forRelationshipNamed: "employees"))
            // The members that leave are not known yet.
            own.setValue(Set([third]), forKey: "employees")
            #expect(throws: NSError.self) { try other.save() }
        }
        try other.save()
        let fresh = bench.newContext()
        let saved = fresh.object(with: department.objectID).value(forKey: "employees")
        #expect(
            (saved as? Set<NSManagedObject>)?.map { $0.value(forKey: "name") as? String } == ["c"])
        for person in people {
            #expect(fresh.object(with: person.objectID).value(forKey: "department") == nil)
        }
    }

    @Test func aDeletionWaitsForWhatItFollows() throws {
        let playlist = bench.make("Playlist", "p")
        let song = bench.make("Song", "s")
        song.setValue(playlist, forKey: "playlist")
        try bench.context.save()
        let other = bench.newContext()
        let own = other.object(with: playlist.objectID)
        bench.rows.whileMembersAreUnreadable {
            other.delete(own)
            #expect(throws: NSError.self) { try other.save() }
            #expect(other.hasChanges)
        }
        try other.save()
        let fresh = bench.newContext()
        #expect(throws: NSError.self) { try fresh.existingObject(with: playlist.objectID) }
        #expect(throws: NSError.self, "the cascade") {
            try fresh.existingObject(with: song.objectID)
        }
    }

    @Test func aMergeThatCannotReadDeletesNothing() throws {
        let ada = bench.make("Person", "Ada")
        try bench.context.save()
        let other = bench.newContext()
        let twin = try other.existingObject(with: ada.objectID)
        ada.setValue("Bea", forKey: "name")
        try bench.context.save()
        bench.rows.whileUnreadable {
            NSManagedObjectContext.mergeChanges(
                fromRemoteContextSave: [NSUpdatedObjectIDsKey: [ada.objectID]], into: [other])
            #expect(!twin.isDeleted && twin.managedObjectContext === other)
        }
        #expect(twin.value(forKey: "name") as? String == "Bea")
    }

    @Test func aChildSavesNothingOntoAParentThatCannotRead() throws {
        let ada = bench.make("Person", "Ada")
        try bench.context.save()
        let parent = bench.newContext()
        let child = bench.newContext(parent: parent)
        let own = try child.existingObject(with: ada.objectID)
        own.setValue("Bea", forKey: "name")
        parent.performAndWait { parent.reset() }
        bench.rows.whileUnreadable { #expect(throws: NSError.self) { try child.save() } }
        #expect(own.hasChanges)
        try child.save()
        try parent.performAndWait { try parent.save() }
        bench.context.refreshAllObjects()
        #expect(ada.value(forKey: "name") as? String == "Bea")
    }

    @Test func aFailureOfTheParentIsNotToldToEveryReadOfAChild() throws {
        let (ada, bea) = (bench.make("Person", "Ada"), bench.make("Person", "Bea"))
        try bench.context.save()
        let parent = bench.newContext()
        let child = bench.newContext(parent: parent)
        parent.performAndWait {
            bench.rows.whileUnreadable {
                #expect(parent.object(with: ada.objectID).value(forKey: "name") == nil)
            }
        }
        let own = try child.existingObject(with: bea.objectID)
        #expect(own.value(forKey: "name") as? String == "Bea")
        own.setValue("B", forKey: "name")
        try child.save()
        #expect(throws: NSError.self, "the parent's own save still tells it") {
            try parent.performAndWait { try parent.save() }
        }
        try parent.performAndWait { try parent.save() }
    }

    @Test func anObjectWhoseRowIsGoneIsNotTakenAsWritten() throws {
        let ada = bench.make("Person", "Ada")
        try bench.context.save()
        let other = bench.newContext()
        other.shouldDeleteInaccessibleFaults = false
        let fault = other.object(with: ada.objectID)
        bench.context.delete(ada)
        try bench.context.save()
        fault.setValue("Bea", forKey: "name")
        for _ in 1...3 {
            #expect(throws: NSError.self) { try other.save() }
            #expect(other.hasChanges)
        }
    }

    // MARK: Two stores

    private final class Told: @unchecked Sendable {
        // @unchecked: used on the thread that saves.
        var counts: [String: Int] = [:]
        func add(_ count: Int, _ key: String) { counts[key, default: 0] += count }
    }

    @Test func whatOneStoreTookIsToldThoughTheOtherFails() throws {
        FlakyRows.register()
        let model = TestModel.make()
        func named(_ names: [String]) -> [NSEntityDescription] {
            model.entities.filter { names.contains($0.name ?? "") }
        }
        model.setEntities(named(["Song", "Playlist", "Tag", "Account"]), forConfigurationName: "A")
        model.setEntities(
            model.entities.filter {
                !["Song", "Playlist", "Tag", "Account"].contains($0.name ?? "")
            },
            forConfigurationName: "B")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let first = try coordinator.addPersistentStore(
            ofType: NSInMemoryStoreType, configurationName: "A", at: nil,
            options: [NSPersistentHistoryTrackingKey: true])
        let second = try coordinator.addPersistentStore(
            ofType: FlakyRows.type, configurationName: "B", at: nil)
        let rows = try #require(second.rowStore as? FlakyRows)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        let doomed = NSEntityDescription.insertNewObject(forEntityName: "Song", into: context)
        try context.save()
        let reader = NSManagedObjectContext(.privateQueue)
        reader.persistentStoreCoordinator = coordinator
        reader.automaticallyMergesChangesFromParent = true
        let twin = try reader.performAndWait { try reader.existingObject(with: doomed.objectID) }

        // Its store, which cannot look ahead, writes last, since the save meets it first.
        let person = NSEntityDescription.insertNewObject(forEntityName: "Person", into: context)
        person.setValue("p", forKey: "name")
        context.delete(doomed)
        let song = NSEntityDescription.insertNewObject(forEntityName: "Song", into: context)
        song.setValue("s", forKey: "name")
        let told = Told()
        let observer = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextDidSave, object: context, queue: nil
        ) { note in
            for key in [NSInsertedObjectsKey, NSDeletedObjectsKey] {
                told.add((note.userInfo?[key] as? Set<NSManagedObject>)?.count ?? 0, key)
            }
        }
        defer { NotificationCenter.default.removeObserver(observer) }
        rows.whileUnwritable { #expect(throws: NSError.self) { try context.save() } }
        #expect(told.counts == [NSInsertedObjectsKey: 1, NSDeletedObjectsKey: 1])
        #expect(
            !song.hasChanges && !song.objectID.isTemporaryID && doomed.managedObjectContext == nil)
        #expect(person.isInserted && person.objectID.isTemporaryID && context.hasChanges)
        reader.performAndWait { #expect(twin.isDeleted || twin.managedObjectContext == nil) }
        try context.save()
        #expect(told.counts == [NSInsertedObjectsKey: 2, NSDeletedObjectsKey: 1])
        #expect(try first.rowStore.lastTransactionNumber() == 2)
    }
}
