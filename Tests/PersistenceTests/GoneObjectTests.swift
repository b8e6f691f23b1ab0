import CoreData
import Foundation
import Stores
import Testing

/// What the others of a context show of an object whose row somebody else deleted.
@Suite struct GoneObjectTests {
    static let kinds: [StoreKind] = [.memory, .sqlite]
    static let yielding: [NSMergePolicy] = [.mergeByPropertyStoreTrump, .rollback]

    /// Ada and Bob, and what they may have, with the links that a test gives them; and another
    /// context which is to learn what becomes of them.
    private struct Stage {
        let bench: Bench
        let other: NSManagedObjectContext
        let ada: Person
        let bob: Person
        let sales: NSManagedObject
        let party: NSManagedObject
        let tag: NSManagedObject
        let list: NSManagedObject

        init(
            _ kind: StoreKind, _ policy: NSMergePolicy = .error,
            linking: (Stage) throws -> Void = { _ in }
        ) throws {
            bench = try Bench(kind)
            (ada, bob) = (try bench.person("Ada"), try bench.person("Bob"))
            sales = try bench.make("Department", "Sales")
            party = try bench.make("Project", "Party")
            tag = try bench.make("Tag", "home")
            list = try bench.make("Playlist", "List")
            other = bench.newContext()
            other.mergePolicy = policy
            try linking(self)
            try bench.context.save()
        }
    }

    /// Every link of the store that leads to no row, as text.
    static func danglingLinks(_ bench: Bench) throws -> [String] {
        let rows = bench.store.rowStore
        var found: [String] = []
        for entity in rows.layout.entities {
            for row in try rows.rows(matching: RowQuery(entity: entity.number))
            where row.id.entity == entity.number {
                for (slot, link) in row.toOnes.enumerated() {
                    guard let link, try rows.row(link.target) == nil else { continue }
                    found.append("\(entity.name) \(row.id.key) \(entity.toOnes[slot].name)")
                }
                for (slot, relationship) in entity.toManys.enumerated() {
                    for link in try rows.members(of: row.id, toMany: slot)
                    where try rows.row(link.target) == nil {
                        found.append("\(entity.name) \(row.id.key) \(relationship.name)")
                    }
                }
            }
        }
        return found
    }

    @Test(arguments: kinds, yielding)
    func othersDoNotShowWhatAConflictDropped(
        _ kind: StoreKind, _ policy: NSMergePolicy
    ) throws {
        let stage = try Stage(kind, policy) {
            $0.ada.department = $0.sales
            $0.bob.department = $0.sales
            $0.ada.spouse = $0.bob
            $0.ada.setValue(Set([$0.party]), forKey: "projects")
        }
        let (bench, other) = (stage.bench, stage.other)
        let (ada, bob, sales) = (stage.ada, stage.bob, stage.sales)
        let party = stage.party
        let twin = try bench.twin(ada, in: other)
        let bobsTwin = try bench.twin(bob, in: other)
        let salesTwin = try bench.twin(sales, in: other)
        let partyTwin = try bench.twin(party, in: other)
        #expect(bench.names(salesTwin.value(forKey: "employees")) == ["Ada", "Bob"])
        #expect(bench.names(partyTwin.value(forKey: "members")) == ["Ada"])
        #expect(bobsTwin.spouse === twin)
        bench.context.delete(ada)
        try bench.context.save()
        twin.age = 9
        try other.save()
        #expect(twin.managedObjectContext == nil)
        #expect(bench.names(salesTwin.value(forKey: "employees")) == ["Bob"])
        #expect(bench.names(partyTwin.value(forKey: "members")) == [])
        #expect(bobsTwin.spouse == nil)
        #expect(!other.hasChanges)
        bobsTwin.age = 3
        salesTwin.setValue("Trade", forKey: "name")
        partyTwin.setValue("Feast", forKey: "name")
        try other.save()
        #expect(try Self.danglingLinks(bench) == [])
    }

