import CoreData
import Foundation
import Testing

/// Changes told as a whole: snapshots, differences, and the sequence of updates; and the cache of
/// sections.
@Suite struct FetchedSnapshotTests {
    typealias Controller = NSFetchedResultsController<NSManagedObject>

    private let bench: Bench
    private var context: NSManagedObjectContext { bench.context }

    init() throws { bench = try Bench(.sqlite, model: ShelfModel.make()) }

    @discardableResult
    private func item(_ group: String, _ rank: Int) throws -> NSManagedObject {
        let item = try bench.make("Item")
        item.setValue(group, forKey: "group")
        item.setValue(rank, forKey: "rank")
        return item
    }

    private func controller(path: String?, cache: String? = nil) -> Controller {
        Controller(
            fetchRequest: ShelfModel.request(), managedObjectContext: context,
            sectionNameKeyPath: path, cacheName: cache)
    }

    // MARK: Snapshots and differences

    @Test func whoTakesSnapshotsHearsNothingElse() throws {
        let first = try item("a", 1)
        let second = try item("b", 1)
        try context.save()
        let taker = SnapshotTaker()
        let controller = controller(path: "group")
        controller.delegate = taker
        try controller.performFetch()
        #expect(taker.snapshots.map(\.sectionIdentifiers) == [["a", "b"]])
        first.setValue("x", forKey: "note")
        let third = try item("b", 0)
        context.processPendingChanges()
        let snapshot = try #require(taker.snapshots.last)
        #expect(snapshot.itemIdentifiers == [first, third, second].map(\.objectID))
        #expect(snapshot.itemIdentifiers(inSection: "b") == [third, second].map(\.objectID))
        #expect(snapshot.reloadedItemIdentifiers == [first.objectID])
        #expect(snapshot.numberOfItems == 3)
        #expect(snapshot.numberOfSections == 2)
        #expect(snapshot.indexOfItem(second.objectID) == 2)
        #expect(snapshot.indexOfSection("b") == 1)
        #expect(snapshot.sectionIdentifier(containingItem: third.objectID) == "b")
        #expect(taker.others == 0)
        try context.save()
        #expect(taker.snapshots.count == 2)
        #expect(!third.objectID.isTemporaryID)
        #expect(snapshot.itemIdentifiers[1] == third.objectID)
    }

    @Test func aDelegateOfLateMayTakeSnapshots() throws {
        let first = try item("a", 1)
        try context.save()
        let controller = controller(path: nil)
        try controller.performFetch()
        let taker = SnapshotTaker()
        controller.delegate = taker
        context.delete(first)
        context.processPendingChanges()
        #expect(taker.snapshots.map(\.numberOfItems) == [0])
        #expect(taker.others == 0)
    }

    @Test func snapshotsCanBeEdited() {
        var snapshot = NSDiffableDataSourceSnapshot<String, Int>()
        snapshot.appendItems([9])
        snapshot.appendSections(["a", "b"])
        snapshot.appendItems([1, 2], toSection: "a")
        snapshot.appendItems([3])
        snapshot.reloadItems([2, 3, 2])
        snapshot.deleteItems([1])
        #expect(snapshot.itemIdentifiers == [2, 3])
        snapshot.deleteSections(["b"])
        #expect(snapshot.itemIdentifiers == [2])
        #expect(snapshot.reloadedItemIdentifiers == [2])
        #expect(snapshot.numberOfItems(inSection: "b") == 0)
        let reference = snapshot as NSDiffableDataSourceSnapshotReference
        #expect(reference.numberOfSections == 1)
        #expect(reference.itemIdentifiers as? [Int] == [2])
        #expect((reference as Any) as? NSDiffableDataSourceSnapshot<String, String> == nil)
    }

