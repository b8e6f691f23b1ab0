internal import SQLiteStore
internal import Stores

// Word from other processes.
extension NSPersistentStoreCoordinator {
    /// Looks whether other processes wrote to this coordinator's stores. For each store they did,
    /// posts `NSPersistentStoreRemoteChange` and lets the contexts that merge by themselves
    /// refresh. Returns whether there was any.
    ///
    /// Nothing looks by itself: call it on a timer, when the program comes to the front, or when a
    /// watcher of the folder sees the file ending in `-wal` change. May be called from any thread.
    /// Cost where nothing happened: a look at shared memory for each store.
    @discardableResult
    public final func processForeignChanges() throws -> Bool {
        var found = false
        for store in persistentStores {
            guard let rows = store.rowStore as? SQLiteRowStore,
                let transactions = try translating({ try rows.foreignTransactions() })
            else { continue }
            found = true
            let changes = transactions.flatMap(\.changes)
            func ids(_ kind: HistoryChange.Kind) -> [RowID] {
                changes.filter { $0.kind == kind }.map(\.id)
            }
            let deleted = Set(ids(.delete))
            storeDidChange(
                store, inserted: ids(.insert).filter { !deleted.contains($0) },
                updated: Set(ids(.update)).subtracting(deleted).sorted { $0.key < $1.key },
                deleted: ids(.delete))
        }
        return found
    }
}
