import CoreData
import Foundation
import Testing

@Suite struct BatchRequestTests {
    private func objects(
        _ entity: String, in context: NSManagedObjectContext
    ) throws -> [NSManagedObject] {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.sortDescriptors = [
            NSSortDescriptor(key: entity == "Account" ? "email" : "name", ascending: true)
        ]
        return try context.fetch(request)
    }

    private func values(_ key: String, _ objects: [NSManagedObject]) -> [String] {
        objects.map { $0.value(forKey: key).map { "\($0)" } ?? "-" }
    }

    private func transactions(_ bench: Bench) throws -> [NSPersistentHistoryTransaction] {
        let request = NSPersistentHistoryChangeRequest.fetchHistory(
            after: nil as NSPersistentHistoryToken?)
        let result = try bench.context.execute(request) as? NSPersistentHistoryResult
        return try #require(result?.result as? [NSPersistentHistoryTransaction])
    }

    // MARK: Insertion

    @Test(arguments: StoreKind.allCases)
    func dictionariesBecomeRowsWithDefaults(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        let key = UUID()
        let batch = NSBatchInsertRequest(
            entityName: "Person",
            objects: [
                ["name": "Ada", "age": 36, "key": key, "colors": ["red"], "unknown": 1],
                ["name": "Bob", "active": false, "score": NSNull()],
            ])
        batch.resultType = .objectIDs
        let result = try #require(try bench.context.execute(batch) as? NSBatchInsertResult)
        #expect(result.resultType == .objectIDs)
        let ids = try #require(result.result as? [NSManagedObjectID])
        let people = try objects("Person", in: bench.newContext())
        #expect(people.map(\.objectID) == ids)
        #expect(values("name", people) == ["Ada", "Bob"])
        #expect(people[0].value(forKey: "age") as? Int == 36)
        #expect(people[0].value(forKey: "key") as? UUID == key)
        #expect(people[0].value(forKey: "colors") as? [String] == ["red"])
        #expect(people.map { $0.value(forKey: "active") as? Bool } == [true, false])
        #expect(batch.entity?.name == "Person" && batch.entityName == "Person")
        #expect(batch.requestType == .batchInsertRequestType)
    }

    @Test(arguments: StoreKind.allCases)
    func handlersFillInRowsUntilTheyEnd(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        let entity = try #require(bench.coordinator.managedObjectModel.entitiesByName["Employee"])
        var count = 0
        let batch = NSBatchInsertRequest(
            entity: entity,
            dictionaryHandler: { values in
                values["name"] = "E\(count)"
                values["salary"] = count
                count += 1
                return count > 2500
            })
        batch.resultType = .count
        let result = try bench.context.execute(batch) as? NSBatchInsertResult
        #expect(result?.result as? Int == 2500)
        #expect(try objects("Employee", in: bench.newContext()).count == 2500)
        var names = ["x", "y"]
        let made = NSBatchInsertRequest(
            entityName: "Person",
            managedObjectHandler: { object in
                guard let name = names.popLast() else { return true }
                object.setValue(name, forKey: "name")
                return false
            })
        let done = try bench.context.execute(made) as? NSBatchInsertResult
        #expect(done?.result as? Bool == true && done?.resultType == .statusOnly)
        let all = NSFetchRequest<NSManagedObject>(entityName: "Person")
        all.includesSubentities = false
        #expect(try Set(values("name", bench.newContext().fetch(all))) == ["x", "y"])
    }

    @Test(arguments: StoreKind.allCases)
    func aTakenUniqueValueFailsTheWholeInsertion(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        try bench.make("Account").setValue("a", forKey: "email")
        try bench.context.save()
        let batch = NSBatchInsertRequest(
            entityName: "Account", objects: [["email": "b"], ["email": "a"]])
        let error = #expect(throws: NSError.self) { try bench.context.execute(batch) }
        #expect(error?.code == NSManagedObjectConstraintMergeError)
        #expect(try values("email", objects("Account", in: bench.newContext())) == ["a"])
    }

