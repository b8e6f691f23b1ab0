import CoreData
import Foundation
import Testing

/// What an object brings along whose row somebody else deleted, and which a save writes anew.
@Suite struct ReturningObjectTests {
    static let kinds: [StoreKind] = [.memory, .sqlite]
    static let insisting: [NSMergePolicy] = [.mergeByPropertyObjectTrump, .overwrite]

    /// Ada has links of every kind; another context deletes her while ours changes her age.
    private func comeBack(
        _ kind: StoreKind, _ policy: NSMergePolicy, looking: Bool
    ) throws -> (bench: Bench, back: Person) {
        let bench = try Bench(kind)
        let (ada, bob) = (try bench.person("Ada"), try bench.person("Bob"))
        let list = try bench.make("Playlist", "List")
        ada.department = try bench.make("Department", "Sales")
        ada.spouse = bob
        ada.friends = [bob]
        bob.setValue(ada, forKey: "manager")
        ada.setValue(Set([try bench.make("Project", "Party")]), forKey: "projects")
        ada.setValue(Set([try bench.make("Tag", "t")]), forKey: "tags")
        ada.setValue(try bench.make("Tag", "home"), forKey: "home")
        list.setValue(NSOrderedSet(array: [try bench.make("Tag", "hit")]), forKey: "hits")
        try bench.context.save()
        let other = bench.newContext()
        other.mergePolicy = policy
        let twin = try bench.twin(ada, in: other)
        if looking { try expectLinks(of: twin, bench) }
        twin.age = 9
        bench.context.delete(ada)
        try bench.context.save()
        try other.save()
        return (bench, twin)
    }

