public import Foundation
public import ObjectModel
package import Platform
public import Predicates

/// Makes a store of one model from a store of another, object by object, as a mapping model says.
/// Source: Apple, NSMigrationManager.
///
/// Queue: one manager does one migration at a time, on the thread that asks for it; the objects of
/// both contexts are for that thread. `migrationProgress` and `cancelMigrationWithError(_:)` may be
/// used from any other. Unlike Apple's, changes of the progress are not observed by key-value
/// observing.
open class NSMigrationManager: NSObject, FunctionReceiving, KeyValueReading, @unchecked Sendable {
    // @unchecked: `state` has a lock; the rest is used by the migration's thread.

    private struct State {
        var progress: Float = 0
        var cancellation: (any Error)?
    }

    /// What a migration under way works with.
    struct Work {
        let mapping: NSMappingModel
        let source: MigrationSide
        let destination: MigrationSide
        var current: NSEntityMapping
        var associations: Associations
        private var plans: [ObjectIdentifier: AttributePlan] = [:]
        private var linkPlans: [ObjectIdentifier: LinkPlan] = [:]

        init(
            mapping: NSMappingModel, source: MigrationSide, destination: MigrationSide,
            current: NSEntityMapping
        ) {
            self.mapping = mapping
            self.source = source
            self.destination = destination
            self.current = current
            associations = Associations(from: source, to: destination)
        }

        /// The plan of a mapping, made once.
        mutating func plan(
            of mapping: NSEntityMapping, from source: NSEntityDescription,
            to destination: NSEntityDescription
        ) -> AttributePlan {
            let key = ObjectIdentifier(mapping)
            if let known = plans[key], known.source === source, known.destination === destination {
                return known
            }
            let fresh = AttributePlan(mapping, from: source, to: destination)
            plans[key] = fresh
            return fresh
        }

        /// The same of its links.
        mutating func links(
            of mapping: NSEntityMapping, to destination: NSEntityDescription
        ) -> LinkPlan {
            let key = ObjectIdentifier(mapping)
            if let known = linkPlans[key], known.destination === destination { return known }
            let fresh = LinkPlan(mapping, to: destination)
            linkPlans[key] = fresh
            return fresh
        }
    }

    /// The model of the stores that are read.
    public final let sourceModel: NSManagedObjectModel
    /// The model of the stores that are made.
    public final let destinationModel: NSManagedObjectModel
    /// Values a program keeps with the manager.
    open var userInfo: [AnyHashable: Any]?
    /// Kept for old sources: `migrateStore` always goes object by object, and lightweight
    /// migrations of SQLite stores always work on rows.
    open var usesStoreSpecificMigrationManager = true
    private let state = Lock(State())
    final var work: Work?
    /// Who is told of the progress, besides those that ask.
    final var tell: ((Float) -> Void)?
    /// How many objects are read, and written, at a time.
    final var batchSize = 1000
    /// Where time and randomness come from; the machine's, unless a coordinator migrates.
    package final var platform = Environment.system

    /// A manager for stores of these models. Nothing is opened yet.
    public init(sourceModel: NSManagedObjectModel, destinationModel: NSManagedObjectModel) {
        self.sourceModel = sourceModel
        self.destinationModel = destinationModel
        super.init()
    }

    // MARK: While a migration runs

    /// The mapping model of the migration under way. Traps outside of one.
    open var mappingModel: NSMappingModel { present.mapping }
    /// Where source objects are. Traps outside of a migration.
    open var sourceContext: NSManagedObjectContext { present.source.context }
    /// Where new objects are made. Traps outside of a migration.
    open var destinationContext: NSManagedObjectContext { present.destination.context }
    /// The mapping that is being followed. Traps outside of a migration.
    open var currentEntityMapping: NSEntityMapping { present.current }

    private var present: Work {
        guard let work else { ProgrammingMistake.noMigration() }
        return work
    }

    /// How much is done, from 0 to 1.
    open var migrationProgress: Float { state.withLock { $0.progress } }

    func note(progress: Float) {
        state.withLock { $0.progress = progress }
        tell?(progress)
    }

    /// Makes the migration under way stop at its next object and throw `error`, or the next one
    /// where none is. The destination is not made.
    open func cancelMigrationWithError(_ error: any Error) {
        state.withLock { $0.cancellation = error }
    }

