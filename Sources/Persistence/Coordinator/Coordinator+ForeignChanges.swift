internal import Foundation
internal import Platform
internal import SQLiteStore
internal import Stores

// Word from other processes.
extension NSPersistentStoreCoordinator {
    /// Looks whether others wrote to this coordinator's stores: other processes, or other
    /// coordinators of this one. For each store they did, posts `NSPersistentStoreRemoteChange` and
    /// lets the contexts that merge by themselves refresh. Returns whether there was any. Not at
    /// Apple.
    ///
    /// Stores opened with `NSPersistentStoreRemoteChangeNotificationPostOptionKey` are looked at by
    /// themselves, soon after somebody wrote; call it for others, or to be sure. May be called from
    /// any thread. Throws 134090 and 134180 where a store cannot be looked at. Cost: a look at
    /// shared memory for each store; where others saved, O(their changes).
    @discardableResult
    public final func processForeignChanges() throws -> Bool {
        var found = false
        for store in persistentStores where try processForeignChanges(of: store) { found = true }
        return found
    }

    private func processForeignChanges(of store: NSPersistentStore) throws -> Bool {
        guard let rows = store.rowStore as? SQLiteRowStore,
            let transactions = try translating({ try rows.foreignTransactions() })
        else { return false }
        guard !transactions.isEmpty else {
            storeDidChangeThroughout(store)
            return true
        }
        let changes = transactions.flatMap(\.changes)
        func ids(_ kind: HistoryChange.Kind) -> [RowID] {
            changes.filter { $0.kind == kind }.map(\.id)
        }
        let deleted = Set(ids(.delete))
        storeDidChange(
            store, inserted: ids(.insert).filter { !deleted.contains($0) },
            updated: Set(ids(.update)).subtracting(deleted).sorted { $0.key < $1.key },
            deleted: ids(.delete))
        return true
    }

    /// For changes that no history names: contexts that merge by themselves read all anew.
    private func storeDidChangeThroughout(_ store: NSPersistentStore) {
        for context in contexts
        where context.parent == nil && context.automaticallyMergesChangesFromParent {
            context.queue.enqueue {
                context.pin?.advance()
                context.refreshAllObjects()
                context.processPendingChanges()
            }
        }
        postRemoteChange(of: store)
    }

    // MARK: Watching

    /// Begins to look by itself, where the store's options ask for it; ends a former watch.
    func watch(_ store: NSPersistentStore) {
        store.watch(with: nil)
        guard store.announcesChanges, let url = (store.rowStore as? SQLiteRowStore)?.url else {
            return
        }
        let path = url.resolvingSymlinksInPath().path
        let watch = platform.watcher.watch([path, path + "-wal"]) { [weak self, weak store] in
            guard let self, let store, store.persistentStoreCoordinator === self else {
                return true
            }
            // A store that is busy is looked at again.
            return (try? self.processForeignChanges(of: store)) ?? false
        }
        store.watch(with: watch)
    }

    /// Ends what goes on for a store that leaves. Its file is made whole without the log, since
    /// programs copy it now; where others work with it, they do so later.
    func endWork(of store: NSPersistentStore) {
        store.watch(with: nil)
        store.rowStore.endSnapshots()
        guard let rows = store.rowStore as? SQLiteRowStore else { return }
        rows.closeIdleReaders()
        if !store.isReadOnly { try? rows.emptyLog() }
    }
}
