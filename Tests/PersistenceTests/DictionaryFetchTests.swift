import CoreData
import Foundation
import Testing

@Suite struct DictionaryFetchTests {
    /// Sales: Ada 36, Bob 20; Lab: Cy 50, Dee 20; without a department: Eve, whose score is
    /// missing.
    private func bench(_ kind: StoreKind) throws -> Bench {
        let bench = try Bench(kind)
        let sales = try bench.make("Department", "Sales")
        let lab = try bench.make("Department", "Lab")
        let people: [(String, Int, Double?, NSManagedObject?)] = [
            ("Ada", 36, 1.5, sales), ("Bob", 20, 2.5, sales), ("Cy", 50, 0.5, lab),
            ("Dee", 20, 4, lab), ("Eve", 20, nil, nil),
        ]
        for (name, age, score, department) in people {
            let person = try bench.person(name)
            person.setValue(age, forKey: "age")
            person.setValue(score, forKey: "score")
            person.setValue(department, forKey: "department")
            person.setValue(NSDecimalNumber(string: "\(age).25"), forKey: "balance")
            person.setValue(Date(timeIntervalSinceReferenceDate: Double(age)), forKey: "birthday")
        }
        try bench.context.save()
        return bench
    }

    private func request(_ properties: [Any]?, by keys: [Any]? = nil) -> NSFetchRequest<
        NSDictionary
    > {
        let request = NSFetchRequest<NSDictionary>(entityName: "Person")
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = properties
        request.propertiesToGroupBy = keys
        return request
    }

    private func computed(
        _ name: String, _ format: String, _ type: NSAttributeType = .undefinedAttributeType
    ) -> NSExpressionDescription {
        let description = NSExpressionDescription()
        description.name = name
        description.expression = NSExpression(format: format)
        description.expressionResultType = type
        return description
    }

    private func by(_ key: String, _ ascending: Bool = true) -> [NSSortDescriptor] {
        [NSSortDescriptor(key: key, ascending: ascending)]
    }

    @Test(arguments: StoreKind.allCases)
    func functionsOverAllRowsMakeOneDictionary(_ kind: StoreKind) throws {
        let context = try bench(kind).context
        let all = request([
            computed("count", "count:(score)", .integer64AttributeType),
            computed("rows", "count:(SELF)", .integer32AttributeType),
            computed("total", "sum:(age)", .integer64AttributeType),
            computed("mean", "average:(age)", .doubleAttributeType),
            computed("whole", "average:(age)", .integer32AttributeType),
            computed("youngest", "min:(age)"), computed("last", "max:(name)"),
            computed("money", "sum:(balance)", .decimalAttributeType),
            computed("latest", "max:(birthday)"), computed("double", "sum:(age * 2)"),
            computed("spread", "max:(age) - min:(age)"),
        ])
        let found = try context.fetch(all)
        #expect(found.count == 1)
        let line = try #require(found.first)
        #expect(line["count"] as? Int == 4 && line["rows"] as? Int == 5)
        #expect(line["total"] as? Int == 146 && line["double"] as? Int == 292)
        #expect(line["mean"] as? Double == 29.2 && line["whole"] as? Int == 29)
        #expect(line["youngest"] as? Int == 20 && line["last"] as? String == "Eve")
        #expect(line["money"] as? NSDecimalNumber == NSDecimalNumber(string: "147.25"))
        #expect(line["latest"] as? Date == Date(timeIntervalSinceReferenceDate: 50))
        #expect(line["spread"] as? Int == 30)
    }

    @Test(arguments: StoreKind.allCases)
    func functionsOfNothingAreZeroOrMissing(_ kind: StoreKind) throws {
        let context = try bench(kind).context
        let none = request([
            computed("count", "count:(age)"), computed("sum", "sum:(age)"),
            computed("max", "max:(age)"), computed("mean", "average:(age)"),
        ])
        none.predicate = NSPredicate(format: "age > 1000")
        let line = try #require(try context.fetch(none).first)
        #expect(line["count"] as? Int == 0 && line["sum"] as? Int == 0)
        #expect(line["max"] == nil && line["mean"] == nil)
    }

