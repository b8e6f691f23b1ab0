internal import Foundation

/// Tells a delegate a change step by step, in Apple's order: objects that left, sections that left,
/// those that came, then objects that moved, came and changed. So whoever follows step by step
/// takes an object out of a section that is still there.
struct DelegateMessages {
    private let controller: NSFetchedResultsController<any NSFetchRequestResult>
    private let delegate: any NSFetchedResultsControllerDelegate
    private let source: FetchedResultsSource

    init(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        _ delegate: any NSFetchedResultsControllerDelegate, _ source: FetchedResultsSource
    ) {
        self.controller = controller
        self.delegate = delegate
        self.source = source
    }

    func send(_ change: TrackedResults.Change, from old: ResultContent) {
        let new = change.content
        let difference = change.difference
        for place in difference.deleted {
            send(old.items[place], at: old.indexPath(of: place), .delete, nil)
        }
        for section in difference.sections.deleted { send(section, of: old, .delete) }
        for section in difference.sections.inserted { send(section, of: new, .insert) }
        for step in difference.moved {
            send(
                new.items[step.new], at: old.indexPath(of: step.old), .move,
                new.indexPath(of: step.new))
        }
        for place in difference.inserted {
            send(new.items[place], at: nil, .insert, new.indexPath(of: place))
        }
        for step in difference.updated {
            send(
                new.items[step.new], at: old.indexPath(of: step.old), .update,
                new.indexPath(of: step.new))
        }
    }

    private func send(
        _ section: Int, of content: ResultContent, _ type: NSFetchedResultsChangeType
    ) {
        let info = FetchedSection(
            section, of: content, source: source, isGone: type == .delete)
        delegate.controller(controller, didChange: info, atSectionIndex: section, for: type)
    }

    private func send(
        _ item: NSObject, at path: IndexPath?, _ type: NSFetchedResultsChangeType,
        _ newPath: IndexPath?
    ) {
        delegate.controller(
            controller, didChange: source.shown(item), at: path, for: type, newIndexPath: newPath)
    }
}

extension ContentDifference {
    /// The change as one of the list of IDs; nil where items are no objects.
    func ofIDs(
        from old: ResultContent, to new: ResultContent
    ) -> CollectionDifference<NSManagedObjectID>? {
        typealias Change = CollectionDifference<NSManagedObjectID>.Change
        func id(_ item: NSObject) -> NSManagedObjectID? { (item as? NSManagedObject)?.objectID }
        var changes: [Change] = []
        for place in deleted {
            guard let id = id(old.items[place]) else { return nil }
            changes.append(.remove(offset: place, element: id, associatedWith: nil))
        }
        for place in inserted {
            guard let id = id(new.items[place]) else { return nil }
            changes.append(.insert(offset: place, element: id, associatedWith: nil))
        }
        for step in moved + updated {
            guard let id = id(new.items[step.new]) else { return nil }
            changes.append(.remove(offset: step.old, element: id, associatedWith: step.new))
            changes.append(.insert(offset: step.new, element: id, associatedWith: step.old))
        }
        return CollectionDifference(changes)
    }
}
