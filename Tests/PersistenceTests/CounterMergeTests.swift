import CoreData
import Foundation
import Testing

/// Numbers that the model has as counters lose no count in a save that meets another's.
@Suite struct CounterMergeTests {
    static let kinds: [StoreKind] = [.memory, .sqlite]

    /// One person whose age counts, 10 at first, and the same one in another context.
    private struct Stage {
        let bench: Bench
        let first: Person
        let second: Person
        let other: NSManagedObjectContext

        init(_ kind: StoreKind, _ policy: NSMergePolicy, word: String? = "counter") throws {
            let model = TestModel.make()
            let age = try #require(model.entitiesByName["Person"]?.attributesByName["age"])
            age.setValidationPredicates([], withValidationWarnings: [])
            if let word { age.userInfo = ["MirrorMerge": word] }
            bench = try Bench(kind, model: model)
            first = try bench.person("Ada")
            first.age = 10
            try bench.context.save()
            other = bench.newContext()
            other.mergePolicy = policy
            second = try bench.twin(first, in: other)
        }

        func count(_ own: Int, after stored: Int) throws {
            second.age += numericCast(own)
            bench.context.refresh(first, mergeChanges: false)
            first.age += numericCast(stored)
            try bench.context.save()
            try other.save()
        }

        var stored: Int {
            get throws { Int(try bench.twin(first, in: bench.newContext()).age) }
        }
    }

    @Test(arguments: kinds, [NSMergePolicy.mergeByPropertyObjectTrump, .mergeByPropertyStoreTrump])
    func bothSidesCount(_ kind: StoreKind, _ policy: NSMergePolicy) throws {
        let stage = try Stage(kind, policy)
        try stage.count(2, after: 5)
        #expect(try stage.stored == 17)
        #expect(stage.second.age == 17 && !stage.other.hasChanges)
        try stage.count(-3, after: 1)
        #expect(try stage.stored == 15)
    }

    @Test(arguments: kinds) func onlyCountersAddUp(_ kind: StoreKind) throws {
        for word in [nil, "max"] {
            let stage = try Stage(kind, .mergeByPropertyObjectTrump, word: word)
            try stage.count(2, after: 5)
            #expect(try stage.stored == 12)
        }
        let stage = try Stage(kind, .overwrite)
        try stage.count(2, after: 5)
        #expect(try stage.stored == 12)
    }

    /// What was given up is no count.
    @Test(arguments: kinds) func aRollbackCountsNothing(_ kind: StoreKind) throws {
        let stage = try Stage(kind, .rollback)
        try stage.count(2, after: 5)
        #expect(try stage.stored == 15)
    }

    /// The context hears of the other's save before it saves.
    @Test(arguments: kinds) func aContextThatFollowsCountsUponWhatItHears(_ kind: StoreKind) throws
    {
        let stage = try Stage(kind, .error)
        stage.other.automaticallyMergesChangesFromParent = true
        stage.second.age += 2
        stage.first.age += 5
        try stage.bench.context.save()
        stage.other.performAndWait {}
        #expect(stage.second.age == 17)
        try stage.other.save()
        #expect(try stage.stored == 17)
    }

    /// A child adds what it counted to what its parent has by then, and so does a second child.
    @Test(arguments: kinds) func aChildCountsUponWhatItsParentHas(_ kind: StoreKind) throws {
        let stage = try Stage(kind, .error)
        let children = (0..<2).map { _ in NSManagedObjectContext(.privateQueue) }
        for child in children { child.parent = stage.other }
        let people = try children.map { try stage.bench.twin(stage.second, in: $0) }
        for (person, own) in zip(people, [2, 3]) { person.age += numericCast(own) }
        stage.first.age += 5
        try stage.bench.context.save()
        stage.other.refresh(stage.second, mergeChanges: false)
        #expect(stage.second.age == 15)
        try children[0].save()
        #expect(stage.second.age == 17)
        try children[1].save()
        #expect(stage.second.age == 20)
        people[0].age -= 1
        try children[0].save()
        try stage.other.save()
        #expect(try stage.stored == 19)
    }

    /// What does not count is what the child says.
    @Test(arguments: kinds) func aChildsPlainNumberIsItsOwn(_ kind: StoreKind) throws {
        let stage = try Stage(kind, .error, word: nil)
        let child = NSManagedObjectContext(.privateQueue)
        child.parent = stage.other
        try stage.bench.twin(stage.second, in: child).age += 2
        stage.second.age += 5
        try child.save()
        #expect(stage.second.age == 12)
    }

    /// What is undone is the own count, and what is done again too.
    @Test(arguments: kinds) func undoingACountKeepsWhatOthersCounted(_ kind: StoreKind) throws {
        let stage = try Stage(kind, .mergeByPropertyObjectTrump)
        let manager = UndoManager()
        manager.groupsByEvent = false
        stage.other.undoManager = manager
        manager.beginUndoGrouping()
        stage.second.age += 2
        manager.endUndoGrouping()
        stage.bench.context.refresh(stage.first, mergeChanges: false)
        stage.first.age += 5
        try stage.bench.context.save()
        try stage.other.save()
        #expect(stage.second.age == 17)
        stage.other.undo()
        #expect(stage.second.age == 15)
        stage.other.redo()
        #expect(stage.second.age == 17)
        stage.other.undo()
        try stage.other.save()
        #expect(try stage.stored == 15)
    }

    /// A sum that the type cannot hold is not made.
    @Test(arguments: kinds) func anOverflowIsNotCounted(_ kind: StoreKind) throws {
        let stage = try Stage(kind, .mergeByPropertyObjectTrump)
        let most = type(of: stage.second.age).max
        stage.second.age = most - 1
        stage.first.age += 5
        try stage.bench.context.save()
        try stage.other.save()
        #expect(try stage.stored == Int(most - 1))
    }
}
