import CoreData
import Foundation
import Stores
import Testing

/// What a save does beside writing: keys, IDs, and what it tells.
@Suite struct SavePipelineTests {
    @Test func keysComeBackWhereASaveFails() throws {
        let bench = try Bench(.sqlite)
        let first = try bench.make("Account")
        first.setValue("a@x", forKey: "email")
        let second = try bench.make("Account")
        second.setValue("a@x", forKey: "email")
        let (one, other) = (first.objectID, second.objectID)
        #expect(throws: NSError.self) { try bench.context.save() }
        #expect(one.isTemporaryID && other.isTemporaryID)
        #expect(one.persistentStore == nil && one.uriRepresentation().host() == nil)
        second.setValue("b@x", forKey: "email")
        try bench.context.save()
        #expect(first.objectID === one && !one.isTemporaryID)
        #expect([one, other].map { $0.uriRepresentation().lastPathComponent } == ["p1", "p2"])
        #expect(bench.context.registeredObject(for: other) === second)
    }

    @Test func idsAreTemporaryAgainWhereTheTransactionFailsAtItsEnd() throws {
        let bench = try FlakyBench()
        let store = try #require(bench.coordinator.persistentStores.first)
        let people = (0..<3).map { _ in Person(context: bench.context) }
        for person in people { person.setValue("p", forKey: "name") }
        try bench.context.obtainPermanentIDs(for: [people[0]])
        let kept = people[0].objectID.rowID
        bench.rows.whileUncommittable {
            #expect(throws: NSError.self) { try bench.context.save() }
        }
        #expect(people.map(\.objectID.isTemporaryID) == [false, true, true])
        #expect(people[0].objectID.rowID == kept && bench.context.hasChanges)
        try bench.rows.forgetRows()
        try bench.context.save()
        #expect(people.allSatisfy { !$0.objectID.isTemporaryID && !$0.hasChanges })
        for person in people {
            let row = try #require(person.objectID.rowID)
            #expect(store.id(for: row) === person.objectID)
            #expect(bench.context.registeredObject(for: person.objectID) === person)
        }
        #expect(Set(people.map(\.objectID)).count == 3)
    }

    @Test func manyObjectsOfSeveralEntitiesStandAmongTheRowsAfterwards() throws {
        let bench = try Bench(.sqlite)
        var objects: [NSManagedObject] = []
        for number in 0..<120 {
            objects.append(
                try bench.make(["Person", "Song", "Employee"][number % 3], "n\(number)"))
        }
        try bench.context.save()
        for object in objects {
            #expect(bench.context.registeredObject(for: object.objectID) === object)
        }
        for entity in ["Person", "Song"] {
            let request = NSFetchRequest<NSManagedObject>(entityName: entity)
            let found = try bench.context.fetch(request)
            #expect(found.allSatisfy { one in objects.contains { $0 === one } })
        }
        let sets = Told()
        let observer = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextDidSaveObjectIDs, object: bench.context, queue: nil
        ) { note in
            for key in [NSInsertedObjectIDsKey, NSUpdatedObjectIDsKey, NSDeletedObjectIDsKey] {
                sets.add(note.userInfo?[key] as? Set<NSManagedObjectID> ?? [], key)
            }
        }
        defer { NotificationCenter.default.removeObserver(observer) }
        for object in objects[..<50] { object.setValue("new", forKey: "name") }
        // Marked as changed, with the values it has.
        objects[60].setValue("n60", forKey: "name")
        for object in objects[100...] { bench.context.delete(object) }
        let gone = Set(objects[100...].map(\.objectID))
        try bench.context.save()
        #expect(sets[NSInsertedObjectIDsKey].isEmpty)
        let told = (objects[..<50] + [objects[60]]).map(\.objectID)
        #expect(sets[NSUpdatedObjectIDsKey] == Set(told))
        #expect(sets[NSDeletedObjectIDsKey] == gone)
        #expect(!bench.context.hasChanges && objects.allSatisfy { !$0.hasChanges })
    }
}

/// The IDs that notifications told.
private final class Told: @unchecked Sendable {
    // @unchecked: used on one thread.
    private var sets: [String: Set<NSManagedObjectID>] = [:]

    func add(_ ids: Set<NSManagedObjectID>, _ key: String) { sets[key] = ids }
    subscript(key: String) -> Set<NSManagedObjectID> { sets[key] ?? [] }
}
