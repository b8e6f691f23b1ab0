internal import Foundation
internal import ObjectModel
internal import SQLiteStore
internal import Stores

/// The migration of a store that is being opened, as its options ask for it.
struct AutomaticMigration {
    private let parameters: StoreParameters

    init(_ parameters: StoreParameters) { self.parameters = parameters }

    /// Migrates the store to the model it is opened with. False where nobody asked for it, or where
    /// it is not the version that keeps the store from being opened.
    func run() throws -> Bool {
        guard let url = parameters.file, !parameters.isReadOnly,
            [NSSQLiteStoreType, NSXMLStoreType, NSBinaryStoreType].contains(parameters.type)
        else { return false }
        let metadata = try StoreFileType(parameters.type).metadata(at: url)
        let model = parameters.model
        guard
            !model.isConfiguration(
                withName: parameters.configuration, compatibleWithStoreMetadata: metadata)
        else { return false }
        if let staged = parameters.stagedMigration {
            try StagedMigration(staged, parameters, url).run()
            return true
        }
        guard parameters.flag(NSMigratePersistentStoresAutomaticallyOption) ?? false else {
            return false
        }
        guard let source = Self.sourceModel(of: parameters, metadata, among: []) else {
            throw MigrationErrors.missingSourceModel(url, metadata)
        }
        try migrate(at: url, from: source, to: model)
        return true
    }

    private func migrate(
        at url: URL, from source: NSManagedObjectModel, to model: NSManagedObjectModel
    ) throws {
        let mapping =
            NSMappingModel(from: Bundle.allBundles, forSourceModel: source, destinationModel: model)
            ?? ModelSearch.mappingModels.first { $0.fits(source, model) }
        if let mapping { return try replace(url, from: source, to: model, mapping) }
        guard parameters.flag(NSInferMappingModelAutomaticallyOption) ?? false else {
            throw MigrationErrors.missingMapping(source, model, because: nil)
        }
        try migrateLightly(at: url, from: source, to: model)
    }

    /// Migrates by what follows from the models alone: a SQLite store within its file, others by a
    /// new file in place of the old.
    func migrateLightly(
        at url: URL, from source: NSManagedObjectModel, to model: NSManagedObjectModel
    ) throws {
        let configuration = parameters.configuration.flatMap {
            model.entities(forConfigurationName: $0) == nil ? nil : $0
        }
        let inferred: InferredMapping
        do {
            inferred = try InferredMapping(
                from: source.entities,
                to: model.entities(forConfigurationName: configuration) ?? [])
        } catch let refusal as InferenceRefusal {
            throw MigrationErrors.missingMapping(
                source, model, because: MigrationErrors.notInferred(refusal))
        }
        guard parameters.type == NSSQLiteStoreType else {
            return try replace(url, from: source, to: model, NSMappingModel(inferred))
        }
        MigrationTrace.tell(url, from: source, to: model, NSMappingModel(inferred))
        do {
            try SQLiteRowStore.upgrade(
                url, from: source, to: model, configuration: configuration, mapping: inferred,
                options: parameters.sqliteOptions, platform: parameters.platform,
                defaults: { AttributeCoding.accept($0.defaultValue, for: $0) ?? .null })
        } catch {
            throw MigrationErrors.failed(url, because: error)
        }
    }

    /// Makes the new store beside the old one, and puts it in its place in one step.
    private func replace(
        _ url: URL, from source: NSManagedObjectModel, to model: NSManagedObjectModel,
        _ mapping: NSMappingModel
    ) throws {
        MigrationTrace.tell(url, from: source, to: model, mapping)
        let file = try StoreFileType(parameters.type)
        let draft = StoreFileType.draft(of: url, platform: parameters.platform)
        defer { file.discard(draft) }
        do {
            let manager = NSMigrationManager(sourceModel: source, destinationModel: model)
            manager.platform = parameters.platform
            var reading = parameters
            reading.model = source
            reading.configuration = parameters.configuration.flatMap {
                source.entities(forConfigurationName: $0) == nil ? nil : $0
            }
            var writing = parameters
            writing.url = draft
            try StoreMigration(
                manager: manager, mapping: mapping, source: reading, destination: writing
            ).run()
            try file.replace(
                url, with: draft, timeout: parameters.sqliteOptions.busyMilliseconds,
                platform: parameters.platform)
        } catch {
            throw MigrationErrors.failed(url, because: error)
        }
    }

    // MARK: The model the store was made with

    /// Looks in the store itself, among `models` and those in use, and among the program's
    /// resources; nil where none fits the store's hashes.
    static func sourceModel(
        of parameters: StoreParameters, _ metadata: [String: Any],
        among models: [NSManagedObjectModel]
    ) -> NSManagedObjectModel? {
        if parameters.type == NSSQLiteStoreType, let url = parameters.file,
            let cached = try? SQLiteRowStore.cachedModel(at: url),
            let fitting = NSManagedObjectModel(byMerging: [cached], forStoreMetadata: metadata)
        {
            return fitting
        }
        for model in models + KnownClasses.models {
            if let fitting = NSManagedObjectModel(byMerging: [model], forStoreMetadata: metadata) {
                return fitting
            }
        }
        return NSManagedObjectModel.mergedModel(
            from: Bundle.allBundles, forStoreMetadata: metadata)
            ?? ModelSearch.model(forStoreMetadata: metadata)
    }
}

extension StoreParameters {
    var stagedMigration: NSStagedMigrationManager? {
        options?[NSPersistentStoreStagedMigrationManagerOptionKey] as? NSStagedMigrationManager
    }
}
