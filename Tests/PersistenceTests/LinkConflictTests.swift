import CoreData
import Foundation
import Testing

/// Conflicts of versions in which links changed: what the policy takes back, it takes back at both
/// ends.
@Suite struct LinkConflictTests {
    static let kinds: [StoreKind] = [.memory, .sqlite]

    /// Ada, Bob and Eve; Bob's manager is Ada, his project Party. Another context works with them,
    /// while the first one changes Bob.
    private func people(
        _ kind: StoreKind, _ policy: NSMergePolicy
    ) throws -> (bench: Bench, other: NSManagedObjectContext, twins: [Person]) {
        let bench = try Bench(kind)
        let (ada, bob) = (try bench.person("Ada"), try bench.person("Bob"))
        let eve = try bench.person("Eve")
        bob.setValue(ada, forKey: "manager")
        bob.spouse = ada
        bob.friends = [ada]
        bob.setValue(Set([try bench.make("Project", "Party")]), forKey: "projects")
        try bench.context.save()
        let other = bench.newContext()
        other.mergePolicy = policy
        let twins: [Person] = try [ada, bob, eve].map { try bench.twin($0, in: other) }
        bob.score = 5
        return (bench, other, twins)
    }

    @Test(arguments: kinds)
    func rollbackTakesLinksBackAtBothEnds(_ kind: StoreKind) throws {
        let (bench, other, twins) = try people(kind, .rollback)
        let (ada, bob, eve) = (twins[0], twins[1], twins[2])
        let feast = try bench.make("Project", "Feast", in: other)
        bob.setValue(eve, forKey: "manager")
        bob.spouse = eve
        bob.friends = [eve]
        bob.setValue(Set([feast]), forKey: "projects")
        try bench.context.save()
        try other.save()
        let stored = try bench.twin(bob, in: bench.newContext())
        for person in [bob, stored] {
            #expect((person.value(forKey: "manager") as? Person)?.name == "Ada")
            #expect(person.spouse?.name == "Ada" && person.spouse?.spouse === person)
            #expect(bench.names(person.friends) == ["Ada"])
            #expect(bench.names(person.value(forKey: "projects")) == ["Party"])
            #expect(person.score == 5)
        }
        #expect(bench.names(ada.value(forKey: "reports")) == ["Bob"])
        #expect(bench.names(eve.value(forKey: "reports")) == [])
        #expect(bench.names(ada.friends) == ["Bob"] && eve.friends == [])
        #expect(eve.spouse == nil)
        #expect(bench.names(feast.value(forKey: "members")) == [])
        #expect(!other.hasChanges)
    }

    @Test(arguments: kinds)
    func aDeletionThatIsRolledBackLeavesTheLinksOfOthers(_ kind: StoreKind) throws {
        let (bench, other, twins) = try people(kind, .rollback)
        let (ada, bob) = (twins[0], twins[1])
        other.delete(bob)
        other.processPendingChanges()
        #expect(ada.spouse == nil)
        try bench.context.save()
        try other.save()
        let stored = try bench.twin(bob, in: bench.newContext())
        for person in [bob, stored] {
            #expect(!person.isDeleted && person.score == 5)
            #expect((person.value(forKey: "manager") as? Person)?.name == "Ada")
            #expect(person.spouse?.name == "Ada" && person.spouse?.spouse === person)
            #expect(bench.names(person.friends) == ["Ada"])
            #expect(bench.names(person.value(forKey: "projects")) == ["Party"])
        }
        #expect(bench.names(ada.value(forKey: "reports")) == ["Bob"])
    }

    /// Both gave Bob another manager.
    @Test(arguments: kinds)
    func storeTrumpLeavesNoMemberBehind(_ kind: StoreKind) throws {
        let (bench, other, twins) = try people(kind, .mergeByPropertyStoreTrump)
        let (ada, bob, eve) = (twins[0], twins[1], twins[2])
        let cid = try bench.person("Cid")
        let first = try bench.twin(bob, in: bench.context)
        first.setValue(cid, forKey: "manager")
        bob.setValue(eve, forKey: "manager")
        bob.age = 7
        #expect(bench.names(eve.value(forKey: "reports")) == ["Bob"])
        try bench.context.save()
        try other.save()
        #expect((bob.value(forKey: "manager") as? Person)?.name == "Cid")
        #expect(bench.names(eve.value(forKey: "reports")) == [])
        #expect(bench.names(ada.value(forKey: "reports")) == [])
        let stored = try bench.twin(bob, in: bench.newContext())
        #expect((stored.value(forKey: "manager") as? Person)?.name == "Cid" && stored.age == 7)
    }