    /// As `cancelMigrationWithError(_:)`, where nobody asked for it before.
    final func stop(because error: any Error) {
        state.withLock { $0.cancellation = $0.cancellation ?? error }
    }

    func checkCancellation() throws {
        if let error = state.withLock({ $0.cancellation }) { throw error }
    }

    /// Forgets associations and progress; called before each migration. Who cancels from another
    /// thread does not know whether it has begun, so a cancellation stays until one ends.
    open func reset() {
        work = nil
        state.withLock { $0.progress = 0 }
    }

    /// What was kept for one migration is of no use to another.
    final func end() {
        work = nil
        state.withLock { $0.cancellation = nil }
    }

    // MARK: Entities and objects

    /// The source entity a mapping names; nil where the model has none.
    open func sourceEntity(for mEntity: NSEntityMapping) -> NSEntityDescription? {
        mEntity.sourceEntityName.flatMap { sourceModel.entitiesByName[$0] }
    }

    /// The destination entity a mapping names; nil where the model has none.
    open func destinationEntity(for mEntity: NSEntityMapping) -> NSEntityDescription? {
        mEntity.destinationEntityName.flatMap { destinationModel.entitiesByName[$0] }
    }

    /// Notes that an object came of another. One object may come of several, and several of one.
    open func associate(
        sourceInstance: NSManagedObject,
        withDestinationInstance destinationInstance: NSManagedObject,
        for entityMapping: NSEntityMapping
    ) {
        work?.associations.associate(
            sourceInstance, destinationInstance, entityMapping.name ?? "")
    }

    /// What came of `sourceInstances` by the named mapping; all that came of it for nil.
    open func destinationInstances(
        forEntityMappingName mappingName: String, sourceInstances: [NSManagedObject]?
    ) -> [NSManagedObject] {
        let ends = work?.associations.destinations(mappingName, of: sourceInstances) ?? []
        return work?.destination.objects(ends) ?? []
    }

    /// What came of objects by the named mapping; by any for nil. In the order of the objects:
    /// the members of an ordered relationship may come of several mappings.
    final func destinationInstances(
        of sources: [NSManagedObjectID], by mapping: String?
    ) -> [NSManagedObject] {
        let names =
            mapping.map { [$0] } ?? (work?.mapping.entityMappings ?? []).map { $0.name ?? "" }
        var ends: [AssociationEnd] = []
        for source in sources {
            for name in names { ends += work?.associations.destinations(name, of: [source]) ?? [] }
        }
        return work?.destination.objects(ends) ?? []
    }

    /// What `destinationInstances` came from by the named mapping; all it was used on for nil.
    open func sourceInstances(
        forEntityMappingName mappingName: String, destinationInstances: [NSManagedObject]?
    ) -> [NSManagedObject] {
        let made =
            destinationInstances
            ?? self.destinationInstances(
                forEntityMappingName: mappingName, sourceInstances: nil)
        let ends = work?.associations.sources(mappingName, of: made) ?? []
        return work?.source.objects(ends) ?? []
    }

    // MARK: Migrating

    /// Makes a store at `destinationURL` of the one at `sourceURL`, which stays as it is.
    ///
    /// The new store appears at its place when it is whole and valid; where one is there already,
    /// it gets the new objects in one save. History is not carried over; the application's metadata
    /// is. Throws `NSMigrationManagerSourceStoreError` (134150) and
    /// `NSMigrationManagerDestinationStoreError` (134160) for stores that cannot be opened,
    /// `NSMigrationMissingMappingModelError`, `NSEntityMigrationPolicyError` for a policy that is
    /// not found, validation errors, what policies throw, and `NSMigrationError` (134110) for a
    /// value that a mapping reads and whose file is gone from beside the old store.
    ///
    /// A new SQLite store is written in batches while it is made, under a name that nobody knows.
    /// Cost: some thousands of objects in memory, and for each new one which old one it came of, in
    /// some 40 bytes. So an object that a policy keeps may become a fault between two calls, with
    /// the values it was given; the rules of the model count at the end, and `willSave` may be
    /// called more than once. Other destinations take all objects at the end, in one save.
    open func migrateStore(
        from sourceURL: URL, type sourceType: NSPersistentStore.StoreType,
        options sourceOptions: [AnyHashable: Any]? = nil, mapping: NSMappingModel,
        to destinationURL: URL, type destinationType: NSPersistentStore.StoreType,
        options destinationOptions: [AnyHashable: Any]? = nil
    ) throws {
        let migration = StoreMigration(
            manager: self, mapping: mapping,
            source: parameters(sourceType, sourceModel, sourceURL, sourceOptions),
            destination: parameters(
                destinationType, destinationModel, destinationURL, destinationOptions))
        do {
            try migration.run()
        } catch {
            throw PersistenceErrors.bridged(error)
        }
    }

