public import Foundation
internal import ObjectModel
package import Platform

/// Leads a store over the versions of its model, step by step, from the one it has to the current
/// one. Beyond Apple: versions are found by their hashes, and the path is told before it is gone.
///
/// Each step is whole, on the disk, before the next begins: where one fails or the process ends,
/// the store is of the version reached, and the next run goes on from there. One thread at a time;
/// the store must not be open.
public struct ProgressiveMigration: Sendable {
    /// One step of the path.
    public struct Step: Sendable, CustomStringConvertible {
        /// The version that the store has before.
        public let from: ModelVersions.Version
        /// The version that it has after.
        public let to: ModelVersions.Version
        /// None where the step is inferred; several where each takes a part of the entities.
        public let mappings: [NSMappingModel]

        /// What an inferred step makes of entities and properties; nil for a mapped one.
        public var explanation: MigrationExplanation? {
            mappings.isEmpty ? MigrationExplanation(from: from.model, to: to.model) : nil
        }

        public var description: String {
            "\(from.name) to \(to.name), \(mappings.isEmpty ? "inferred" : "mapped")"
        }
    }

    let parameters: StoreParameters
    let url: URL
    private let versions: ModelVersions

    /// The migration of the store at `url`. `options` are those of opening; with
    /// `NSPersistentStoreMigrationBackupOption` the store is copied before the first step.
    public init(
        storeAt url: URL, type: NSPersistentStore.StoreType, versions: ModelVersions,
        options: [AnyHashable: Any]? = nil
    ) {
        self.init(
            storeAt: url, type: type, versions: versions, options: options, platform: .system)
    }

    package init(
        storeAt url: URL, type: NSPersistentStore.StoreType, versions: ModelVersions,
        options: [AnyHashable: Any]?, platform: Environment
    ) {
        self.url = url
        self.versions = versions
        var parameters = StoreParameters(
            type: type.rawValue, model: versions.versions[versions.current].model,
            platform: platform)
        parameters.url = url
        parameters.options = options
        self.parameters = parameters
    }

    /// The steps that are left; none where the store has the current version.
    ///
    /// Throws `NSMigrationMissingSourceModelError` (134130) for a store of no version,
    /// `NSStagedMigrationBackwardMigrationError` (134506) for one of a later version than the
    /// current one, and `NSMigrationMissingMappingModelError` (134140) with the rules that forbid
    /// the steps where no path leads there. Changes nothing. Cost: the store's metadata, and an
    /// inference for each pair of versions that may be on the way.
    public func path() throws -> [Step] {
        let metadata = try StoreFileType(parameters.type).metadata(at: url)
        let goal = versions.versions[versions.current].model
        if goal.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata) { return [] }
        let start = versions.versions.lastIndex {
            $0.model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata)
        }
        guard let start else { throw MigrationErrors.missingSourceModel(url, metadata) }
        let paths = MigrationPath(versions)
        if let edges = paths.steps(from: start, to: versions.current) {
            return edges.map {
                Step(
                    from: versions.versions[$0.from], to: versions.versions[$0.to],
                    mappings: $0.mappings)
            }
        }
        guard start < versions.current else { throw MigrationErrors.backwards }
        throw obstacle(from: start, goal)
    }

    /// Why no path leads on.
    private func obstacle(from start: Int, _ goal: NSManagedObjectModel) -> NSError {
        let model = versions.versions[start].model
        let (_, refusals) = InferredMapping.attempt(from: model.entities, to: goal.entities)
        return MigrationErrors.missingMapping(
            model, goal, because: refusals.first.map(MigrationErrors.notInferred))
    }

    /// How far a run has come.
    public struct Progress: Sendable {
        /// The step that is under way.
        public let step: Step
        /// The step's place among all, from 0.
        public let place: Int
        /// How many steps the path has.
        public let count: Int
        /// How much of the step is done, from 0 to 1.
        public let share: Float
    }

    /// Goes the path. `tell` is called before each step and while it goes on. Returns where the
    /// copy of the store is that the options asked for; nil where none was made. Throws as `path()`
    /// and as migrations on opening do. Cost: that of its steps.
    @discardableResult
    public func run(telling tell: ((Progress) -> Void)? = nil) throws -> URL? {
        let steps = try path()
        guard !steps.isEmpty else { return nil }
        let copy = try MigrationBackup(parameters, at: url).makeIfWanted(
            of: try StoreFileType(parameters.type).metadata(at: url))
        for (place, step) in steps.enumerated() {
            func note(_ share: Float) {
                tell?(Progress(step: step, place: place, count: steps.count, share: share))
            }
            note(0)
            var next = parameters
            next.model = step.to.model
            let migration = AutomaticMigration(next)
            let (from, to) = (step.from.model, step.to.model)
            if step.mappings.isEmpty {
                try migration.migrateLightly(at: url, from: from, to: to, telling: note)
            } else {
                try migration.replace(url, from: from, to: to, step.mappings, telling: note)
            }
            try parameters.platform.faults.reach("migrate.step")
        }
        return copy
    }
}