    /// Another context gave Bob another manager and another spouse, ours changed his age.
    @Test(
        arguments: kinds,
        [NSMergePolicy.mergeByPropertyObjectTrump, .mergeByPropertyStoreTrump, .rollback])
    func otherEndsFollowWhatTheStoreMoved(_ kind: StoreKind, _ policy: NSMergePolicy) throws {
        let (bench, other, twins) = try people(kind, policy)
        let (ada, bob, eve) = (twins[0], twins[1], twins[2])
        let (first, evesFirst) = (
            try bench.twin(bob, in: bench.context), try bench.twin(eve, in: bench.context)
        )
        #expect(bench.names(ada.value(forKey: "reports")) == ["Bob"] && ada.spouse === bob)
        #expect(bench.names(eve.value(forKey: "reports")) == [] && eve.spouse == nil)
        first.setValue(evesFirst, forKey: "manager")
        first.spouse = evesFirst
        bob.age = 7
        try bench.context.save()
        try other.save()
        #expect(bob.value(forKey: "manager") as? Person === eve && bob.spouse === eve)
        #expect(bench.names(ada.value(forKey: "reports")) == [] && ada.spouse == nil)
        #expect(bench.names(eve.value(forKey: "reports")) == ["Bob"] && eve.spouse === bob)
        #expect(!other.hasChanges)
        ada.age = 3
        eve.age = 4
        try other.save()
        let stored = try bench.twin(bob, in: bench.newContext())
        #expect(stored.spouse?.name == "Eve" && stored.spouse?.spouse === stored)
    }

    // MARK: Fetches that refresh what is here

    @Test(arguments: kinds)
    func aRefetchedOneToOneHasOneOwner(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        let (ada, bob) = (try bench.person("Ada"), try bench.person("Bob"))
        let pass = try bench.make("Passport", "P")
        try bench.context.save()
        let other = bench.newContext()
        let moved = try bench.twin(pass, in: other)
        moved.setValue(try bench.twin(bob, in: other), forKey: "holder")
        pass.setValue(ada, forKey: "holder")
        try bench.context.save()
        try Self.refetch("Passport", in: other)
        try other.save()
        let fresh = bench.newContext()
        let (first, second) = (try bench.twin(ada, in: fresh), try bench.twin(bob, in: fresh))
        let stored = try bench.twin(pass, in: fresh)
        #expect(stored.value(forKey: "holder") as? Person === second)
        #expect(second.value(forKey: "passport") as? NSManagedObject === stored)
        #expect(first.value(forKey: "passport") == nil)
    }

    @Test(arguments: kinds)
    func aDeletionThatMeetsARefetchFollowsItsRow(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        let sales = try bench.make("Department", "Sales")
        try bench.context.save()
        let other = bench.newContext()
        other.delete(try bench.twin(sales, in: other))
        other.processPendingChanges()
        let new = try bench.person("New")
        new.department = sales
        try bench.context.save()
        try Self.refetch("Department", in: other)
        try other.save()
        #expect(try GoneObjectTests.danglingLinks(bench) == [])
        #expect(try bench.twin(new, in: bench.newContext()).department == nil)
    }

    /// Owners whose members were read follow, too, and who listens hears of it.
    @Test(arguments: kinds)
    func aRefetchIsToldAndOwnersFollow(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        let (sales, lab) = (try bench.make("Department", "Sales"), try bench.make("Department"))
        let ada = try bench.person("Ada")
        ada.department = sales
        try bench.context.save()
        let other = bench.newContext()
        let twins = try [sales, lab].map { try bench.twin($0, in: other) }
        let twin = try bench.twin(ada, in: other)
        #expect(bench.names(twins[0].value(forKey: "employees")) == ["Ada"])
        #expect(bench.names(twins[1].value(forKey: "employees")) == [])
        var told = 0
        let observation = twin.observe(\.name) { _, _ in told += 1 }
        ada.department = lab
        ada.name = "Bea"
        try bench.context.save()
        let notices = RefreshNotices(other)
        try Self.refetch("Person", in: other)
        other.processPendingChanges()
        #expect(told == 1 && notices.refreshed.contains(twin))
        #expect(bench.names(twins[0].value(forKey: "employees")) == [])
        #expect(bench.names(twins[1].value(forKey: "employees")) == ["Bea"])
        notices.forget()
        try Self.refetch("Person", in: other)
        other.processPendingChanges()
        #expect(told == 1 && notices.refreshed.isEmpty)
        observation.invalidate()
    }

    private static func refetch(_ entity: String, in context: NSManagedObjectContext) throws {
        let all = NSFetchRequest<NSManagedObject>(entityName: entity)
        all.shouldRefreshRefetchedObjects = true
        _ = try context.fetch(all)
    }
}

/// Keeps the objects that a context says were refreshed.
private final class RefreshNotices: @unchecked Sendable {
    // @unchecked: filled by the thread that works with the context, read by the same.
    private(set) var refreshed: Set<NSManagedObject> = []
    private var observer: (any NSObjectProtocol)?

    init(_ context: NSManagedObjectContext) {
        observer = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextObjectsDidChange, object: context, queue: nil
        ) { [weak self] notice in
            let objects = notice.userInfo?[NSRefreshedObjectsKey] as? Set<NSManagedObject>
            self?.refreshed.formUnion(objects ?? [])
        }
    }

    func forget() { refreshed = [] }

    deinit { observer.map(NotificationCenter.default.removeObserver) }
}
