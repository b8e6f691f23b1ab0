import CoreData
import Foundation
import Stores
import Testing

/// Rows that are read before they are asked for: what was read together shows the same moment.
@Suite struct BatchTests {
    /// Ten people, p0 to p9, in two departments of five, seen from a context of its own.
    private struct World {
        let bench: Bench
        let reader: NSManagedObjectContext

        init(_ kind: StoreKind) throws {
            let bench = try Bench(kind)
            let departments = try ["Even", "Odd"].map { try bench.make("Department", $0) }
            for number in 0..<10 {
                let person = try bench.person("p\(number)")
                person.department = departments[number % 2]
                person.setValue(Set([try bench.make("Project", "j\(number)")]), forKey: "projects")
            }
            try bench.context.save()
            self.bench = bench
            reader = bench.newContext()
        }

        func request(batch: Int = 0, _ prefetching: [String]? = nil) -> NSFetchRequest<Person> {
            let request = NSFetchRequest<Person>(entityName: "Person")
            request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
            request.fetchBatchSize = batch
            request.relationshipKeyPathsForPrefetching = prefetching
            return request
        }

        /// Another context gives every object of an entity a new name.
        func renameAll(_ entity: String, to suffix: String) throws {
            let all = NSFetchRequest<NSManagedObject>(entityName: entity)
            for object in try bench.context.fetch(all) {
                let name = object.value(forKey: "name") as? String ?? ""
                object.setValue(name + suffix, forKey: "name")
            }
            try bench.context.save()
        }
    }

    @Test(arguments: StoreKind.allCases)
    func aBatchIsReadWhenItsFirstObjectIsAsked(_ kind: StoreKind) throws {
        let world = try World(kind)
        let people = try world.reader.fetch(world.request(batch: 4))
        #expect(people.count == 10 && people.allSatisfy(\.isFault))
        #expect(people[5].name == "p5")
        try world.renameAll("Person", to: "!")
        // Its batch was read with it, the others are read now.
        #expect(people.map(\.name) == (0..<10).map { (4..<8).contains($0) ? "p\($0)" : "p\($0)!" })
    }

    @Test(arguments: StoreKind.allCases)
    func withoutValuesEachRowIsReadOnItsOwn(_ kind: StoreKind) throws {
        let world = try World(kind)
        let request = world.request()
        request.includesPropertyValues = false
        let people = try world.reader.fetch(request)
        #expect(people[0].name == "p0")
        try world.renameAll("Person", to: "!")
        #expect(people.prefix(2).map(\.name) == ["p0", "p1!"])
    }

