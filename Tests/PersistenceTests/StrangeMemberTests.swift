import CoreData
import Foundation
import Testing

/// Members of an entity the relationship does not lead to: their keys are those of other objects.
@Suite struct StrangeMemberTests {
    private func expectRefusal(_ bench: Bench, _ key: String) throws {
        let error = try #require(throws: NSError.self) { try bench.context.save() }
        #expect(error.code == NSManagedObjectValidationError)
        #expect(error.userInfo[NSValidationKeyErrorKey] as? String == key)
        #expect(error.localizedDescription.contains("\"Tag\""))
    }

    @Test(arguments: StoreKind.allCases)
    func aMemberOfAnotherEntityStopsTheSave(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        let ada = try bench.person("Ada")
        let list = try bench.make("Playlist", "list")
        let tag = try bench.make("Tag", "tag")
        try bench.context.save()
        ada.mutableSetValue(forKey: "friends").add(tag)
        try expectRefusal(bench, "friends")
        bench.context.rollback()
        list.mutableOrderedSetValue(forKey: "songs").add(tag)
        try expectRefusal(bench, "songs")
        bench.context.rollback()
        ada.addObject(tag, toRelationshipNamed: "tags")
        try bench.context.save()
        let stored = try bench.twin(ada, in: bench.newContext())
        #expect(stored.friends.isEmpty)
        #expect(stored.objectIDs(forRelationshipNamed: "tags") == [tag.objectID])
    }

    /// The members were never read, and the class answers for its rules itself.
    @Test func soItIsWithOverriddenRulesAndMembersThatWereNotRead() throws {
        let model = TestModel.make()
        model.entitiesByName["Person"]?.managedObjectClassName = String(reflecting: Ruled.self)
        let bench = try Bench(.sqlite, model: model)
        let ada = try bench.make("Employee", "Ada")
        let tag = try bench.make("Tag", "tag")
        try bench.context.save()
        bench.context.refresh(ada, mergeChanges: false)
        ada.addObject(tag, toRelationshipNamed: "friends")
        try expectRefusal(bench, "friends")
        bench.context.reset()
        let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
        let ruled = Ruled(entity: try bench.named("Person"), insertInto: bench.context)
        ruled.setValue("Bob", forKey: "name")
        ruled.addObject(bench.context.object(with: tag.objectID), toRelationshipNamed: "friends")
        try expectRefusal(bench, "friends")
        ruled.removeObject(
            bench.context.object(with: tag.objectID), fromRelationshipNamed: "friends")
        try bench.context.save()
        #expect(try bench.context.count(for: request) == 2)
    }

    @Test func aContextIsNotItsOwnParent() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent])
        {
            let bench = try Bench(.memory)
            let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            child.parent = bench.context
            bench.context.parent = child
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("cannot be its own parent"))
    }
}

private final class Ruled: NSManagedObject {
    override func validateValue(_ value: Any?, forKey key: String) throws {
        try super.validateValue(value, forKey: key)
    }
}
