import CoreData
import Foundation
import Stores
import Testing

@Suite struct DeletionTests {
    @Test(arguments: StoreKind.allCases)
    func nullifyClearsTheOtherEnd(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        let sales = try bench.make("Department", "Sales")
        let ada = try bench.person("Ada")
        ada.department = sales
        try bench.context.save()
        let other = bench.newContext()
        let twin = try bench.twin(ada, in: other)
        other.delete(try bench.twin(sales, in: other))
        #expect(twin.department != nil && !twin.isUpdated)
        other.processPendingChanges()
        #expect(twin.department == nil && twin.isUpdated)
        try other.save()
        #expect(try bench.twin(ada, in: bench.newContext()).department == nil)
        #expect(throws: NSError.self) {
            try bench.newContext().existingObject(with: sales.objectID)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func cascadeDeletesWhatHangsOnTheObject(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        let list = try bench.make("Playlist", "Best")
        let songs = try ["a", "b"].map { try bench.make("Song", $0) }
        list.setValue(songs, forKey: "songs")
        try bench.context.save()
        let other = bench.newContext()
        other.delete(try bench.twin(list, in: other))
        #expect(other.deletedObjects.count == 1)
        other.processPendingChanges()
        #expect(other.deletedObjects.count == 3)
        try other.save()
        let request = NSFetchRequest<NSManagedObject>(entityName: "Song")
        #expect(try bench.newContext().fetch(request).isEmpty)
    }

    @Test(arguments: StoreKind.allCases)
    func denyStopsTheSaveUntilTheOtherEndIsGone(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        let sales = try bench.make("Department", "Sales")
        let ada = try bench.person("Ada")
        sales.setValue(ada, forKey: "lead")
        try bench.context.save()
        bench.context.delete(sales)
        let error = try #require(throws: NSError.self) { try bench.context.save() }
        #expect(error.code == NSValidationRelationshipDeniedDeleteError)
        #expect(error.userInfo[NSValidationKeyErrorKey] as? String == "lead")
        #expect((error.userInfo[NSValidationValueErrorKey] as? NSManagedObject) === ada)
        bench.context.delete(ada)
        try bench.context.save()
        #expect(
            try bench.newContext().count(for: NSFetchRequest<Person>(entityName: "Person")) == 0)
    }

    @Test(arguments: StoreKind.allCases)
    func noActionLeavesTheOtherEndAsItIs(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        let ada = try bench.person("Ada")
        let project = try bench.make("Project", "X")
        project.setValue(ada, forKey: "owner")
        try bench.context.save()
        bench.context.delete(ada)
        #expect(project.value(forKey: "owner") != nil && !project.isUpdated)
    }

    @Test(arguments: StoreKind.allCases)
    func aDeletedMemberLeavesItsManyToManys(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        let people = try ["Ada", "Bob"].map { try bench.person($0) }
        let project = try bench.make("Project", "X")
        project.setValue(Set<NSManagedObject>(people), forKey: "members")
        try bench.context.save()
        bench.context.delete(people[0])
        bench.context.processPendingChanges()
        #expect(bench.names(project.value(forKey: "members")) == ["Bob"])
        try bench.context.save()
        let twin = try bench.twin(project, in: bench.newContext())
        #expect(bench.names(twin.value(forKey: "members")) == ["Bob"])
    }

    @Test(arguments: StoreKind.allCases)
    func aDeletedObjectLeavesItsContextWithTheSave(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        let ada = try bench.person("Ada")
        try bench.context.save()
        bench.context.delete(ada)
        #expect(ada.isDeleted && bench.context.deletedObjects == [ada] && ada.name == "Ada")
        try bench.context.save()
        #expect(ada.managedObjectContext == nil && !ada.isDeleted)
        #expect(!bench.context.hasChanges && bench.context.registeredObjects.isEmpty)
    }

    @Test(arguments: StoreKind.allCases)
    func whatWasNeverSavedIsNotDeletedFromTheStore(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        let ada = try bench.person("Ada")
        bench.context.delete(ada)
        #expect(!bench.context.hasChanges && bench.context.insertedObjects.isEmpty)
        try bench.context.save()
        #expect(ada.managedObjectContext == nil)
        guard bench.store.rowStore.keepsHistory else { return }
        #expect(try bench.store.rowStore.lastTransactionNumber() == 0)
    }

    @Test(arguments: StoreKind.allCases)
    func aLongChainIsDeletedWithoutRecursion(_ kind: StoreKind) throws {
        let model = NSManagedObjectModel()
        let node = TestModel.entity("Node")
        TestModel.link(node, "next", .one, node, "previous", .one, rule: .cascadeDeleteRule)
        model.entities = [node]
        let bench = try Bench(kind, model: model)
        var last = try bench.make("Node")
        let first = last
        for _ in 0..<8_000 {
            let next = try bench.make("Node")
            last.setValue(next, forKey: "next")
            last = next
        }
        try bench.context.save()
        bench.context.delete(first)
        bench.context.processPendingChanges()
        #expect(last.isDeleted)
        try bench.context.save()
        #expect(
            try bench.context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Node")) == 0)
    }

    @Test(arguments: StoreKind.allCases)
    func aBatchDeletionClearsLinksToTheDeleted(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        let sales = try bench.make("Department", "Sales")
        let ada = try bench.person("Ada")
        ada.department = sales
        try bench.context.save()
        let request = NSBatchDeleteRequest(
            fetchRequest: NSFetchRequest<NSManagedObject>(entityName: "Department"))
        request.resultType = .resultTypeObjectIDs
        let result = try #require(try bench.context.execute(request) as? NSBatchDeleteResult)
        #expect(result.result as? [NSManagedObjectID] == [sales.objectID])
        let other = bench.newContext()
        #expect(try bench.twin(ada, in: other).department == nil)
        #expect(
            try other.count(for: NSFetchRequest<NSManagedObject>(entityName: "Department")) == 0)
    }

    @Test func whatBothDeletedStaysDeletedAfterARollback() throws {
        let bench = try Bench(.sqlite)
        let ada = try bench.person("Ada")
        try bench.context.save()
        bench.context.delete(ada)
        bench.context.processPendingChanges()
        let other = bench.newContext()
        other.delete(try bench.twin(ada, in: other))
        try other.save()
        NSManagedObjectContext.mergeChanges(
            fromRemoteContextSave: [NSDeletedObjectIDsKey: Set([ada.objectID])],
            into: [bench.context])
        bench.context.rollback()
        #expect(ada.managedObjectContext == nil)
        #expect(bench.context.registeredObject(for: ada.objectID) == nil)
        try bench.context.save()
    }
}
