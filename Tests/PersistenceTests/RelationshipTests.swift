import CoreData
import Foundation
import Testing

@Suite struct RelationshipTests {
    @Test(arguments: StoreKind.allCases)
    func membersThatWereReadAreFoundAddedAndRemoved(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        let sales = try bench.make("Department", "Sales")
        let people = try (0..<40).map { try bench.person("p\($0)") }
        for person in people[..<30] { person.department = sales }
        try bench.context.save()
        let context = bench.newContext()
        let twin = try bench.twin(sales, in: context)
        let twins = try people.map { try bench.twin($0, in: context) }
        let members = twin.mutableSetValue(forKey: "employees")
        #expect(members.count == 30)
        #expect(twins.map { members.contains($0) } == (0..<40).map { $0 < 30 })
        members.add(twins[3])
        #expect(members.count == 30)
        members.remove(twins[3])
        members.add(twins[35])
        #expect(!members.contains(twins[3]) && members.contains(twins[35]))
        let fresh = try bench.person("new", in: context)
        #expect(!members.contains(fresh))
        members.add(fresh)
        #expect(members.count == 31)
        try context.save()
        bench.context.refreshAllObjects()
        #expect((sales.value(forKey: "employees") as? Set<NSManagedObject>)?.count == 31)
    }

    @Test(arguments: StoreKind.allCases)
    func aToOneLinkShowsUpInItsToMany(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        let sales = try bench.make("Department", "Sales")
        let ada = try bench.person("Ada")
        let bob = try bench.person("Bob")
        ada.department = sales
        bob.department = sales
        #expect(bench.names(sales.value(forKey: "employees")) == ["Ada", "Bob"])
        try bench.context.save()
        let other = bench.newContext()
        let twin = try bench.twin(sales, in: other)
        #expect(bench.names(twin.value(forKey: "employees")) == ["Ada", "Bob"])
        #expect(try bench.twin(ada, in: other).department === twin)
    }

    @Test(arguments: StoreKind.allCases)
    func aToManySetsTheToOneOfItsMembersAndTakesThemFromOthers(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        let sales = try bench.make("Department", "Sales")
        let labs = try bench.make("Department", "Labs")
        let people = try ["Ada", "Bob", "Cy"].map { try bench.person($0) }
        sales.setValue(Set<NSManagedObject>(people), forKey: "employees")
        try bench.context.save()
        labs.setValue([people[0]], forKey: "employees")
        #expect(bench.names(sales.value(forKey: "employees")) == ["Bob", "Cy"])
        #expect(people[0].department === labs)
        sales.setValue(NSSet(array: [people[1]]), forKey: "employees")
        #expect(people[2].department == nil)
        try bench.context.save()
        let twin = try bench.twin(sales, in: bench.newContext())
        #expect(bench.names(twin.value(forKey: "employees")) == ["Bob"])
    }

    @Test(arguments: StoreKind.allCases)
    func addingBeforeTheMembersWereReadKeepsThem(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        let sales = try bench.make("Department", "Sales")
        try bench.person("Ada").department = sales
        try bench.context.save()
        let other = bench.newContext()
        let twin = try bench.twin(sales, in: other)
        let bob = try bench.person("Bob", in: other)
        bob.department = twin
        #expect(twin.hasFault(forRelationshipNamed: "employees"))
        #expect(bench.names(twin.value(forKey: "employees")) == ["Ada", "Bob"])
        try other.save()
        let third = try bench.twin(sales, in: bench.newContext())
        #expect(bench.names(third.value(forKey: "employees")) == ["Ada", "Bob"])
    }

    @Test(arguments: StoreKind.allCases)
    func aOneToOneLinkIsStolenFromTheFormerOwner(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        let ada = try bench.person("Ada")
        let bob = try bench.person("Bob")
        let passport = try bench.make("Passport", "P")
        ada.setValue(passport, forKey: "passport")
        #expect(passport.value(forKey: "holder") as? Person === ada)
        passport.setValue(bob, forKey: "holder")
        #expect(ada.value(forKey: "passport") == nil)
        #expect(bob.value(forKey: "passport") as? NSManagedObject === passport)
        try bench.context.save()
        let twin = try bench.twin(passport, in: bench.newContext())
        #expect((twin.value(forKey: "holder") as? Person)?.name == "Bob")
    }

