internal import Stores

/// An object that was here when a fetch found its row, and the row.
struct RefetchedObject {
    let object: NSManagedObject
    let row: ObjectSnapshot

    /// Whether the row is another than the one the object shows, below its changes.
    var isNews: Bool {
        guard let shown = object.snapshot else { return false }
        return shown.version != row.version || shown.attributes != row.attributes
            || !shown.toOnes.elementsEqual(row.toOnes, by: ===)
    }
}

// Fetches whose objects are to show what was found (`shouldRefreshRefetchedObjects`).
extension NSManagedObjectContext {
    /// Has objects that are here show the rows a fetch found, as `refresh(_:mergeChanges:)` does:
    /// their changes stay, as if they had been made upon those.
    final func refresh(_ refetched: [RefetchedObject]) {
        var news: [RefetchedObject] = []
        for found in refetched {
            guard !found.object.isFault, found.isNews else {
                // Members are read anew all the same.
                found.object.rebase(onto: found.row)
                continue
            }
            found.object.show(stored: found.row)
            news.append(found)
        }
        // Rivals are read, so only once all show their rows.
        for found in news {
            pending.note(.refreshedNow, of: found.object)
            found.object.settleUponRow()
            found.object.awake(fromSnapshotEvents: .refresh)
        }
        if !news.isEmpty { scheduleProcessing() }
    }
}

extension NSManagedObject {
    /// Shows a row below the object's own changes; owners whose members were read follow, and
    /// observers are told. `others` are shown their rows by the caller.
    final func show(stored row: ObjectSnapshot, beside others: Set<Reference> = []) {
        let shown = toOnes
        observing { rebase(onto: row) }
        letEndsFollow(from: shown, but: others)
    }

    /// Once the object shows another row: what its changes did to others, they do to those that
    /// the row leads to by now. A deletion does so when it is saved: until then it may be undone,
    /// and to read anew is nothing that can be.
    final func settleUponRow() {
        if isDeleted { context?.pending.moved.append(self) } else { _ = letGoOfRivals() }
    }
}
