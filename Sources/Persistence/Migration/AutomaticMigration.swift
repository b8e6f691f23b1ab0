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
        let known = SourceVersions(of: parameters, metadata).best(of: KnownClasses.models)
        guard let source = known ?? Self.cachedModel(of: parameters, metadata) else {
            throw MigrationErrors.missingSourceModel(url, metadata)
        }
        let mappings = Self.mappings(from: source, to: model)
        if known == nil, mappings.isEmpty { try refuseNewer(source, metadata, url) }
        try MigrationBackup(parameters, at: url).makeIfWanted(of: metadata)
        try migrate(at: url, from: source, to: model, by: mappings)
        return true
    }

    /// Finishes what a stage of a staged migration has left, also where the store is of the version
    /// that it is opened with by now.
    func finishStage() throws {
        guard let staged = parameters.stagedMigration, let url = parameters.file,
            !parameters.isReadOnly, FileManager.default.fileExists(atPath: url.path)
        else { return }
        try StagedMigration(staged, parameters, url).finishStage()
    }

    /// Throws where the store, whose version the program does not know, came after the program's,
    /// and migrating it would lose what it holds: its identifier is a greater number, or the
    /// program has its versions in a bundle. Of versions that are known, identifiers say little:
    /// people forget to count them up.
    private func refuseNewer(
        _ source: NSManagedObjectModel, _ metadata: [String: Any], _ url: URL
    ) throws {
        let explanation = MigrationExplanation(
            source.entities,
            parameters.model.entities(forConfigurationName: parameters.configuration) ?? [])
        guard explanation.losesValues else { return }
        let isLater = VersionNumber(of: metadata).map { store in
            VersionNumber(parameters.model.versionIdentifiers).map { $0 < store } ?? false
        }
        guard isLater ?? false || ModelSearch.hasVersions(of: parameters.model) else { return }
        throw MigrationErrors.newerVersion(url, metadata, explanation)
    }

    private func migrate(
        at url: URL, from source: NSManagedObjectModel, to model: NSManagedObjectModel,
        by mappings: [NSMappingModel]
    ) throws {
        if !mappings.isEmpty { return try replace(url, from: source, to: model, mappings) }
        guard parameters.flag(NSInferMappingModelAutomaticallyOption) ?? false else {
            throw MigrationErrors.missingMapping(source, model, because: nil)
        }
        try migrateLightly(at: url, from: source, to: model)
    }

    /// Migrates by what follows from the models alone: a SQLite store within its file, others by a
    /// new file in place of the old.
    func migrateLightly(
        at url: URL, from source: NSManagedObjectModel, to model: NSManagedObjectModel,
        telling tell: ((Float) -> Void)? = nil
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
            return try replace(
                url, from: source, to: model, [NSMappingModel(inferred)], telling: tell)
        }
        MigrationTrace.tell(url, from: source, to: model, NSMappingModel(inferred))
        do {
            try SQLiteRowStore.upgrade(
                url, from: source, to: model, configuration: configuration, mapping: inferred,
                defers: parameters.flag(NSPersistentStoreDeferredLightweightMigrationOptionKey)
                    ?? false,
                options: parameters.sqliteOptions, platform: parameters.platform,
                defaults: Self.defaults, telling: tell)
        } catch {
            throw MigrationErrors.failed(url, because: error)
        }
    }

    /// An attribute's default value, as stores keep it.
    static let defaults: @Sendable (NSAttributeDescription) -> AttributeValue = {
        $0.storedDefault
    }

    /// Makes the new store beside the old one, and puts it in its place in one step.
    func replace(
        _ url: URL, from source: NSManagedObjectModel, to model: NSManagedObjectModel,
        _ mappings: [NSMappingModel], telling tell: ((Float) -> Void)? = nil
    ) throws {
        let mappings = NSMappingModel.joined(mappings)
        for mapping in mappings { MigrationTrace.tell(url, from: source, to: model, mapping) }
        let file = try StoreFileType(parameters.type)
        do {
            for _ in 1..<Self.attemptsMax {
                do {
                    return try makeAnew(url, file, from: source, to: model, mappings, tell)
                } catch  where Self.isOfChangeMeanwhile(error) {
                    // What others save while the store is read is in no draft: it is read again.
                }
            }
            try makeAnew(url, file, from: source, to: model, mappings, tell)
        } catch {
            throw MigrationErrors.failed(url, because: error)
        }
    }

    private static func isOfChangeMeanwhile(_ error: any Error) -> Bool {
        let cause = (error as NSError).userInfo[NSUnderlyingErrorKey]
        return (error as? StoreError ?? cause as? StoreError)?.isOfChangeMeanwhile ?? false
    }

    /// How often a store is read that others go on saving to.
    private static let attemptsMax = 3

    private func makeAnew(
        _ url: URL, _ file: StoreFileType, from source: NSManagedObjectModel,
        to model: NSManagedObjectModel, _ mappings: [NSMappingModel], _ tell: ((Float) -> Void)?
    ) throws {
        let draft = StoreFileType.draft(of: url, platform: parameters.platform)
        defer { file.discard(draft) }
        let witness = try file.witness(of: url)
        let manager = NSMigrationManager(sourceModel: source, destinationModel: model)
        manager.platform = parameters.platform
        var reading = parameters
        reading.model = source
        reading.configuration = parameters.configuration.flatMap {
            source.entities(forConfigurationName: $0) == nil ? nil : $0
        }
        var writing = parameters
        writing.url = draft
        func migration(by mapping: NSMappingModel) -> StoreMigration {
            StoreMigration(
                manager: manager, mapping: mapping, source: reading, destination: writing,
                addsToDraft: true)
        }
        try mappings.first.map(migration)?.refuseLosing(by: mappings)
        for (place, mapping) in mappings.enumerated() {
            manager.tell = tell.map { tell in
                { tell((Float(place) + $0) / Float(mappings.count)) }
            }
            try migration(by: mapping).run()
        }
        try check(writing)
        try file.replace(
            url, with: draft, unlessChangedSince: witness,
            timeout: parameters.sqliteOptions.busyMilliseconds, platform: parameters.platform)
    }

    /// Opens a new file that is read as a whole once, as it will be opened: what its reader refuses
    /// would be locked away when the old file is gone.
    private func check(_ draft: StoreParameters) throws {
        guard draft.type != NSSQLiteStoreType else { return }
        var reading = draft
        reading.options = StoreMigration.withoutMigration(draft.options)
        reading.options?[AnyHashable(NSReadOnlyPersistentStoreOption)] = true
        let coordinator = NSPersistentStoreCoordinator(
            model: draft.model, platform: draft.platform)
        try coordinator.add(reading)
        for store in coordinator.persistentStores { try coordinator.remove(store) }
    }

    // MARK: The model the store was made with

    /// The mapping models of the program's that were made for these versions: of those that share
    /// no entity, all.
    private static func mappings(
        from source: NSManagedObjectModel, to model: NSManagedObjectModel
    ) -> [NSMappingModel] {
        NSMappingModel.parts(
            of: (NSMappingModel.mappings(in: Bundle.allBundles) + ModelSearch.mappingModels)
                .filter { $0.fits(source, model) })
    }

    /// Looks among `models` and those in use, among the program's resources, and in the store
    /// itself; nil where none fits the store's hashes.
    static func sourceModel(
        of parameters: StoreParameters, _ metadata: [String: Any],
        among models: [NSManagedObjectModel]
    ) -> NSManagedObjectModel? {
        SourceVersions(of: parameters, metadata).best(of: models + KnownClasses.models)
            ?? cachedModel(of: parameters, metadata)
    }

    /// The copy that a SQLite store keeps of its model.
    static func cachedModel(
        of parameters: StoreParameters, _ metadata: [String: Any]
    ) -> NSManagedObjectModel? {
        guard parameters.type == NSSQLiteStoreType, let url = parameters.file,
            let cached = try? SQLiteRowStore.cachedModel(at: url)
        else { return nil }
        return NSManagedObjectModel(byMerging: [cached], forStoreMetadata: metadata)
    }
}

extension StoreParameters {
    var stagedMigration: NSStagedMigrationManager? {
        options?[NSPersistentStoreStagedMigrationManagerOptionKey] as? NSStagedMigrationManager
    }
}

/// A version's identifier that is a number, such as 2.10.
private struct VersionNumber: Comparable {
    private let parts: [Int]

    init?(_ identifiers: Set<AnyHashable>) {
        guard identifiers.count == 1, let text = identifiers.first as? String else { return nil }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false).map { Int($0) }
        guard !parts.contains(nil) else { return nil }
        self.parts = parts.compactMap { $0 }
    }

    init?(of metadata: [String: Any]) {
        let texts = metadata[NSStoreModelVersionIdentifiersKey] as? [String] ?? []
        self.init(Set(texts.map(AnyHashable.init)))
    }

    static func < (one: VersionNumber, other: VersionNumber) -> Bool {
        one.parts.lexicographicallyPrecedes(other.parts)
    }
}