    @Test(arguments: StoreKind.allCases)
    func groupsHaveTheirOwnFunctionsOrderAndBounds(_ kind: StoreKind) throws {
        let context = try bench(kind).context
        let byAge = request(["age", computed("heads", "count:(SELF)")], by: ["age"])
        byAge.sortDescriptors = by("age", false)
        #expect(try context.fetch(byAge).map { $0["age"] as? Int } == [50, 36, 20])
        #expect(try context.fetch(byAge).map { $0["heads"] as? Int } == [1, 1, 3])
        #expect(try context.count(for: byAge) == 3)
        byAge.sortDescriptors = by("heads", false)
        byAge.fetchLimit = 2
        #expect(try context.fetch(byAge).map { $0["age"] as? Int } == [20, 36])
        byAge.fetchOffset = 1
        #expect(try context.fetch(byAge).map { $0["age"] as? Int } == [36, 50])
    }

    @Test(arguments: StoreKind.allCases)
    func groupsByPathsAndByObjects(_ kind: StoreKind) throws {
        let bench = try bench(kind)
        let byName = request(
            ["department.name", computed("total", "sum:(age)")], by: ["department.name"])
        byName.sortDescriptors = by("department.name")
        let found = try bench.context.fetch(byName)
        #expect(found.map { $0["department.name"] as? String } == [nil, "Lab", "Sales"])
        #expect(found.map { $0["total"] as? Int } == [20, 70, 56])
        let byObject = request(
            ["department", computed("total", "sum:(age)")], by: ["department"])
        byObject.predicate = NSPredicate(format: "department != nil")
        let objects = try bench.context.fetch(byObject)
        #expect(objects.count == 2)
        for line in objects {
            let id = try #require(line["department"] as? NSManagedObjectID)
            let name = try bench.context.existingObject(with: id).value(forKey: "name") as? String
            #expect(line["total"] as? Int == (name == "Lab" ? 70 : 56))
        }
    }

    @Test(arguments: StoreKind.allCases)
    func havingChoosesAmongGroups(_ kind: StoreKind) throws {
        let context = try bench(kind).context
        let byAge = request(["age", computed("heads", "count:(SELF)")], by: ["age"])
        byAge.havingPredicate = NSPredicate(format: "$heads > 1")
        #expect(try context.fetch(byAge).map { $0["age"] as? Int } == [20])
        byAge.havingPredicate = NSPredicate(format: "%@ == 1", NSExpression(forVariable: "heads"))
        byAge.sortDescriptors = by("age")
        #expect(try context.fetch(byAge).map { $0["age"] as? Int } == [36, 50])
        byAge.havingPredicate = NSPredicate(format: "max:(score) > 3 AND age < 30")
        #expect(try context.fetch(byAge).map { $0["age"] as? Int } == [20])
    }

    @Test(arguments: StoreKind.allCases)
    func distinctDictionariesComeOnceBeforeBounds(_ kind: StoreKind) throws {
        let context = try bench(kind).context
        let ages = request(["age"])
        ages.sortDescriptors = by("age")
        #expect(try context.fetch(ages).map { $0["age"] as? Int } == [20, 20, 20, 36, 50])
        ages.returnsDistinctResults = true
        #expect(try context.fetch(ages).map { $0["age"] as? Int } == [20, 36, 50])
        #expect(try context.count(for: ages) == 3)
        ages.fetchOffset = 1
        ages.fetchLimit = 1
        #expect(try context.fetch(ages).map { $0["age"] as? Int } == [36])
    }

