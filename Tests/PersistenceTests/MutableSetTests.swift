import CoreData
import Foundation
import Testing

/// Sets that show a relationship: what is done to them is done to the object, by whatever call.
@Suite struct MutableSetTests {
    private struct Step: CustomTestStringConvertible {
        let name: String
        let act: @Sendable (NSMutableOrderedSet, [NSManagedObject]) -> Void
        var testDescription: String { name }
    }

    /// Each with a list of four of six songs, the last two of which are no members.
    private static let steps: [Step] = [
        Step(name: "add") { $0.add($1[4]) },
        Step(name: "add one that is there") { $0.add($1[1]) },
        Step(name: "addObjects") { $0.addObjects(from: [$1[5], $1[0], $1[4]]) },
        Step(name: "insert") { $0.insert($1[4], at: 1) },
        Step(name: "insert at indexes") { $0.insert([$1[4], $1[5]], at: IndexSet([0, 3])) },
        Step(name: "remove") { $0.remove($1[2]) },
        Step(name: "remove one that is not there") { $0.remove($1[5]) },
        Step(name: "removeObject(at:)") { set, _ in set.removeObject(at: 1) },
        Step(name: "removeObjects(in:)") { $0.removeObjects(in: [$1[0], $1[3], $1[5]]) },
        Step(name: "removeObjects(range)") { set, _ in
            set.removeObjects(in: NSRange(location: 1, length: 2))
        },
        Step(name: "removeObjects(at:)") { set, _ in set.removeObjects(at: IndexSet([0, 2])) },
        Step(name: "removeAllObjects") { set, _ in set.removeAllObjects() },
        Step(name: "replaceObject") { $0.replaceObject(at: 2, with: $1[5]) },
        Step(name: "setObject") { $0.setObject($1[5], at: 4) },
        Step(name: "exchange") { set, _ in set.exchangeObject(at: 0, withObjectAt: 3) },
        Step(name: "move") { set, _ in set.moveObjects(at: IndexSet([0, 1]), to: 2) },
        Step(name: "replaceObjects") {
            $0.replaceObjects(at: IndexSet([0, 2]), with: [$1[4], $1[5]])
        },
        Step(name: "minus") { $0.minus(NSOrderedSet(array: [$1[1], $1[5]])) },
        Step(name: "union") { $0.union(NSOrderedSet(array: [$1[5], $1[1]])) },
        Step(name: "minusSet") { $0.minusSet([$1[1], $1[5]]) },
        Step(name: "unionSet") { $0.unionSet([$1[4]]) },
        Step(name: "sort") { set, _ in
            set.sort { left, right in
                let names = [left, right].map { ($0 as? NSManagedObject)?.string("name") ?? "" }
                return names[1].compare(names[0])
            }
        },
    ]

