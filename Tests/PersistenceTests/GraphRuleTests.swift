import CoreData
import Foundation
import Testing

/// The rules of the object graph at their edges, over objects that are not in memory.
@Suite struct GraphRuleTests {
    /// A fresh context that has seen one object only, as a fault.
    private func elsewhere(
        _ bench: Bench, _ object: NSManagedObject
    ) throws -> (context: NSManagedObjectContext, object: NSManagedObject) {
        try bench.context.save()
        let context = bench.newContext()
        return (context, context.object(with: object.objectID))
    }

    private func code(_ work: () throws -> Void) -> Int? {
        do {
            try work()
            return nil
        } catch let error as NSError {
            return error.code
        }
    }

    private func count(_ entity: String, _ bench: Bench) throws -> Int {
        try bench.newContext().count(for: NSFetchRequest<NSManagedObject>(entityName: entity))
    }

    @Test(arguments: StoreKind.allCases)
    func aCascadeReachesWhatNobodyRead(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        let playlist = try bench.make("Playlist")
        let songs = try ["a", "b"].map { try bench.make("Song", $0) }
        playlist.setValue(NSOrderedSet(array: songs), forKey: "songs")
        let (context, twin) = try elsewhere(bench, playlist)
        context.delete(twin)
        try context.save()
        #expect(try count("Song", bench) == 0)
    }

    @Test(arguments: StoreKind.allCases)
    func aDenyRuleSeesWhatNobodyRead(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        let department = try bench.make("Department")
        let lead = try bench.person("Ada")
        department.setValue(lead, forKey: "lead")
        let (context, twin) = try elsewhere(bench, department)
        context.delete(twin)
        #expect(code { try context.save() } == NSValidationRelationshipDeniedDeleteError)
        context.delete(context.object(with: lead.objectID))
        #expect(code { try context.save() } == nil)
    }

