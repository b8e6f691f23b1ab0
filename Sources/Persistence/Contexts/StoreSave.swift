internal import Foundation
internal import ObjectModel
internal import Stores

/// One save of a root context: store by store, asking the merge policy where others were faster.
struct StoreSave {
    let context: NSManagedObjectContext
    let coordinator: NSPersistentStoreCoordinator
    /// What was written so far, also where a later store failed.
    private(set) var saved = SavedObjects()

    init(context: NSManagedObjectContext, coordinator: NSPersistentStoreCoordinator) {
        self.context = context
        self.coordinator = coordinator
    }

    mutating func run() throws {
        try coordinator.reserveRows(for: context.pending.objects(.inserted))
        for store in try stores() {
            do {
                try save(to: store)
            } catch {
                throw PersistenceErrors.translate(error)
            }
        }
    }

    /// The stores that have a part in the save.
    private func stores() throws -> [NSPersistentStore] {
        var stores: [NSPersistentStore] = []
        for object in context.pending.objects where object.isPending {
            if let last = stores.last, object.objectID.isOf(last) { continue }
            guard let store = object.objectID.persistentStore else {
                throw PersistenceErrors.noStore(for: object.entity.name ?? "")
            }
            if stores.contains(where: { $0 === store }) { continue }
            guard !store.isReadOnly else { throw PersistenceErrors.readOnly(store) }
            guard store.persistentStoreCoordinator === coordinator else {
                throw PersistenceErrors.noStore(for: object.entity.name ?? "")
            }
            stores.append(store)
        }
        return stores
    }

    private mutating func save(to store: NSPersistentStore) throws {
        let resolution = ConflictResolution(context: context, store: store)
        // Each round resolves at least one conflict; others may appear meanwhile.
        for _ in 0...context.pending.objects.count + 16 {
            let gathered = try gather(store)
            do {
                let outcome = try write(gathered, to: store)
                return commit(gathered, outcome, store)
            } catch let conflicts as SaveConflicts {
                try resolution.resolve(conflicts)
            } catch let violation as UniquenessViolation {
                try resolution.resolve(violation)
            }
        }
        throw PersistenceErrors.make(
            NSPersistentStoreSaveConflictsError,
            "The conflicts of the save could not be resolved; refresh the objects and save again.")
    }

    /// The IDs of new rows are permanent before others can see the rows, and temporary again where
    /// the rows were not written.
    private func write(
        _ gathered: ChangeSetBuilder, to store: NSPersistentStore
    ) throws -> SaveOutcome {
        let fresh = gathered.written.filter { $0.isInserted && $0.objectID.isTemporaryID }
        for object in fresh { store.publish(object.objectID) }
        do {
            return try store.write(gathered, of: context)
        } catch {
            for object in fresh { object.objectID.becomeReserved() }
            throw error
        }
    }

    private func gather(_ store: NSPersistentStore) throws -> ChangeSetBuilder {
        try coordinator.reserveRows(for: context.pending.objects(.inserted))
        var gathering = ChangeSetBuilder(
            store: store, author: context.transactionAuthor, contextName: context.name)
        for object in context.pending.objects
        where object.isPending && object.objectID.isOf(store) {
            try gathering.add(object)
        }
        return gathering
    }

    private mutating func commit(
        _ gathered: ChangeSetBuilder, _ outcome: SaveOutcome, _ store: NSPersistentStore
    ) {
        for object in gathered.written { saved.add(object) }
        var versions = WrittenVersions(outcome)
        for object in gathered.written where !object.isDeleted && !object.isInserted {
            commit(object, &versions)
        }
        for object in gathered.written where !object.isDeleted && object.isInserted {
            context.registry.reindex(object)
            commit(object, &versions)
        }
        clearLinks(outcome, &versions, known: gathered.written, store)
        for (row, values) in outcome.derivedValues {
            guard let id = store.knownID(row), let object = context.registry.object(id) else {
                continue
            }
            object.take(derived: values)
        }
        if store.announcesChanges { coordinator.postRemoteChange(of: store) }
    }

    /// The store took links to deleted rows out of rows that the save need not have named.
    private mutating func clearLinks(
        _ outcome: SaveOutcome, _ versions: inout WrittenVersions, known: [NSManagedObject],
        _ store: NSPersistentStore
    ) {
        guard !outcome.clearedLinks.isEmpty else { return }
        let known = Set(known.map(ObjectIdentifier.init))
        for (row, slots) in outcome.clearedLinks.sorted(by: { $0.key < $1.key }) {
            let object = context.object(with: store.id(for: row))
            if !known.contains(ObjectIdentifier(object)) { saved.updated.append(object) }
            guard !object.isFault, let version = versions.version(of: row) else {
                object.snapshot = nil
                continue
            }
            object.takeCleared(slots, version: version)
            context.pending.note(.refreshedNow, of: object)
        }
    }

    private func commit(_ object: NSManagedObject, _ versions: inout WrittenVersions) {
        guard let row = object.reservedRow else { return }
        object.commit(version: versions.version(of: row) ?? object.snapshot?.version ?? 1)
        object.state.subtract([.inserted, .updated])
    }
}

/// The versions a store wrote, read in the order in which it wrote them; any other order works too.
private struct WrittenVersions {
    private let written: [(id: RowID, version: Int64)]
    private var next = 0
    private lazy var byRow: [RowID: Int64] = Dictionary(
        written.map { ($0.id, $0.version) }, uniquingKeysWith: { $1 })

    init(_ outcome: SaveOutcome) { written = outcome.written }

    mutating func version(of row: RowID) -> Int64? {
        if next < written.count, written[next].id == row {
            next += 1
            return written[next - 1].version
        }
        return byRow[row]
    }
}