    @Test(arguments: StoreKind.allCases)
    func marryingSomeoneElseLeavesTheFormerSpouseAlone(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        let people = try ["Ada", "Bob", "Cy", "Dee"].map { try bench.person($0) }
        people[0].spouse = people[1]
        people[2].spouse = people[3]
        try bench.context.save()
        people[0].spouse = people[3]
        #expect(people[3].spouse === people[0])
        #expect(people[1].spouse == nil && people[2].spouse == nil)
        try bench.context.save()
        #expect(try bench.twin(people[2], in: bench.newContext()).spouse == nil)
    }

    @Test(arguments: StoreKind.allCases)
    func aManyToManyLinkIsSeenFromBothEnds(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        let people = try ["Ada", "Bob"].map { try bench.person($0) }
        let projects = try ["X", "Y"].map { try bench.make("Project", $0) }
        people[0].setValue(Set(projects), forKey: "projects")
        projects[0].mutableSetValue(forKey: "members").add(people[1])
        #expect(bench.names(people[1].value(forKey: "projects")) == ["X"])
        try bench.context.save()
        let other = bench.newContext()
        let x = try bench.twin(projects[0], in: other)
        #expect(bench.names(x.value(forKey: "members")) == ["Ada", "Bob"])
        x.mutableSetValue(forKey: "members").remove(try bench.twin(people[0], in: other))
        try other.save()
        let ada = try bench.twin(people[0], in: bench.newContext())
        #expect(bench.names(ada.value(forKey: "projects")) == ["Y"])
    }