    @Test(arguments: StoreKind.allCases)
    func idsStandBesideValues(_ kind: StoreKind) throws {
        let bench = try bench(kind)
        _ = try bench.make("Employee", "Zed")
        try bench.context.save()
        let id = NSExpressionDescription()
        id.name = "id"
        id.expression = NSExpression.expressionForEvaluatedObject()
        id.expressionResultType = .objectIDAttributeType
        let all = request([id, "name", "department.name"])
        all.sortDescriptors = by("name")
        let found = try bench.context.fetch(all)
        #expect(found.count == 6)
        for line in found {
            let id = try #require(line["id"] as? NSManagedObjectID)
            let object = try bench.context.existingObject(with: id)
            #expect(object.value(forKey: "name") as? String == line["name"] as? String)
            #expect(
                object.value(forKeyPath: "department.name") as? String
                    == line["department.name"] as? String)
        }
        let last = try #require(found.last?["id"] as? NSManagedObjectID)
        #expect(last.entity.name == "Employee")
    }

    @Test(arguments: StoreKind.allCases)
    func valuesComeAsTheirAttributesTypes(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        let ada = try bench.person("Ada")
        let key = UUID()
        ada.setValue(key, forKey: "key")
        ada.setValue(URL(string: "https://example.org"), forKey: "site")
        ada.setValue(Data([1, 2]), forKey: "photo")
        ada.setValue(["red"], forKey: "colors")
        ada.setValue(NSDecimalNumber(string: "0.1"), forKey: "balance")
        try bench.context.save()
        let line = try #require(try bench.context.fetch(request(nil)).first)
        #expect(line["key"] as? UUID == key && line["photo"] as? Data == Data([1, 2]))
        #expect(line["site"] as? URL == URL(string: "https://example.org"))
        #expect(line["colors"] as? [String] == ["red"] && line["active"] as? Bool == true)
        #expect(line["balance"] as? NSDecimalNumber == NSDecimalNumber(string: "0.1"))
        #expect(line["score"] == nil && line["scratch"] == nil)
    }

    @Test(arguments: StoreKind.allCases)
    func dictionariesShowWhatIsStored(_ kind: StoreKind) throws {
        let bench = try bench(kind)
        try bench.person("Unsaved").age = 99
        let oldest = request([computed("age", "max:(age)")])
        #expect(try bench.context.fetch(oldest).first?["age"] as? Int == 50)
        let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        child.parent = bench.context
        #expect(try child.fetch(oldest).first?["age"] as? Int == 50)
    }

    @Test func severalStoresAreOneTable() throws {
        let bench = try bench(.sqlite)
        let second = try bench.coordinator.addPersistentStore(
            ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        let fay = try bench.person("Fay")
        fay.age = 100
        bench.context.assign(fay, to: second)
        try bench.context.save()
        let all = request([computed("total", "sum:(age)"), computed("rows", "count:(SELF)")])
        let line = try #require(try bench.context.fetch(all).first)
        #expect(line["total"] as? Int == 246 && line["rows"] as? Int == 6)
        all.affectedStores = [second]
        #expect(try bench.context.fetch(all).first?["total"] as? Int == 100)
        let names = request(["name"])
        names.sortDescriptors = by("name", false)
        names.fetchLimit = 2
        #expect(try bench.context.fetch(names).map { $0["name"] as? String } == ["Fay", "Eve"])
    }

    /// Rows of two stores have the same keys: only their stores tell them apart.
    @Test func objectsOfSeveralStoresAreToldApart() throws {
        let bench = try bench(.sqlite)
        let second = try bench.coordinator.addPersistentStore(
            ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        for (place, name, age) in [("Shop", "Fay", 100), ("Bar", "Gus", 7)] {
            let department = try bench.make("Department", place)
            let person = try bench.person(name)
            bench.context.assign(department, to: second)
            bench.context.assign(person, to: second)
            person.age = Int16(age)
            person.department = department
        }
        try bench.context.save()
        let groups = request(["department", computed("total", "sum:(age)")], by: ["department"])
        var totals: [String: Int] = [:]
        for line in try bench.context.fetch(groups) {
            let department = (line["department"] as? NSManagedObjectID).map(
                bench.context.object(with:))
            let name = department?.value(forKey: "name") as? String ?? "none"
            totals[name, default: 0] += line["total"] as? Int ?? 0
        }
        #expect(totals == ["Sales": 56, "Lab": 70, "Shop": 100, "Bar": 7, "none": 20])
        let id = NSExpressionDescription()
        id.name = "id"
        id.expression = NSExpression.expressionForEvaluatedObject()
        id.expressionResultType = .objectIDAttributeType
        let objects = request([id])
        objects.returnsDistinctResults = true
        let ids = try bench.context.fetch(objects).compactMap { $0["id"] as? NSManagedObjectID }
        #expect(ids.count == 7 && Set(ids).count == 7)
    }

    /// Foundation's dictionaries give a Boolean out as Swift's, which is no number.
    @Test(arguments: StoreKind.allCases)
    func booleansAreNumbersToo(_ kind: StoreKind) throws {
        let bench = try bench(kind)
        try bench.person("Fay").setValue(false, forKey: "active")
        try bench.context.save()
        let names = ["Ada", "Fay"]
        let all = request([
            "active", "name", computed("same", "max:(active)", .booleanAttributeType),
            computed("most", "max:(active)"),
        ])
        all.propertiesToGroupBy = ["name", "active"]
        all.predicate = NSPredicate(format: "name IN %@", names)
        all.sortDescriptors = by("name")
        let lines = try bench.context.fetch(all)
        #expect(lines.count == 2)
        for (line, isActive) in zip(lines, [true, false]) {
            for key in ["active", "same", "most"] {
                #expect(line[key] as? Bool == isActive)
                #expect(line[key] as? Int == (isActive ? 1 : 0))
                #expect(line[key] as? Double == (isActive ? 1 : 0))
                #expect((line[key] as? NSNumber)?.boolValue == isActive)
            }
            let plain = line as? [String: Any]
            #expect(plain?["active"] as? Int16 == (isActive ? 1 : 0))
            #expect(plain?["active"] as? Bool == isActive)
        }
    }

    @Test(arguments: [StoreKind.sqlite, .memory])
    func whatCannotBeAskedForIsRefusedInWords(_ kind: StoreKind) throws {
        let context = try bench(kind).context
        func words(_ request: NSFetchRequest<NSDictionary>) -> String {
            let error = #expect(throws: NSError.self) { try context.fetch(request) }
            #expect(error?.code == NSPersistentStoreUnsupportedRequestTypeError)
            return error?.localizedDescription ?? ""
        }
        let person = context.persistentStoreCoordinator?.managedObjectModel.entitiesByName["Person"]
        let friends = try #require(person?.relationshipsByName["friends"])
        #expect(
            words(request([friends])) == "Invalid to-many relationship in setPropertiesToFetch: "
                + "(friends)")
        #expect(words(request(["nonsense"])).contains("Invalid keypath nonsense"))
        #expect(words(request([5])).contains("Invalid property (5)"))
        #expect(words(request(["scratch"])).contains("Invalid property (scratch)"))
        let stranger = NSAttributeDescription()
        stranger.name = "stranger"
        #expect(words(request([stranger])).contains("(entity mismatch)"))
        #expect(
            words(request(["name", computed("n", "count:(age)")], by: ["age"])).contains(
                "SELECT clauses in queries with GROUP BY components can only contain properties "
                    + "named in the GROUP BY or aggregate functions"))
        let having = request(["age"])
        having.havingPredicate = NSPredicate(format: "age > 1")
        #expect(words(having).contains("propertiesToGroupBy"))
        #expect(
            words(request([computed("s", "sum:(name)")])).contains(
                "Unsupported function expression sum:(name)"))
        #expect(
            words(request([computed("s", "sum:(max:(age))")])).contains(
                "Unsupported function expression sum:"))
        let alias = request(["age", computed("heads", "count:(SELF)")], by: ["age"])
        alias.havingPredicate = NSPredicate(format: "heads > 1")
        _ = words(alias)
        #expect(words(request(["age"], by: [computed("c", "count:(age)")])).contains("GROUP BY"))
    }
}
