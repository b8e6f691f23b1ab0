import CoreData
import Foundation
import Testing

/// Fetched results controllers: what they show, and what they tell.
@Suite struct FetchedResultsTests {
    typealias Controller = NSFetchedResultsController<NSManagedObject>

    private let bench: Bench
    private let recorder = StepRecorder()
    private var context: NSManagedObjectContext { bench.context }

    init() throws { bench = try Bench(.sqlite, model: ShelfModel.make()) }

    /// Items of groups and ranks, saved; their serials count from 1.
    @discardableResult
    private func items(_ values: [(String?, Int)]) throws -> [NSManagedObject] {
        var items: [NSManagedObject] = []
        for (group, rank) in values {
            let item = try bench.make("Item")
            item.setValue(group, forKey: "group")
            item.setValue(rank, forKey: "rank")
            item.setValue(items.count + 1, forKey: "serial")
            items.append(item)
        }
        try context.save()
        return items
    }

    private func controller(
        _ keys: [String] = ["group", "rank", "serial"], _ format: String? = nil,
        path: String? = "group", cache: String? = nil
    ) -> Controller {
        Controller(
            fetchRequest: ShelfModel.request(keys, format), managedObjectContext: context,
            sectionNameKeyPath: path, cacheName: cache)
    }

    private func path(_ section: Int, _ row: Int) -> IndexPath { [section, row] }

    // MARK: Contents

    @Test func aControllerOfNothingHoldsAPlace() {
        let controller = NSFetchedResultsController<any NSFetchRequestResult>()
        #expect(controller.fetchedObjects == nil && controller.sections == nil)
        recorder.controllerWillChangeContent(controller)
        #expect(recorder.words == ["will"])
        let error = #expect(throws: NSError.self) { try controller.performFetch() }
        #expect(error?.code == NSCoreDataError)
    }

    @Test func resultsStandInSections() throws {
        let items = try items([("b", 2), ("a", 1), ("b", 1), (nil, 5)])
        let controller = controller()
        #expect(controller.fetchedObjects == nil)
        #expect(controller.sections == nil)
        #expect(controller.indexPath(forObject: items[0]) == nil)
        try controller.performFetch()
        let sections = try #require(controller.sections)
        #expect(sections.map(\.name) == ["", "a", "b"])
        #expect(sections.map(\.numberOfObjects) == [1, 1, 2])
        #expect(sections[2].objects as? [NSManagedObject] == [items[2], items[0]])
        #expect(controller.fetchedObjects == [items[3], items[1], items[2], items[0]])
        #expect(controller.object(at: path(2, 1)) === items[0])
        #expect(controller.indexPath(forObject: items[0]) == path(2, 1))
        #expect(controller.sectionNameKeyPath == "group")
        #expect(controller.managedObjectContext === context)
        #expect(controller.cacheName == nil)
    }

    @Test func withoutKeyPathThereIsOneSection() throws {
        let controller = controller(path: nil)
        try controller.performFetch()
        #expect(controller.sections?.map(\.name) == [""])
        #expect(controller.sections?.first?.numberOfObjects == 0)
        #expect(controller.fetchedObjects == [])
    }

    @Test func numbersAndRelatedValuesNameSections() throws {
        let items = try items([("a", 3), ("b", 12), ("c", 3)])
        let box = try bench.make("Box")
        box.setValue("left", forKey: "label")
        for item in items { item.setValue(box, forKey: "box") }
        let ranked = controller(["rank"], path: "rank")
        try ranked.performFetch()
        #expect(ranked.sections?.map(\.name) == ["3", "12"])
        let boxed = controller(["box.label"], path: "box.label")
        try boxed.performFetch()
        #expect(boxed.sections?.map(\.name) == ["left"])
    }