    private func expectLinks(
        of person: Person, _ bench: Bench, _ location: SourceLocation = #_sourceLocation
    ) throws {
        func names(_ key: String) -> Set<String> { bench.names(person.value(forKey: key)) }
        let department = person.department
        #expect(
            department?.value(forKey: "name") as? String == "Sales", sourceLocation: location)
        let colleagues = bench.names(department?.value(forKey: "employees"))
        #expect(colleagues == ["Ada"], sourceLocation: location)
        #expect(person.spouse?.name == "Bob", sourceLocation: location)
        #expect(person.spouse?.spouse?.name == "Ada", sourceLocation: location)
        #expect(names("friends") == ["Bob"], sourceLocation: location)
        #expect(names("reports") == ["Bob"], sourceLocation: location)
        #expect(names("projects") == ["Party"], sourceLocation: location)
        #expect(names("tags") == ["t"], sourceLocation: location)
        let home = person.value(forKey: "home") as? NSManagedObject
        #expect(home?.value(forKey: "name") as? String == "home", sourceLocation: location)
    }

    @Test(arguments: kinds, insisting)
    func linksThatWereReadComeBackWithTheObject(
        _ kind: StoreKind, _ policy: NSMergePolicy
    ) throws {
        let (bench, back) = try comeBack(kind, policy, looking: true)
        try expectLinks(of: back, bench)
        let stored = try bench.twin(back, in: bench.newContext())
        #expect(stored.age == 9)
        try expectLinks(of: stored, bench)
        #expect(try GoneObjectTests.danglingLinks(bench) == [])
    }

    @Test(arguments: kinds, insisting)
    func othersWithChangesOfTheirOwnTakeTheObjectBack(
        _ kind: StoreKind, _ policy: NSMergePolicy
    ) throws {
        let bench = try Bench(kind)
        let (ada, bob) = (try bench.person("Ada"), try bench.person("Bob"))
        let party = try bench.make("Project", "Party")
        ada.spouse = bob
        bob.setValue(ada, forKey: "manager")
        ada.setValue(Set([party]), forKey: "projects")
        try bench.context.save()
        let other = bench.newContext()
        other.mergePolicy = policy
        let (twin, bobsTwin) = (try bench.twin(ada, in: other), try bench.twin(bob, in: other))
        let partyTwin = try bench.twin(party, in: other)
        #expect(bench.names(twin.value(forKey: "reports")) == ["Bob"])
        #expect(bench.names(twin.value(forKey: "projects")) == ["Party"])
        twin.age = 9
        bobsTwin.age = 8
        partyTwin.setValue("Feast", forKey: "name")
        bench.context.delete(ada)
        bob.score = 3
        try bench.context.save()
        try other.save()
        let stored = try bench.twin(ada, in: bench.newContext())
        for person in [twin, stored] {
            #expect(person.age == 9 && person.spouse?.age == 8)
            #expect(person.spouse?.spouse === person)
            #expect(bench.names(person.value(forKey: "reports")) == ["Bob"])
            #expect(bench.names(person.value(forKey: "projects")) == ["Feast"])
        }
        let isWhole = policy.mergeType == .overwriteMergePolicyType
        #expect(stored.spouse?.score == (isWhole ? 0 : 3))
        #expect(try GoneObjectTests.danglingLinks(bench) == [])
    }

    @Test(arguments: kinds, insisting)
    func whatOthersTookMeanwhileStaysTheirs(_ kind: StoreKind, _ policy: NSMergePolicy) throws {
        let bench = try Bench(kind)
        let (ada, bob) = (try bench.person("Ada"), try bench.person("Bob"))
        let eve = try bench.person("Eve")
        ada.spouse = bob
        bob.setValue(ada, forKey: "manager")
        try bench.context.save()
        let other = bench.newContext()
        other.mergePolicy = policy
        let (twin, bobsTwin) = (try bench.twin(ada, in: other), try bench.twin(bob, in: other))
        #expect(bench.names(twin.value(forKey: "reports")) == ["Bob"] && twin.spouse === bobsTwin)
        twin.age = 9
        bench.context.delete(ada)
        bench.context.processPendingChanges()
        bob.spouse = eve
        bob.setValue(eve, forKey: "manager")
        try bench.context.save()
        try other.save()
        let stored = try bench.twin(ada, in: bench.newContext())
        for person in [twin, stored] {
            #expect(person.age == 9 && person.spouse == nil)
            #expect(bench.names(person.value(forKey: "reports")) == [])
        }
        let storedBob = try bench.twin(bob, in: bench.newContext())
        #expect(storedBob.spouse?.name == "Eve")
        #expect((storedBob.value(forKey: "manager") as? Person)?.name == "Eve")
    }

    /// The passport went with its holder; where it was edited, too, it comes back with her.
    @Test(arguments: kinds, [false, true])
    func linksToWhatIsGoneDoNotComeBack(_ kind: StoreKind, _ returning: Bool) throws {
        let bench = try Bench(kind)
        let ada = try bench.person("Ada")
        let passport = try bench.make("Passport", "P")
        ada.setValue(passport, forKey: "passport")
        try bench.context.save()
        let other = bench.newContext()
        other.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        let twin = try bench.twin(ada, in: other)
        let passportTwin = try bench.twin(passport, in: other)
        #expect(twin.value(forKey: "passport") as? NSManagedObject === passportTwin)
        twin.age = 9
        if returning { passportTwin.setValue("Q", forKey: "name") }
        bench.context.delete(ada)
        try bench.context.save()
        try other.save()
        let stored = try bench.twin(ada, in: bench.newContext())
        for person in [twin, stored] {
            let own = person.value(forKey: "passport") as? NSManagedObject
            #expect(own?.value(forKey: "name") as? String == (returning ? "Q" : nil))
            #expect((own == nil) == !returning)
            #expect(own == nil || own?.value(forKey: "holder") as? Person === person)
        }
        #expect(try GoneObjectTests.danglingLinks(bench) == [])
    }

    /// Nobody looked at Ada's relationships; Bob and the project were read, and led to her.
    @Test(arguments: kinds, insisting)
    func othersThatWereReadBringUnreadLinksBack(
        _ kind: StoreKind, _ policy: NSMergePolicy
    ) throws {
        let bench = try Bench(kind)
        let (ada, bob) = (try bench.person("Ada"), try bench.person("Bob"))
        let party = try bench.make("Project", "Party")
        bob.setValue(ada, forKey: "manager")
        party.setValue(Set([ada, bob]), forKey: "members")
        let unseen = try bench.person("Unseen")
        unseen.setValue(ada, forKey: "manager")
        try bench.context.save()
        let other = bench.newContext()
        other.mergePolicy = policy
        let (twin, bobsTwin) = (try bench.twin(ada, in: other), try bench.twin(bob, in: other))
        let partyTwin = try bench.twin(party, in: other)
        #expect(bobsTwin.value(forKey: "manager") as? Person === twin)
        #expect(bench.names(partyTwin.value(forKey: "members")) == ["Ada", "Bob"])
        twin.age = 9
        bench.context.delete(ada)
        try bench.context.save()
        try other.save()
        let stored = try bench.twin(ada, in: bench.newContext())
        for person in [twin, stored] {
            #expect(person.age == 9)
            // What nobody had read is lost.
            #expect(bench.names(person.value(forKey: "reports")) == ["Bob"])
            #expect(bench.names(person.value(forKey: "projects")) == ["Party"])
        }
        #expect(try GoneObjectTests.danglingLinks(bench) == [])
    }

    /// A deletion does not read what its rule leaves alone, and the undoing of it shows it anew.
    @Test(arguments: kinds, [true, false])
    func anUndoneDeletionShowsMembersThatWereNeverRead(
        _ kind: StoreKind, _ isSaved: Bool
    ) throws {
        let bench = try Bench(kind)
        let ada = try bench.person("Ada")
        let (work, play) = (try bench.make("Project", "Work"), try bench.make("Project", "Play"))
        for project in [work, play] { project.setValue(ada, forKey: "owner") }
        try bench.context.save()
        let other = bench.newContext()
        other.undoManager = UndoManager()
        let twin = try bench.twin(ada, in: other)
        other.delete(twin)
        if isSaved { try other.save() }
        other.undo()
        #expect(bench.names(twin.value(forKey: "owned")) == ["Work", "Play"])
        twin.age = 5
        try other.save()
        let stored = try bench.twin(ada, in: bench.newContext())
        #expect(stored.age == 5 && bench.names(stored.value(forKey: "owned")) == ["Work", "Play"])
    }
}
