import CoreData
import Dispatch
import Foundation
import Testing

@Suite struct RequestTests {
    /// Ada 36, Bob 20, Cy 50.
    private func bench(_ kind: StoreKind) throws -> Bench {
        let bench = try Bench(kind)
        for (name, age) in [("Ada", 36), ("Bob", 20), ("Cy", 50)] {
            try bench.person(name).age = Int16(age)
        }
        try bench.context.save()
        return bench
    }

    private func request(_ format: String? = nil) -> NSFetchRequest<Person> {
        let request = NSFetchRequest<Person>(entityName: "Person")
        request.predicate = format.map { NSPredicate(format: $0) }
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        return request
    }

    // MARK: Execution

    @Test(arguments: StoreKind.allCases)
    func aFetchRequestIsExecutedLikeAnyOther(_ kind: StoreKind) throws {
        let context = try bench(kind).context
        let result = try context.execute(request("age > 30"))
        let found = try #require(result as? NSAsynchronousFetchResult<Person>)
        #expect(found.finalResult?.map(\.name) == ["Ada", "Cy"])
        #expect(found.operationError == nil && found.managedObjectContext === context)
        let counting = NSFetchRequest<any NSFetchRequestResult>(entityName: "Person")
        counting.resultType = .countResultType
        let counted = try context.execute(counting)
        let number = (counted as? NSAsynchronousFetchResult<any NSFetchRequestResult>)?.finalResult
        #expect(number?.first as? Int == 3)
        #expect(try context.performAndWait { try request().execute() }.count == 3)
    }

    @Test(arguments: StoreKind.allCases)
    func aCopyOfARequestIsItsOwn(_ kind: StoreKind) throws {
        let context = try bench(kind).context
        let first = request("age > 30")
        let second = try #require(first.copy() as? NSFetchRequest<Person>)
        second.predicate = nil
        second.fetchLimit = 1
        #expect(try context.fetch(first).count == 2)
        #expect(try context.fetch(second).map(\.name) == ["Ada"])
    }

    /// As the keys of caches.
    @Test func requestsThatAskTheSameAreEqual() throws {
        let first = request("age > 30")
        #expect(first == request("age > 30") && Set([first, request("age > 30")]).count == 1)
        #expect((first.copy() as? NSObject) == first)
        let changes: [(NSFetchRequest<Person>) -> Void] = [
            { $0.predicate = NSPredicate(format: "age > 31") }, { $0.predicate = nil },
            { $0.sortDescriptors = [NSSortDescriptor(key: "name", ascending: false)] },
            { $0.fetchLimit = 1 }, { $0.fetchOffset = 1 }, { $0.includesSubentities = false },
            { $0.resultType = .managedObjectIDResultType }, { $0.fetchBatchSize = 5 },
            { $0.propertiesToFetch = ["name"] }, { $0.affectedStores = [] },
        ]
        for (index, change) in changes.enumerated() {
            let other = request("age > 30")
            change(other)
            #expect(other != first, "\(index)")
        }
        // Foundation takes any two predicates that code put together for equal.
        func either(_ formats: String...) -> NSFetchRequest<Person> {
            let request = request()
            request.predicate = NSCompoundPredicate(
                orPredicateWithSubpredicates: formats.map { NSPredicate(format: $0) })
            return request
        }
        #expect(either("age > 1", "age < 0") == either("age > 1", "age < 0"))
        #expect(either("age > 1", "age < 0") != either("age > 2", "age < 0"))
    }

    @Test func mappingsThatDoTheSameAreEqual() throws {
        let source = TestModel.make()
        let destination = TestModel.make()
        let models = try (0..<2).map { _ in
            try NSMappingModel.inferredMappingModel(
                forSourceModel: source, destinationModel: destination)
        }
        #expect(models[0] == models[1] && models[0].hash == models[1].hash)
        let property = NSPropertyMapping()
        property.name = "name"
        models[1].entityMappings[0].attributeMappings = [property]
        #expect(models[0] != models[1])
    }

