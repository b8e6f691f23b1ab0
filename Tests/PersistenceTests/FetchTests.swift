import CoreData
import Foundation
import Stores
import Testing

@Suite struct FetchTests {
    private func request(_ format: String? = nil, _ arguments: Any?...) -> NSFetchRequest<Person> {
        let request = NSFetchRequest<Person>(entityName: "Person")
        request.predicate = format.map {
            NSPredicate(format: $0, argumentArray: arguments.map { $0 ?? NSNull() })
        }
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        return request
    }

    /// Ada 36, Bob 20, Cy 50 in the store.
    private func bench(_ kind: StoreKind) throws -> Bench {
        let bench = try Bench(kind)
        for (name, age) in [("Ada", 36), ("Bob", 20), ("Cy", 50)] {
            try bench.person(name).age = Int16(age)
        }
        try bench.context.save()
        return bench
    }

    private func names(_ people: [Person]) -> [String] { people.compactMap(\.name) }

    @Test(arguments: StoreKind.allCases)
    func predicatesSortingAndBoundsAreTheStoresWork(_ kind: StoreKind) throws {
        let context = try bench(kind).context
        #expect(try names(context.fetch(request("age > 30"))) == ["Ada", "Cy"])
        #expect(try names(context.fetch(request("name BEGINSWITH[c] %@", "b"))) == ["Bob"])
        let bounded = request()
        bounded.sortDescriptors = [NSSortDescriptor(key: "age", ascending: false)]
        bounded.fetchLimit = 1
        bounded.fetchOffset = 1
        #expect(try names(context.fetch(bounded)) == ["Ada"])
        #expect(try context.count(for: request("age < 40")) == 2)
    }

    @Test(arguments: StoreKind.allCases)
    func swiftKeyPathsOfManagedPropertiesSortInTheStore(_ kind: StoreKind) throws {
        let context = try bench(kind).context
        let sorted = request()
        sorted.sortDescriptors = [NSSortDescriptor(keyPath: \Person.age, ascending: false)]
        sorted.fetchLimit = 2
        #expect(try names(context.fetch(sorted)) == ["Cy", "Ada"])
    }

    @Test(arguments: StoreKind.allCases)
    func unsavedChangesCountWithinOrderAndBounds(_ kind: StoreKind) throws {
        let bench = try bench(kind)
        let all = try bench.context.fetch(request())
        all[0].age = 10
        all[1].age = 60
        bench.context.delete(all[2])
        try bench.person("Abe").age = 40
        #expect(try names(bench.context.fetch(request("age > 30"))) == ["Abe", "Bob"])
        let bounded = request("age > 5")
        bounded.fetchLimit = 2
        bounded.fetchOffset = 1
        #expect(try names(bench.context.fetch(bounded)) == ["Ada", "Bob"])
        #expect(try bench.context.count(for: request("age > 30")) == 2)
        #expect(try bench.context.count(for: request()) == 3)
        #expect(try bench.context.count(for: bounded) == 2)
        let stored = request("age > 30")
        stored.includesPendingChanges = false
        #expect(try bench.context.count(for: stored) == 2)
        #expect(try bench.context.fetch(stored).count == 2)
    }