    @Test func itemsStandBesideOthersAndAreReconfigured() throws {
        var snapshot = NSDiffableDataSourceSnapshot<String, Int>()
        snapshot.appendSections(["a", "b"])
        snapshot.appendItems([1, 2], toSection: "a")
        snapshot.appendItems([5])
        snapshot.insertItems([0], beforeItem: 1)
        snapshot.insertItems([3, 4], afterItem: 2)
        snapshot.moveItem(0, afterItem: 5)
        snapshot.moveItem(4, beforeItem: 1)
        #expect(snapshot.itemIdentifiers(inSection: "a") == [4, 1, 2, 3])
        #expect(snapshot.itemIdentifiers(inSection: "b") == [5, 0])
        snapshot.reconfigureItems([1, 2, 1])
        snapshot.deleteItems([2])
        let reference = snapshot as NSDiffableDataSourceSnapshotReference
        #expect(reference.reconfiguredItemIdentifiers as? [Int] == [1])
        let again = try #require((reference as Any) as? NSDiffableDataSourceSnapshot<String, Int>)
        #expect(again.reconfiguredItemIdentifiers == [1])
        snapshot.deleteAllItems()
        #expect(snapshot.numberOfSections == 0 && snapshot.reconfiguredItemIdentifiers.isEmpty)
    }

    @Test func whoTakesDifferencesHearsThem() throws {
        let items = try [item("a", 1), item("a", 2), item("a", 3)]
        try context.save()
        var ids = items.map(\.objectID)
        let taker = DifferenceTaker()
        let controller = controller(path: nil)
        controller.delegate = taker
        try controller.performFetch()
        context.delete(items[1])
        items[0].setValue(9, forKey: "rank")
        items[2].setValue("x", forKey: "note")
        let fresh = try item("a", 5)
        context.processPendingChanges()
        #expect(taker.differences.count == 1)
        let difference = try #require(taker.differences.first)
        ids = try #require(ids.applying(difference))
        #expect(ids == [items[2], fresh, items[0]].map(\.objectID))
        #expect(taker.others == 0)
    }

    @Test func controllersWithSectionsTellNoDifferences() throws {
        try item("a", 1)
        try context.save()
        let taker = DifferenceTaker()
        let controller = controller(path: "group")
        controller.delegate = taker
        try controller.performFetch()
        try item("b", 1)
        context.processPendingChanges()
        #expect(taker.differences.isEmpty)
        #expect(taker.others == 1)
    }

    // MARK: The cache

    @Test func sectionsComeFromTheCache() throws {
        let name = "cache \(UUID().uuidString)/../x"
        defer { Controller.deleteCache(withName: name) }
        try item("a", 1)
        try item("b", 1)
        try context.save()
        try controller(path: "group", cache: name).performFetch()
        let file = try #require(cacheFile(named: name))
        try rewrite(file) { $0.replacingOccurrences(of: "\"b\"", with: "\"cached\"") }
        let cached = controller(path: "group", cache: name)
        try cached.performFetch()
        #expect(cached.sections?.map(\.name) == ["a", "cached"])
        #expect(cached.cacheName == name)

        // Another request, and another state of the store.
        let other = Controller(
            fetchRequest: ShelfModel.request(["group"]), managedObjectContext: context,
            sectionNameKeyPath: "group", cacheName: name)
        try other.performFetch()
        #expect(other.sections?.map(\.name) == ["a", "b"])
        try controller(path: "group", cache: name).performFetch()
        try rewrite(file) { $0.replacingOccurrences(of: "\"b\"", with: "\"cached\"") }
        try item("c", 1)
        let pending = controller(path: "group", cache: name)
        try pending.performFetch()
        #expect(pending.sections?.map(\.name) == ["a", "b", "c"])
        try context.save()
        let changed = controller(path: "group", cache: name)
        try changed.performFetch()
        #expect(changed.sections?.map(\.name) == ["a", "b", "c"])
    }

    @Test func aForeignFileIsWrittenAnew() throws {
        let name = UUID().uuidString
        defer { Controller.deleteCache(withName: name) }
        try item("a", 1)
        try context.save()
        let controller = controller(path: "group", cache: name)
        try controller.performFetch()
        let file = try #require(cacheFile(named: name))
        let good = try Data(contentsOf: file)
        for bad in [Data("bplist00".utf8), Data(good.prefix(20)), Data()] {
            try bad.write(to: file)
            try controller.performFetch()
            #expect(controller.sections?.map(\.name) == ["a"])
            #expect(try Data(contentsOf: file).count == good.count)
        }
        try rewrite(file) { $0.replacingOccurrences(of: "\"count\":1", with: "\"count\":-1") }
        try controller.performFetch()
        #expect(controller.sections?.map(\.numberOfObjects) == [1])
        Controller.deleteCache(withName: name)
        #expect(!FileManager.default.fileExists(atPath: file.path))
    }

