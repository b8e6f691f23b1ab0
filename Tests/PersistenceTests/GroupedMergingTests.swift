import CoreData
import Foundation
import Stores
import Testing

/// Taking in many changes at once: rows are read in groups, and show what one by one showed.
@Suite struct GroupedMergingTests {
    private static let count = 1_100

    /// The same people in two contexts, all with their values.
    private func people(
        _ bench: FlakyBench, in other: NSManagedObjectContext
    ) throws -> (saving: [Person], merging: [Person]) {
        for number in 0..<Self.count { _ = bench.make("Person", "p\(number)") }
        try bench.context.save()
        func all(_ context: NSManagedObjectContext) throws -> [Person] {
            let request = NSFetchRequest<Person>(entityName: "Person")
            request.returnsObjectsAsFaults = false
            func number(_ person: Person) -> Int { Int(person.name?.dropFirst() ?? "") ?? 0 }
            return try context.fetch(request).sorted { number($0) < number($1) }
        }
        return (try all(bench.context), try all(other))
    }

    @Test func changesAreReadInGroups() throws {
        let bench = try FlakyBench()
        let other = bench.newContext()
        let (saving, merging) = try people(bench, in: other)
        for (number, person) in saving.enumerated() { person.age = Int16(number % 100) }
        try bench.context.save()
        other.refresh(merging[3], mergeChanges: false)
        merging[4].name = "mine"
        merging[5].age = 77
        let before = bench.rows.readingCount
        merge(from: bench.context, saving, into: other)
        #expect(bench.rows.readingCount - before == 3)
        #expect(merging[3].isFault && merging[4].name == "mine" && merging[4].age == 4)
        for (number, person) in merging.enumerated() where number != 5 {
            #expect(person.age == Int16(number % 100))
        }
        #expect(merging[5].age == 77 && other.updatedObjects == [merging[4], merging[5]])
        try other.save()
    }

    @Test func refreshingAllReadsChangedObjectsInGroups() throws {
        let bench = try FlakyBench()
        let other = bench.newContext()
        let (saving, merging) = try people(bench, in: other)
        for person in saving { person.age = 9 }
        try bench.context.save()
        for person in merging.dropLast(10) { person.name = "mine" }
        let before = bench.rows.readingCount
        other.refreshAllObjects()
        #expect(bench.rows.readingCount - before == 3)
        #expect(merging.suffix(10).allSatisfy { $0.isFault && $0.age == 9 })
        #expect(merging.dropLast(10).allSatisfy { !$0.isFault && $0.name == "mine" && $0.age == 9 })
        try other.save()
    }

    @Test func aRowThatIsGoneAndAStoreThatFailsLeaveTheOthersRight() throws {
        let bench = try FlakyBench()
        let other = bench.newContext()
        let (saving, merging) = try people(bench, in: other)
        for person in saving { person.age = 5 }
        try bench.context.save()
        merging[1].name = "mine"
        bench.rows.whileUnreadable { merge(from: bench.context, saving, into: other) }
        #expect(merging[0].isFault && !merging[1].isFault && merging[1].age == 0)
        #expect(throws: NSError.self) { try other.save() }
        bench.context.delete(saving[2])
        try bench.context.save()
        #expect(merging[2].isFault)
        merge(from: bench.context, saving, into: other)
        #expect(merging[1].age == 5 && merging[1].name == "mine")
        for person in merging[5...7] { _ = person.age }
        bench.context.delete(saving[6])
        try bench.context.save()
        merge(from: bench.context, [merging[5], merging[6], merging[7]], into: other)
        #expect(merging[5].age == 5 && merging[6].isDeleted && merging[7].age == 5)
        try other.save()
    }

    /// What a callback saves while a group is being shown is newer than what the group read.
    @Test func whatIsSavedWhileAGroupIsShownStays() throws {
        let bench = try Bench(.sqlite)
        let other = bench.newContext()
        let ids = try ["a", "b", "c"].map { try bench.person($0).objectID }
        try bench.context.save()
        let merging = try ids.map { try #require(try other.existingObject(with: $0) as? Person) }
        for person in merging { _ = person.age }
        for id in ids { try #require(bench.context.object(with: id) as? Person).age = 5 }
        try bench.context.save()
        var isFirst = true
        let observations = merging.map { person in
            person.observe(\.age, options: .new) { _, _ in
                guard isFirst else { return }
                isFirst = false
                for other in merging where other !== person { other.name = "newer" }
                other.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
                #expect(throws: Never.self) { try other.save() }
            }
        }
        merge(from: bench.context, merging, into: other)
        #expect(!isFirst && observations.count == 3)
        #expect(merging.filter { $0.name == "newer" }.count == 2)
        #expect(merging.allSatisfy { $0.age == 5 } && !other.hasChanges)
        let request = NSFetchRequest<Person>(entityName: "Person")
        #expect(try bench.newContext().fetch(request).filter { $0.name == "newer" }.count == 2)
    }

    @Test func aChildReadsItsParentOnceForAGroup() throws {
        let bench = try Bench(.memory)
        let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        child.parent = bench.context
        let people = try (0..<40).map { try bench.person("p\($0)") }
        try bench.context.save()
        let twins = try people.map { try bench.twin($0, in: child) }
        for twin in twins { _ = twin.age }
        for person in people { person.age = 8 }
        let ids = Set(people.map(\.objectID))
        NSManagedObjectContext.mergeChanges(
            fromRemoteContextSave: [NSUpdatedObjectIDsKey: ids], into: [child])
        #expect(twins.allSatisfy { $0.age == 8 } && !child.hasChanges)
    }

    private func merge(
        from context: NSManagedObjectContext, _ objects: [Person],
        into other: NSManagedObjectContext
    ) {
        NSManagedObjectContext.mergeChanges(
            fromRemoteContextSave: [NSUpdatedObjectIDsKey: objects.map(\.objectID)],
            into: [other])
    }
}