    @Test(arguments: StoreKind.allCases)
    func objectTrumpUpdatesTheRowThatHasTheValue(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        let first = try bench.make("Account")
        first.setValue("a", forKey: "email")
        first.setValue("kept", forKey: "note")
        let second = try bench.make("Account")
        second.setValue("b", forKey: "email")
        try bench.context.save()
        bench.context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        let batch = NSBatchInsertRequest(
            entityName: "Account",
            objects: [
                ["email": "a"], ["email": "b", "note": "new"], ["email": "c", "note": "1"],
                ["email": "c", "note": "2"], ["note": "free"], ["note": "free"],
            ])
        batch.resultType = .objectIDs
        let result = try bench.context.execute(batch) as? NSBatchInsertResult
        let ids = try #require(result?.result as? [NSManagedObjectID])
        #expect(ids.count == 5 && ids.contains(first.objectID) && ids.contains(second.objectID))
        let found = try objects("Account", in: bench.newContext())
        #expect(values("email", found) == ["-", "-", "a", "b", "c"])
        #expect(values("note", found) == ["free", "free", "kept", "new", "2"])
    }

    /// Rows that lose a unique value to a later one hold it no longer.
    @Test(arguments: StoreKind.allCases, [true, false])
    func rowsThatMoveTheirSecondKeyAreNotOverwritten(_ kind: StoreKind, isStored: Bool) throws {
        let model = TestModel.make()
        model.entitiesByName["Account"]?.uniquenessConstraints = [["note"], ["email"]]
        let bench = try Bench(kind, model: model)
        bench.context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        func insert(_ objects: [[String: Any]]) throws {
            try bench.context.execute(
                NSBatchInsertRequest(entityName: "Account", objects: objects))
        }
        var rows: [[String: Any]] = [
            ["note": "1", "email": "a"], ["note": "1", "email": "b"],
            ["note": "3", "email": "a"], ["note": "2", "email": "b"], ["note": "1", "email": "c"],
        ]
        if isStored { try insert([rows.removeFirst()]) }
        try insert(rows)
        let accounts = try objects("Account", in: bench.newContext())
        #expect(values("email", accounts) == ["a", "b", "c"])
        #expect(values("note", accounts) == ["3", "2", "1"])
    }

    @Test(arguments: StoreKind.allCases)
    func storeTrumpLeavesTheRowThatHasTheValue(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        let first = try bench.make("Account")
        first.setValue("a", forKey: "email")
        first.setValue("kept", forKey: "note")
        try bench.context.save()
        bench.context.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
        let batch = NSBatchInsertRequest(
            entityName: "Account",
            objects: [["email": "a", "note": "x"], ["email": "b", "note": "1"], ["email": "b"]])
        batch.resultType = .count
        let result = try bench.context.execute(batch) as? NSBatchInsertResult
        #expect(result?.result as? Int == 1)
        let found = try objects("Account", in: bench.newContext())
        #expect(values("note", found) == ["kept", "1"])
    }