    @Test(arguments: StoreKind.allCases)
    func friendshipIsItsOwnInverse(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        let people = try ["Ada", "Bob", "Cy"].map { try bench.person($0) }
        people[0].friends = [people[1], people[2]]
        #expect(people[1].friends == [people[0]])
        people[0].friends.insert(people[0])
        try bench.context.save()
        let other = bench.newContext()
        #expect(try bench.names(bench.twin(people[0], in: other).friends) == ["Ada", "Bob", "Cy"])
        #expect(try bench.names(bench.twin(people[2], in: other).friends) == ["Ada"])
        people[1].friends = []
        try bench.context.save()
        #expect(
            try bench.names(bench.twin(people[0], in: bench.newContext()).friends) == ["Ada", "Cy"])
    }

    @Test(arguments: StoreKind.allCases)
    func reportsFollowTheirManager(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        let boss = try bench.person("Boss")
        let ada = try bench.person("Ada")
        ada.setValue(boss, forKey: "manager")
        boss.setValue(boss, forKey: "manager")
        #expect(bench.names(boss.value(forKey: "reports")) == ["Ada", "Boss"])
        try bench.context.save()
        let twin = try bench.twin(boss, in: bench.newContext())
        #expect(bench.names(twin.value(forKey: "reports")) == ["Ada", "Boss"])
        #expect(twin.value(forKey: "manager") as? Person === twin)
    }

    @Test(arguments: StoreKind.allCases)
    func linksWithoutInverseGoOneWay(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        let ada = try bench.person("Ada")
        let tags = try ["a", "b"].map { try bench.make("Tag", $0) }
        ada.setValue(Set(tags), forKey: "tags")
        ada.setValue(tags[0], forKey: "home")
        try bench.context.save()
        let other = bench.newContext()
        let twin = try bench.twin(ada, in: other)
        #expect(bench.names(twin.value(forKey: "tags")) == ["a", "b"])
        #expect(
            (twin.value(forKey: "home") as? NSManagedObject)?.value(forKey: "name") as? String
                == "a")
        twin.setValue([try bench.twin(tags[1], in: other)], forKey: "tags")
        twin.setValue(nil, forKey: "home")
        try other.save()
        let third = try bench.twin(ada, in: bench.newContext())
        #expect(bench.names(third.value(forKey: "tags")) == ["b"])
        #expect(third.value(forKey: "home") == nil)
    }

    @Test(arguments: StoreKind.allCases)
    func aMemberOfAOneWayToManyHasOneOwner(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        let people = try ["Ada", "Bob"].map { try bench.person($0) }
        let tags = try ["a", "b"].map { try bench.make("Tag", $0) }
        people[0].setValue(Set(tags), forKey: "tags")
        try bench.context.save()
        people[1].setValue([tags[0]], forKey: "tags")
        try bench.context.save()
        let other = bench.newContext()
        #expect(try bench.names(bench.twin(people[0], in: other).value(forKey: "tags")) == ["b"])
        #expect(try bench.names(bench.twin(people[1], in: other).value(forKey: "tags")) == ["a"])
        other.delete(try bench.twin(tags[0], in: other))
        try other.save()
        let third = try bench.twin(people[1], in: bench.newContext())
        #expect(bench.names(third.value(forKey: "tags")).isEmpty)
    }

    @Test(arguments: StoreKind.allCases)
    func orderedMembersKeepTheirOrder(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        let list = try bench.make("Playlist", "Best")
        let songs = try ["c", "a", "b"].map { try bench.make("Song", $0) }
        list.setValue(NSOrderedSet(array: songs), forKey: "songs")
        #expect(bench.order(list.value(forKey: "songs")) == ["c", "a", "b"])
        #expect(songs[1].value(forKey: "playlist") as? NSManagedObject === list)
        try bench.context.save()
        let other = bench.newContext()
        let twin = try bench.twin(list, in: other)
        #expect(bench.order(twin.value(forKey: "songs")) == ["c", "a", "b"])
        let mutable = twin.mutableOrderedSetValue(forKey: "songs")
        mutable.insert(try bench.make("Song", "d", in: other), at: 1)
        mutable.removeObject(at: 0)
        #expect(bench.order(twin.value(forKey: "songs")) == ["d", "a", "b"])
        try other.save()
        let third = try bench.twin(list, in: bench.newContext())
        #expect(bench.order(third.value(forKey: "songs")) == ["d", "a", "b"])
    }

    @Test(arguments: StoreKind.allCases)
    func anOrderedSetCanBeReordered(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        let list = try bench.make("Playlist", "Best")
        let tags = try ["a", "b", "c"].map { try bench.make("Tag", $0) }
        list.setValue(tags, forKey: "hits")
        try bench.context.save()
        list.setValue([tags[2], tags[0], tags[1]], forKey: "hits")
        #expect(list.isUpdated)
        try bench.context.save()
        let twin = try bench.twin(list, in: bench.newContext())
        #expect(bench.order(twin.value(forKey: "hits")) == ["c", "a", "b"])
    }

    @Test(arguments: StoreKind.allCases)
    func aMemberThatJoinsAnUnreadOrderComesLast(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        let list = try bench.make("Playlist", "Best")
        list.setValue(try ["b", "a"].map { try bench.make("Song", $0) }, forKey: "songs")
        try bench.context.save()
        let other = bench.newContext()
        let twin = try bench.twin(list, in: other)
        try bench.make("Song", "c", in: other).setValue(twin, forKey: "playlist")
        try other.save()
        #expect(bench.order(twin.value(forKey: "songs")) == ["b", "a", "c"])
        let third = try bench.twin(list, in: bench.newContext())
        #expect(bench.order(third.value(forKey: "songs")) == ["b", "a", "c"])
    }

    @Test(arguments: StoreKind.allCases)
    func anOrderSurvivesAMerge(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        let list = try bench.make("Playlist", "Best")
        let songs = try ["a", "b", "c"].map { try bench.make("Song", $0) }
        list.setValue(songs, forKey: "songs")
        try bench.context.save()
        let other = bench.newContext()
        other.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        let twin = try bench.twin(list, in: other)
        let twins = try songs.map { try bench.twin($0, in: other) }
        twin.setValue([twins[2], twins[1], twins[0]], forKey: "songs")
        list.setValue("Other", forKey: "name")
        try bench.context.save()
        try other.save()
        let third = try bench.twin(list, in: bench.newContext())
        #expect(bench.order(third.value(forKey: "songs")) == ["c", "b", "a"])
        #expect(third.value(forKey: "name") as? String == "Other")
    }

    @Test(arguments: StoreKind.allCases)
    func objectIDsOfARelationshipNeedNoObjects(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        let sales = try bench.make("Department", "Sales")
        let ada = try bench.person("Ada")
        ada.department = sales
        try bench.context.save()
        let other = bench.newContext()
        let twin = try bench.twin(sales, in: other)
        #expect(twin.objectIDs(forRelationshipNamed: "employees") == [ada.objectID])
        #expect(other.registeredObject(for: ada.objectID) == nil)
    }
}
