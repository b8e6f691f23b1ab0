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
}
