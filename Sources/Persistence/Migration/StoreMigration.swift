internal import Foundation
internal import ObjectModel
internal import Platform
internal import SQLiteStore
internal import Stores

/// One migration of a manager: opens both stores, follows the mapping in three passes, and puts the
/// new store in its place.
struct StoreMigration {
    let manager: NSMigrationManager
    let mapping: NSMappingModel
    let source: StoreParameters
    let destination: StoreParameters
    /// Whether the destination is a draft that nobody knows, to which this migration adds a part.
    var addsToDraft = false

    func run() throws {
        manager.reset()
        defer { manager.end() }
        try manager.checkCancellation()
        let former = try openSource()
        let place = try destinationPlace()
        if FileKind(at: place.path) != .nothing, try !isBlank(place) {
            try fill(destination, from: former, isDraft: addsToDraft)
            return
        }
        try makeNew(at: place, from: former)
    }

    private func isBlank(_ place: URL) throws -> Bool {
        try StoreFileType(destination.type).firstTaken(at: place) == nil
    }

    /// Throws where the source has objects of an entity that no mapping names: they would be lost
    /// without a word. A manager that is asked to may migrate a part of a store, as with Apple; a
    /// migration that puts a new store in the place of the old one may not.
    func refuseLosing(by mappings: [NSMappingModel]) throws {
        let coverage = MappingCoverage(mappings)
        guard let store = try openSource().persistentStores.first else { return }
        try (store.rowStore as? SQLiteRowStore)?.checkEntityNumbers()
        let layout = store.rowStore.layout
        for entity in manager.sourceModel.entities where !coverage.names(entity) {
            guard let own = layout.entity(named: entity.name ?? "") else { continue }
            var query = RowQuery(entity: own.number)
            query.includesSubentities = false
            let count = try store.rowStore.count(matching: query)
            guard count == 0 else {
                throw MigrationErrors.unmapped(
                    own.name, count, manager.sourceModel, manager.destinationModel)
            }
        }
    }

    // MARK: Stores

    private func openSource() throws -> NSPersistentStoreCoordinator {
        var reading = source
        reading.options = Self.withoutMigration(source.options)
        reading.options?[AnyHashable(NSReadOnlyPersistentStoreOption)] = true
        guard source.type != NSInMemoryStoreType, reading.file != nil else {
            throw PersistenceErrors.make(
                NSMigrationManagerSourceStoreError,
                "A store in memory cannot be the source of a migration; move it into a file with "
                    + "migratePersistentStore first.")
        }
        return try opened(reading, failure: NSMigrationManagerSourceStoreError)
    }

    private func destinationPlace() throws -> URL {
        guard destination.type != NSInMemoryStoreType, let place = destination.file else {
            throw PersistenceErrors.make(
                NSMigrationManagerDestinationStoreError,
                "A migration needs a file for its destination; a store in memory would be gone "
                    + "with the manager.")
        }
        let paths = [place, source.file].map { $0?.resolvingSymlinksInPath().path }
        guard paths[0] != paths[1] else {
            throw PersistenceErrors.make(
                NSMigrationManagerDestinationStoreError,
                "The destination is the source; migrate to another place, and replace the store "
                    + "with replacePersistentStore.", [NSFilePathErrorKey: place.path])
        }
        return place
    }

    private func opened(
        _ parameters: StoreParameters, failure: Int
    ) throws -> NSPersistentStoreCoordinator {
        let coordinator = NSPersistentStoreCoordinator(
            model: parameters.model, platform: parameters.platform)
        do {
            try coordinator.add(parameters)
        } catch {
            throw PersistenceErrors.make(
                failure, "The store cannot be opened: \((error as NSError).localizedDescription)",
                [NSUnderlyingErrorKey: error, NSFilePathErrorKey: parameters.url?.path ?? ""])
        }
        return coordinator
    }

    static func withoutMigration(_ options: [AnyHashable: Any]?) -> [AnyHashable: Any] {
        let dropped = [
            NSMigratePersistentStoresAutomaticallyOption, NSInferMappingModelAutomaticallyOption,
            NSPersistentStoreStagedMigrationManagerOptionKey,
        ]
        return (options ?? [:]).filter { !dropped.map(AnyHashable.init).contains($0.key) }
    }

