internal import Foundation

/// What a context's notification says that may concern the results of a request.
struct ResultEvent {
    private(set) var objects: [NSManagedObject] = []
    /// What others updated and this context took in; its notification of changed objects names
    /// only those it had.
    private(set) var mergedIDs: [NSManagedObjectID] = []
    /// What others deleted and this context took in. Objects it had not are named nowhere else;
    /// they may have stood before the results.
    private(set) var deletedIDs: [NSManagedObjectID] = []
    /// The context forgot its objects, or took in so much that it did not tell all: fetch anew.
    private(set) var isWhole = false
    /// The changes were written, so a fetch without pending changes finds them now.
    private(set) var isSave = false

    init(_ notification: Notification) {
        let userInfo = notification.userInfo ?? [:]
        switch notification.name {
        case .NSManagedObjectContextDidMergeChangesObjectIDs:
            isWhole = Self.isAbridged(userInfo)
            mergedIDs = Array(userInfo[NSUpdatedObjectIDsKey] as? Set<NSManagedObjectID> ?? [])
            deletedIDs = Array(userInfo[NSDeletedObjectIDsKey] as? Set<NSManagedObjectID> ?? [])
            return
        case .NSManagedObjectContextDidSave: isSave = true
        default: isWhole = userInfo[NSInvalidatedAllObjectsKey] != nil
        }
        for key in Self.keys {
            objects += userInfo[key] as? Set<NSManagedObject> ?? []
        }
    }

    private static let keys = [
        NSInsertedObjectsKey, NSUpdatedObjectsKey, NSRefreshedObjectsKey, NSDeletedObjectsKey,
        NSInvalidatedObjectsKey,
    ]

    /// Whether a merge was so large that the context refreshed what it has, without a word of what
    /// is new.
    private static func isAbridged(_ userInfo: [AnyHashable: Any]) -> Bool {
        let count = [NSInsertedObjectIDsKey, NSUpdatedObjectIDsKey, NSDeletedObjectIDsKey]
            .map { (userInfo[$0] as? Set<NSManagedObjectID>)?.count ?? 0 }.reduce(0, +)
        return count > NSManagedObjectContext.mergeCountMax
    }
}

/// Hands a context's notifications to whoever keeps results, on the context's queue, until it ends.
final class ContextObservation {
    private let tokens: [any NSObjectProtocol]

    init(of context: NSManagedObjectContext, handler: @escaping (ResultEvent) -> Void) {
        let names: [Notification.Name] = [
            .NSManagedObjectContextObjectsDidChange, .NSManagedObjectContextDidSave,
            .NSManagedObjectContextDidMergeChangesObjectIDs,
        ]
        // Posted on the context's queue, where the handler belongs.
        let handler = UncheckedTransfer(handler)
        tokens = names.map { name in
            NotificationCenter.default.addObserver(forName: name, object: context, queue: nil) {
                handler.value(ResultEvent($0))
            }
        }
    }

    deinit { for token in tokens { NotificationCenter.default.removeObserver(token) } }
}
