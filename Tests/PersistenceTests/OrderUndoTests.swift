import CoreData
import Foundation
import Testing

/// Undo of what took members out of ordered to-manys, read before or not: they come back to their
/// places, and what is again as it was stored is no change.
@Suite struct OrderUndoTests {
    enum Change: CaseIterable, Sendable { case songIsMoved, songIsDeleted, hitIsDeleted, hitLeaves }

    /// A stored list of three songs and three hits.
    private struct Stage {
        let bench: Bench
        let list: NSManagedObject
        let elsewhere: NSManagedObject
        let song: NSManagedObject
        let hit: NSManagedObject
        var context: NSManagedObjectContext { bench.context }

        init(_ kind: StoreKind) throws {
            bench = try Bench(kind)
            let bench = bench
            (list, elsewhere) = (try bench.make("Playlist", "l"), try bench.make("Playlist", "m"))
            let songs = try ["a", "b", "c"].map { try bench.make("Song", $0) }
            let hits = try ["a", "b", "c"].map { try bench.make("Tag", $0) }
            (song, hit) = (songs[0], hits[0])
            list.setValue(NSOrderedSet(array: songs), forKey: "songs")
            list.setValue(NSOrderedSet(array: hits), forKey: "hits")
            try bench.context.save()
            bench.context.undoManager = UndoManager()
        }

        func make(_ change: Change) {
            context.performAndWait {
                switch change {
                case .songIsMoved: song.setValue(elsewhere, forKey: "playlist")
                case .songIsDeleted: context.delete(song)
                case .hitIsDeleted: context.delete(hit)
                case .hitLeaves: hit.mutableSetValue(forKey: "playlists").remove(list)
                }
            }
        }

        func shown(_ change: Change) -> [String] {
            let isSong = change == .songIsMoved || change == .songIsDeleted
            return bench.order(list.value(forKey: isSong ? "songs" : "hits"))
        }

        func checkStored() throws {
            let reader = bench.newContext()
            let stored = try bench.twin(list, in: reader)
            #expect(bench.order(stored.value(forKey: "songs")) == ["a", "b", "c"])
            #expect(bench.order(stored.value(forKey: "hits")) == ["a", "b", "c"])
            #expect(try GoneObjectTests.danglingLinks(bench) == [])
        }

        func undo() { context.performAndWait { context.undo() } }
        func redo() { context.performAndWait { context.redo() } }
    }

    @Test(arguments: StoreKind.allCases, Change.allCases)
    func membersThatComeBackHaveTheirPlaces(_ kind: StoreKind, _ change: Change) throws {
        for isShown in [true, false] {
            let stage = try Stage(kind)
            stage.context.refreshAllObjects()
            stage.make(change)
            if isShown { #expect(stage.shown(change) == ["b", "c"]) }
            stage.undo()
            #expect(stage.shown(change) == ["a", "b", "c"])
            #expect(stage.list.changedValues().isEmpty)
            stage.redo()
            #expect(stage.shown(change) == ["b", "c"])
            stage.undo()
            #expect(stage.shown(change) == ["a", "b", "c"])
            try stage.context.save()
            #expect(stage.shown(change) == ["a", "b", "c"])
            try stage.checkStored()
        }
    }

    /// The same where the change was saved, and the list read anew since.
    @Test(arguments: StoreKind.allCases, Change.allCases)
    func savedChangesAreTakenBackInPlace(_ kind: StoreKind, _ change: Change) throws {
        for (isRead, isRefreshed) in [(true, true), (false, true), (false, false)] {
            let stage = try Stage(kind)
            if isRead { _ = stage.shown(change) } else { stage.context.refreshAllObjects() }
            stage.make(change)
            try stage.context.save()
            if isRefreshed { stage.context.refreshAllObjects() }
            stage.undo()
            #expect(stage.shown(change) == ["a", "b", "c"])
            #expect(!stage.song.isDeleted && !stage.hit.isDeleted)
            try stage.context.save()
            #expect(stage.shown(change) == ["a", "b", "c"])
            try stage.checkStored()
        }
    }

    @Test func whatIsAsItWasIsNoChange() throws {
        let stage = try Stage(.sqlite)
        stage.context.refreshAllObjects()
        let songs = (stage.list.value(forKey: "songs") as? NSOrderedSet)?.array
        stage.list.setValue(NSOrderedSet(), forKey: "songs")
        #expect(stage.list.hasPersistentChangedValues)
        for song in songs as? [NSManagedObject] ?? [] {
            song.setValue(stage.list, forKey: "playlist")
        }
        #expect(stage.shown(.songIsMoved) == ["a", "b", "c"])
        #expect(stage.list.changedValues().isEmpty && !stage.list.hasPersistentChangedValues)
    }
}
