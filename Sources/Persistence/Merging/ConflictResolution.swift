internal import Foundation
internal import Stores

/// Brings a store's refusals before the context's merge policy.
struct ConflictResolution {
    let context: NSManagedObjectContext
    let store: NSPersistentStore

    /// Settles what it can; throws what the policy throws.
    func resolve(_ conflicts: SaveConflicts) throws {
        var open: [NSMergeConflict] = []
        for conflict in conflicts.conflicts {
            guard let id = store.knownID(conflict.id), let object = context.registry.object(id)
            else {
                continue
            }
            if conflict.stored == nil && object.isDeleted {
                context.dropDeleted(object)
                continue
            }
            let merge = NSMergeConflict(object, stored: conflict.stored.map(store.snapshot))
            if merge.concernsOnlyMembers {
                merge.settle(.mergeByPropertyObjectTrumpMergePolicyType)
            } else {
                open.append(merge)
            }
        }
        guard !open.isEmpty else { return }
        try context.settings.mergePolicy.resolve(mergeConflicts: open)
        for conflict in open { conflict.accept() }
    }

    func resolve(_ violation: UniquenessViolation) throws {
        guard let object = pendingObject(violation.id) else { throw violation }
        let holder = violation.holder.flatMap { row in
            pendingObject(row) ?? context.object(with: store.id(for: row))
        }
        let isStored = holder.map { !$0.isInserted } ?? false
        if isStored { holder?.willAccessValue(forKey: nil) }
        let conflict = NSConstraintConflict(
            constraint: violation.constraint, database: isStored ? holder : nil,
            databaseSnapshot: isStored ? holder?.snapshot.flatMap { holder?.values(of: $0) } : nil,
            conflicting: isStored || holder == nil ? [object] : [holder, object].compactMap { $0 },
            conflictingSnapshots: [])
        try context.settings.mergePolicy.resolve(mergeConflicts: [conflict])
    }

    private func pendingObject(_ row: RowID) -> NSManagedObject? {
        context.pending.objects.first {
            $0.identity?.reservedRow == row && $0.objectID.persistentStore === store
        }
    }
}