    @Test(arguments: StoreKind.allCases)
    func affectedStoresLimitARequest(_ kind: StoreKind) throws {
        let bench = try bench(kind)
        let second = try bench.coordinator.addPersistentStore(
            ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        let dee = try bench.person("Dee")
        bench.context.assign(dee, to: second)
        try bench.context.save()
        let all = request()
        #expect(try bench.context.fetch(all).map(\.name) == ["Ada", "Bob", "Cy", "Dee"])
        all.affectedStores = [second]
        #expect(try bench.context.fetch(all).map(\.name) == ["Dee"])
        #expect(try bench.context.count(for: all) == 1)
        let batch = NSBatchUpdateRequest(entityName: "Person")
        batch.affectedStores = [second]
        batch.propertiesToUpdate = ["age": 1]
        batch.resultType = .updatedObjectsCountResultType
        let result = try bench.context.execute(batch) as? NSBatchUpdateResult
        #expect(result?.result as? Int == 1)
    }

    /// What is not saved belongs to the store that has it, or that a save would put it into.
    @Test(arguments: StoreKind.allCases)
    func affectedStoresLimitUnsavedChanges(_ kind: StoreKind) throws {
        let bench = try bench(kind)
        let context = bench.context
        let second = try bench.coordinator.addPersistentStore(
            ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        let dee = try bench.person("Dee")
        context.assign(dee, to: second)
        try context.save()
        let mine = request()
        mine.affectedStores = [second]
        let controller = NSFetchedResultsController(
            fetchRequest: mine, managedObjectContext: context, sectionNameKeyPath: nil,
            cacheName: nil)
        let recorder = StepRecorder()
        controller.delegate = recorder
        try controller.performFetch()
        let (eve, fay) = (try bench.person("Eve"), try bench.person("Fay"))
        context.assign(eve, to: second)
        fay.spouse = dee
        try bench.person("Gus")
        context.assign(try bench.person("Hal"), to: bench.store)
        try #require(try context.fetch(request("name == 'Ada'")).first).age = 37
        context.delete(try #require(try context.fetch(request("name == 'Bob'")).first))
        #expect(try context.fetch(mine).map(\.name) == ["Dee", "Eve", "Fay"])
        #expect(try context.count(for: mine) == 3)
        let ids = NSFetchRequest<NSManagedObjectID>(entityName: "Person")
        ids.resultType = .managedObjectIDResultType
        ids.affectedStores = [second]
        #expect(try Set(context.fetch(ids)) == Set([dee, eve, fay].map(\.objectID)))
        context.processPendingChanges()
        #expect(controller.fetchedObjects?.map(\.name) == ["Dee", "Eve", "Fay"])
        #expect(recorder.words.first == "will" && recorder.words.last == "did")
        mine.fetchLimit = 2
        mine.fetchOffset = 1
        #expect(try context.fetch(mine).map(\.name) == ["Eve", "Fay"])
    }

    /// A child's new object goes where a save of its parents puts it.
    @Test(arguments: StoreKind.allCases)
    func affectedStoresLimitWhatAChildMade(_ kind: StoreKind) throws {
        let bench = try bench(kind)
        let second = try bench.coordinator.addPersistentStore(
            ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        let dee = try bench.person("Dee")
        bench.context.assign(dee, to: second)
        try bench.context.save()
        let mine = request()
        mine.affectedStores = [second]
        let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        child.parent = bench.context
        try bench.person("Ian", in: child).spouse = try bench.twin(dee, in: child)
        try bench.person("Jo", in: child)
        #expect(try child.fetch(mine).map(\.name) == ["Dee", "Ian"])
        #expect(try child.count(for: mine) == 2)
        #expect(try bench.context.fetch(mine).map(\.name) == ["Dee"])
        try child.save()
        #expect(try bench.context.fetch(mine).map(\.name) == ["Dee", "Ian"])
        try bench.context.save()
        #expect(try child.fetch(mine).map(\.name) == ["Dee", "Ian"])
    }

    @Test(arguments: StoreKind.allCases)
    func refetchedObjectsTakeStoredValuesWhereAsked(_ kind: StoreKind) throws {
        let bench = try bench(kind)
        let ada = try #require(try bench.context.fetch(request("age == 36")).first)
        #expect(ada.age == 36)
        let batch = NSBatchUpdateRequest(entityName: "Person")
        batch.propertiesToUpdate = ["age": 40]
        try bench.context.execute(batch)
        let all = request()
        _ = try bench.context.fetch(all)
        #expect(ada.age == 36)
        all.shouldRefreshRefetchedObjects = true
        _ = try bench.context.fetch(all)
        #expect(ada.age == 40)
    }

    @Test(arguments: StoreKind.allCases)
    func templatesTakeTheirVariables(_ kind: StoreKind) throws {
        let model = TestModel.make()
        let stored = NSFetchRequest<any NSFetchRequestResult>(entityName: "Person")
        stored.predicate = NSPredicate(format: "age > $LIMIT AND name != $NAME")
        stored.sortDescriptors = [NSSortDescriptor(key: "age", ascending: false)]
        stored.fetchLimit = 5
        model.setFetchRequestTemplate(stored, forName: "older")
        let bench = try Bench(kind, model: model)
        for (name, age) in [("Ada", 36), ("Bob", 20), ("Cy", 50)] {
            try bench.person(name).age = Int16(age)
        }
        try bench.context.save()
        let older = try #require(
            model.fetchRequestFromTemplate(
                withName: "older", substitutionVariables: ["LIMIT": 10, "NAME": "Bob"]))
        let found = try bench.context.fetch(older).compactMap { ($0 as? Person)?.name }
        #expect(found == ["Cy", "Ada"])
        #expect(model.fetchRequestTemplatesByName.keys.sorted() == ["older"])
        #expect(model.fetchRequestFromTemplate(withName: "x", substitutionVariables: [:]) == nil)
        let unbound = try #require(model.fetchRequestTemplate(forName: "older"))
        #expect(throws: NSError.self) { try bench.context.fetch(unbound) }
    }

    // MARK: FETCH

    @Test(arguments: StoreKind.allCases)
    func aFetchMayStandInAPredicate(_ kind: StoreKind) throws {
        let bench = try bench(kind)
        let context = bench.context
        let old = request("age > 30")
        let among = request()
        among.predicate = NSPredicate(format: "SELF IN FETCH(%@, %@, NO)", old, context)
        #expect(try context.fetch(among).map(\.name) == ["Ada", "Cy"])
        let count = NSFetchRequestExpression.expression(
            forFetch: NSExpression(forConstantValue: old),
            context: NSExpression(forConstantValue: context), countOnly: true)
        let expression = try #require(count as? NSFetchRequestExpression)
        #expect(expression.isCountOnlyRequest)
        #expect(expression.requestExpression.constantValue as? NSFetchRequest<Person> === old)
        #expect(expression.contextExpression.constantValue as? NSManagedObjectContext === context)
        #expect(expression.expressionType == NSFetchRequestExpressionType)
        #expect(expression.expressionValue(with: nil, context: nil) as? Int == 2)
        among.predicate = NSPredicate(format: "age > 20 * %@", count)
        #expect(try context.fetch(among).map(\.name) == ["Cy"])
        #expect(try context.count(for: among) == 1)
        let broken = NSFetchRequest<Person>(entityName: "Nobody")
        among.predicate = NSPredicate(format: "SELF IN FETCH(%@, %@, NO)", broken, context)
        #expect(throws: NSError.self) { try context.fetch(among) }
        among.predicate = NSPredicate(format: "SELF IN FETCH(%@, %@, NO)", "text", context)
        #expect(throws: (any Error).self) { try context.fetch(among) }
    }

    /// One property of a request is a column, as in a subselect.
    @Test(arguments: StoreKind.allCases)
    func aFetchOfOnePropertyIsItsValues(_ kind: StoreKind) throws {
        let bench = try bench(kind)
        let context = bench.context
        let lines = NSFetchRequest<NSDictionary>(entityName: "Person")
        lines.resultType = .dictionaryResultType
        lines.propertiesToFetch = ["age"]
        lines.predicate = NSPredicate(format: "age > 30")
        lines.sortDescriptors = [NSSortDescriptor(key: "age", ascending: true)]
        let asked = request()
        for (format, names) in [
            ("age IN FETCH(%@, %@, NO)", ["Ada", "Cy"]), ("age == FETCH(%@, %@, NO)", ["Ada"]),
            ("NOT age IN FETCH(%@, %@, NO)", ["Bob"]), ("age > FETCH(%@, %@, NO)", ["Cy"]),
        ] {
            asked.predicate = NSPredicate(format: format, lines, context)
            #expect(try context.fetch(asked).map(\.name) == names, "\(format)")
        }
        let greatest = NSExpressionDescription()
        greatest.name = "greatest"
        greatest.expression = NSExpression(format: "max:(age)")
        greatest.expressionResultType = .integer16AttributeType
        lines.propertiesToFetch = [greatest]
        lines.sortDescriptors = nil
        asked.predicate = NSPredicate(format: "age == FETCH(%@, %@, NO)", lines, context)
        #expect(try context.fetch(asked).map(\.name) == ["Cy"])
        asked.predicate = NSPredicate(
            format: "SELF == FETCH(%@, %@, NO)", request("age < 30"), context)
        #expect(try context.fetch(asked).map(\.name) == ["Bob"])
        lines.propertiesToFetch = ["name", "age"]
        asked.predicate = NSPredicate(format: "age IN FETCH(%@, %@, NO)", lines, context)
        #expect(throws: NSError.self) { try context.fetch(asked) }
    }

    // MARK: Asynchronous

    /// What an asynchronous fetch ended with, seen from the test's thread.
    private final class Ending: @unchecked Sendable {
        // @unchecked: written before the signal, read after it.
        private let signal = DispatchSemaphore(value: 0)
        var names: [String?]?
        var error: (any Error)?
        var wasOnQueue = false

        func end() { signal.signal() }
        func wait() { signal.wait() }
    }

    private func run(
        _ request: NSFetchRequest<Person>, in context: NSManagedObjectContext,
        _ body: (NSAsynchronousFetchResult<Person>) throws -> Void = { _ in }
    ) throws -> Ending {
        let ending = Ending()
        let asynchronous = NSAsynchronousFetchRequest(fetchRequest: request) { result in
            ending.names = result.finalResult?.map(\.name)
            ending.error = result.operationError
            ending.wasOnQueue = (try? self.request().execute()) != nil
            ending.end()
        }
        asynchronous.estimatedResultCount = 10
        try context.performAndWait {
            let begun = try context.execute(asynchronous)
            let result = try #require(begun as? NSAsynchronousFetchResult<Person>)
            #expect(result.fetchRequest === asynchronous && result.finalResult == nil)
            #expect(asynchronous.fetchRequest === request)
            try body(result)
        }
        ending.wait()
        return ending
    }

    @Test(arguments: StoreKind.allCases)
    func anAsynchronousFetchEndsOnTheContextsQueue(_ kind: StoreKind) throws {
        let bench = try bench(kind)
        let parent = Progress(totalUnitCount: 1)
        var child: Progress?
        parent.becomeCurrent(withPendingUnitCount: 1)
        let ending = try run(request("age > 30"), in: bench.newContext()) { child = $0.progress }
        parent.resignCurrent()
        #expect(ending.names == ["Ada", "Cy"] && ending.error == nil && ending.wasOnQueue)
        #expect(child?.completedUnitCount == 2 && child?.totalUnitCount == 2)
        #expect(parent.fractionCompleted == 1)
    }

    @Test(arguments: StoreKind.allCases)
    func unsavedChangesTakePartInAnAsynchronousFetch(_ kind: StoreKind) throws {
        let bench = try bench(kind)
        try bench.person("Abe").age = 40
        let bounded = request("age > 30")
        bounded.fetchLimit = 2
        #expect(try run(bounded, in: bench.context).names == ["Abe", "Ada"])
        let late = try run(request("age > 30"), in: bench.newContext()) { result in
            try bench.person("Zoe", in: result.managedObjectContext).age = 90
        }
        #expect(late.names == ["Ada", "Cy", "Zoe"])
        let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        child.parent = bench.context
        #expect(try run(bounded, in: child).names == ["Abe", "Ada"])
    }

    /// The rows were read before others changed them, the objects are made after that was merged.
    @Test(arguments: StoreKind.allCases)
    func whatIsMergedMeanwhileShowsInAnAsynchronousFetch(_ kind: StoreKind) throws {
        let bench = try bench(kind)
        let people = try bench.context.fetch(request("age < 40"))
        let (ada, bob) = (try #require(people.first), try #require(people.last))
        let reader = bench.newContext()
        let held = try #require(reader.object(with: ada.objectID) as? Person)
        #expect(held.isFault)
        let ending = try run(request(), in: reader) { result in
            let end = Date(timeIntervalSinceNow: 60)
            while result.progress?.completedUnitCount != 3, Date() < end {
                Thread.sleep(forTimeInterval: 0.001)
            }
            #expect(result.progress?.completedUnitCount == 3)
            ada.name = "Adele"
            bench.context.delete(bob)
            try bench.context.save()
            NSManagedObjectContext.mergeChanges(
                fromRemoteContextSave: [
                    NSUpdatedObjectIDsKey: Set([ada.objectID]),
                    NSDeletedObjectIDsKey: Set([bob.objectID]),
                ], into: [reader])
        }
        #expect(ending.names == ["Adele", "Cy"] && ending.error == nil)
        #expect(held.name == "Adele")
    }

    @Test(arguments: StoreKind.allCases)
    func aCancelledFetchEndsWithAnError(_ kind: StoreKind) throws {
        let bench = try bench(kind)
        let ending = try run(request(), in: bench.newContext()) { $0.cancel() }
        #expect(ending.names == nil)
        #expect((ending.error as? CocoaError)?.code == .userCancelled)
    }

    @Test(arguments: StoreKind.allCases)
    func failuresAreToldInTheResult(_ kind: StoreKind) throws {
        let bench = try bench(kind)
        let ending = try run(request("nothing == 1"), in: bench.newContext())
        #expect(ending.names == nil && ending.error != nil)
        let unknown = NSAsynchronousFetchRequest(
            fetchRequest: NSFetchRequest<Person>(entityName: "Nobody"))
        #expect(throws: NSError.self) { try bench.context.execute(unknown) }
    }
}