    @Test(arguments: StoreKind.allCases)
    func whoMovesLeavesAnOwnerThatNobodyRead(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        let (old, new) = (try bench.make("Department", "old"), try bench.make("Department", "new"))
        let ada = try bench.person("Ada")
        ada.department = old
        let (context, twin) = try elsewhere(bench, ada)
        twin.setValue(context.object(with: new.objectID), forKey: "department")
        let former = context.object(with: old.objectID)
        #expect(former.hasChanges)
        #expect(bench.names(former.value(forKey: "employees")).isEmpty)
        try context.save()
        let third = bench.newContext()
        #expect(
            bench.names(third.object(with: new.objectID).value(forKey: "employees")) == ["Ada"])
        #expect(bench.names(third.object(with: old.objectID).value(forKey: "employees")).isEmpty)
    }

    @Test(arguments: StoreKind.allCases)
    func whoIsStolenLeavesAPartnerThatNobodyRead(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        let people = try ["Ada", "Bob", "Cy", "Di"].map { try bench.person($0) }
        people[0].spouse = people[1]
        people[2].spouse = people[3]
        let (context, ada) = try elsewhere(bench, people[0])
        ada.setValue(context.object(with: people[2].objectID), forKey: "spouse")
        try context.save()
        let third = bench.newContext()
        func spouse(_ index: Int) -> String? {
            let person = third.object(with: people[index].objectID)
            return (person.value(forKey: "spouse") as? Person)?.name
        }
        #expect(spouse(0) == "Cy" && spouse(2) == "Ada")
        #expect(spouse(1) == nil && spouse(3) == nil)
    }

    // MARK: Two contexts

    /// The store takes a new name; another context meanwhile gives the person a department.
    @Test(arguments: StoreKind.allCases)
    func aLinkTheStoreDidNotChangeStaysUnderStoreTrump(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        let (old, new) = (try bench.make("Department", "old"), try bench.make("Department", "new"))
        let ada = try bench.person("Ada")
        ada.department = old
        try bench.context.save()
        let other = bench.newContext()
        other.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
        let twin = try bench.twin(ada, in: other)
        twin.department = other.object(with: new.objectID)
        ada.name = "Bea"
        try bench.context.save()
        try other.save()
        let seen = try bench.twin(ada, in: bench.newContext())
        #expect(seen.name == "Bea")
        #expect(seen.department?.value(forKey: "name") as? String == "new")
    }

    @Test(arguments: StoreKind.allCases)
    func twoOrdersOfOneRelationshipConflict(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        let playlist = try bench.make("Playlist")
        let songs = try ["a", "b", "c"].map { try bench.make("Song", $0) }
        playlist.setValue(NSOrderedSet(array: songs), forKey: "songs")
        try bench.context.save()
        let other = bench.newContext()
        let twin = try bench.twin(playlist, in: other)
        let members = (twin.value(forKey: "songs") as? NSOrderedSet)?.array ?? []
        twin.setValue(NSOrderedSet(array: members.reversed()), forKey: "songs")
        playlist.setValue(NSOrderedSet(array: [songs[1], songs[0], songs[2]]), forKey: "songs")
        try bench.context.save()
        #expect(code { try other.save() } == NSManagedObjectMergeError)
        #expect(bench.order(playlist.value(forKey: "songs")) == ["b", "a", "c"])
    }

    @Test(arguments: StoreKind.allCases)
    func aChangedObjectWhoseRowIsGoneIsWrittenAgainUnderObjectTrump(_ kind: StoreKind) throws {
        for (policy, survives) in [
            (NSMergePolicy.mergeByPropertyObjectTrump, true), (.overwrite, true),
            (.mergeByPropertyStoreTrump, false), (.rollback, false),
        ] {
            let bench = try Bench(kind)
            let ada = try bench.person("Ada")
            try bench.context.save()
            let other = bench.newContext()
            other.mergePolicy = policy
            let twin = try bench.twin(ada, in: other)
            twin.age = 7
            bench.context.delete(ada)
            try bench.context.save()
            try other.save()
            let request = NSFetchRequest<Person>(entityName: "Person")
            let ages = try bench.newContext().fetch(request).map(\.age)
            #expect(ages == (survives ? [7] : []), "\(policy.mergeType)")
        }
    }

    /// Item, unique by its code, with a box.
    private static func itemModel() -> NSManagedObjectModel {
        let item = TestModel.entity("Item")
        let box = TestModel.entity("Box")
        item.properties = [
            TestModel.attribute("code", .stringAttributeType),
            TestModel.attribute("small", .integer16AttributeType),
        ]
        item.uniquenessConstraints = [["code"]]
        box.properties = [TestModel.attribute("name", .stringAttributeType)]
        TestModel.link(item, "box", .one, box, "items", .many)
        let model = NSManagedObjectModel()
        model.entities = [item, box]
        return model
    }

    @Test(arguments: StoreKind.allCases, [true, false])
    func aDuplicateGivesItsLinksUnderStoreTrump(_ kind: StoreKind, hasBox: Bool) throws {
        let bench = try Bench(kind, model: Self.itemModel())
        let keeper = try bench.make("Item")
        keeper.setValue("x", forKey: "code")
        if hasBox { keeper.setValue(try bench.make("Box", "first"), forKey: "box") }
        try bench.context.save()
        let other = bench.newContext()
        other.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
        let duplicate = try bench.make("Item", in: other)
        duplicate.setValue("x", forKey: "code")
        duplicate.setValue(try bench.make("Box", "second", in: other), forKey: "box")
        try other.save()
        let seen = try bench.twin(keeper, in: bench.newContext())
        let box = seen.value(forKey: "box") as? NSManagedObject
        #expect(box?.value(forKey: "name") as? String == (hasBox ? "first" : "second"))
        #expect(try count("Item", bench) == 1)
    }

    // MARK: Copies

    @Test(arguments: StoreKind.allCases.filter { $0 != .memory })
    func orderedMembersKeepTheirPlacesInACopy(_ kind: StoreKind) throws {
        let bench = try Bench(.sqlite)
        let playlist = try bench.make("Playlist")
        let songs = try ["a", "b", "c"].map { try bench.make("Song", $0) }
        let tags = try ["x", "y", "z"].map { try bench.make("Tag", $0) }
        playlist.setValue(NSOrderedSet(array: [songs[1], songs[2], songs[0]]), forKey: "songs")
        playlist.setValue(NSOrderedSet(array: [tags[2], tags[0], tags[1]]), forKey: "hits")
        try bench.context.save()
        let url = FileManager.default.temporaryDirectory
            .appendingPathComponent("GraphRuleTests-\(UUID().uuidString)")
        defer {
            for suffix in ["", "-wal", "-shm"] {
                try? FileManager.default.removeItem(atPath: url.path + suffix)
            }
        }
        _ = try bench.coordinator.migratePersistentStore(
            bench.store, to: url, type: .init(rawValue: kind.type))
        let request = NSFetchRequest<NSManagedObject>(entityName: "Playlist")
        let copy = try #require(try bench.newContext().fetch(request).first)
        #expect(bench.order(copy.value(forKey: "songs")) == ["b", "c", "a"])
        #expect(bench.order(copy.value(forKey: "hits")) == ["z", "x", "y"])
    }

    // MARK: Bounds

    @Test func theLeastAndGreatestNumbersOfATypeAreItsOwn() throws {
        let bench = try Bench(.sqlite, model: Self.itemModel())
        let item = try bench.make("Item")
        for number in [Int(Int16.min), Int(Int16.max)] {
            item.setValue(number, forKey: "small")
            #expect(code { try item.validateForUpdate() } == nil)
        }
        item.setValue(Int(Int16.min) - 1, forKey: "small")
        #expect(code { try item.validateForUpdate() } == NSValidationNumberTooSmallError)
        item.setValue(Int(Int16.max) + 1, forKey: "small")
        #expect(code { try item.validateForUpdate() } == NSValidationNumberTooLargeError)
    }

    @Test func theEarliestDateARuleAllowsIsAllowed() throws {
        let ada = try Bench(.memory).person("Ada")
        ada.birthday = Date(timeIntervalSinceReferenceDate: -1_000_000)
        #expect(code { try ada.validateForUpdate() } == nil)
        ada.birthday = Date(timeIntervalSinceReferenceDate: -1_000_001)
        #expect(code { try ada.validateForUpdate() } == NSValidationDateTooSoonError)
    }

    @Test func membersAreCountedWhenTheyAreRemoved() throws {
        let model = TestModel.make()
        let members = model.entitiesByName["Project"]?.relationshipsByName["members"]
        members?.minCount = 2
        members?.maxCount = 3
        let bench = try Bench(.sqlite, model: model)
        let project = try bench.make("Project")
        let people = try ["a", "b", "c", "d"].map { try bench.person($0) }
        project.setValue(Set(people.prefix(3)), forKey: "members")
        #expect(code { try bench.context.save() } == nil)
        let (context, twin) = try elsewhere(bench, project)
        let others = people.map { context.object(with: $0.objectID) }
        twin.setValue(Set(others.prefix(1)), forKey: "members")
        #expect(
            code { try context.save() } == NSValidationRelationshipLacksMinimumCountError)
        twin.setValue(Set(others), forKey: "members")
        #expect(
            code { try context.save() } == NSValidationRelationshipExceedsMaximumCountError)
        twin.setValue(Set(others.prefix(2)), forKey: "members")
        #expect(code { try context.save() } == nil)
    }

    @Test func anAverageIsOfTheValuesThatAreThere() throws {
        let bench = try Bench(.memory)
        let project = try bench.make("Project")
        let people = try [1.0, 3.0].map { score in
            let person = try bench.person("x")
            person.score = score
            return person
        }
        let empty = try bench.person("y")
        empty.setValue(nil, forKey: "score")
        project.setValue(Set(people + [empty]), forKey: "members")
        #expect((project.value(forKeyPath: "members.@avg.score") as? NSNumber)?.doubleValue == 2)
        #expect((project.value(forKeyPath: "members.@count") as? NSNumber)?.intValue == 3)
    }
}
