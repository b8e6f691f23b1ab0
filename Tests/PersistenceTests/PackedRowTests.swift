import CoreData
import Foundation
import Stores
import Testing

@testable import Persistence

/// Objects whose rows a fetch brought in packs behave as all others.
@Suite struct PackedRowTests {
    private func fill(_ bench: Bench, _ count: Int = 40) throws {
        let home = try bench.make("Tag", "home")
        for number in 0..<count {
            let person = try #require(
                try bench.make(number.isMultiple(of: 3) ? "Employee" : "Person", "P\(number)")
                    as? Person)
            person.age = Int16(number)
            person.score = number == 7 ? 0 : Double(number) / 4
            person.isActive = !number.isMultiple(of: 2)
            person.birthday =
                number == 5 ? nil : Date(timeIntervalSinceReferenceDate: Double(number))
            person.setValue(Data([UInt8(number)]), forKey: "photo")
            person.setValue(URL(string: "x:\(number)"), forKey: "site")
            person.setValue(NSDecimalNumber(value: number), forKey: "balance")
            person.colors = ["c\(number)"]
            person.setValue(home, forKey: "home")
        }
    }

    private func bench() throws -> Bench {
        let bench = try Bench(.sqlite)
        try fill(bench)
        try bench.context.save()
        return bench
    }

    private func fetch(_ bench: Bench, _ context: NSManagedObjectContext) throws -> [Person] {
        let request = NSFetchRequest<Person>(entityName: "Person")
        request.sortDescriptors = [NSSortDescriptor(key: "age", ascending: true)]
        return try context.fetch(request)
    }

    @Test func everyWayOfReadingTellsTheSame() throws {
        let bench = try bench()
        let people = try fetch(bench, bench.newContext())
        #expect(people.count == 40 && people.allSatisfy { $0.isFault && $0.packed != nil })
        for (number, person) in people.enumerated() {
            #expect((person is Employee) == number.isMultiple(of: 3))
            for _ in 0..<3 {
                #expect(person.name == "P\(number)" && person.age == Int16(number))
                #expect(person.isActive == !number.isMultiple(of: 2))
                #expect(person.score == (number == 7 ? 0 : Double(number) / 4))
                #expect(
                    person.birthday?.timeIntervalSinceReferenceDate
                        == (number == 5 ? nil : Double(number)))
                #expect(person.value(forKey: "name") as? String == "P\(number)")
                #expect(person.primitiveValue(forKey: "age") as? Int == number)
                #expect(person.value(forKey: "nick") == nil && person.colors == ["c\(number)"])
                #expect(person.value(forKey: "photo") as? Data == Data([UInt8(number)]))
                #expect(person.value(forKey: "site") as? URL == URL(string: "x:\(number)"))
                #expect(
                    person.value(forKey: "balance") as? NSDecimalNumber
                        == NSDecimalNumber(value: number))
            }
            #expect(person.packed == nil, "Texts that are asked for again stay made.")
            let home = try #require(person.value(forKey: "home") as? NSManagedObject)
            #expect(home.value(forKey: "name") as? String == "home" && person.spouse == nil)
            #expect(person.calls == ["awakeFromFetch"] && !person.hasChanges)
        }
    }

    @Test func onlyWhatChangedIsWritten() throws {
        let bench = try bench()
        let context = bench.newContext()
        let people = try fetch(bench, context)
        let (one, other) = (people[4], people[9])
        #expect(one.name == "P4")
        one.score = 99
        #expect(one.packed != nil, "The row still tells what was read.")
        #expect(Set(one.changedValues().keys) == ["score"])
        #expect(one.committedValues(forKeys: ["score"])["score"] as? Double == 1)
        other.name = "P9"
        #expect(other.hasChanges && !other.hasPersistentChangedValues)
        try context.save()
        #expect(one.storedVersion == 2 && other.storedVersion == 1)
        let again = try fetch(bench, bench.newContext())
        #expect(again[4].score == 99 && again[4].name == "P4" && again[9].name == "P9")
        one.name = "changed"
        context.rollback()
        #expect(one.name == "P4" && one.score == 99)
    }

    @Test func refreshingKeepsChangesOverTheRow() throws {
        let bench = try bench()
        let context = bench.newContext()
        let one = try fetch(bench, context)[4]
        one.score = 99
        try bench.rename(one, to: "other")
        context.refresh(one, mergeChanges: true)
        #expect(one.name == "other" && one.score == 99)
        context.refresh(one, mergeChanges: false)
        #expect(one.isFault && one.packed == nil && one.score == 1 && one.name == "other")
    }

    @Test func aNewerRowFillsInAFault() throws {
        let bench = try bench()
        let context = bench.newContext()
        let one = try fetch(bench, context)[4]
        try bench.rename(one, to: "other")
        let again = try fetch(bench, context)
        #expect(again[4] === one && one.isFault && one.name == "other")
        try bench.rename(one, to: "third")
        #expect(try fetch(bench, context)[4].name == "other", "Values that were read stay.")
    }

    @Test func deletedObjectsKeepTheirValuesAndLinks() throws {
        let bench = try bench()
        let context = bench.newContext()
        let people = try fetch(bench, context)
        let home = try #require(people[3].value(forKey: "home") as? NSManagedObject)
        for person in people { context.delete(person) }
        #expect(home.managedObjectContext === context)
        try context.save()
        #expect(people.allSatisfy { $0.managedObjectContext == nil })
        #expect(people[3].name == "P3" && people[3].age == 3)
        #expect(try fetch(bench, bench.newContext()).isEmpty)
    }

    @Test func objectsOutliveTheirContext() throws {
        let bench = try bench()
        var context: NSManagedObjectContext? = NSManagedObjectContext(.privateQueue)
        context?.persistentStoreCoordinator = bench.coordinator
        let people = try fetch(bench, try #require(context))
        #expect(people[2].name == "P2")
        context = nil
        #expect(people[2].name == "P2" && people[2].age == 2)
        #expect(people[3].name == "P3" && people[3].calls.isEmpty)
    }

    /// What `awakeFromFetch` changes is part of reading.
    @Test func awakeningLeavesNoMark() throws {
        let entity = TestModel.entity("Waking", of: Waking.self)
        entity.properties = [
            TestModel.attribute("name", .stringAttributeType),
            TestModel.attribute("note", .stringAttributeType),
        ]
        let model = NSManagedObjectModel()
        model.entities = [entity]
        let bench = try Bench(.sqlite, model: model)
        for number in 0..<3 {
            Waking(entity: entity, insertInto: bench.context).setValue("\(number)", forKey: "name")
        }
        try bench.context.save()
        let context = bench.newContext()
        let request = NSFetchRequest<Waking>(entityName: "Waking")
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        let found = try context.fetch(request)
        #expect(found[1].name == "1" && found[1].note == "awake 1" && found[1].awakenings == 1)
        #expect(!context.hasChanges && found[0].awakenings == 0)
        found[1].name = "new"
        #expect(Set(found[1].changedValues().keys) == ["name", "note"])
        try context.save()
        let again = try bench.newContext().fetch(request)
        #expect(again.map(\.name) == ["0", "2", "new"])
    }

    // MARK: Several at once

    @Test func objectsOfPartlyKnownRowsAreRetained() throws {
        let bench = try bench()
        let context = bench.newContext()
        context.retainsRegisteredObjects = true
        let request = NSFetchRequest<Person>(entityName: "Person")
        request.predicate = NSPredicate(format: "age < 5")
        _ = try context.fetch(request)
        request.predicate = nil
        #expect(try context.fetch(request).count == 40)
        #expect(context.registeredObjects.count { $0 is Person } == 40)
    }

    @Test(arguments: ["age", "score", "name"]) func batchesComeInTheOrderOfTheRequest(key: String)
        throws
    {
        let bench = try bench()
        let request = NSFetchRequest<Person>(entityName: "Person")
        request.sortDescriptors = [
            NSSortDescriptor(key: key, ascending: false),
            NSSortDescriptor(key: "age", ascending: true),
        ]
        let whole = try bench.newContext().fetch(request).compactMap(\.name)
        request.fetchBatchSize = 12
        let context = bench.newContext()
        #expect(try context.batchedObjects(for: request).compactMap(\.name) == whole)
        #expect(try bench.newContext().fetch(request).compactMap(\.name) == whole)
        let tags = NSFetchRequest<NSManagedObject>(entityName: "Tag")
        #expect(try context.batchedObjects(for: tags).count == 1)
    }

    @Test func prefetchedMembersHaveTheirRows() throws {
        let bench = try Bench(.sqlite)
        for number in 0..<3 {
            let department = try bench.make("Department", "D\(number)")
            for place in 0..<10 {
                let person = try bench.person("P\(number)\(place)")
                person.department = department
            }
        }
        try bench.context.save()
        let context = bench.newContext()
        let request = NSFetchRequest<NSManagedObject>(entityName: "Department")
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        request.relationshipKeyPathsForPrefetching = ["employees"]
        let departments = try context.fetch(request)
        for (number, department) in departments.enumerated() {
            let people = try #require(
                department.value(forKey: "employees") as? Set<NSManagedObject>)
            #expect(people.count == 10 && people.allSatisfy { $0.isFault && $0.hasRow })
            #expect(
                Set(people.compactMap { ($0 as? Person)?.name })
                    == Set((0..<10).map { "P\(number)\($0)" }))
            #expect(people.allSatisfy { ($0 as? Person)?.department === department })
        }
    }
}

private final class Waking: NSManagedObject {
    @Managed("name") var name: String?
    @Managed("note") var note: String?
    var awakenings = 0

    override func awakeFromFetch() {
        super.awakeFromFetch()
        awakenings += 1
        note = "awake \(name ?? "")"
    }
}
