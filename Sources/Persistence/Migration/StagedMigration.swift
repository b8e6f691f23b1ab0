internal import Foundation
internal import ObjectModel
internal import Stores

/// Leads one store through the stages of a manager, from the version it has to the model it is
/// opened with.
struct StagedMigration {
    private let manager: NSStagedMigrationManager
    private let parameters: StoreParameters
    private let url: URL
    /// With true, what is saved is that of a stage's handler, and the history says so.
    static let handlerOption = "DiptychStagedMigrationHandlerOption"

    init(_ manager: NSStagedMigrationManager, _ parameters: StoreParameters, _ url: URL) {
        self.manager = manager
        self.parameters = parameters
        self.url = url
    }

    func run() throws {
        try finishStage()
        let goal = parameters.model.versionChecksum
        let begin = try firstStage(goal: goal)
        try MigrationBackup(parameters, at: url).makeIfWanted(of: try metadata())
        for index in manager.stages.indices where index >= begin {
            if try isAtGoal() { return }
            try pass(index)
        }
        if try !isAtGoal() { try migrate(to: parameters.model) }
    }

    // MARK: Where the store is

    private func metadata() throws -> [String: Any] {
        try StoreFileType(parameters.type).metadata(at: url)
    }

    private func isAtGoal() throws -> Bool {
        let metadata = try metadata()
        return checksum(metadata) == parameters.model.versionChecksum
            || fits(parameters.model, metadata)
    }

    private func checksum(_ metadata: [String: Any]) -> String {
        if let checksum = metadata[NSPersistentStoreModelVersionChecksumKey] as? String {
            return checksum
        }
        let hashes = metadata[NSStoreModelVersionHashesKey] as? [String: Data] ?? [:]
        return NSManagedObjectModel.checksum(of: hashes)
    }

    /// The versions that the stages name, in order, each with its stage.
    private var versions: [(checksum: String, stage: Int)] {
        manager.stages.enumerated().flatMap { index, stage -> [(String, Int)] in
            switch stage {
            case let light as NSLightweightMigrationStage:
                light.versionChecksums.map { ($0, index) }
            case let custom as NSCustomMigrationStage:
                [
                    (custom.currentModel.versionChecksum, index),
                    (custom.nextModel.versionChecksum, index + 1),
                ]
            default: []
            }
        }
    }

    private func firstStage(goal: String) throws -> Int {
        let metadata = try metadata()
        let present = checksum(metadata)
        let versions = versions
        let known = models
        // Of versions that do not differ in what the store has of them, it is at the last: it was
        // not migrated from one to the other when that was the program's.
        guard
            let place = versions.firstIndex(where: { $0.checksum == present })
                ?? versions.lastIndex(where: { version in
                    known.contains {
                        $0.versionChecksum == version.checksum && fits($0, metadata)
                    }
                })
        else { throw MigrationErrors.unknownStage(present) }
        if let end = versions.lastIndex(where: { $0.checksum == goal }), end < place {
            throw MigrationErrors.backwards
        }
        return versions[place].stage
    }

    /// Whether a store of a configuration is at this version of the whole model: its own checksum
    /// is that of its entities alone.
    private func fits(_ model: NSManagedObjectModel, _ metadata: [String: Any]) -> Bool {
        guard let name = parameters.configuration,
            model.entities(forConfigurationName: name) != nil
        else { return false }
        return model.isConfiguration(withName: name, compatibleWithStoreMetadata: metadata)
    }

    /// The versions at hand.
    private var models: [NSManagedObjectModel] {
        stageModels + [parameters.model] + KnownClasses.models
    }

    private var stageModels: [NSManagedObjectModel] {
        manager.stages.compactMap { $0 as? NSCustomMigrationStage }.flatMap {
            [$0.currentModel, $0.nextModel].compactMap { try? $0.resolve() }
        }
    }

    // MARK: Steps