    @Test(arguments: StoreKind.allCases)
    func batchesCountUnsavedChanges(_ kind: StoreKind) throws {
        let world = try World(kind)
        try world.bench.person("p45", in: world.reader)
        let gone = try world.reader.fetch(world.request())[0]
        world.reader.delete(gone)
        let people = try world.reader.fetch(world.request(batch: 3))
        #expect(
            people.compactMap(\.name) == ["p1", "p2", "p3", "p4", "p45"] + (5..<10).map { "p\($0)" }
        )
    }

    @Test(arguments: StoreKind.allCases)
    func refreshingReadsAnew(_ kind: StoreKind) throws {
        let world = try World(kind)
        let people = try world.reader.fetch(world.request(batch: 4))
        #expect(people[0].name == "p0")
        try world.renameAll("Person", to: "!")
        world.reader.refresh(people[1], mergeChanges: false)
        #expect(people[1].name == "p1!")
        world.reader.refreshAllObjects()
        #expect(people.allSatisfy { $0.name?.hasSuffix("!") == true })
    }

    @Test(arguments: StoreKind.allCases)
    func prefetchedEndsAreReadWithTheFetch(_ kind: StoreKind) throws {
        let world = try World(kind)
        let people = try world.reader.fetch(
            world.request(["department.employees", "projects"]))
        try world.renameAll("Department", to: "!")
        try world.renameAll("Project", to: "!")
        for person in try world.bench.context.fetch(world.request()) {
            person.setValue(Set<NSManagedObject>(), forKey: "projects")
        }
        try world.bench.context.save()
        var held: [NSManagedObject] = []
        for (number, person) in people.enumerated() {
            let department = try #require(person.department)
            held.append(department)
            #expect(department.value(forKey: "name") as? String == ["Even", "Odd"][number % 2])
            #expect(world.bench.names(person.value(forKey: "projects")) == ["j\(number)"])
            #expect((department.value(forKey: "employees") as? Set<NSManagedObject>)?.count == 5)
        }
        // Without prefetching the present shows.
        let other = world.bench.newContext()
        let again = try other.fetch(world.request())
        #expect(again[0].department?.value(forKey: "name") as? String == "Even!")
        #expect(world.bench.names(again[0].value(forKey: "projects")).isEmpty)
    }

    @Test(arguments: StoreKind.allCases)
    func aSaveDropsWhatWasReadAhead(_ kind: StoreKind) throws {
        let world = try World(kind)
        let people = try world.reader.fetch(world.request(["department"]))
        try world.renameAll("Department", to: "!")
        people[0].score = 7
        try world.reader.save()
        #expect(people[0].department?.value(forKey: "name") as? String == "Even!")
    }

    @Test func aPathThatIsNoRelationshipIsRefused() throws {
        let world = try World(.memory)
        #expect(throws: NSError.self) {
            try world.reader.fetch(world.request(["departments"]))
        }
    }

    @Test(arguments: StoreKind.allCases)
    func batchedObjectsAreMadeAndLetGo(_ kind: StoreKind) throws {
        let world = try World(kind)
        let people = try world.reader.batchedObjects(for: world.request(batch: 3))
        #expect(people.count == 10)
        var names: [String] = []
        for person in people {
            names.append(person.name ?? "")
            #expect(world.reader.registeredObjects.count <= 4)
        }
        #expect(names == (0..<10).map { "p\($0)" })
        #expect(people[9].name == "p9" && people[0].name == "p0")
        #expect(people.reversed().prefix(2).map(\.name) == ["p9", "p8"])
    }

    @Test(arguments: StoreKind.allCases)
    func batchedObjectsShowUnsavedChangesAndMissThoseGone(_ kind: StoreKind) throws {
        let world = try World(kind)
        try world.bench.person("p45", in: world.reader)
        let people = try world.reader.batchedObjects(for: world.request(batch: 2))
        #expect(people.map { $0.name ?? "" }.prefix(6) == ["p0", "p1", "p2", "p3", "p4", "p45"])
        let later = try world.reader.batchedObjects(for: world.request(batch: 2))
        for person in try world.bench.context.fetch(world.request()).prefix(2) {
            world.bench.context.delete(person)
        }
        try world.bench.context.save()
        #expect(later.count == 11 && later[2].name == "p2")
        #expect(later[0].name == nil && later[0].isDeleted)
    }

    @Test func prefetchingIsInheritedThroughParents() throws {
        let world = try World(.sqlite)
        let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        child.parent = world.reader
        let people = try child.fetch(world.request(batch: 4, ["department"]))
        #expect(people.map(\.name) == (0..<10).map { "p\($0)" })
        #expect(people[3].department?.value(forKey: "name") as? String == "Odd")
    }

    /// Rows of two stores have the same keys: only their stores tell them apart.
    @Test(arguments: StoreKind.allCases)
    func prefetchedMembersAreOfTheirOwnersStore(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        let second = try bench.coordinator.addPersistentStore(
            ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        for (name, store) in [("a", bench.store), ("b", second), ("c", bench.store), ("d", second)]
        {
            let department = try bench.make("Department", name)
            bench.context.assign(department, to: store)
            guard name != "c" else { continue }
            let member = try bench.person("of \(name)")
            bench.context.assign(member, to: store)
            member.department = department
        }
        try bench.context.save()
        let reader = bench.newContext()
        let request = NSFetchRequest<NSManagedObject>(entityName: "Department")
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        request.relationshipKeyPathsForPrefetching = ["employees"]
        let departments = try reader.fetch(request)
        #expect(
            departments.map { bench.names($0.value(forKey: "employees")) }
                == [["of a"], ["of b"], [], ["of d"]])
        // A deletion clears the links of its own members.
        reader.delete(try #require(departments.first))
        try reader.save()
        let people = NSFetchRequest<Person>(entityName: "Person")
        people.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        let links = try bench.newContext().fetch(people).map {
            $0.department?.value(forKey: "name") as? String
        }
        #expect(links == [nil, "b", "d"])
    }
}