    /// The new store is filled under another name and gets its place when it is whole.
    private func makeNew(at place: URL, from former: NSPersistentStoreCoordinator) throws {
        let file = try StoreFileType(destination.type)
        let draft = StoreFileType.draft(of: place, platform: manager.platform)
        var writing = destination
        writing.url = draft
        writing.access = source.file.map { FileAccess(of: $0.path) }
        do {
            // The draft closes with the coordinator and the contexts that filled it.
            let rows = try fill(writing, from: former, isDraft: true)
            manager.work = nil
            writing.access?.apply(to: draft.path)
            try manager.platform.faults.reach("migrate.filled")
            // A policy may have kept an object, and with it the connections.
            try file.place(
                draft, at: place, isStillOpen: rows.present != nil, platform: manager.platform)
        } catch {
            file.discard(draft)
            throw PersistenceErrors.translate(error)
        }
    }

    /// The rows of a store, for as long as somebody else has them.
    private struct FilledRows {
        weak var present: (any RowStore)?
    }

    @discardableResult
    private func fill(
        _ parameters: StoreParameters, from former: NSPersistentStoreCoordinator, isDraft: Bool
    ) throws -> FilledRows {
        var writing = parameters
        writing.options = Self.withoutMigration(parameters.options)
        writing.options?[AnyHashable(NSReadOnlyPersistentStoreOption)] = nil
        // What was done to other objects is no history of these.
        writing.options?[AnyHashable(NSPersistentHistoryTrackingKey)] = nil
        let coordinator = try opened(
            writing, failure: NSMigrationManagerDestinationStoreError)
        // A file that is written as a whole takes its objects at once.
        try migrate(
            from: former, to: coordinator,
            writesBatches: isDraft && parameters.type == NSSQLiteStoreType)
        try handOnMetadata(from: former, to: coordinator)
        let rows = FilledRows(present: coordinator.persistentStores.first?.rowStore)
        for store in coordinator.persistentStores { try coordinator.remove(store) }
        if isDraft { try handOnMirror(from: former, to: writing) }
        return rows
    }

    private func handOnMetadata(
        from former: NSPersistentStoreCoordinator, to coordinator: NSPersistentStoreCoordinator
    ) throws {
        guard let old = former.persistentStores.first, let new = coordinator.persistentStores.first
        else { return }
        let kept = try new.rowStore.metadata().filter { !StoreMetadataKey.isOwn($0.key) }
        let given = try old.rowStore.metadata().filter { !StoreMetadataKey.isOwn($0.key) }
        if !given.isEmpty { try new.rowStore.setMetadata(given.merging(kept) { $1 }) }
    }

    // MARK: The way

    /// `writesBatches`: whether new objects may be written before all is done, since nobody can see
    /// the new store.
    private func migrate(
        from former: NSPersistentStoreCoordinator, to coordinator: NSPersistentStoreCoordinator,
        writesBatches: Bool
    ) throws {
        guard let mappings = mapping.entityMappings, let first = mappings.first,
            let old = Self.side(of: former), let new = Self.side(of: coordinator)
        else {
            throw MigrationErrors.missingMapping(
                manager.sourceModel, manager.destinationModel, because: nil)
        }
        stopAtMissingValues(of: old.store, mappings)
        manager.work = .init(mapping: mapping, source: old, destination: new, current: first)
        let writer = DestinationWriter(
            new, batchSize: manager.batchSize, writesBatches: writesBatches)
        do {
            try old.context.performAndWait {
                try new.context.performAndWait {
                    try MigrationPasses(mappings, manager, writer).run()
                }
            }
        } catch let stop as MissingValueStop {
            throw try stop.refusal(from: old.store.rowStore)
        }
    }

    private static func side(of coordinator: NSPersistentStoreCoordinator) -> MigrationSide? {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return coordinator.persistentStores.first.map { MigrationSide(context: context, store: $0) }
    }
}