    private func pass(_ index: Int) throws {
        switch manager.stages[index] {
        case let custom as NSCustomMigrationStage: try pass(custom)
        case is NSLightweightMigrationStage:
            // A lightweight stage leads to where the next one begins.
            guard index + 1 < manager.stages.count else {
                return try migrate(to: parameters.model)
            }
            if let next = manager.stages[index + 1] as? NSCustomMigrationStage {
                try migrate(to: try model(of: next.currentModel))
            }
        default: break
        }
    }

    private func pass(_ stage: NSCustomMigrationStage) throws {
        let (current, next) = (try model(of: stage.currentModel), try model(of: stage.nextModel))
        try migrate(to: current)
        try call(stage.willMigrateHandler, stage, current)
        let hasWorkLeft = stage.didMigrateHandler != nil
        if hasWorkLeft { try setUnfinished(next.versionChecksum) }
        try migrate(to: next)
        try call(stage.didMigrateHandler, stage, next)
        if hasWorkLeft { try setUnfinished(nil) }
    }

    // MARK: Work that is left

    /// Names the version at which a stage's handler is still to be called, in the metadata, which a
    /// migration hands on.
    private static let unfinishedKey = "DiptychUnfinishedStage"

    private func setUnfinished(_ checksum: String?) throws {
        let file = try StoreFileType(parameters.type)
        var metadata = try file.metadata(at: url).filter { !StoreMetadataKey.isOwn($0.key) }
        metadata[Self.unfinishedKey] = checksum
        try file.setMetadata(metadata, at: url)
    }

    /// Calls the handler of a stage that threw, or that a crash ended, once more: later versions
    /// may lack what it was to read. Cost: reads the metadata.
    func finishStage() throws {
        guard let metadata = try? metadata(),
            let checksum = metadata[Self.unfinishedKey] as? String
        else { return }
        for case let stage as NSCustomMigrationStage in manager.stages
        where stage.nextModel.versionChecksum == checksum {
            let next = try model(of: stage.nextModel)
            guard self.checksum(metadata) == checksum || fits(next, metadata) else { continue }
            try call(stage.didMigrateHandler, stage, next)
            return try setUnfinished(nil)
        }
    }

    private func model(of reference: NSManagedObjectModelReference) throws -> NSManagedObjectModel {
        do {
            return try reference.resolve()
        } catch {
            throw PersistenceErrors.make(
                NSManagedObjectModelReferenceNotFoundError,
                "The model of a stage cannot be found: \(error)", [NSUnderlyingErrorKey: error])
        }
    }

    private func migrate(to model: NSManagedObjectModel) throws {
        let metadata = try metadata()
        let configuration = parameters.configuration.flatMap {
            model.entities(forConfigurationName: $0) == nil ? nil : $0
        }
        guard
            !model.isConfiguration(
                withName: configuration, compatibleWithStoreMetadata: metadata)
        else { return }
        var step = parameters
        step.model = model
        guard
            let source = AutomaticMigration.sourceModel(
                of: step, metadata, among: stageModels + [parameters.model])
        else { throw MigrationErrors.missingSourceModel(url, metadata) }
        try AutomaticMigration(step).migrateLightly(at: url, from: source, to: model)
    }

    /// Lets the program work on the store at one version.
    private func call(
        _ handler: NSCustomMigrationStage.Handler?, _ stage: NSCustomMigrationStage,
        _ model: NSManagedObjectModel
    ) throws {
        guard let handler else { return }
        let name = url.deletingPathExtension().lastPathComponent
        let container = NSPersistentContainer(name: name, managedObjectModel: model)
        let configuration = parameters.configuration.flatMap {
            model.entities(forConfigurationName: $0) == nil ? nil : $0
        }
        var options = StoreMigration.withoutMigration(parameters.options)
        options[Self.handlerOption] = true
        let store = try container.persistentStoreCoordinator.addPersistentStore(
            ofType: parameters.type, configurationName: configuration, at: url, options: options)
        manager.container = container
        defer { manager.container = nil }
        do {
            try handler(manager, stage)
        } catch {
            try? container.persistentStoreCoordinator.remove(store)
            throw error
        }
        try container.persistentStoreCoordinator.remove(store)
    }
}
