internal import Foundation
internal import Persistence
internal import Platform

/// Stores that leave the coordinator: removed, destroyed, or moved to another place.
extension NSPersistentCloudKitContainer {
    /// A mirror ends with its store, since another user's may be at the same place next.
    final func observeRemovals() {
        removals.withLock { observer in
            guard observer == nil else { return }
            observer = RemovalObserver { [weak self] store in self?.removed(store) }
        }
    }

    /// Others than its own coordinator's stores have no mirror here.
    private func removed(_ store: NSPersistentStore) {
        guard store.persistentStoreCoordinator === persistentStoreCoordinator else { return }
        awaiting.withLock { _ = $0.removeValue(forKey: store.identifier) }
        unmirrored.withLock { _ = $0.remove(store.identifier) }
        removeMirror(of: store.identifier)?.leave()
    }
}

/// Hears of stores that are about to leave a coordinator, until it goes.
final class RemovalObserver: @unchecked Sendable {
    // @unchecked: written once, when it is made.
    private let token: any NSObjectProtocol

    init(_ heard: @escaping @Sendable (NSPersistentStore) -> Void) {
        token = NotificationCenter.default.addObserver(
            forName: .NSPersistentStoreCoordinatorWillRemoveStore, object: nil, queue: nil
        ) { notification in
            guard let store = notification.object as? NSPersistentStore else { return }
            heard(store)
        }
    }

    deinit { NotificationCenter.default.removeObserver(token) }
}
