import CoreData
import Foundation
import Testing

/// Ordered to-manys that two contexts change: merges bring what others added and removed below the
/// own order, and after a save an object shows what is stored.
@Suite struct OrderedMergeTests {
    /// Lists and entries, ordered at both ends.
    private func bench(_ kind: StoreKind) throws -> Bench {
        let (list, entry) = (TestModel.entity("List"), TestModel.entity("Entry"))
        for entity in [list, entry] {
            entity.properties = [TestModel.attribute("name", .stringAttributeType)]
        }
        TestModel.link(list, "entries", .ordered, entry, "lists", .ordered)
        let model = NSManagedObjectModel()
        model.entities = [list, entry]
        return try Bench(kind, model: model)
    }

    private func add(_ member: NSManagedObject, to object: NSManagedObject, _ key: String) {
        object.mutableOrderedSetValue(forKey: key).add(member)
    }

    private func set(_ members: [NSManagedObject], of object: NSManagedObject, _ key: String) {
        object.setValue(NSOrderedSet(array: members), forKey: key)
    }

    @Test(arguments: StoreKind.logging)
    func whatOthersAddJoinsWhatWasAddedHere(_ kind: StoreKind) throws {
        let bench = try bench(kind)
        let (a, b) = (try bench.make("Entry", "a"), try bench.make("Entry", "b"))
        let list = try bench.make("List", "list")
        try bench.context.save()
        let other = bench.newContext()
        other.automaticallyMergesChangesFromParent = true
        other.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        let (ownA, ownB) = (try bench.twin(a, in: other), try bench.twin(b, in: other))
        let ownList = try bench.twin(list, in: other)
        #expect(bench.order(ownList.value(forKey: "entries")).isEmpty)
        add(ownList, to: ownB, "lists")
        other.processPendingChanges()
        #expect(bench.order(ownList.value(forKey: "entries")) == ["b"])
        add(list, to: a, "lists")
        try bench.context.save()
        other.performAndWait {}
        #expect(bench.order(ownA.value(forKey: "lists")) == ["list"])
        #expect(bench.order(ownList.value(forKey: "entries")) == ["a", "b"])
        try other.save()
        #expect(!other.hasChanges)
        #expect(bench.order(ownList.value(forKey: "entries")) == ["a", "b"])
        let stored = try bench.twin(list, in: bench.newContext())
        #expect(bench.order(stored.value(forKey: "entries")) == ["a", "b"])
    }

    @Test(arguments: StoreKind.logging)
    func anOrderOfItsOwnTakesInWhoCameAndLetsGoOfWhoWent(_ kind: StoreKind) throws {
        let bench = try bench(kind)
        let entries = try ["a", "b", "c", "d"].map { try bench.make("Entry", $0) }
        let list = try bench.make("List", "list")
        set(Array(entries[..<3]), of: list, "entries")
        try bench.context.save()
        let other = bench.newContext()
        other.automaticallyMergesChangesFromParent = true
        other.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        let own = try entries.map { try bench.twin($0, in: other) }
        let ownList = try bench.twin(list, in: other)
        set([own[2], own[1], own[0]], of: ownList, "entries")
        other.processPendingChanges()
        list.mutableOrderedSetValue(forKey: "entries").remove(entries[1])
        add(entries[3], to: list, "entries")
        try bench.context.save()
        other.performAndWait {}
        #expect(bench.order(ownList.value(forKey: "entries")) == ["c", "a", "d"])
        #expect(bench.order(own[1].value(forKey: "lists")).isEmpty)
        try other.save()
        #expect(!other.hasChanges)
        #expect(bench.order(ownList.value(forKey: "entries")) == ["c", "a", "d"])
        let stored = try bench.twin(list, in: bench.newContext())
        #expect(bench.order(stored.value(forKey: "entries")) == ["c", "a", "d"])
    }
}
