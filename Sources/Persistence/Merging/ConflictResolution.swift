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
            // An object that was read has no ID until somebody asks for it.
            let id = store.id(for: conflict.id)
            guard let object = context.registry.object(id) else {
                if conflict.stored == nil { context.pending.gone.append(id) }
                continue
            }
            // Nothing of it is to be saved: it is at the end of a link, or deleted here, too.
            if conflict.stored == nil && (object.isDeleted || !object.hasChanges) {
                context.dropDeleted(object)
                continue
            }
            let merge = NSMergeConflict(object, stored: conflict.stored.map(store.snapshot))
            if merge.concernsOnlyMembers {
                merge.resolve(.mergeByPropertyObjectTrumpMergePolicyType)
            } else {
                open.append(merge)
            }
        }
        guard !open.isEmpty else { return try context.forgetGoneWhileSaving() }
        try context.settle(open)
    }

    /// Brings all conflicts of the violated constraint before the policy at once.
    func resolve(_ violation: UniquenessViolation) throws {
        guard let layout = store.rowStore.layout.entity(named: violation.entity) else {
            throw violation
        }
        let search = ConstraintSearch(
            context: context, store: store, layout: layout, names: violation.constraint)
        let conflicts = try search.conflicts()
        guard !conflicts.isEmpty else { throw violation }
        try context.settings.mergePolicy.resolve(mergeConflicts: conflicts)
        context.propagateDeletions()
    }
}