    private func rewrite(_ file: URL, _ change: (String) -> String) throws {
        let text = try String(contentsOf: file, encoding: .utf8)
        try change(text).write(to: file, atomically: true, encoding: .utf8)
    }

    /// The cache's file, by its place beside Apple's names.
    private func cacheFile(named name: String) -> URL? {
        let escaped = name.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        let file = FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask).first?
            .appendingPathComponent(ProcessInfo.processInfo.processName)
            .appendingPathComponent(
                ".CoreDataCaches/SectionInfoCaches/cache-\(escaped)/sectionInfo")
        return file.flatMap { FileManager.default.fileExists(atPath: $0.path) ? $0 : nil }
    }

    // MARK: The sequence

    @Test func updatesComeAsTheyHappen() async throws {
        let first = try item("a", 1)
        try context.save()
        var updates = context.updates(of: ShelfModel.request()).makeAsyncIterator()
        let start = try #require(try await updates.next())
        #expect(start.objectIDs == [first.objectID])
        #expect(start.difference.insertions.count == 1)
        #expect(start.updatedObjectIDs.isEmpty)
        // Two events before anybody asks: one element, with both.
        let second = try await context.perform { try self.item("a", 0) }
        await context.perform { first.setValue("x", forKey: "note") }
        let next = try #require(try await updates.next())
        #expect(next.objectIDs == [second.objectID, first.objectID])
        #expect(next.updatedObjectIDs == [first.objectID])
        #expect(next.difference.insertions.count == 1)
        #expect(next.difference.removals.isEmpty)
    }

    @Test func updatesEndWithTheirTask() async throws {
        try item("a", 1)
        let context = context
        let task = Task {
            var count = 0
            for try await _ in context.updates(of: ShelfModel.request()) {
                count += 1
                withUnsafeCurrentTask { $0?.cancel() }
            }
            return count
        }
        #expect(try await task.value == 1)
    }

    @Test func updatesThrowWhatTheFetchThrows() async throws {
        var unknown = context.updates(of: NSFetchRequest<NSManagedObject>(entityName: "Nobody"))
            .makeAsyncIterator()
        await #expect(throws: NSError.self) { _ = try await unknown.next() }
        let counting = NSFetchRequest<NSNumber>(entityName: "Item")
        counting.resultType = .countResultType
        var counts = context.updates(of: counting).makeAsyncIterator()
        let error = await #expect(throws: NSError.self) { _ = try await counts.next() }
        #expect(error?.code == NSPersistentStoreUnsupportedRequestTypeError)
    }
}

private final class SnapshotTaker: NSObject, NSFetchedResultsControllerDelegate {
    typealias Controller = NSFetchedResultsController<any NSFetchRequestResult>

    var snapshots: [NSDiffableDataSourceSnapshot<String, NSManagedObjectID>] = []
    var others = 0

    func controller(
        _ controller: Controller,
        didChangeContentWith snapshot: NSDiffableDataSourceSnapshotReference
    ) {
        snapshots.append(snapshot as NSDiffableDataSourceSnapshot<String, NSManagedObjectID>)
    }

    func controller(
        _ controller: Controller, didChangeContentWith diff: CollectionDifference<NSManagedObjectID>
    ) { others += 1 }

    func controllerDidChangeContent(_ controller: Controller) { others += 1 }
}

private final class DifferenceTaker: NSObject, NSFetchedResultsControllerDelegate {
    typealias Controller = NSFetchedResultsController<any NSFetchRequestResult>

    var differences: [CollectionDifference<NSManagedObjectID>] = []
    var others = 0

    func controller(
        _ controller: Controller, didChangeContentWith diff: CollectionDifference<NSManagedObjectID>
    ) { differences.append(diff) }

    func controllerDidChangeContent(_ controller: Controller) { others += 1 }
}
