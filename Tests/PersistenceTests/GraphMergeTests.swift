import CoreData
import Foundation
import Testing

/// What a context shows of links that it and another one changed, before it saves.
@Suite struct GraphMergeTests {
    /// Two contexts move one member to different owners; the saved move is merged below the other.
    @Test(arguments: StoreKind.allCases, [true, false])
    func aMemberMovedTwiceHasOneOwnerAfterAMerge(_ kind: StoreKind, isOrdered: Bool) throws {
        let bench = try Bench(kind)
        let (owner, name, member, back) =
            isOrdered
            ? ("Playlist", "songs", "Song", "playlist")
            : ("Department", "employees", "Person", "department")
        let owners = try ["a", "b", "c"].map { try bench.make(owner, $0) }
        let moved = try bench.make(member, "m")
        moved.setValue(owners[0], forKey: back)
        try bench.context.save()
        for object in owners { _ = object.value(forKey: name) }

        let other = bench.newContext()
        let keeping = SaveNotices(other)
        try bench.twin(moved, in: other).setValue(bench.twin(owners[1], in: other), forKey: back)
        moved.setValue(owners[2], forKey: back)
        try other.save()
        for notice in keeping.notices { bench.context.mergeChanges(fromContextDidSave: notice) }

        func members(_ index: Int) -> [NSManagedObject] {
            let value = owners[index].value(forKey: name)
            return (value as? NSOrderedSet)?.array as? [NSManagedObject]
                ?? Array(value as? Set<NSManagedObject> ?? [])
        }
        #expect(moved.value(forKey: back) as? NSManagedObject === owners[2])
        #expect(members(0).isEmpty && members(1).isEmpty && members(2) == [moved])
        try bench.context.save()
        #expect(members(0).isEmpty && members(1).isEmpty && members(2) == [moved])
    }
}

/// Keeps the notices of a context's saves.
final class SaveNotices: @unchecked Sendable {
    // @unchecked: filled by the thread that saves, read by the same.
    private(set) var notices: [Notification] = []
    private var observer: (any NSObjectProtocol)?

    init(_ context: NSManagedObjectContext) {
        observer = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextDidSave, object: context, queue: nil
        ) { [weak self] in self?.notices.append($0) }
    }

    deinit { observer.map(NotificationCenter.default.removeObserver) }
}
