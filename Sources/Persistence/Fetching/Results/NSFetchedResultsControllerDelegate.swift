public import Foundation

/// What happened to an object or a section of results. Raw values are Apple's.
public enum NSFetchedResultsChangeType: UInt, Sendable {
    /// Came: it was made, or matches the predicate now.
    case insert = 1
    /// Left: it was deleted, or matches the predicate no more.
    case delete = 2
    /// Stands elsewhere now, because it changed.
    case move = 3
    /// Changed, and stands where it stood.
    case update = 4
}

/// Who is told of changes to a controller's results. Source: Apple,
/// NSFetchedResultsControllerDelegate. Queue: the context's.
///
/// All functions may be left out. Who writes the one with a snapshot hears no other; who writes the
/// one with a difference hears no other of a controller without sections. A controller given here
/// is of type `NSFetchedResultsController<any NSFetchRequestResult>`: another instance over the
/// same results, equal (`==`, `===`) to the one that was made.
public protocol NSFetchedResultsControllerDelegate: NSObjectProtocol {
    /// An object came, left, moved or changed.
    ///
    /// `indexPath` names a place before all of these changes, `newIndexPath` one after them. An
    /// update names both; a moved object may have changed, too, and is told once. The objects of a
    /// section that comes or leaves are told each by itself. Objects that leave are told first,
    /// then sections that leave and that come, then moves, objects that come, and updates.
    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
        at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?)

    /// A section came or left. `sectionIndex` is its place before the changes where it left, after
    /// them where it came.
    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChange sectionInfo: any NSFetchedResultsSectionInfo, atSectionIndex sectionIndex: Int,
        for type: NSFetchedResultsChangeType)

    /// Changes are about to be told; the controller still shows what it showed.
    func controllerWillChangeContent(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>)

    /// All changes were told.
    func controllerDidChangeContent(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>)

    /// What the section is called in an index; nil for nothing.
    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        sectionIndexTitleForSectionName sectionName: String
    ) -> String?

    /// The results after a change, and after `performFetch`: names of sections and object IDs.
    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChangeContentWith snapshot: NSDiffableDataSourceSnapshotReference)

    /// What a change did to the list of object IDs. A moved or changed object is removed and
    /// inserted, and both name each other. Only controllers without sections tell it.
    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChangeContentWith diff: CollectionDifference<NSManagedObjectID>)
}

// What a delegate leaves out: the two that stand for all others say that nobody answered.
extension NSFetchedResultsControllerDelegate {
    /// Does nothing.
    public func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
        at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
    ) {}

    /// Does nothing.
    public func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChange sectionInfo: any NSFetchedResultsSectionInfo, atSectionIndex sectionIndex: Int,
        for type: NSFetchedResultsChangeType
    ) {}

    /// Does nothing.
    public func controllerWillChangeContent(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>
    ) {}

    /// Does nothing.
    public func controllerDidChangeContent(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>
    ) {}

    /// Leaves the title to the controller.
    public func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        sectionIndexTitleForSectionName sectionName: String
    ) -> String? {
        controller.source.noteUnanswered()
        return nil
    }

    /// Lets the controller tell the changes one by one.
    public func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChangeContentWith snapshot: NSDiffableDataSourceSnapshotReference
    ) {
        controller.source.noteUnanswered()
    }

    /// Lets the controller tell the changes one by one.
    public func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChangeContentWith diff: CollectionDifference<NSManagedObjectID>
    ) {
        controller.source.noteUnanswered()
    }
}
