internal import Foundation
internal import Persistence
internal import Platform

/// Stores that leave the coordinator: removed, destroyed, or moved to another place.
extension NSPersistentCloudKitContainer {
    /// A mirror ends with its store, since another user's may be at the same place next.
    final func observeRemovals() {
        removals.withLock { observer in
            guard observer == nil else { return }
            observer = RemovalObserver(
                of: persistentStoreCoordinator,
                removed: { [weak self] store in self?.removed(store) },
                moved: { [weak self] former, store in self?.moved(former, to: store) })
        }
    }

    private func removed(_ store: NSPersistentStore) {
        awaiting.withLock { _ = $0.removeValue(forKey: store.identifier) }
        unmirrored.withLock { _ = $0.remove(store.identifier) }
        removeMirror(of: store)?.leave()
    }

    /// The mirror of a store that was moved goes on at its new place; one that cannot be mirrored
    /// there keeps the container from being equal.
    private func moved(_ former: NSPersistentStore, to store: NSPersistentStore) {
        let options = mirror(of: former)?.options
        removed(former)
        guard let options else { return }
        try? startMirroring(store, with: options)
    }
}

/// Hears of stores that are about to leave a coordinator, and of those that moved, until it goes.
final class RemovalObserver: @unchecked Sendable {
    // @unchecked: written once, when it is made.
    private let tokens: [any NSObjectProtocol]

    init(
        of coordinator: NSPersistentStoreCoordinator,
        removed: @escaping @Sendable (NSPersistentStore) -> Void,
        moved: @escaping @Sendable (NSPersistentStore, NSPersistentStore) -> Void
    ) {
        let center = NotificationCenter.default
        tokens = [
            center.addObserver(
                forName: .NSPersistentStoreCoordinatorWillRemoveStore, object: nil, queue: nil
            ) { [weak coordinator] notification in
                guard let store = notification.object as? NSPersistentStore,
                    let coordinator, store.persistentStoreCoordinator === coordinator
                else { return }
                removed(store)
            },
            center.addObserver(
                forName: .NSPersistentStoreCoordinatorStoresDidChange, object: coordinator,
                queue: nil
            ) { notification in
                func first(_ key: String) -> NSPersistentStore? {
                    (notification.userInfo?[key] as? [NSPersistentStore])?.first
                }
                guard let former = first(NSRemovedPersistentStoresKey),
                    let store = first(NSAddedPersistentStoresKey)
                else { return }
                moved(former, store)
            },
        ]
    }

    deinit { for token in tokens { NotificationCenter.default.removeObserver(token) } }
}