    @Test(arguments: StoreKind.allCases)
    func whatCannotBeInsertedIsRefused(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        func code(_ batch: NSBatchInsertRequest) -> Int? {
            (#expect(throws: NSError.self) { try bench.context.execute(batch) })?.code
        }
        #expect(
            code(.init(entityName: "Person", objects: [["name": "a"], ["name": 5]]))
                == NSManagedObjectValidationError)
        #expect(
            code(.init(entityName: "Person", objects: [["department": 5]]))
                == NSPersistentStoreUnsupportedRequestTypeError)
        #expect(code(.init(entityName: "Nobody", objects: [[:]])) == NSCoreDataError)
        #expect(try objects("Person", in: bench.newContext()).isEmpty)
    }

    @Test(arguments: StoreKind.logging)
    func insertionsAreOneTransactionOfTheHistory(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        bench.context.transactionAuthor = "importer"
        let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        child.parent = bench.context
        let rows = (0..<2300).map { ["name": "P\($0)"] as [String: Any] }
        try child.execute(NSBatchInsertRequest(entityName: "Person", objects: rows))
        let found = try transactions(bench)
        #expect(found.count == 1 && found.first?.author == "importer")
        #expect(found.first?.changes?.count == 2300)
        #expect(found.first?.changes?.allSatisfy { $0.changeType == .insert } == true)
        // The next save begins another.
        try bench.person("Later")
        try bench.context.save()
        #expect(try transactions(bench).count == 2)
    }

    // MARK: Update

    private func people(_ kind: StoreKind) throws -> Bench {
        let bench = try Bench(kind)
        for (name, age) in [("Ada", 36), ("Bob", 20), ("Cy", 50)] {
            try bench.person(name).age = Int16(age)
        }
        try bench.make("Employee", "Zed").setValue(30, forKey: "age")
        try bench.context.save()
        return bench
    }

    @Test(arguments: StoreKind.allCases)
    func constantsAndExpressionsAreWrittenWhereThePredicateHolds(_ kind: StoreKind) throws {
        let bench = try people(kind)
        let batch = NSBatchUpdateRequest(entityName: "Person")
        batch.predicate = NSPredicate(format: "age > 25")
        batch.propertiesToUpdate = [
            "age": NSExpression(format: "age * 1.5"), "nick": "old",
            "score": NSExpression(format: "age + 0.5"), "email": NSNull(),
            "active": NSExpression(forConstantValue: false),
        ]
        batch.resultType = .updatedObjectIDsResultType
        let result = try #require(try bench.context.execute(batch) as? NSBatchUpdateResult)
        let ids = try #require(result.result as? [NSManagedObjectID])
        let found = try objects("Person", in: bench.newContext())
        #expect(found.map { $0.value(forKey: "age") as? Int } == [54, 20, 75, 45])
        #expect(found.map { $0.value(forKey: "score") as? Double } == [36.5, nil, 50.5, 30.5])
        #expect(values("nick", found) == ["old", "-", "old", "old"])
        #expect(found.map { $0.value(forKey: "active") as? Bool } == [false, true, false, false])
        #expect(Set(ids) == Set([found[0], found[2], found[3]].map(\.objectID)))
        #expect(batch.entity.name == "Person" && batch.requestType == .batchUpdateRequestType)
    }

    @Test(arguments: StoreKind.allCases)
    func valuesAreComputedOfRowsAsTheyWere(_ kind: StoreKind) throws {
        let bench = try people(kind)
        let all = try objects("Person", in: bench.context)
        all[1].setValue(all[0], forKey: "manager")
        all[2].setValue(all[1], forKey: "manager")
        try bench.context.save()
        let entity = try #require(bench.coordinator.managedObjectModel.entitiesByName["Person"])
        let batch = NSBatchUpdateRequest(entity: entity)
        batch.predicate = NSPredicate(format: "manager != nil")
        let age = try #require(entity.attributesByName["age"])
        batch.propertiesToUpdate = [age: NSExpression(format: "manager.age + 1")]
        batch.resultType = .updatedObjectsCountResultType
        let result = try bench.context.execute(batch) as? NSBatchUpdateResult
        #expect(result?.result as? Int == 2)
        let found = try objects("Person", in: bench.newContext())
        #expect(found.map { $0.value(forKey: "age") as? Int } == [36, 37, 21, 30])
    }

    @Test(arguments: StoreKind.allCases)
    func subentitiesMayBeLeftOut(_ kind: StoreKind) throws {
        let bench = try people(kind)
        let batch = NSBatchUpdateRequest(entityName: "Person")
        batch.includesSubentities = false
        batch.propertiesToUpdate = ["age": 1]
        let result = try bench.context.execute(batch) as? NSBatchUpdateResult
        #expect(result?.result as? Bool == true)
        let found = try objects("Person", in: bench.newContext())
        #expect(found.map { $0.value(forKey: "age") as? Int } == [1, 1, 1, 30])
    }

    @Test(arguments: StoreKind.logging)
    func updatesAreInTheHistoryAndMakeOlderValuesStale(_ kind: StoreKind) throws {
        let bench = try people(kind)
        let before = try transactions(bench).count
        let other = bench.newContext()
        let ada = try #require(try objects("Person", in: other).first)
        #expect(ada.value(forKey: "age") as? Int == 36)
        bench.context.transactionAuthor = "clerk"
        let batch = NSBatchUpdateRequest(entityName: "Person")
        batch.propertiesToUpdate = ["age": 7, "nick": "x"]
        batch.resultType = .updatedObjectIDsResultType
        let result = try bench.context.execute(batch) as? NSBatchUpdateResult
        let ids = try #require(result?.result as? [NSManagedObjectID])
        let last = try #require(try transactions(bench).last)
        #expect(try transactions(bench).count == before + 1 && last.author == "clerk")
        let changes = try #require(last.changes)
        #expect(changes.count == 4 && changes.allSatisfy { $0.changeType == .update })
        #expect(
            changes.allSatisfy { Set(($0.updatedProperties ?? []).map(\.name)) == ["age", "nick"] })
        ada.setValue("nickname", forKey: "nick")
        let error = #expect(throws: NSError.self) { try other.save() }
        #expect(error?.code == NSManagedObjectMergeError)
        NSManagedObjectContext.mergeChanges(
            fromRemoteContextSave: [NSUpdatedObjectIDsKey: ids], into: [other])
        #expect(ada.value(forKey: "age") as? Int == 7)
        try other.save()
    }

    @Test(arguments: StoreKind.allCases)
    func updatesThatBreakAUniqueValueChangeNothing(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        for email in ["a", "b"] { try bench.make("Account").setValue(email, forKey: "email") }
        try bench.context.save()
        let batch = NSBatchUpdateRequest(entityName: "Account")
        batch.propertiesToUpdate = ["email": "same", "note": "n"]
        let error = #expect(throws: NSError.self) { try bench.context.execute(batch) }
        #expect(error?.code == NSManagedObjectConstraintMergeError)
        let found = try objects("Account", in: bench.newContext())
        #expect(values("email", found) == ["a", "b"] && values("note", found) == ["-", "-"])
    }

    @Test(arguments: StoreKind.allCases)
    func whatCannotBeUpdatedIsRefused(_ kind: StoreKind) throws {
        let bench = try people(kind)
        func words(_ values: [AnyHashable: Any]) -> String {
            let batch = NSBatchUpdateRequest(entityName: "Person")
            batch.propertiesToUpdate = values
            let error = #expect(throws: NSError.self) { try bench.context.execute(batch) }
            return error?.localizedDescription ?? ""
        }
        #expect(words(["friends": 1]).contains("Invalid relationship (friends)"))
        #expect(words(["department": 1]).contains("takes a saved object"))
        #expect(words(["scratch": 1]).contains("Invalid property (scratch)"))
        #expect(words(["nothing": 1]).contains("Invalid property (nothing)"))
        #expect(words(["age": "text"]).contains("cannot hold"))
        #expect(words(["age": NSExpression(format: "name")]).contains("not of its type"))
        #expect(words(["age": NSExpression(format: "max(age)")]).contains("max:(age)"))
    }

    // MARK: Deletion

    @Test(arguments: StoreKind.allCases)
    func predicatesAndBoundsChooseWhatIsDeleted(_ kind: StoreKind) throws {
        let bench = try people(kind)
        let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Person")
        request.predicate = NSPredicate(format: "age < 45")
        request.sortDescriptors = [NSSortDescriptor(key: "age", ascending: true)]
        request.fetchLimit = 2
        let batch = NSBatchDeleteRequest(fetchRequest: request)
        batch.resultType = .resultTypeCount
        #expect(batch.fetchRequest.entityName == "Person" && batch.fetchRequest.fetchLimit == 2)
        let result = try bench.context.execute(batch) as? NSBatchDeleteResult
        #expect(result?.result as? Int == 2)
        #expect(try values("name", objects("Person", in: bench.newContext())) == ["Ada", "Cy"])
        let rest = try objects("Person", in: bench.newContext()).map(\.objectID)
        let byID = NSBatchDeleteRequest(objectIDs: rest)
        #expect(try bench.context.count(for: byID.fetchRequest) == 2)
        #expect((try bench.context.execute(byID) as? NSBatchDeleteResult)?.result as? Bool == true)
        byID.resultType = .resultTypeObjectIDs
        let again = try bench.context.execute(byID) as? NSBatchDeleteResult
        #expect((again?.result as? [NSManagedObjectID])?.isEmpty == true)
    }

    /// As apps write it: the request has no other type than the parameter's.
    @Test func aRequestMayBeWrittenInPlace() throws {
        let bench = try people(.memory)
        let batch = NSBatchDeleteRequest(fetchRequest: NSFetchRequest(entityName: "Person"))
        #expect(batch.fetchRequest.entityName == "Person")
        let typed = NSFetchRequest<Person>(entityName: "Person")
        typed.predicate = NSPredicate(format: "age < 45")
        #expect(NSBatchDeleteRequest(fetchRequest: typed).fetchRequest.predicate != nil)
        _ = try bench.context.execute(batch)
        #expect(try objects("Person", in: bench.newContext()).isEmpty)
    }

    @Test(arguments: StoreKind.allCases)
    func cascadesAreFollowed(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        let list = try bench.make("Playlist", "Best")
        list.setValue(try ["a", "b"].map { try bench.make("Song", $0) }, forKey: "songs")
        let other = try bench.make("Playlist", "Other")
        other.setValue([try bench.make("Song", "c")], forKey: "songs")
        try bench.context.save()
        let batch = NSBatchDeleteRequest(objectIDs: [list.objectID])
        batch.resultType = .resultTypeObjectIDs
        let result = try bench.context.execute(batch) as? NSBatchDeleteResult
        #expect((result?.result as? [NSManagedObjectID])?.count == 3)
        #expect(try values("name", objects("Song", in: bench.newContext())) == ["c"])
    }

    @Test(arguments: StoreKind.allCases)
    func denyAndMandatoryInversesForbidTheDeletion(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        let sales = try bench.make("Department", "Sales")
        let ada = try bench.person("Ada")
        sales.setValue(ada, forKey: "lead")
        try bench.context.save()
        let denied = NSBatchDeleteRequest(objectIDs: [sales.objectID])
        let error = #expect(throws: NSError.self) { try bench.context.execute(denied) }
        #expect(error?.code == NSValidationRelationshipDeniedDeleteError)
        let model = TestModel.make()
        model.entitiesByName["Person"]?.relationshipsByName["department"]?.isOptional = false
        let strict = try Bench(kind, model: model)
        let lab = try strict.make("Department", "Lab")
        try strict.person("Bob").department = lab
        try strict.context.save()
        let mandatory = NSBatchDeleteRequest(objectIDs: [lab.objectID])
        let broken = #expect(throws: NSError.self) { try strict.context.execute(mandatory) }
        #expect(broken?.code == NSPersistentStoreSaveConflictsError)
        #expect(
            broken?.localizedDescription.hasPrefix(
                "Constraint trigger violation: Batch delete failed due to mandatory") == true)
        #expect(try objects("Department", in: strict.newContext()).count == 1)
    }

    @Test(arguments: StoreKind.logging)
    func deletionsAndWhatTheyClearAreInTheHistory(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        let sales = try bench.make("Department", "Sales")
        let ada = try bench.person("Ada")
        ada.department = sales
        try bench.context.save()
        bench.context.transactionAuthor = "broom"
        let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        child.parent = bench.context
        try child.execute(NSBatchDeleteRequest(objectIDs: [sales.objectID]))
        let last = try #require(try transactions(bench).last)
        #expect(last.author == "broom")
        let changes = try #require(last.changes)
        #expect(changes.map(\.changeType) == [.update, .delete])
        #expect(changes.map(\.changedObjectID) == [ada.objectID, sales.objectID])
    }
}
