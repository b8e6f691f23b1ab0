import CoreData
import Foundation
import Testing

/// Deletions that met a row which somebody else changed: what their rules did follows the decision.
@Suite struct CascadeConflictTests {
    static let kinds: [StoreKind] = [.memory, .sqlite]

    /// A list of three songs, and hits; another context works with them under a policy.
    private struct Stage {
        let bench: Bench
        let other: NSManagedObjectContext
        let list: NSManagedObject
        let songs: [NSManagedObject]
        let listTwin: NSManagedObject
        let songTwins: [NSManagedObject]

        init(_ kind: StoreKind, _ policy: NSMergePolicy) throws {
            bench = try Bench(kind)
            let bench = bench
            list = try bench.make("Playlist", "List")
            songs = try ["a", "b", "c"].map { try bench.make("Song", $0) }
            list.setValue(NSOrderedSet(array: songs), forKey: "songs")
            list.setValue(NSOrderedSet(object: try bench.make("Tag", "hit")), forKey: "hits")
            try bench.context.save()
            let other = bench.newContext()
            self.other = other
            other.mergePolicy = policy
            listTwin = try bench.twin(list, in: other)
            songTwins = try songs.map { try bench.twin($0, in: other) }
        }

        /// The songs of the list as a context shows them.
        func order(in context: NSManagedObjectContext) throws -> [String] {
            bench.order(try bench.twin(list, in: context).value(forKey: "songs"))
        }
    }

    @Test(arguments: kinds)
    func whatACascadeDeletedComesBackWithItsOwner(_ kind: StoreKind) throws {
        let stage = try Stage(kind, .rollback)
        stage.other.delete(stage.listTwin)
        stage.other.processPendingChanges()
        for song in stage.songTwins { #expect(song.isDeleted) }
        stage.list.setValue("New", forKey: "name")
        try stage.bench.context.save()
        try stage.other.save()
        for context in [stage.other, stage.bench.newContext()] {
            #expect(try stage.order(in: context) == ["a", "b", "c"])
            let list = try stage.bench.twin(stage.list, in: context)
            #expect(list.value(forKey: "name") as? String == "New")
            #expect(stage.bench.order(list.value(forKey: "hits")) == ["hit"])
        }
        for song in stage.songTwins {
            #expect(song.value(forKey: "playlist") as? NSManagedObject === stage.listTwin)
        }
        #expect(!stage.other.hasChanges)
        #expect(try GoneObjectTests.danglingLinks(stage.bench) == [])
    }

    @Test(arguments: kinds, [true, false])
    func whatWasDeletedByItselfTooStaysDeleted(_ kind: StoreKind, _ isFirst: Bool) throws {
        let stage = try Stage(kind, .rollback)
        if isFirst { stage.other.delete(stage.songTwins[0]) }
        stage.other.delete(stage.listTwin)
        stage.other.processPendingChanges()
        if !isFirst { stage.other.delete(stage.songTwins[0]) }
        stage.list.setValue("New", forKey: "name")
        try stage.bench.context.save()
        try stage.other.save()
        for context in [stage.other, stage.bench.newContext()] {
            #expect(try stage.order(in: context) == ["b", "c"])
        }
        #expect(throws: NSError.self) {
            try stage.bench.newContext().existingObject(with: stage.songs[0].objectID)
        }
    }

    /// The list's deletion goes on, while a song that it took along is taken back.
    @Test(arguments: kinds)
    func aMemberThatComesBackAloneLeadsToNothingDeleted(_ kind: StoreKind) throws {
        let stage = try Stage(kind, .rollback)
        stage.other.delete(stage.listTwin)
        stage.other.processPendingChanges()
        stage.songs[1].setValue("B", forKey: "name")
        try stage.bench.context.save()
        try stage.other.save()
        let fresh = stage.bench.newContext()
        let song = try stage.bench.twin(stage.songs[1], in: fresh)
        #expect(song.value(forKey: "name") as? String == "B")
        #expect(song.value(forKey: "playlist") == nil)
        #expect(stage.songTwins[1].value(forKey: "playlist") == nil)
        #expect(throws: NSError.self) { try fresh.existingObject(with: stage.songs[0].objectID) }
        #expect(try GoneObjectTests.danglingLinks(stage.bench) == [])
    }

