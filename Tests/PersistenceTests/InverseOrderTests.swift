import CoreData
import Foundation
import Testing

/// Members that come to an ordered to-many by its inverse while it is not read: they stand in it in
/// the order in which they came, whoever looked at it meanwhile.
@Suite struct InverseOrderTests {
    /// A stored list with one song and one hit, of which nothing is read.
    private func list(_ bench: Bench) throws -> NSManagedObject {
        let list = try bench.make("Playlist", "list")
        try bench.make("Song", "first").setValue(list, forKey: "playlist")
        list.setValue(NSOrderedSet(object: try bench.make("Tag", "first")), forKey: "hits")
        try bench.context.save()
        bench.context.refreshAllObjects()
        return list
    }

    private func stored(_ list: NSManagedObject, _ key: String, _ bench: Bench) throws -> [String] {
        let reader = bench.newContext()
        return bench.order(try bench.twin(list, in: reader).value(forKey: key))
    }

    @Test(arguments: StoreKind.allCases)
    func songsAreStoredInTheOrderInWhichTheyCame(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        let old = try (0..<4).map { try bench.make("Song", "old\($0)") }
        let list = try list(bench)
        let new = try (0..<4).map { try bench.make("Song", "new\($0)") }
        for index in [3, 1, 0, 2] {
            new[index].setValue(list, forKey: "playlist")
            old[index].setValue(list, forKey: "playlist")
        }
        #expect(list.hasFault(forRelationshipNamed: "songs"))
        try bench.context.save()
        let wanted = [
            "first", "new3", "old3", "new1", "old1", "new0", "old0", "new2", "old2",
        ]
        #expect(try stored(list, "songs", bench) == wanted)
        #expect(bench.order(list.value(forKey: "songs")) == wanted)
    }

    @Test(arguments: StoreKind.allCases)
    func hitsAreStoredInTheOrderInWhichTheyCame(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        let old = try (0..<8).map { try bench.make("Tag", "old\($0)") }
        let list = try list(bench)
        let new = try (0..<4).map { try bench.make("Tag", "new\($0)") }
        let coming = Array(old.reversed()) + Array(new.reversed())
        for tag in coming { tag.mutableSetValue(forKey: "playlists").add(list) }
        #expect(list.hasFault(forRelationshipNamed: "hits"))
        try bench.context.save()
        let wanted = ["first"] + coming.compactMap { $0.value(forKey: "name") as? String }
        #expect(try stored(list, "hits", bench) == wanted)
        #expect(bench.order(list.value(forKey: "hits")) == wanted)
    }

    /// Both ends are ordered: each keeps its own order.
    @Test(arguments: StoreKind.allCases)
    func bothEndsKeepTheirOrders(_ kind: StoreKind) throws {
        let (list, entry) = (TestModel.entity("List"), TestModel.entity("Entry"))
        for entity in [list, entry] {
            entity.properties = [TestModel.attribute("name", .stringAttributeType)]
        }
        TestModel.link(list, "entries", .ordered, entry, "lists", .ordered)
        let model = NSManagedObjectModel()
        model.entities = [list, entry]
        let bench = try Bench(kind, model: model)
        let lists = try (0..<3).map { try bench.make("List", "l\($0)") }
        let entries = try (0..<3).map { try bench.make("Entry", "e\($0)") }
        try bench.context.save()
        bench.context.refreshAllObjects()
        for entry in entries.reversed() {
            for list in [lists[1], lists[2], lists[0]] {
                entry.mutableOrderedSetValue(forKey: "lists").add(list)
            }
        }
        try bench.context.save()
        for list in lists {
            #expect(try stored(list, "entries", bench) == ["e2", "e1", "e0"])
        }
        for entry in entries {
            #expect(try stored(entry, "lists", bench) == ["l1", "l2", "l0"])
        }
    }

    @Test(arguments: StoreKind.logging)
    func childrensMembersComeInTheirOrder(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        let list = try list(bench)
        let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        child.parent = bench.context
        let own = try bench.twin(list, in: child)
        for number in 0..<12 {
            try bench.make("Song", "s\(number)", in: child).setValue(own, forKey: "playlist")
            let tag = try bench.make("Tag", "t\(number)", in: child)
            tag.mutableSetValue(forKey: "playlists").add(own)
        }
        #expect(own.hasFault(forRelationshipNamed: "songs"))
        try child.save()
        let songs = ["first"] + (0..<12).map { "s\($0)" }
        let tags = ["first"] + (0..<12).map { "t\($0)" }
        #expect(bench.order(list.value(forKey: "songs")) == songs)
        #expect(bench.order(list.value(forKey: "hits")) == tags)
        try bench.context.save()
        #expect(try stored(list, "songs", bench) == songs)
        #expect(try stored(list, "hits", bench) == tags)
    }

    /// What another context appended meanwhile comes first; nobody's members are lost.
    @Test(arguments: StoreKind.logging)
    func whatOthersAppendedStandsBefore(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        let list = try list(bench)
        let songs = try (0..<3).map { try bench.make("Song", "own\($0)") }
        for song in songs.reversed() { song.setValue(list, forKey: "playlist") }
        let other = bench.newContext()
        let song = try bench.make("Song", "other", in: other)
        song.setValue(try bench.twin(list, in: other), forKey: "playlist")
        try other.save()
        bench.context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        try bench.context.save()
        #expect(try stored(list, "songs", bench) == ["first", "other", "own2", "own1", "own0"])
    }
}