    @Test(arguments: steps) private func anOrderedOneWritesThrough(_ step: Step) throws {
        let bench = try Bench(.sqlite)
        let list = try bench.make("Playlist", "Best")
        let songs = try ["c", "a", "d", "b", "e", "f"].map { try bench.make("Song", $0) }
        list.setValue(NSOrderedSet(array: Array(songs[..<4])), forKey: "songs")
        try bench.context.save()
        let plain = NSMutableOrderedSet(array: Array(songs[..<4]))
        step.act(plain, songs)
        let shown = list.mutableOrderedSetValue(forKey: "songs")
        step.act(shown, songs)
        let wanted = bench.order(plain)
        #expect(bench.order(list.value(forKey: "songs")) == wanted)
        #expect(
            bench.order(NSOrderedSet(array: shown.array)) == wanted && shown.count == plain.count)
        #expect(shown.contains(songs[1]) == plain.contains(songs[1]))
        #expect(shown.isEqual(to: plain))
        for song in songs {
            #expect((song.value(forKey: "playlist") == nil) == !plain.contains(song))
        }
        try bench.context.save()
        let twin = try bench.twin(list, in: bench.newContext())
        #expect(bench.order(twin.value(forKey: "songs")) == wanted)
    }

    /// Not against a plain set, whose own way of it does not end on Linux (Swift 6.3).
    @Test func whatTwoHaveIsKept() throws {
        let bench = try Bench(.sqlite)
        let list = try bench.make("Playlist", "Best")
        let songs = try ["a", "b", "c", "d"].map { try bench.make("Song", $0) }
        list.setValue(NSOrderedSet(array: Array(songs[..<3])), forKey: "songs")
        let shown = list.mutableOrderedSetValue(forKey: "songs")
        shown.intersect(NSOrderedSet(array: [songs[3], songs[2], songs[0]]))
        #expect(bench.order(list.value(forKey: "songs")) == ["a", "c"])
        shown.intersectSet([songs[2], songs[3]])
        #expect(bench.order(list.value(forKey: "songs")) == ["c"])
        #expect(shown.array.count == 1 && shown.intersects(NSOrderedSet(object: songs[2])))
    }

    /// Foundation's function knows nothing of the relationship, which follows.
    @Test(arguments: [StoreKind.memory, .sqlite])
    func sortDescriptorsSortTheMembers(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        let list = try bench.make("Playlist", "list")
        let songs = try ["c", "a", "b"].map { try bench.make("Song", $0) }
        list.setValue(NSOrderedSet(array: songs), forKey: "songs")
        try bench.context.save()
        func sort(_ set: NSMutableOrderedSet, ascending: Bool) {
            set.sort(using: [NSSortDescriptor(key: "name", ascending: ascending)])
        }
        func order() -> [String] { bench.order(list.value(forKey: "songs")) }
        // One that nobody keeps.
        sort(list.mutableOrderedSetValue(forKey: "songs"), ascending: true)
        #expect(list.hasChanges && order() == ["a", "b", "c"])
        try bench.context.save()
        #expect(
            bench.order(try bench.twin(list, in: bench.newContext()).value(forKey: "songs"))
                == ["a", "b", "c"])
        let shown = list.mutableOrderedSetValue(forKey: "songs")
        sort(shown, ascending: false)
        #expect((shown.object(at: 0) as? NSManagedObject)?.string("name") == "c")
        #expect(order() == ["c", "b", "a"])
        sort(shown, ascending: true)
        bench.context.processPendingChanges()
        #expect(order() == ["a", "b", "c"])
        sort(shown, ascending: false)
        shown.insert(try bench.make("Song", "d"), at: 0)
        #expect(order() == ["d", "c", "b", "a"])
        sort(shown, ascending: true)
        try bench.context.save()
        #expect(order() == ["a", "b", "c", "d"] && !list.hasChanges)
        sort(shown, ascending: false)
        bench.context.rollback()
        #expect(order() == ["a", "b", "c", "d"])
        #expect(shown.index(of: songs[1]) == 0 && !list.hasChanges)
    }

    /// What came and went while the set was sorted apart stays so.
    @Test func sortingAnOldSetBringsNobodyBack() throws {
        let bench = try Bench(.sqlite)
        let list = try bench.make("Playlist", "list")
        let songs = try ["c", "a", "b", "d"].map { try bench.make("Song", $0) }
        list.setValue(NSOrderedSet(array: Array(songs[0..<3])), forKey: "songs")
        let shown = list.mutableOrderedSetValue(forKey: "songs")
        list.setValue(NSOrderedSet(array: [songs[3], songs[0], songs[1]]), forKey: "songs")
        shown.sort(using: [NSSortDescriptor(key: "name", ascending: true)])
        bench.context.processPendingChanges()
        #expect(bench.order(list.value(forKey: "songs")) == ["a", "c", "d"])
    }

    /// Foundation looks at the set's count, which is that of the members, before it gives what its
    /// own storage has.
    @Test func aSetThatIsKeptMayLoseMembersElsewhere() throws {
        let bench = try Bench(.sqlite)
        let list = try bench.make("Playlist", "list")
        let songs = try ["a", "b", "c"].map { try bench.make("Song", $0) }
        list.setValue(NSOrderedSet(array: songs), forKey: "songs")
        try bench.context.save()
        let shown = list.mutableOrderedSetValue(forKey: "songs")
        #expect(shown.count == 3)
        bench.context.delete(songs[2])
        bench.context.processPendingChanges()
        #expect(shown.count == 2 && shown.index(of: songs[1]) == 1)
        bench.context.rollback()
        #expect(bench.order(list.value(forKey: "songs")) == ["a", "b", "c"] && shown.count == 3)
        list.setValue(NSOrderedSet(array: [songs[1]]), forKey: "songs")
        try bench.context.save()
        #expect((shown.object(at: 0) as? NSManagedObject)?.string("name") == "b")
    }

    @Test func aPlainOneWritesThrough() throws {
        let bench = try Bench(.sqlite)
        let sales = try bench.make("Department", "Sales")
        let people = try ["a", "b", "c", "d"].map { try bench.person($0) }
        let shown = sales.mutableSetValue(forKey: "employees")
        func names() -> [String] {
            (sales.value(forKey: "employees") as? Set<NSManagedObject> ?? [])
                .compactMap { $0.string("name") }.sorted()
        }
        shown.addObjects(from: [people[0], people[1], people[2]])
        #expect(names() == ["a", "b", "c"])
        shown.minus([people[1]])
        #expect(names() == ["a", "c"])
        shown.union([people[3]])
        #expect(names() == ["a", "c", "d"] && shown.contains(people[3]))
        shown.intersect([people[0], people[3]])
        #expect(names() == ["a", "d"] && shown.allObjects.count == 2)
        shown.setSet([people[2]])
        #expect(names() == ["c"])
        shown.removeAllObjects()
        #expect(names().isEmpty && shown.count == 0)
        #expect(people.allSatisfy { $0.value(forKey: "department") == nil })
    }
}