    /// One that was deleted by itself comes back to its place in a list that was read.
    @Test(arguments: kinds)
    func aMemberThatComesBackHasItsPlace(_ kind: StoreKind) throws {
        let stage = try Stage(kind, .rollback)
        #expect(try stage.order(in: stage.other) == ["a", "b", "c"])
        stage.other.delete(stage.songTwins[0])
        stage.other.processPendingChanges()
        #expect(try stage.order(in: stage.other) == ["b", "c"])
        stage.songs[0].setValue("new a", forKey: "name")
        try stage.bench.context.save()
        try stage.other.save()
        for context in [stage.other, stage.bench.newContext()] {
            #expect(try stage.order(in: context) == ["new a", "b", "c"])
        }
        #expect(!stage.other.hasChanges)
    }

    /// A song that came to the list after the deletion had been made here goes with it.
    @Test(arguments: kinds, [NSMergePolicy.mergeByPropertyObjectTrump, .overwrite])
    func aDeletionThatGoesOnTakesWhatCameMeanwhile(
        _ kind: StoreKind, _ policy: NSMergePolicy
    ) throws {
        let stage = try Stage(kind, policy)
        stage.other.delete(stage.listTwin)
        stage.other.processPendingChanges()
        let late = try stage.bench.make("Song", "d")
        stage.list.addObject(late, toRelationshipNamed: "songs")
        stage.list.setValue("New", forKey: "name")
        try stage.bench.context.save()
        try stage.other.save()
        let fresh = stage.bench.newContext()
        #expect(throws: NSError.self) { try fresh.existingObject(with: stage.list.objectID) }
        #expect(throws: NSError.self) { try fresh.existingObject(with: late.objectID) }
        #expect(try GoneObjectTests.danglingLinks(stage.bench) == [])
    }

    /// The same where the deletion is a child's.
    @Test(arguments: kinds)
    func whatAChildsCascadeDeletedComesBack(_ kind: StoreKind) throws {
        let stage = try Stage(kind, .rollback)
        let child = NSManagedObjectContext(.privateQueue)
        child.parent = stage.other
        child.delete(child.object(with: stage.list.objectID))
        try child.save()
        stage.list.setValue("New", forKey: "name")
        try stage.bench.context.save()
        try stage.other.save()
        for context in [stage.other, stage.bench.newContext()] {
            #expect(try stage.order(in: context) == ["a", "b", "c"])
        }
    }

    /// A passport that Ada's deletion takes along has another holder by now, of whom this context
    /// knows what was true before.
    @Test(arguments: kinds, [(true, true), (true, false), (false, true), (false, false)])
    func whatACascadeReadsAnewLeavesNoLinkBehind(
        _ kind: StoreKind, _ when: (isEarly: Bool, isHeld: Bool)
    ) throws {
        let (isEarly, isHeld) = when
        let bench = try Bench(kind)
        let (ada, bob) = (try bench.person("Ada"), try bench.person("Bob"))
        let passport = try bench.make("Passport", "P")
        ada.setValue(passport, forKey: "passport")
        try bench.context.save()
        let other = bench.newContext()
        other.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        let twin = try bench.twin(ada, in: other)
        let held = isHeld ? try [bob, passport].map { try bench.twin($0, in: other) } : []
        if !isHeld { _ = try other.fetch(NSFetchRequest<Person>(entityName: "Person")) }
        other.delete(twin)
        if isEarly { other.processPendingChanges() }
        passport.setValue(bob, forKey: "holder")
        try bench.context.save()
        try other.save()
        #expect(try GoneObjectTests.danglingLinks(bench) == [])
        #expect(held.first?.value(forKey: "passport") == nil)
    }
}