    /// Makes a store at `dURL` of the one at `sourceURL`. Throws 134140 without a mapping model,
    /// and as `migrateStore(from:type:options:mapping:to:type:options:)` does. Cost: the same.
    open func migrateStore(
        from sourceURL: URL, sourceType sStoreType: String,
        options sOptions: [AnyHashable: Any]? = nil, with mappings: NSMappingModel?,
        toDestinationURL dURL: URL, destinationType dStoreType: String,
        destinationOptions dOptions: [AnyHashable: Any]? = nil
    ) throws {
        guard let mappings else {
            throw MigrationErrors.missingMapping(sourceModel, destinationModel, because: nil)
        }
        try migrateStore(
            from: sourceURL, type: .init(rawValue: sStoreType), options: sOptions,
            mapping: mappings, to: dURL, type: .init(rawValue: dStoreType), options: dOptions)
    }

    private func parameters(
        _ type: NSPersistentStore.StoreType, _ model: NSManagedObjectModel, _ url: URL,
        _ options: [AnyHashable: Any]?
    ) -> StoreParameters {
        var parameters = StoreParameters(type: type.rawValue, model: model, platform: platform)
        parameters.url = url
        parameters.options = options
        return parameters
    }

    // MARK: Expressions

    /// Answers the functions that the expressions of mapping models call of `$manager`.
    open func value(ofFunction name: String, arguments: [Any?]) throws -> Any? {
        let text = arguments.first as? String ?? ""
        let last = arguments.count > 1 ? arguments[1] : nil
        switch MigrationFunction(rawValue: name) {
        case .ofMapping:
            return destinationInstances(
                forEntityMappingName: text, sourceInstances: Self.objects(in: last))
        case .sourcesOfMapping:
            return sourceInstances(
                forEntityMappingName: text, destinationInstances: Self.objects(in: last))
        case .ofRelationship:
            let names = (work?.mapping.entityMappings ?? []).map { $0.name ?? "" }
            return Self.objects(in: last).flatMap { source in
                names.flatMap {
                    destinationInstances(forEntityMappingName: $0, sourceInstances: [source])
                }
            }
        case .fetchRequest:
            return try fetchRequest(text, predicate: last as? String)
        case nil:
            throw EvaluationError(
                .badFunction, "A migration manager has no function \(name).",
                fields: ["function": name])
        }
    }

    /// The objects in an argument; those without an order in that of their keys, so that the same
    /// store always migrates to the same one.
    private static func objects(in value: Any?) -> [NSManagedObject] {
        if let object = value as? NSManagedObject { return [object] }
        let found = (listElements(of: value) ?? []).compactMap { $0 as? NSManagedObject }
        if value is NSOrderedSet || value is [Any] || found.count < 2 { return found }
        return found.sorted { $0.objectID.key < $1.objectID.key }
    }

    /// A request for the objects of exactly one source entity.
    private func fetchRequest(
        _ entity: String, predicate: String?
    ) throws -> NSFetchRequest<NSManagedObject> {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.includesSubentities = false
        request.predicate = try predicate.map { try NSPredicate.parse($0) }
        return request
    }

    /// The manager's properties, for the key paths of expressions.
    open func value(forKey key: String) throws -> Any? {
        switch key {
        case "sourceContext": sourceContext
        case "destinationContext": destinationContext
        case "sourceModel": sourceModel
        case "destinationModel": destinationModel
        case "mappingModel": mappingModel
        case "currentEntityMapping": currentEntityMapping
        case "userInfo": userInfo
        default:
            throw EvaluationError(
                .unknownKey, "A migration manager has no property \(key).", fields: ["key": key])
        }
    }
}
