internal import Foundation
internal import ObjectModel
internal import Stores

/// One save of a root context: all stores together, asking the merge policy where others were
/// faster.
struct StoreSave {
    let context: NSManagedObjectContext
    let coordinator: NSPersistentStoreCoordinator
    /// What was written so far, also where a store failed after others had ended.
    private(set) var saved = SavedObjects()

    init(context: NSManagedObjectContext, coordinator: NSPersistentStoreCoordinator) {
        self.context = context
        self.coordinator = coordinator
    }

    mutating func run() throws {
        do {
            try runInRounds()
        } catch {
            throw PersistenceErrors.translate(error)
        }
    }

    private mutating func runInRounds() throws {
        var written: [NSPersistentStore] = []
        // Each round resolves at least one conflict; others may appear meanwhile.
        for _ in 0...context.pending.objects.count + 16 {
            let rest = try parts().filter { part in !written.contains { $0 === part.store } }
            let attempt = SaveAttempt(rest, of: context)
            let refusal = attempt.run()
            for part in attempt.written {
                written.append(part.store)
                commit(part.gathered, part.outcome, part.store)
            }
            guard let refusal else { return }
            try settle(refusal, of: attempt)
        }
        throw PersistenceErrors.make(
            NSPersistentStoreSaveConflictsError,
            "The conflicts of the save could not be resolved; refresh the objects and save again.")
    }

    /// Brings what a store refused before the merge policy, outside of all transactions.
    private func settle(_ refusal: any Error, of attempt: SaveAttempt) throws {
        // The policy may still ask for the rows of new objects.
        defer { attempt.releaseRows() }
        guard let store = attempt.refusing else { throw refusal }
        let resolution = ConflictResolution(context: context, store: store)
        switch refusal {
        case let conflicts as SaveConflicts: try resolution.resolve(conflicts)
        case let violation as UniquenessViolation:
            try resolution.resolve(violation)
            try context.prepareChangedByPolicy()
        default: throw refusal
        }
    }

    /// What each store has to write. Cost: one pass over the changed objects.
    private func parts() throws -> [StorePart] {
        let choice = StoreChoice(of: context.pending.changed, coordinator)
        var parts: [StorePart] = []
        var hasDeletions = false
        for object in context.pending.objects {
            if object.state.contains(.deleted) { hasDeletions = true }
            guard object.isPending else { continue }
            let store = try choice.store(for: object)
            if let last = parts.last, last.store === store {
                last.add(object)
                continue
            }
            let part = parts.first { $0.store === store } ?? StorePart(store)
            if part.objects.isEmpty { parts.append(part) }
            part.add(object)
        }
        for part in parts { part.hasDeletions = hasDeletions }
        return parts.count > 1 ? StorePart.inWritingOrder(parts) : parts
    }

    private mutating func commit(
        _ gathered: ChangeSetBuilder, _ outcome: SaveOutcome, _ store: NSPersistentStore
    ) {
        saved.add(gathered)
        if store.announcesChanges { saved.announcing.append(store) }
        for link in gathered.goneLinks { context.pending.note(.refreshedNow, of: link.clear()) }
        saved.transactions[store.identifier] = outcome.transactionNumber
        var versions = WrittenVersions(
            outcome, of: gathered.updated.count + gathered.inserted.count)
        for object in gathered.updated { commit(object, &versions) }
        context.registry.reindex(gathered.inserted)
        for object in gathered.inserted { commit(object, &versions) }
        clearLinks(outcome, &versions, known: gathered, store)
        for (row, values) in outcome.derivedValues {
            let space = store.space(row.entity)
            context.registry.object(row.key, in: space)?.take(derived: values)
        }
    }

    /// The store took links to deleted rows out of rows that the save need not have named.
    private mutating func clearLinks(
        _ outcome: SaveOutcome, _ versions: inout WrittenVersions, known: ChangeSetBuilder,
        _ store: NSPersistentStore
    ) {
        guard !outcome.clearedLinks.isEmpty else { return }
        let known = Set((known.written + known.touched).map(ObjectIdentifier.init))
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
        object.commit(version: versions.version(of: row) ?? object.storedVersion ?? 1)
        object.state.subtract([.inserted, .updated])
    }
}

/// The versions a store wrote last, read in the order in which it wrote them; others work too.
private struct WrittenVersions {
    private let written: [(id: RowID, version: Int64)]
    private var next = 0
    private lazy var byRow: [RowID: Int64] = Dictionary(
        written.map { ($0.id, $0.version) }, uniquingKeysWith: { $1 })

    /// `count` is how many rows the save named. Where more were written, a row may have been
    /// written twice, the second time for a link that was cleared.
    init(_ outcome: SaveOutcome, of count: Int) {
        written = outcome.written
        if written.count != count { next = written.count }
    }

    mutating func version(of row: RowID) -> Int64? {
        if next < written.count, written[next].id == row {
            next += 1
            return written[next - 1].version
        }
        return byRow[row]
    }
}