    @Test(arguments: kinds, yielding)
    func newLinksToWhatAConflictDroppedAreNotWritten(
        _ kind: StoreKind, _ policy: NSMergePolicy
    ) throws {
        let stage = try Stage(kind, policy)
        let (bench, other) = (stage.bench, stage.other)
        let (ada, bob, party) = (stage.ada, stage.bob, stage.party)
        let (tag, list) = (stage.tag, stage.list)
        let (twin, bobsTwin) = (try bench.twin(ada, in: other), try bench.twin(bob, in: other))
        let partyTwin = try bench.twin(party, in: other)
        let (tagTwin, listTwin) = (try bench.twin(tag, in: other), try bench.twin(list, in: other))
        bench.context.delete(ada)
        bench.context.delete(tag)
        try bench.context.save()
        bobsTwin.setValue(twin, forKey: "manager")
        bobsTwin.friends = [twin]
        bobsTwin.setValue(tagTwin, forKey: "home")
        bobsTwin.setValue(Set([tagTwin]), forKey: "tags")
        bobsTwin.age = 3
        partyTwin.setValue(Set([twin, bobsTwin]), forKey: "members")
        listTwin.setValue(NSOrderedSet(array: [tagTwin]), forKey: "hits")
        tagTwin.setValue("away", forKey: "name")
        try other.save()
        #expect(bobsTwin.value(forKey: "manager") == nil)
        #expect(bobsTwin.friends == [])
        #expect(bobsTwin.value(forKey: "home") == nil)
        #expect(bench.names(bobsTwin.value(forKey: "tags")) == [])
        #expect(bench.names(partyTwin.value(forKey: "members")).isDisjoint(with: ["Ada"]))
        #expect(bench.order(listTwin.value(forKey: "hits")) == [])
        #expect(try Self.danglingLinks(bench) == [])
        bobsTwin.age = 4
        try other.save()
        #expect(try Self.danglingLinks(bench) == [])
        let stored = try bench.twin(bob, in: bench.newContext())
        #expect(stored.age == 4)
    }

    /// The deletion comes by a merge, while links to the object wait to be saved.
    @Test(arguments: kinds)
    func newLinksToWhatAMergeDeletedAreNotWritten(_ kind: StoreKind) throws {
        let stage = try Stage(kind)
        let (bench, other) = (stage.bench, stage.other)
        let (ada, bob, party) = (stage.ada, stage.bob, stage.party)
        let (tag, list) = (stage.tag, stage.list)
        let (twin, bobsTwin) = (try bench.twin(ada, in: other), try bench.twin(bob, in: other))
        let partyTwin = try bench.twin(party, in: other)
        let (tagTwin, listTwin) = (try bench.twin(tag, in: other), try bench.twin(list, in: other))
        bobsTwin.setValue(twin, forKey: "manager")
        bobsTwin.setValue(tagTwin, forKey: "home")
        bobsTwin.addObject(tagTwin, toRelationshipNamed: "tags")
        bobsTwin.age = 3
        partyTwin.addObject(twin, toRelationshipNamed: "members")
        listTwin.addObject(tagTwin, toRelationshipNamed: "hits")
        other.automaticallyMergesChangesFromParent = true
        bench.context.delete(ada)
        bench.context.delete(tag)
        try bench.context.save()
        other.performAndWait {}
        #expect(bobsTwin.value(forKey: "manager") == nil)
        #expect(bobsTwin.value(forKey: "home") == nil)
        try other.save()
        #expect(try Self.danglingLinks(bench) == [])
        #expect(bench.names(bobsTwin.value(forKey: "tags")) == [])
        #expect(bench.names(partyTwin.value(forKey: "members")) == [])
        #expect(bench.order(listTwin.value(forKey: "hits")) == [])
        #expect(try bench.twin(bob, in: bench.newContext()).age == 3)
    }

    /// Rows that were read ahead of their use, and so before the deletion.
    @Test(arguments: kinds)
    func faultsThatWereReadBeforeAreReadAnew(_ kind: StoreKind) throws {
        let stage = try Stage(kind, .mergeByPropertyStoreTrump) {
            $0.ada.spouse = $0.bob
        }
        let (bench, other) = (stage.bench, stage.other)
        let (ada, bob) = (stage.ada, stage.bob)
        let request = NSFetchRequest<Person>(entityName: "Person")
        let people = try other.fetch(request)
        let twin = try #require(people.first { $0.objectID == ada.objectID })
        twin.age = 9
        bench.context.delete(ada)
        try bench.context.save()
        try other.save()
        let bobsTwin = try #require(people.first { $0.objectID == bob.objectID })
        #expect(bobsTwin.spouse == nil)
    }

