import CoreData
import Foundation
import Stores
import Testing

/// Links and members while nothing is saved: what deletions, moves and children leave of them.
@Suite struct UnsavedLinkTests {
    /// Boxes of items with a rule on either side, one-to-many or many-to-many.
    private static func model(
        _ side: TestModel.Side, rule: NSDeleteRule = .nullifyDeleteRule,
        back: NSDeleteRule = .nullifyDeleteRule, backSide: TestModel.Side = .one
    ) -> NSManagedObjectModel {
        let box = TestModel.entity("Box")
        let item = TestModel.entity("Item")
        for entity in [box, item] {
            entity.properties = [TestModel.attribute("name", .stringAttributeType)]
        }
        TestModel.link(box, "items", side, item, "box", backSide, rule: rule, back: back)
        let model = NSManagedObjectModel()
        model.entities = [box, item]
        return model
    }

    private func members(_ object: NSManagedObject, _ name: String = "items") -> Set<String> {
        let value = object.value(forKey: name)
        let objects =
            (value as? NSOrderedSet)?.array as? [NSManagedObject]
            ?? Array(value as? Set<NSManagedObject> ?? [])
        return Set(objects.compactMap { $0.value(forKey: "name") as? String })
    }

    private func child(of context: NSManagedObjectContext) -> NSManagedObjectContext {
        let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        child.parent = context
        return child
    }

    private func updates(_ object: NSManagedObject, _ bench: Bench) throws -> [String] {
        let last = try bench.store.rowStore.history(after: 0, limit: nil).last
        return try #require(last).changes
            .filter { $0.kind == .update && $0.id == object.objectID.rowID }
            .flatMap(\.changedProperties)
    }

    // MARK: Links to what the same save deletes

    @Test(arguments: StoreKind.allCases)
    func aNewLinkToWhatTheSaveDeletesIsNoChange(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        let (ada, home) = (try bench.person("Ada"), try bench.make("Tag", "home"))
        try bench.context.save()
        ada.setValue(home, forKey: "home")
        ada.addObject(home, toRelationshipNamed: "tags")
        bench.context.delete(home)
        try bench.person("Bob")
        try bench.context.save()
        #expect(ada.value(forKey: "home") == nil && members(ada, "tags").isEmpty)
        #expect(!ada.hasChanges && !ada.hasPersistentChangedValues)
        let twin = try bench.twin(ada, in: bench.newContext())
        #expect(twin.value(forKey: "home") == nil && members(twin, "tags").isEmpty)
        if StoreKind.logging.contains(kind) {
            #expect(try !updates(ada, bench).contains("home"))
        }
    }

    @Test(arguments: StoreKind.allCases)
    func linksToWhatWasNeverSavedAreNotWritten(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        let (ada, old) = (try bench.person("Ada"), try bench.make("Tag", "old"))
        ada.setValue(old, forKey: "home")
        try bench.context.save()
        let ghost = try bench.make("Tag", "ghost")
        let new = try bench.person("New")
        for person in [ada, new] {
            person.setValue(ghost, forKey: "home")
            person.addObject(ghost, toRelationshipNamed: "tags")
        }
        bench.context.delete(ghost)
        try bench.context.save()
        for person in [ada, new] {
            #expect(person.value(forKey: "home") == nil && members(person, "tags").isEmpty)
            let twin = try bench.twin(person, in: bench.newContext())
            #expect(twin.value(forKey: "home") == nil && members(twin, "tags").isEmpty)
        }
        if StoreKind.logging.contains(kind) {
            #expect(try updates(ada, bench).contains("home"))
        }
    }

    @Test func aMandatoryLinkToWhatTheSaveDeletesIsMissing() throws {
        let model = TestModel.make()
        model.entitiesByName["Person"]?.relationshipsByName["home"]?.isOptional = false
        let bench = try Bench(.memory, model: model)
        let (ada, home) = (try bench.person("Ada"), try bench.make("Tag", "home"))
        ada.setValue(home, forKey: "home")
        bench.context.delete(home)
        let error = try #require(throws: NSError.self) { try bench.context.save() }
        #expect(error.code == NSValidationMissingMandatoryPropertyError)
    }