    @Test func objectsOutOfTheOrderOfSectionsAreRefused() throws {
        try items([("a", 1), ("b", 2), ("a", 3)])
        let controller = controller(["rank"])
        let error = #expect(throws: NSError.self) { try controller.performFetch() }
        #expect(error?.code == NSCoreDataError)
        #expect(
            error?.userInfo["reason"] as? String
                == "The fetched object at index 2 has an out of order section name 'a'. Objects "
                + "must be sorted by section name")
        let unknown = self.controller(path: "colour")
        #expect(throws: NSError.self) { try unknown.performFetch() }
    }

    /// As below SwiftUI's `@FetchRequest(sortDescriptors: [])`.
    @Test func resultsWithoutAnOrderTakeNewObjectsAtTheEnd() throws {
        let bench = try Bench(.sqlite, model: ShelfModel.make())
        func item(_ serial: Int) throws {
            try bench.make("Item").setValue(serial, forKey: "serial")
        }
        for serial in [3, 1, 2] { try item(serial) }
        try bench.context.save()
        let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
        request.sortDescriptors = []
        let controller = Controller(
            fetchRequest: request, managedObjectContext: bench.context,
            sectionNameKeyPath: nil, cacheName: nil)
        let follower = Follower()
        controller.delegate = follower
        try controller.performFetch()
        let first = controller.fetchedObjects ?? []
        #expect(first.count == 3)
        try item(0)
        bench.context.processPendingChanges()
        let second = controller.fetchedObjects ?? []
        #expect(Array(second.prefix(3)) == first && second.count == 4)
        #expect(second.last?.value(forKey: "serial") as? Int == 0)
        bench.context.delete(try #require(first.first))
        bench.context.processPendingChanges()
        #expect(controller.fetchedObjects == Array(second.dropFirst()))
    }

    /// Follows a controller, which takes changes in only then.
    private final class Follower: NSObject, NSFetchedResultsControllerDelegate {}

    @Test func mistakesEndTheProgramWithApplesWords() async {
        let unsorted = await #expect(
            processExitsWith: .failure, observing: [\.standardErrorContent]
        ) {
            let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            _ = Controller(
                fetchRequest: NSFetchRequest(entityName: "Item"), managedObjectContext: context,
                sectionNameKeyPath: nil, cacheName: nil)
        }
        #expect(text(unsorted).contains("requires a fetch request with sort descriptors"))
        let missing = await #expect(
            processExitsWith: .failure, observing: [\.standardErrorContent]
        ) {
            let bench = try Bench(.memory, model: ShelfModel.make())
            let controller = Controller(
                fetchRequest: ShelfModel.request(), managedObjectContext: bench.context,
                sectionNameKeyPath: nil, cacheName: nil)
            try controller.performFetch()
            _ = controller.object(at: [0, 7])
        }
        #expect(text(missing).contains("no object at index 7 in section at index 0"))
    }

    private func text(_ result: ExitTest.Result?) -> String {
        String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    }

    // MARK: Changes, step by step

    /// Sets a recorder as delegate, and returns what it hears of a change.
    private func hear(_ controller: Controller, _ change: () throws -> Void) throws -> [String] {
        recorder.words = []
        controller.delegate = recorder
        try controller.performFetch()
        try change()
        context.processPendingChanges()
        return recorder.words
    }

    @Test func eachStepNamesItsPlaces() throws {
        let items = try items([("a", 1), ("a", 2), ("a", 3), ("a", 4)])
        let words = try hear(controller()) {
            context.delete(items[1])
            items[2].setValue("x", forKey: "note")
            let fresh = try bench.make("Item")
            fresh.setValue("a", forKey: "group")
            fresh.setValue(0, forKey: "rank")
        }
        #expect(words == ["will", "delete 0.1", "insert → 0.0", "update 0.2 → 0.2", "did"])
    }

    @Test func sectionsComeAndLeave() throws {
        let items = try items([("a", 1), ("b", 1), ("c", 1)])
        let words = try hear(controller()) {
            items[1].setValue("d", forKey: "group")
            context.delete(items[2])
        }
        #expect(
            words == [
                "will", "delete 2.0", "section delete 1 b", "section delete 2 c",
                "section insert 1 d", "move 1.0 → 1.0", "did",
            ])
    }

    @Test func onlyWhatChangedMoves() throws {
        let items = try items([("a", 1), ("a", 2), ("a", 3), ("a", 4), ("a", 5)])
        #expect(
            try hear(controller()) { items[0].setValue(9, forKey: "rank") }
                == ["will", "move 0.0 → 0.4", "did"])
        // Two that changed and keep their order: updates.
        #expect(
            try hear(controller()) {
                items[1].setValue(10, forKey: "rank")
                items[0].setValue(11, forKey: "rank")
            } == ["will", "move 0.0 → 0.3", "update 0.4 → 0.4", "did"])
    }

    @Test func equalKeysMoveNothing() throws {
        let items = try items([("a", 1), ("a", 1), ("a", 1)])
        #expect(
            try hear(controller(["group"])) { items[0].setValue(5, forKey: "rank") }
                == ["will", "update 0.0 → 0.0", "did"])
    }

    @Test func changesThatDoNotConcernItAreNotTold() throws {
        let items = try items([("a", 1), ("b", 90)])
        let words = try hear(controller(["group"], "rank < 50")) {
            items[1].setValue(80, forKey: "rank")
            _ = try bench.make("Box")
        }
        #expect(words == [])
    }

    /// As at Apple: an object is looked at again when it changes itself.
    @Test func relatedObjectsAreNotFollowed() throws {
        let items = try items([("a", 1)])
        let box = try bench.make("Box")
        box.setValue("in", forKey: "label")
        items[0].setValue(box, forKey: "box")
        try context.save()
        let controller = controller(["group"], "box.label == 'in'")
        #expect(try hear(controller) { box.setValue("out", forKey: "label") } == [])
        #expect(controller.fetchedObjects == items)
        items[0].setValue("x", forKey: "note")
        context.processPendingChanges()
        #expect(controller.fetchedObjects == [])
    }

    @Test func savesAndMergesOfOthersAreFollowed() throws {
        let items = try items([("a", 1), ("a", 2)])
        context.automaticallyMergesChangesFromParent = true
        let other = bench.newContext()
        let words = try hear(controller()) {
            let twin = try bench.twin(items[0], in: other)
            twin.setValue(5, forKey: "rank")
            let fresh = try bench.make("Item", in: other)
            fresh.setValue("b", forKey: "group")
            try other.save()
            context.performAndWait {}
        }
        #expect(words == ["will", "section insert 1 b", "move 0.0 → 0.1", "insert → 1.0", "did"])
    }

    /// Unlike at Apple, where the context must have had the object.
    @Test func whatOthersMadeMatchComes() throws {
        let item = try bench.make("Item").objectID
        try context.save()
        context.reset()
        let other = bench.newContext()
        let words = try hear(controller(["group"], "group == 'a'")) {
            try other.existingObject(with: item).setValue("a", forKey: "group")
            try other.save()
            NSManagedObjectContext.mergeChanges(
                fromRemoteContextSave: [NSUpdatedObjectIDsKey: Set([item])], into: [context])
        }
        #expect(words == ["will", "section insert 0 a", "insert → 0.0", "did"])
    }

    @Test func newObjectsKeepTheirPlacesWhenSaved() throws {
        let controller = controller()
        let words = try hear(controller) {
            let item = try bench.make("Item")
            item.setValue("a", forKey: "group")
            context.processPendingChanges()
            try context.save()
            #expect(controller.indexPath(forObject: item) == path(0, 0))
        }
        #expect(words == ["will", "section insert 0 a", "insert → 0.0", "did"])
    }

    @Test func rollbackAndResetAreFollowed() throws {
        let items = try items([("a", 1), ("a", 2)])
        let controller = controller()
        let words = try hear(controller) {
            context.delete(items[0])
            context.processPendingChanges()
            context.rollback()
        }
        #expect(words == ["will", "delete 0.0", "did", "will", "insert → 0.0", "did"])
        #expect(
            try hear(controller) { context.reset() }
                == ["will", "update 0.0 → 0.0", "update 0.1 → 0.1", "did"])
        #expect(controller.fetchedObjects == (try context.fetch(ShelfModel.request())))
        #expect(controller.fetchedObjects?.first !== items[0])
    }

    @Test func withoutDelegateResultsStay() throws {
        try items([("a", 1)])
        let controller = controller()
        try controller.performFetch()
        _ = try bench.make("Item")
        context.processPendingChanges()
        #expect(controller.fetchedObjects?.count == 1)
        try controller.performFetch()
        #expect(controller.fetchedObjects?.count == 2)
    }

    @Test func boundsAreKept() throws {
        try items([("a", 1), ("a", 2), ("a", 3)])
        let controller = controller()
        controller.fetchRequest.fetchLimit = 2
        let words = try hear(controller) {
            let item = try bench.make("Item")
            item.setValue("a", forKey: "group")
        }
        #expect(words == ["will", "delete 0.1", "insert → 0.0", "did"])
    }

    /// The context never had the object, so no word of its own tells that the results move up.
    @Test func anObjectBeforeTheOffsetThatOthersDeletedMovesTheResults() throws {
        let first = try items([("a", 1), ("a", 2), ("a", 3)])[0].objectID
        context.reset()
        let controller = controller()
        controller.fetchRequest.fetchOffset = 1
        let other = bench.newContext()
        let words = try hear(controller) {
            #expect(controller.fetchedObjects?.count == 2)
            other.delete(try other.existingObject(with: first))
            try other.save()
            NSManagedObjectContext.mergeChanges(
                fromRemoteContextSave: [NSDeletedObjectIDsKey: Set([first])], into: [context])
        }
        #expect(words == ["will", "delete 0.0", "did"])
    }

    @Test func onlySavedChangesCountWherePendingOnesDoNot() throws {
        let items = try items([("a", 1), ("a", 2)])
        let controller = controller()
        controller.fetchRequest.includesPendingChanges = false
        #expect(
            try hear(controller) { context.delete(items[0]) }
                == ["will", "update 0.0 → 0.0", "did"])
        let words = try hear(controller) { try context.save() }
        #expect(words == ["will", "delete 0.0", "did"])
    }

    @Test func changesWithinTheDelegateWaitTheirTurn() throws {
        let items = try items([("a", 1), ("b", 2)])
        let controller = controller()
        controller.delegate = recorder
        try controller.performFetch()
        recorder.atWill = { [context] in
            items[1].setValue("c", forKey: "group")
            context.processPendingChanges()
        }
        items[0].setValue("x", forKey: "note")
        context.processPendingChanges()
        #expect(
            recorder.words == [
                "will", "update 0.0 → 0.0", "did", "will", "section delete 1 b",
                "section insert 1 c", "move 1.0 → 1.0", "did",
            ])
    }

    @Test func delegatesAreShownAnEqualController() throws {
        let items = try items([("a", 1)])
        let controller = controller()
        recorder.expected = controller
        controller.delegate = recorder
        try controller.performFetch()
        items[0].setValue("x", forKey: "note")
        context.processPendingChanges()
        #expect(recorder.sameness == [true])
        #expect(controller !== self.controller())
    }

    // MARK: Other results

    @Test func objectIDsAreFollowed() throws {
        let items = try items([("a", 1), ("a", 2)])
        let request = NSFetchRequest<NSManagedObjectID>(entityName: "Item")
        request.sortDescriptors = [NSSortDescriptor(key: "rank", ascending: false)]
        request.resultType = .managedObjectIDResultType
        let controller = NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil,
            cacheName: nil)
        controller.delegate = recorder
        try controller.performFetch()
        #expect(controller.fetchedObjects == [items[1].objectID, items[0].objectID])
        #expect(controller.indexPath(forObject: items[0].objectID) == path(0, 1))
        #expect(controller.object(at: path(0, 0)) === items[1].objectID)
        context.delete(items[1])
        context.processPendingChanges()
        #expect(controller.fetchedObjects == [items[0].objectID])
        #expect(recorder.objects.first as? NSManagedObjectID === items[1].objectID)
    }

    @Test func dictionariesAreShownOnly() throws {
        try items([("b", 1), ("a", 2)])
        let request = NSFetchRequest<NSDictionary>(entityName: "Item")
        request.sortDescriptors = [NSSortDescriptor(key: "group", ascending: true)]
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = ["group", "rank"]
        let controller = NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "group",
            cacheName: nil)
        try controller.performFetch()
        #expect(controller.sections?.map(\.name) == ["a", "b"])
        #expect(controller.object(at: path(0, 0))["rank"] as? Int == 2)
    }

    @Test func resultsOfAnotherTypeAreRefused() throws {
        try items([("a", 1)])
        let request = NSFetchRequest<Person>(entityName: "Item")
        request.sortDescriptors = [NSSortDescriptor(key: "group", ascending: true)]
        let controller = NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil,
            cacheName: nil)
        let error = #expect(throws: NSError.self) { try controller.performFetch() }
        #expect(error?.code == NSCoreDataError)
    }

    // MARK: Titles

    @Test func sectionsHaveTitlesInAnIndex() throws {
        try items([("anna", 1), ("arno", 1), ("berta", 1), ("éva", 1)])
        let controller = controller()
        try controller.performFetch()
        #expect(controller.sectionIndexTitles == ["A", "B", "É"])
        #expect(controller.sections?.map(\.indexTitle) == ["A", "A", "B", "É"])
        #expect(controller.section(forSectionIndexTitle: "B", at: 1) == 2)
        #expect(controller.sectionIndexTitle(forSectionName: "xaver") == "X")
        #expect(controller.sectionIndexTitle(forSectionName: "") == nil)
        let titles = TitleGiver()
        controller.delegate = titles
        #expect(controller.sectionIndexTitles == ["<anna>", "<berta>", "<éva>"])
    }

    @Test func aClassMayHaveItsOwnTitles() throws {
        try items([("anna", 1), ("berta", 1)])
        let controller = LastLetters(
            fetchRequest: ShelfModel.request(), managedObjectContext: context,
            sectionNameKeyPath: "group", cacheName: nil)
        try controller.performFetch()
        #expect(controller.sections?.map(\.indexTitle) == ["a", "a"])
        #expect(controller.sectionIndexTitles == ["a"])
    }
}

