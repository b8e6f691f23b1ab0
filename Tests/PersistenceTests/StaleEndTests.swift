import CoreData
import Foundation
import Testing

/// One-to-ones whose other end was read before the link was made: each row has the link, and
/// neither may go on leading to who let go.
@Suite struct StaleEndTests {
    static let kinds: [StoreKind] = [.memory, .sqlite]

    /// Whether the store's people lead to each other or to nobody.
    private func expectPairs(
        _ bench: Bench, in context: NSManagedObjectContext? = nil,
        _ location: SourceLocation = #_sourceLocation
    ) throws {
        let reader = context ?? bench.newContext()
        for person in try reader.fetch(NSFetchRequest<Person>(entityName: "Person")) {
            let isPair = person.spouse.map { $0.spouse === person } ?? true
            #expect(isPair, "\(person.name ?? "")", sourceLocation: location)
        }
    }

    private func people(_ kind: StoreKind) throws -> (Bench, Person, Person, Person) {
        let bench = try Bench(kind)
        let (ada, bob) = (try bench.person("Ada"), try bench.person("Bob"))
        let eve = try bench.person("Eve")
        try bench.context.save()
        return (bench, ada, bob, eve)
    }

    @Test(arguments: kinds, [true, false])
    func whoWasReadBeforeTheLinkWasMadeIsLetGo(_ kind: StoreKind, isMoved: Bool) throws {
        let (bench, ada, bob, eve) = try people(kind)
        let other = bench.newContext()
        let (stale, third) = (try bench.twin(bob, in: other), try bench.twin(eve, in: other))
        #expect(stale.spouse == nil)
        ada.spouse = bob
        try bench.context.save()
        let fresh = try bench.twin(ada, in: other)
        #expect(fresh.spouse === stale)
        fresh.spouse = isMoved ? third : nil
        try other.save()
        try expectPairs(bench)
        let stored = try bench.twin(ada, in: bench.newContext())
        #expect(stored.spouse?.name == (isMoved ? "Eve" : nil))
    }

    @Test(arguments: kinds, [true, false])
    func aChildLetsGoOfThemInItsParent(_ kind: StoreKind, isMoved: Bool) throws {
        let (bench, ada, bob, eve) = try people(kind)
        let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        child.parent = bench.context
        let (stale, third) = (try bench.twin(bob, in: child), try bench.twin(eve, in: child))
        #expect(stale.spouse == nil)
        ada.spouse = bob
        bench.context.processPendingChanges()
        let fresh = try bench.twin(ada, in: child)
        fresh.spouse = isMoved ? third : nil
        try child.save()
        try expectPairs(bench, in: bench.context)
        try bench.context.save()
        try expectPairs(bench)
    }

    enum Change: CaseIterable, Sendable { case made, cut, moved }
    static let policies: [NSMergePolicy] = [
        .mergeByPropertyObjectTrump, .mergeByPropertyStoreTrump, .overwrite, .rollback,
    ]

    /// Another context changes whom the object leads to before it is deleted here, and the deletion
    /// is undone after its save.
    @Test(arguments: policies, Change.allCases)
    func anUndoneDeletionAgreesWithItsEnds(_ policy: NSMergePolicy, _ change: Change) throws {
        let (bench, ada, bob, eve) = try people(.sqlite)
        if change != .made { ada.spouse = bob }
        try bench.context.save()
        let other = bench.newContext()
        other.mergePolicy = policy
        other.undoManager = UndoManager()
        let twins: [Person] = try [ada, bob, eve].map { try bench.twin($0, in: other) }
        for twin in twins { _ = twin.spouse }
        ada.spouse = change == .cut ? nil : change == .moved ? eve : bob
        try bench.context.save()
        other.performAndWait { other.delete(twins[0]) }
        try other.save()
        other.performAndWait { other.undo() }
        try other.save()
        try expectPairs(bench)
        try expectPairs(bench, in: other)
        let request = NSFetchRequest<Person>(entityName: "Person")
        #expect(try bench.newContext().count(for: request) == 3)
    }

    /// What a merge policy takes from the store is nothing that the program did.
    @Test(arguments: [NSMergePolicy.mergeByPropertyStoreTrump, .rollback])
    func aPolicysChangesAreNotUndone(_ policy: NSMergePolicy) throws {
        let (bench, ada, bob, eve) = try people(.sqlite)
        bob.setValue(ada, forKey: "manager")
        try bench.context.save()
        let other = bench.newContext()
        let manager = UndoManager()
        (other.mergePolicy, other.undoManager) = (policy, manager)
        let twin = try bench.twin(bob, in: other)
        let boss = try bench.twin(eve, in: other)
        bob.setValue(nil, forKey: "manager")
        try bench.context.save()
        other.performAndWait { twin.setValue(boss, forKey: "manager") }
        other.performAndWait { twin.age = 5 }
        other.performAndWait { other.undo() }
        let (undos, redos) = (manager.undoCount, manager.redoCount)
        #expect(redos == 1)
        try other.save()
        #expect(twin.value(forKey: "manager") == nil)
        #expect(manager.undoCount == undos && manager.redoCount == redos)
        #expect(manager.groupingLevel == 0)
    }
}