    // MARK: Members that are deleted

    /// A deny rule keeps the link; the owner is read anew while the member is deleted.
    @Test(arguments: StoreKind.allCases, [TestModel.Side.many, .ordered])
    func aMemberIsSeenAgainOnceItsDeletionIsTakenBack(
        _ kind: StoreKind, _ side: TestModel.Side
    ) throws {
        let bench = try Bench(kind, model: Self.model(side, back: .denyDeleteRule))
        bench.context.undoManager = UndoManager()
        let (box, item) = (try bench.make("Box"), try bench.make("Item", "i"))
        item.setValue(box, forKey: "box")
        try bench.context.save()
        for isUndone in [false, true] {
            bench.context.processPendingChanges()
            bench.context.undoManager?.removeAllActions()
            bench.context.delete(item)
            bench.context.processPendingChanges()
            bench.context.refresh(box, mergeChanges: false)
            #expect(members(box).isEmpty)
            if isUndone { bench.context.undo() } else { bench.context.rollback() }
            #expect(members(box) == ["i"] && !box.hasChanges)
        }
    }

    @Test(arguments: StoreKind.allCases, [TestModel.Side.many, .ordered])
    func membersAreCountedThoughTheirDeletionCameFirst(
        _ kind: StoreKind, _ side: TestModel.Side
    ) throws {
        let model = Self.model(side)
        model.entitiesByName["Box"]?.relationshipsByName["items"]?.minCount = 2
        let bench = try Bench(kind, model: model)
        let box = try bench.make("Box")
        let items = try ["a", "b"].map { try bench.make("Item", $0) }
        for item in items { item.setValue(box, forKey: "box") }
        try bench.context.save()
        let context = bench.newContext()
        context.delete(try bench.twin(items[0], in: context))
        context.processPendingChanges()
        // Reads what is stored, where the deleted one still is.
        let twin = try bench.twin(box, in: context)
        #expect(members(twin) == ["b"] && twin.hasPersistentChangedValues)
        let error = try #require(throws: NSError.self) { try context.save() }
        #expect(error.code == NSValidationRelationshipLacksMinimumCountError)
    }

    @Test(
        arguments: StoreKind.allCases,
        [NSDeleteRule.denyDeleteRule, .noActionDeleteRule, .nullifyDeleteRule])
    func aNewObjectThatIsDeletedLeavesNothing(_ kind: StoreKind, _ rule: NSDeleteRule) throws {
        for backSide in [TestModel.Side.one, .many] {
            let bench = try Bench(
                kind, model: Self.model(.many, back: rule, backSide: backSide))
            let box = try bench.make("Box")
            try bench.context.save()
            let item = try bench.make("Item", "i")
            box.addObject(item, toRelationshipNamed: "items")
            bench.context.delete(item)
            box.setValue("B", forKey: "name")
            try bench.context.save()
            #expect(members(box).isEmpty && !box.hasChanges)
            box.setValue("C", forKey: "name")
            try bench.context.save()
            #expect(try members(bench.twin(box, in: bench.newContext())).isEmpty)
        }
    }

    // MARK: Children

    /// The child takes a member out, and deletes its former owner.
    @Test(
        arguments: StoreKind.allCases,
        [NSDeleteRule.cascadeDeleteRule, .denyDeleteRule, .nullifyDeleteRule])
    func aChildsDeletionFollowsTheChildsLinks(_ kind: StoreKind, _ rule: NSDeleteRule) throws {
        for backSide in [TestModel.Side.one, .many] {
            let bench = try Bench(
                kind, model: Self.model(.many, rule: rule, backSide: backSide))
            let (box, item) = (try bench.make("Box"), try bench.make("Item", "i"))
            box.addObject(item, toRelationshipNamed: "items")
            try bench.context.save()
            let child = child(of: bench.context)
            let twin = try bench.twin(box, in: child)
            twin.removeObject(try bench.twin(item, in: child), fromRelationshipNamed: "items")
            child.delete(twin)
            try child.save()
            try bench.context.save()
            let names = try bench.newContext()
                .fetch(NSFetchRequest<NSManagedObject>(entityName: "Item"))
                .map { $0.value(forKey: "name") as? String }
            #expect(names == ["i"])
        }
    }