    @Test(arguments: kinds)
    func rollbackShowsNothingThatIsDeleted(_ kind: StoreKind) throws {
        let stage = try Stage(kind) {
            $0.ada.department = $0.sales
            $0.bob.department = $0.sales
            $0.ada.spouse = $0.bob
            $0.bob.setValue($0.ada, forKey: "manager")
        }
        let (bench, other) = (stage.bench, stage.other)
        let (ada, bob, sales) = (stage.ada, stage.bob, stage.sales)
        let (twin, bobsTwin) = (try bench.twin(ada, in: other), try bench.twin(bob, in: other))
        let salesTwin = try bench.twin(sales, in: other)
        #expect(bench.names(salesTwin.value(forKey: "employees")) == ["Ada", "Bob"])
        // Changed away, and to be taken back to what is deleted by then.
        bobsTwin.spouse = nil
        bobsTwin.setValue(nil, forKey: "manager")
        twin.department = nil
        bobsTwin.age = 3
        other.automaticallyMergesChangesFromParent = true
        bench.context.delete(ada)
        try bench.context.save()
        other.performAndWait {}
        other.rollback()
        #expect(bobsTwin.spouse == nil && bobsTwin.value(forKey: "manager") == nil)
        #expect(bench.names(salesTwin.value(forKey: "employees")) == ["Bob"])
        bobsTwin.age = 4
        try other.save()
        #expect(try Self.danglingLinks(bench) == [])
    }

    @Test(arguments: kinds)
    func refreshShowsNothingThatIsDeleted(_ kind: StoreKind) throws {
        let stage = try Stage(kind) {
            $0.ada.department = $0.sales
            $0.ada.spouse = $0.bob
        }
        let (bench, other) = (stage.bench, stage.other)
        let (ada, bob, sales) = (stage.ada, stage.bob, stage.sales)
        let (twin, bobsTwin) = (try bench.twin(ada, in: other), try bench.twin(bob, in: other))
        let salesTwin = try bench.twin(sales, in: other)
        #expect(bench.names(salesTwin.value(forKey: "employees")) == ["Ada"])
        #expect(bobsTwin.spouse === twin)
        bench.context.delete(ada)
        try bench.context.save()
        other.refresh(twin, mergeChanges: false)
        #expect(twin.name == nil && twin.isDeleted)
        // As with all deletions, at the end of the event.
        other.processPendingChanges()
        #expect(bench.names(salesTwin.value(forKey: "employees")) == [])
        #expect(bobsTwin.spouse == nil)
        bobsTwin.age = 4
        salesTwin.setValue("Trade", forKey: "name")
        other.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        try other.save()
        #expect(try Self.danglingLinks(bench) == [])
    }

    /// A fault whose row is gone gets a link before anybody looked at it.
    @Test(arguments: kinds)
    func aLinkToAFaultWithoutARowIsNotWritten(_ kind: StoreKind) throws {
        let stage = try Stage(kind)
        let (bench, other) = (stage.bench, stage.other)
        let (ada, bob) = (stage.ada, stage.bob)
        let bobsTwin = try bench.twin(bob, in: other)
        let fault = try #require(other.object(with: ada.objectID) as? Person)
        bench.context.delete(ada)
        try bench.context.save()
        bobsTwin.setValue(fault, forKey: "manager")
        bobsTwin.age = 4
        try other.save()
        #expect(try Self.danglingLinks(bench) == [])
        #expect(bobsTwin.value(forKey: "manager") == nil)
        #expect(try bench.twin(bob, in: bench.newContext()).age == 4)
    }

    @Test(arguments: kinds)
    func aMandatoryLinkToWhatIsGoneFailsTheSaveByName(_ kind: StoreKind) throws {
        let model = TestModel.make()
        let spouse = try #require(model.entitiesByName["Person"]?.relationshipsByName["manager"])
        spouse.isOptional = false
        let bench = try Bench(kind, model: model)
        let (ada, bob) = (try bench.person("Ada"), try bench.person("Bob"))
        ada.setValue(ada, forKey: "manager")
        bob.setValue(bob, forKey: "manager")
        try bench.context.save()
        let other = bench.newContext()
        other.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
        let (twin, bobsTwin) = (try bench.twin(ada, in: other), try bench.twin(bob, in: other))
        bench.context.delete(ada)
        try bench.context.save()
        bobsTwin.setValue(twin, forKey: "manager")
        let error = try #require(throws: NSError.self) { try other.save() }
        #expect(error.code == NSValidationMissingMandatoryPropertyError)
        #expect(error.userInfo[NSValidationKeyErrorKey] as? String == "manager")
        bobsTwin.setValue(bobsTwin, forKey: "manager")
        try other.save()
        #expect(try Self.danglingLinks(bench) == [])
    }

