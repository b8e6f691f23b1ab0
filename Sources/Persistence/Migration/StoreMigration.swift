internal import Foundation
internal import ObjectModel
internal import Platform
internal import Predicates
internal import SQLiteStore
internal import Stores

/// One migration of a manager: opens both stores, follows the mapping in three passes, and puts the
/// new store in its place.
struct StoreMigration {
    let manager: NSMigrationManager
    let mapping: NSMappingModel
    let source: StoreParameters
    let destination: StoreParameters

    func run() throws {
        manager.reset()
        defer { manager.work = nil }
        let former = try openSource()
        let place = try destinationPlace()
        if FileKind(at: place.path) != .nothing, try !isBlank(place) {
            return try fill(destination, from: former)
        }
        try makeNew(at: place, from: former)
    }

    private func isBlank(_ place: URL) throws -> Bool {
        try StoreFileType(destination.type).firstTaken(at: place) == nil
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
            try coordinator.addPersistentStore(
                ofType: parameters.type, configurationName: parameters.configuration,
                at: parameters.url, options: parameters.options)
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
        do {
            // The draft closes with its coordinator.
            try fill(writing, from: former)
            if let path = source.file?.path { FileAccess(of: path).apply(to: draft.path) }
            try manager.platform.faults.reach("migrate.filled")
            try file.place(draft, at: place, platform: manager.platform)
        } catch {
            file.discard(draft)
            throw PersistenceErrors.translate(error)
        }
    }

    private func fill(
        _ parameters: StoreParameters, from former: NSPersistentStoreCoordinator
    ) throws {
        var writing = parameters
        writing.options = Self.withoutMigration(parameters.options)
        writing.options?[AnyHashable(NSReadOnlyPersistentStoreOption)] = nil
        // What was done to other objects is no history of these.
        writing.options?[AnyHashable(NSPersistentHistoryTrackingKey)] = nil
        let coordinator = try opened(
            writing, failure: NSMigrationManagerDestinationStoreError)
        try migrate(from: former, to: coordinator)
        try handOnMetadata(from: former, to: coordinator)
        for store in coordinator.persistentStores { try coordinator.remove(store) }
    }

    private func handOnMetadata(
        from former: NSPersistentStoreCoordinator, to coordinator: NSPersistentStoreCoordinator
    ) throws {
        guard let old = former.persistentStores.first, let new = coordinator.persistentStores.first
        else { return }
        func isOwn(_ key: String) -> Bool {
            ["NSStore", "_NS", "NSPersistence"].contains(where: key.hasPrefix)
        }
        let kept = try new.rowStore.metadata().filter { !isOwn($0.key) }
        let given = try old.rowStore.metadata().filter { !isOwn($0.key) }
        if !given.isEmpty { try new.rowStore.setMetadata(given.merging(kept) { $1 }) }
    }

    // MARK: The three passes

    private func migrate(
        from former: NSPersistentStoreCoordinator, to coordinator: NSPersistentStoreCoordinator
    ) throws {
        guard let mappings = mapping.entityMappings, let first = mappings.first else {
            throw MigrationErrors.missingMapping(
                manager.sourceModel, manager.destinationModel, because: nil)
        }
        let contexts = [former, coordinator].map { coordinator in
            let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            context.persistentStoreCoordinator = coordinator
            return context
        }
        manager.work = .init(
            mapping: mapping, source: contexts[0], destination: contexts[1], current: first)
        try contexts[0].performAndWait {
            try contexts[1].performAndWait {
                let policies = try mappings.map(MigrationPolicies.policy)
                try createInstances(Array(zip(mappings, policies)))
                try createRelationships(Array(zip(mappings, policies)))
                try validate(Array(zip(mappings, policies)))
                try contexts[1].save()
                manager.note(progress: 1)
            }
        }
    }

    private typealias Step = (mapping: NSEntityMapping, policy: NSEntityMigrationPolicy)

    private func createInstances(_ steps: [Step]) throws {
        for (index, step) in steps.enumerated() {
            manager.work?.current = step.mapping
            try manager.checkCancellation()
            try step.policy.begin(step.mapping, with: manager)
            let objects = try sourceObjects(of: step.mapping)
            for (count, object) in objects.enumerated() {
                try manager.checkCancellation()
                try step.policy.createDestinationInstances(
                    forSource: object, in: step.mapping, manager: manager)
                note(pass: 0, index, of: steps.count, Float(count + 1) / Float(objects.count))
            }
            try step.policy.endInstanceCreation(forMapping: step.mapping, manager: manager)
            note(pass: 0, index, of: steps.count, 1)
        }
    }

    private func createRelationships(_ steps: [Step]) throws {
        for (index, step) in steps.enumerated() {
            manager.work?.current = step.mapping
            let made = manager.destinationInstances(
                forEntityMappingName: step.mapping.name ?? "", sourceInstances: nil)
            for (count, object) in made.enumerated() {
                try manager.checkCancellation()
                try step.policy.createRelationships(
                    forDestination: object, in: step.mapping, manager: manager)
                note(pass: 1, index, of: steps.count, Float(count + 1) / Float(made.count))
            }
            try step.policy.endRelationshipCreation(forMapping: step.mapping, manager: manager)
            note(pass: 1, index, of: steps.count, 1)
        }
    }

    private func validate(_ steps: [Step]) throws {
        for (index, step) in steps.enumerated() {
            manager.work?.current = step.mapping
            try manager.checkCancellation()
            try step.policy.performCustomValidation(forMapping: step.mapping, manager: manager)
            try step.policy.end(step.mapping, manager: manager)
            note(pass: 2, index, of: steps.count, 1)
        }
        try manager.checkCancellation()
    }

    /// Making objects counts for a half of the way, linking for three tenths.
    private func note(pass: Int, _ index: Int, of count: Int, _ part: Float) {
        let ranges: [(start: Float, length: Float)] = [(0, 0.5), (0.5, 0.3), (0.8, 0.1)]
        let (start, length) = ranges[pass]
        manager.note(progress: start + length * (Float(index) + part) / Float(count))
    }

    // MARK: Source objects

    private func sourceObjects(of mapping: NSEntityMapping) throws -> [NSManagedObject] {
        guard
            ![.addEntityMappingType, .removeEntityMappingType].contains(mapping.mappingType)
        else { return [] }
        guard let expression = mapping.sourceExpression else {
            guard let entity = manager.sourceEntity(for: mapping) else { return [] }
            let request = NSFetchRequest<NSManagedObject>(entity: entity)
            request.includesSubentities = false
            return try manager.sourceContext.fetch(request)
        }
        var node = expression.node
        if case .function(FunctionName.fetch, let arguments) = node, let request = arguments.first {
            node = request
        }
        let variables: [String: Any?] = [
            NSMigrationManagerKey: manager, NSMigrationEntityMappingKey: mapping,
        ]
        let value = try Predicates.value(of: node, with: nil, variables: variables)
        if let request = value as? NSFetchRequest<NSManagedObject> {
            return try manager.sourceContext.fetch(request)
        }
        return (listElements(of: value) ?? []).compactMap { $0 as? NSManagedObject }
    }
}