    @Test(arguments: StoreKind.allCases)
    func objectsAndTheirIDsMayStandInPredicates(_ kind: StoreKind) throws {
        let bench = try bench(kind)
        let sales = try bench.make("Department", "Sales")
        let people = try bench.context.fetch(request())
        people[0].department = sales
        people[1].department = sales
        people[0].friends = [people[2]]
        try bench.context.save()
        let context = bench.newContext()
        #expect(try names(context.fetch(request("department == %@", sales))) == ["Ada", "Bob"])
        #expect(
            try names(context.fetch(request("department == %@", sales.objectID))) == ["Ada", "Bob"])
        #expect(
            try names(context.fetch(request("department.name == 'Sales' AND age > 30"))) == ["Ada"])
        #expect(try names(context.fetch(request("ANY friends.name == 'Cy'"))) == ["Ada"])
        #expect(
            try names(context.fetch(request("SELF IN %@", [people[1], people[2]]))) == [
                "Bob", "Cy",
            ])
        let new = try bench.make("Department", "New")
        #expect(try context.fetch(request("department == %@", new)).isEmpty)
        let departments = NSFetchRequest<NSManagedObject>(entityName: "Department")
        departments.predicate = NSPredicate(format: "employees.@count == 2")
        #expect(try context.count(for: departments) == 1)
    }

    @Test(arguments: StoreKind.allCases)
    func blocksAndComparatorsAreEvaluatedOnObjects(_ kind: StoreKind) throws {
        let context = try bench(kind).context
        let block = request()
        block.predicate = NSPredicate { object, _ in ((object as? Person)?.age ?? 0) > 30 }
        block.sortDescriptors = [
            NSSortDescriptor(key: "name", ascending: true) { first, second in
                ("\(second)").compare("\(first)")
            }
        ]
        block.fetchLimit = 1
        #expect(try names(context.fetch(block)) == ["Cy"])
    }

    @Test(arguments: StoreKind.allCases)
    func anUnknownKeyInAPredicateIsAnError(_ kind: StoreKind) throws {
        let bench = try bench(kind)
        #expect(throws: (any Error).self) { try bench.context.fetch(request("nme == 'Ada'")) }
        try bench.person("Dee")
        #expect(throws: (any Error).self) { try bench.context.fetch(request("nme == 'Ada'")) }
        let missing = NSFetchRequest<NSManagedObject>(entityName: "Nothing")
        #expect(throws: NSError.self) { try bench.context.fetch(missing) }
    }

    @Test(arguments: StoreKind.allCases)
    func resultsMayBeIDsCountsAndDictionaries(_ kind: StoreKind) throws {
        let bench = try bench(kind)
        let ids = NSFetchRequest<NSManagedObjectID>(entityName: "Person")
        ids.resultType = .managedObjectIDResultType
        ids.predicate = NSPredicate(format: "age < 40")
        #expect(try bench.context.fetch(ids).count == 2)
        let count = NSFetchRequest<NSNumber>(entityName: "Person")
        count.resultType = .countResultType
        #expect(try bench.context.fetch(count) == [3])
        let values = NSFetchRequest<NSDictionary>(entityName: "Person")
        values.resultType = .dictionaryResultType
        values.propertiesToFetch = ["name", "age"]
        values.sortDescriptors = [NSSortDescriptor(key: "age", ascending: true)]
        let first = try #require(try bench.context.fetch(values).first)
        #expect(first["name"] as? String == "Bob" && first["age"] as? Int == 20)
        let wrong = NSFetchRequest<NSManagedObjectID>(entityName: "Person")
        #expect(throws: NSError.self) { try bench.context.fetch(wrong) }
    }

    @Test(arguments: StoreKind.allCases)
    func subentitiesAreFoundThroughTheirParent(_ kind: StoreKind) throws {
        let bench = try bench(kind)
        let worker = try #require(try bench.make("Employee", "Wim") as? Employee)
        worker.salary = 100
        #expect(try names(bench.context.fetch(request())) == ["Ada", "Bob", "Cy", "Wim"])
        try bench.context.save()
        let other = bench.newContext()
        let found = try other.fetch(request())
        #expect(names(found) == ["Ada", "Bob", "Cy", "Wim"])
        #expect((found.last as? Employee)?.salary == 100 && found.last?.entity.name == "Employee")
        let own = request()
        own.includesSubentities = false
        #expect(try names(other.fetch(own)) == ["Ada", "Bob", "Cy"])
        let employees = NSFetchRequest<Employee>(entityName: "Employee")
        #expect(try other.count(for: employees) == 1)
        let friend = try bench.twin(worker, in: other)
        found[0].spouse = friend
        try other.save()
        #expect(try bench.twin(found[0], in: bench.newContext()).spouse is Employee)
    }

    @Test func resultsOfSeveralStoresAreSortedTogether() throws {
        let model = TestModel.make()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let stores = try (0..<2).map { _ in
            try coordinator.addPersistentStore(
                ofType: NSInMemoryStoreType, configurationName: nil, at: nil,
                options: [NSPersistentHistoryTrackingKey: true])
        }
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        for (index, name) in ["d", "a", "c", "b"].enumerated() {
            let person = Person(context: context)
            person.name = name
            context.assign(person, to: stores[index % 2])
        }
        try context.save()
        #expect(try stores.map { try $0.rowStore.lastTransactionNumber() } == [1, 1])
        let bounded = request()
        bounded.fetchLimit = 2
        bounded.fetchOffset = 1
        #expect(try names(context.fetch(bounded)) == ["b", "c"])
        #expect(try context.count(for: bounded) == 2)
        let one = request()
        one.affectedStores = [stores[0]]
        #expect(try names(context.fetch(one)) == ["c", "d"])
    }

    @Test(arguments: StoreKind.allCases)
    func aFetchedPropertyAsksForItsObject(_ kind: StoreKind) throws {
        let model = TestModel.make()
        let property = NSFetchedPropertyDescription()
        property.name = "namesakes"
        property.template = FetchRequestTemplate(
            name: "namesakes", entityName: "Person",
            predicateText: "name == $FETCH_SOURCE.name AND SELF != $FETCH_SOURCE")
        try #require(model.entitiesByName["Person"]).declaredProperties.append(property)
        let bench = try Bench(kind, model: model)
        let ada = try bench.person("Ada")
        let other = try bench.person("Ada")
        try bench.person("Bob")
        try bench.context.save()
        #expect(ada.value(forKey: "namesakes") as? [Person] == [other])
    }

    /// `catch let error as NSError` takes them.
    @Test(arguments: ["name > 3", "name MATCHES '('", "name == $NOBODY"])
    func whatCannotBeEvaluatedIsAnErrorOfFoundation(_ format: String) throws {
        let unsupported = NSPersistentStoreUnsupportedRequestTypeError
        let bench = try Bench(.memory)
        try bench.person("Ada")
        let request = NSFetchRequest<Person>(entityName: "Person")
        request.predicate = NSPredicate(format: format)
        var error = #expect(throws: NSError.self) { try bench.context.fetch(request) }
        #expect(error?.domain == NSCocoaErrorDomain && error?.code == unsupported)
        error = #expect(throws: NSError.self) { try bench.context.count(for: request) }
        #expect(error?.domain == NSCocoaErrorDomain && error?.code == unsupported)
    }

    /// What the description says is read when the property is.
    @Test(arguments: StoreKind.allCases)
    func aFetchedPropertyAsksForItsDescription(_ kind: StoreKind) throws {
        let model = TestModel.make()
        let property = NSFetchedPropertyDescription()
        property.name = "others"
        property.userInfo = ["search": "ob"]
        property.template = FetchRequestTemplate(
            name: "others", entityName: "Person",
            predicateText: "name CONTAINS $FETCHED_PROPERTY.userInfo.search "
                + "AND SELF != $FETCH_SOURCE")
        try #require(model.entitiesByName["Person"]).declaredProperties.append(property)
        let bench = try Bench(kind, model: model)
        let (ada, bob) = (try bench.person("Ada"), try bench.person("Bob"))
        try bench.context.save()
        #expect(ada.value(forKey: "others") as? [Person] == [bob])
        property.userInfo = ["search": "none"]
        bench.context.refresh(ada, mergeChanges: false)
        #expect(ada.value(forKey: "others") as? [Person] == [])
        ada.name = "Eve"
        try bench.context.save()
    }

    /// In a process of its own, which an overflow would end.
    @Test func aLimitMayBeAnyNumber() async {
        await #expect(processExitsWith: .success) {
            for kind in StoreKind.allCases {
                let bench = try Bench(kind)
                for name in ["Ada", "Bob", "Cy"] { try bench.person(name) }
                try bench.context.save()
                let request = NSFetchRequest<Person>(entityName: "Person")
                request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
                request.fetchLimit = .max
                request.fetchOffset = 1
                #expect(try bench.context.fetch(request).map(\.name) == ["Bob", "Cy"])
                try bench.person("Dee")
                #expect(try bench.context.fetch(request).map(\.name) == ["Bob", "Cy", "Dee"])
                #expect(try bench.context.count(for: request) == 3)
                request.fetchOffset = .max
                #expect(try bench.context.fetch(request).isEmpty)
                #expect(try bench.context.count(for: request) == 0)
            }
        }
    }
}