    // MARK: Undo

    /// The object was saved with a link that its deny rule guards.
    @Test(arguments: StoreKind.allCases)
    func anInsertionIsTakenBackInSpiteOfDenyRules(_ kind: StoreKind) throws {
        for side in [TestModel.Side.many, .ordered] {
            let bench = try Bench(
                kind,
                model: Self.model(side, rule: .denyDeleteRule, back: .denyDeleteRule))
            let manager = UndoManager()
            manager.groupsByEvent = false
            bench.context.undoManager = manager
            func group(_ work: () throws -> Void) rethrows {
                manager.beginUndoGrouping()
                try work()
                manager.endUndoGrouping()
            }
            let found = NSFetchRequest<NSManagedObject>(entityName: "Item")
            var box = NSManagedObject()
            try group { box = try bench.make("Box") }
            try bench.context.save()
            try group { try bench.make("Item", "i").setValue(box, forKey: "box") }
            try bench.context.save()
            bench.context.undo()
            try bench.context.save()
            #expect(try bench.newContext().count(for: found) == 0)
            #expect(members(box).isEmpty)
            bench.context.redo()
            #expect(members(box) == ["i"])
            try bench.context.save()
            #expect(try members(bench.twin(box, in: bench.newContext())) == ["i"])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func aFaultWhoseRowIsGoneIsNothingToUndo(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        let ada = try bench.person("Ada")
        try bench.context.save()
        let other = bench.newContext()
        other.undoManager = UndoManager()
        let twin = other.object(with: ada.objectID)
        bench.context.delete(ada)
        try bench.context.save()
        #expect(twin.value(forKey: "name") == nil && twin.isDeleted)
        other.processPendingChanges()
        #expect(other.undoManager?.canUndo == false)
    }

    // MARK: Unique values

    /// The one who has the key is of the parent entity, the one who wants it of the child.
    @Test(arguments: StoreKind.allCases)
    func anObjectTakesOnlyValuesThatItsEntityHas(_ kind: StoreKind) throws {
        let model = TestModel.make()
        model.entitiesByName["Person"]?.uniquenessConstraints = [["email"]]
        let bench = try Bench(kind, model: model)
        let ada = try bench.person("Ada")
        ada.setValue("a@b", forKey: "email")
        try bench.context.save()
        bench.context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        let employee = try bench.make("Employee", "Ann")
        employee.setValue("a@b", forKey: "email")
        employee.setValue(7, forKey: "salary")
        try bench.context.save()
        #expect(try bench.twin(ada, in: bench.newContext()).name == "Ann")
        #expect(
            try bench.newContext().count(for: NSFetchRequest<Person>(entityName: "Person")) == 1)
    }

    // MARK: Values

    /// Each archive of a value has other bytes.
    private final class NoisyArchive: ValueTransformer, @unchecked Sendable {
        // @unchecked: see ValueTransformer.
        private var count = 0