/// Writes down what a delegate hears.
final class StepRecorder: NSObject, NSFetchedResultsControllerDelegate {
    typealias Controller = NSFetchedResultsController<any NSFetchRequestResult>

    var words: [String] = []
    private(set) var objects: [Any] = []
    private(set) var sameness: [Bool] = []
    var expected: NSFetchedResultsController<NSManagedObject>?
    var atWill: (() -> Void)?

    private func text(_ path: IndexPath?) -> String {
        (path ?? []).map(String.init).joined(separator: ".")
    }

    func controllerWillChangeContent(_ controller: Controller) {
        words.append("will")
        if let expected {
            sameness.append(
                controller === expected && expected === controller && controller == expected
                    && controller.hash == expected.hash
                    && controller.fetchedObjects?.count == expected.fetchedObjects?.count)
        }
        let work = atWill
        atWill = nil
        work?()
    }

    func controllerDidChangeContent(_ controller: Controller) { words.append("did") }

    func controller(
        _ controller: Controller, didChange sectionInfo: any NSFetchedResultsSectionInfo,
        atSectionIndex sectionIndex: Int, for type: NSFetchedResultsChangeType
    ) {
        words.append("section \(type) \(sectionIndex) \(sectionInfo.name)")
        // Whoever draws it has no objects to draw.
        let isEmpty = sectionInfo.numberOfObjects == 0 && sectionInfo.objects?.isEmpty == true
        #expect(isEmpty == (type == .delete))
    }

    func controller(
        _ controller: Controller, didChange anObject: Any, at indexPath: IndexPath?,
        for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
    ) {
        objects.append(anObject)
        let arrow = newIndexPath == nil ? "" : "→ " + text(newIndexPath)
        words.append(
            ["\(type)", text(indexPath), arrow].filter { !$0.isEmpty }.joined(separator: " "))
    }
}

private final class TitleGiver: NSObject, NSFetchedResultsControllerDelegate {
    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        sectionIndexTitleForSectionName sectionName: String
    ) -> String? { sectionName == "arno" ? nil : "<\(sectionName)>" }
}

private final class LastLetters: NSFetchedResultsController<NSManagedObject> {
    override func sectionIndexTitle(forSectionName sectionName: String) -> String? {
        sectionName.last.map(String.init)
    }
}