    /// What is undone led to somebody who was deleted since.
    @Test(arguments: kinds)
    func undoBringsNoLinkToWhatIsGone(_ kind: StoreKind) throws {
        let stage = try Stage(kind) {
            $0.bob.setValue($0.ada, forKey: "manager")
            $0.bob.friends = [$0.ada]
            $0.bob.setValue($0.tag, forKey: "home")
        }
        let (bench, other) = (stage.bench, stage.other)
        let (ada, bob, tag) = (stage.ada, stage.bob, stage.tag)
        other.undoManager = UndoManager()
        let (twin, bobsTwin) = (try bench.twin(ada, in: other), try bench.twin(bob, in: other))
        let tagTwin = try bench.twin(tag, in: other)
        bobsTwin.setValue(nil, forKey: "manager")
        bobsTwin.friends = []
        bobsTwin.setValue(nil, forKey: "home")
        try other.save()
        other.automaticallyMergesChangesFromParent = true
        bench.context.refreshAllObjects()
        bench.context.delete(ada)
        bench.context.delete(tag)
        try bench.context.save()
        other.performAndWait {}
        other.undo()
        #expect(twin.isDeleted || twin.managedObjectContext == nil)
        #expect(tagTwin.isDeleted || tagTwin.managedObjectContext == nil)
        #expect(bobsTwin.value(forKey: "manager") == nil && bobsTwin.friends == [])
        #expect(bobsTwin.value(forKey: "home") == nil)
        bobsTwin.age = 5
        try other.save()
        #expect(try Self.danglingLinks(bench) == [])
    }

    /// A member that was deleted here, too, stays away from an order that is still to be saved.
    @Test(arguments: kinds)
    func aDeletionOfBothSidesRevealsNobody(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        let list = try bench.make("Playlist", "List")
        let songs = try ["a", "b", "c"].map { try bench.make("Song", $0) }
        list.setValue(NSOrderedSet(array: songs), forKey: "songs")
        try bench.context.save()
        let other = bench.newContext()
        other.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
        let listTwin = try bench.twin(list, in: other)
        let gone = try bench.twin(songs[0], in: other)
        other.propagatesDeletesAtEndOfEvent = false
        other.delete(gone)
        _ = listTwin.value(forKey: "songs")
        listTwin.addObject(try bench.make("Song", "d", in: other), toRelationshipNamed: "songs")
        bench.context.delete(songs[0])
        try bench.context.save()
        try other.save()
        #expect(bench.order(listTwin.value(forKey: "songs")) == ["b", "c", "d"])
        #expect(try Self.danglingLinks(bench) == [])
    }

    /// A program that wants to hear of faults without rows hears of each save that leads to one.
    @Test(arguments: kinds)
    func linksToFaultsThatAreNoDeletionsFailEachSave(_ kind: StoreKind) throws {
        let stage = try Stage(kind)
        let (bench, other) = (stage.bench, stage.other)
        let (ada, bob) = (stage.ada, stage.bob)
        other.shouldDeleteInaccessibleFaults = false
        let bobsTwin = try bench.twin(bob, in: other)
        let fault = try #require(other.object(with: ada.objectID) as? Person)
        bench.context.delete(ada)
        try bench.context.save()
        bobsTwin.setValue(fault, forKey: "manager")
        bobsTwin.friends = [fault]
        for _ in 0..<3 {
            let error = try #require(throws: NSError.self) { try other.save() }
            #expect(error.code == NSManagedObjectReferentialIntegrityError)
        }
        #expect(try Self.danglingLinks(bench) == [])
        bobsTwin.setValue(nil, forKey: "manager")
        bobsTwin.friends = []
        bobsTwin.age = 4
        other.refresh(fault, mergeChanges: false)
        try other.save()
        #expect(try bench.twin(bob, in: bench.newContext()).age == 4)
    }
}
