import CoreData
import Foundation

/// A list of lists that follows a controller by what its delegate is told, as a table does.
final class ResultsMirror: NSObject, NSFetchedResultsControllerDelegate {
    typealias Controller = NSFetchedResultsController<any NSFetchRequestResult>

    private(set) var names: [String] = []
    private(set) var lists: [[NSManagedObject]] = []
    /// What did not fit, in words.
    private(set) var faults: [String] = []
    private(set) var steps = 0
    /// The objects told since somebody cleared them.
    var told: [NSManagedObject] = []

    private struct Told {
        var deletedSections: [Int] = []
        var insertedSections: [(Int, String)] = []
        var leaving: [(IndexPath, NSManagedObject)] = []
        var coming: [(IndexPath, NSManagedObject)] = []
        var updated: [(IndexPath, IndexPath, NSManagedObject)] = []
    }

    private var change: Told?

    func load(_ sections: [any NSFetchedResultsSectionInfo]) {
        names = sections.map(\.name)
        lists = sections.map { $0.objects as? [NSManagedObject] ?? [] }
    }

    func controllerWillChangeContent(_ controller: Controller) {
        if change != nil { faults.append("a change began within another") }
        change = Told()
        let shown = controller.sections?.map { $0.objects as? [NSManagedObject] ?? [] }
        if shown != lists { faults.append("the controller showed the change before telling it") }
    }

    func controller(
        _ controller: Controller, didChange sectionInfo: any NSFetchedResultsSectionInfo,
        atSectionIndex sectionIndex: Int, for type: NSFetchedResultsChangeType
    ) {
        switch type {
        case .delete: change?.deletedSections.append(sectionIndex)
        case .insert: change?.insertedSections.append((sectionIndex, sectionInfo.name))
        default: faults.append("a section was told as \(type)")
        }
    }

    func controller(
        _ controller: Controller, didChange anObject: Any, at indexPath: IndexPath?,
        for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
    ) {
        guard let object = anObject as? NSManagedObject else { return faults.append("no object") }
        steps += 1
        told.append(object)
        switch (type, indexPath, newIndexPath) {
        case (.delete, let old?, nil): change?.leaving.append((old, object))
        case (.insert, nil, let new?): change?.coming.append((new, object))
        case (.move, let old?, let new?):
            change?.leaving.append((old, object))
            change?.coming.append((new, object))
        case (.update, let old?, let new?): change?.updated.append((old, new, object))
        default: faults.append("\(type) came with \(indexPath as Any), \(newIndexPath as Any)")
        }
    }

    func controllerDidChangeContent(_ controller: Controller) {
        guard let change else { return faults.append("a change ended that did not begin") }
        self.change = nil
        let before = lists
        for (path, object) in change.leaving where at(path, before)?.objectID !== object.objectID {
            faults.append("another object stood at \(path)")
        }
        apply(change)
        for (old, new, object) in change.updated {
            if at(old, before)?.objectID === object.objectID,
                at(new, lists)?.objectID === object.objectID
            {
                // After a reset the object of an ID is another.
                lists[new[0]][new[1]] = object
            } else {
                faults.append("an update at \(old), \(new) is not of the object there")
            }
        }
    }

    private func at(_ path: IndexPath, _ lists: [[NSManagedObject]]) -> NSManagedObject? {
        guard path.count == 2, lists.indices.contains(path[0]),
            lists[path[0]].indices.contains(path[1])
        else { return nil }
        return lists[path[0]][path[1]]
    }

    private func apply(_ change: Told) {
        for (path, _) in change.leaving.sorted(by: { $0.0 > $1.0 }) where at(path, lists) != nil {
            lists[path[0]].remove(at: path[1])
        }
        for index in change.deletedSections.sorted(by: >) where lists.indices.contains(index) {
            if !lists[index].isEmpty { faults.append("section \(index) left with objects") }
            lists.remove(at: index)
            names.remove(at: index)
        }
        for (index, name) in change.insertedSections.sorted(by: { $0.0 < $1.0 }) {
            guard index <= lists.count else {
                faults.append("section \(index) is out of bounds")
                continue
            }
            lists.insert([], at: index)
            names.insert(name, at: index)
        }
        for (path, object) in change.coming.sorted(by: { $0.0 < $1.0 }) {
            guard lists.indices.contains(path[0]), path[1] <= lists[path[0]].count else {
                faults.append("place \(path) is out of bounds")
                continue
            }
            lists[path[0]].insert(object, at: path[1])
        }
    }
}
