import CoreData
import Foundation
import Testing

/// Links in batch updates, and rows that batch insertions cannot take.
@Suite struct BatchLinkTests {
    private func names(_ department: NSManagedObject, in bench: Bench) throws -> Set<String> {
        let twin = try bench.twin(department, in: bench.newContext())
        return bench.names(twin.value(forKey: "employees"))
    }

    @Test(arguments: StoreKind.allCases)
    func aToOneTakesAnObjectAnIDOrNothing(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        let (sales, lab) = (try bench.make("Department", "Sales"), try bench.make("Department"))
        for name in ["Ada", "Bob", "Cy"] { try bench.person(name).department = sales }
        try bench.context.save()
        func set(_ value: Any, where format: String) throws -> Int? {
            let batch = NSBatchUpdateRequest(entityName: "Person")
            batch.predicate = NSPredicate(format: format)
            batch.propertiesToUpdate = ["department": value, "age": 40]
            batch.resultType = .updatedObjectsCountResultType
            return (try bench.context.execute(batch) as? NSBatchUpdateResult)?.result as? Int
        }
        #expect(try set(lab.objectID, where: "name == 'Ada'") == 1)
        #expect(try set(NSExpression(forConstantValue: lab), where: "name == 'Bob'") == 1)
        #expect(try names(lab, in: bench) == ["Ada", "Bob"])
        #expect(try set(NSNull(), where: "name == 'Bob'") == 1)
        #expect(try names(lab, in: bench) == ["Ada"] && names(sales, in: bench) == ["Cy"])
        let aged = NSFetchRequest<Person>(entityName: "Person")
        aged.predicate = NSPredicate(format: "age == 40")
        #expect(try bench.newContext().count(for: aged) == 2)
    }

    @Test(arguments: StoreKind.logging)
    func linksAreInTheHistory(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        let (ada, lab) = (try bench.person("Ada"), try bench.make("Department"))
        try bench.context.save()
        let token = bench.coordinator.currentPersistentHistoryToken(fromStores: nil)
        let batch = NSBatchUpdateRequest(entityName: "Person")
        batch.propertiesToUpdate = ["department": lab]
        try bench.context.execute(batch)
        let request = NSPersistentHistoryChangeRequest.fetchHistory(after: token)
        request.resultType = .changesOnly
        let result = try bench.context.execute(request) as? NSPersistentHistoryResult
        let changes = try #require(result?.result as? [NSPersistentHistoryChange])
        let own = changes.first { $0.changedObjectID == ada.objectID }
        #expect(own?.updatedProperties?.map(\.name) == ["department"])
    }

    @Test(arguments: StoreKind.allCases)
    func linksThatNeedTheirOtherEndAreRefused(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        let (ada, bob) = (try bench.person("Ada"), try bench.person("Bob"))
        try bench.context.save()
        func code(_ values: [AnyHashable: Any]) -> Int? {
            let batch = NSBatchUpdateRequest(entityName: "Person")
            batch.propertiesToUpdate = values
            return #expect(throws: NSError.self) { try bench.context.execute(batch) }?.code
        }
        #expect(code(["spouse": bob]) == 134_091)
        #expect(code(["department": ada]) == NSManagedObjectValidationError)
        let fresh = try bench.make("Department")
        #expect(code(["department": fresh]) == NSManagedObjectValidationError)
        #expect(ada.spouse == nil)
    }

    @Test(arguments: StoreKind.allCases)
    func aRowWithoutAMandatoryValueFailsTheWholeInsertion(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        let batch = NSBatchInsertRequest(
            entityName: "Person", objects: [["name": "Ada"], ["naem": "Bob", "age": 3]])
        let error = #expect(throws: NSError.self) { try bench.context.execute(batch) }
        #expect(error?.code == NSValidationMissingMandatoryPropertyError)
        #expect(error?.userInfo[NSValidationKeyErrorKey] as? String == "name")
        let all = NSFetchRequest<Person>(entityName: "Person")
        #expect(try bench.context.count(for: all) == 0)
    }

    /// Apple's recipe for showing a batch: its IDs are merged, and name the rows alone.
    @Test(arguments: StoreKind.allCases)
    func contextsShowWhatABatchMoved(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        let (sales, lab) = (try bench.make("Department", "Sales"), try bench.make("Department"))
        let ada = try bench.person("Ada")
        ada.department = sales
        try bench.context.save()
        #expect(bench.names(sales.value(forKey: "employees")) == ["Ada"])
        #expect(bench.names(lab.value(forKey: "employees")) == [])
        let batch = NSBatchUpdateRequest(entityName: "Person")
        batch.propertiesToUpdate = ["department": lab.objectID]
        batch.resultType = .updatedObjectIDsResultType
        let result = try bench.newContext().execute(batch) as? NSBatchUpdateResult
        let ids = try #require(result?.result as? [NSManagedObjectID])
        NSManagedObjectContext.mergeChanges(
            fromRemoteContextSave: [NSUpdatedObjectsKey: ids], into: [bench.context])
        #expect(ada.department === lab)
        #expect(bench.names(sales.value(forKey: "employees")) == [])
        #expect(bench.names(lab.value(forKey: "employees")) == ["Ada"])
    }
}