        override func transformedValue(_ value: Any?) -> Any? {
            count += 1
            guard let text = value as? String else { return nil }
            return Data("\(count)|\(text)".utf8)
        }
        override func reverseTransformedValue(_ value: Any?) -> Any? {
            (value as? Data).flatMap { String(data: $0, encoding: .utf8) }?
                .split(separator: "|", maxSplits: 1, omittingEmptySubsequences: false).last
                .map(String.init)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func anEqualValueOfATransformableIsNoChange(_ kind: StoreKind) throws {
        let name = NSValueTransformerName("NoisyArchive")
        ValueTransformer.setValueTransformer(NoisyArchive(), forName: name)
        let model = TestModel.make()
        model.entitiesByName["Person"]?.attributesByName["colors"]?.valueTransformerName =
            name.rawValue
        let bench = try Bench(kind, model: model)
        let ada = try bench.person("Ada")
        ada.setValue("red", forKey: "colors")
        try bench.context.save()
        let other = bench.newContext()
        other.mergePolicy = NSMergePolicy.overwrite
        let twin = try bench.twin(ada, in: other)
        twin.setValue("red", forKey: "colors")
        #expect(!twin.hasPersistentChangedValues)
        ada.name = "Ann"
        try bench.context.save()
        try other.save()
        #expect(try bench.twin(ada, in: bench.newContext()).name == "Ann")
        twin.setValue("blue", forKey: "colors")
        twin.setValue("red", forKey: "colors")
        #expect(!twin.hasPersistentChangedValues)
        twin.setValue("blue", forKey: "colors")
        #expect(twin.changedValues()["colors"] as? String == "blue")
    }

    /// By a nested save, and within one context.
    @Test(arguments: StoreKind.allCases, [true, false])
    func aLinkToWhatIsDeletedAlreadyIsNotWritten(_ kind: StoreKind, isNested: Bool) throws {
        let bench = try Bench(kind)
        let (ada, sales) = (try bench.person("Ada"), try bench.make("Department", "Sales"))
        try bench.context.save()
        let child = child(of: bench.context)
        let (mine, target) = (try bench.twin(ada, in: child), try bench.twin(sales, in: child))
        bench.context.delete(sales)
        bench.context.processPendingChanges()
        if isNested {
            mine.department = target
            try child.save()
        } else {
            ada.department = sales
        }
        try bench.context.save()
        #expect(try GoneObjectTests.danglingLinks(bench) == [])
        #expect(ada.department == nil && !ada.hasChanges)
        #expect(try bench.twin(ada, in: bench.newContext()).department == nil)
    }

    // MARK: Links that a child and its parent, or a sibling, changed

    @Test(arguments: StoreKind.allCases, [true, false])
    func aOneToOneThatIsMovedBesideAChildHasOneOwner(
        _ kind: StoreKind, bySibling: Bool
    ) throws {
        let bench = try Bench(kind)
        let (ada, bob) = (try bench.person("Ada"), try bench.person("Bob"))
        let pass = try bench.make("Passport", "P")
        try bench.context.save()
        let (first, second) = (child(of: bench.context), child(of: bench.context))
        let (mine, holder) = (try bench.twin(pass, in: second), try bench.twin(bob, in: second))
        let mover = bySibling ? first : bench.context
        try bench.twin(pass, in: mover).setValue(bench.twin(ada, in: mover), forKey: "holder")
        if bySibling { try first.save() }
        mine.setValue(holder, forKey: "holder")
        try second.save()
        try bench.context.save()
        for context in [bench.context, bench.newContext()] {
            let (ada, bob) = (try bench.twin(ada, in: context), try bench.twin(bob, in: context))
            let pass = try bench.twin(pass, in: context)
            #expect(pass.value(forKey: "holder") as? Person === bob)
            #expect(bob.value(forKey: "passport") as? NSManagedObject === pass)
            #expect(ada.value(forKey: "passport") == nil)
        }
    }

    @Test(arguments: [TestModel.Side.many, .ordered], [true, false])
    func aMemberThatIsMovedBesideAChildHasOneOwner(
        _ side: TestModel.Side, bySibling: Bool
    ) throws {
        let bench = try Bench(.sqlite, model: Self.model(side, rule: .cascadeDeleteRule))
        let boxes = try ["a", "b", "c"].map { try bench.make("Box", $0) }
        let item = try bench.make("Item", "i")
        item.setValue(boxes[0], forKey: "box")
        try bench.context.save()
        for box in boxes { _ = members(box) }
        let (first, second) = (child(of: bench.context), child(of: bench.context))
        let (mine, third) = (try bench.twin(item, in: second), try bench.twin(boxes[2], in: second))
        let mover = bySibling ? first : bench.context
        try bench.twin(item, in: mover).setValue(bench.twin(boxes[1], in: mover), forKey: "box")
        if bySibling { try first.save() }
        mine.setValue(third, forKey: "box")
        try second.save()
        #expect(boxes.map { members($0) } == [[], [], ["i"]])
        try bench.context.save()
        bench.context.delete(boxes[1])
        try bench.context.save()
        let twin = try bench.twin(item, in: bench.newContext())
        #expect((twin.value(forKey: "box") as? NSManagedObject)?.objectID == boxes[2].objectID)
    }
}
