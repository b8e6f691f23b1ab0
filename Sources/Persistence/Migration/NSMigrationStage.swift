public import Foundation
public import ObjectModel

/// One step of a staged migration. Source: Apple, NSMigrationStage. Queue: one; set up before the
/// store is opened.
open class NSMigrationStage: NSObject, @unchecked Sendable {
    // @unchecked: set up before a migration begins.

    /// What the program calls the step.
    // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
    open var label: String!

    override init() { super.init() }
}

/// Versions of a model between which a store goes by inferred mappings. Source: Apple,
/// NSLightweightMigrationStage. Queue: as its superclass.
open class NSLightweightMigrationStage: NSMigrationStage, @unchecked Sendable {
    // @unchecked: see NSMigrationStage.

    /// The versions' checksums, oldest first.
    public final let versionChecksums: [String]

    /// A stage over versions, named by their checksums (`NSManagedObjectModel.versionChecksum`),
    /// oldest first.
    public init(_ checksums: [String]) {
        versionChecksums = checksums
        super.init()
    }
}

/// A step between two versions with work of the program's own before and after. Source: Apple,
/// NSCustomMigrationStage. Queue: its handlers are called on the thread that opens the store.
open class NSCustomMigrationStage: NSMigrationStage, @unchecked Sendable {
    // @unchecked: see NSMigrationStage.

    /// What a stage does of the program's own; the manager's `container` holds the store.
    public typealias Handler = (NSStagedMigrationManager, NSCustomMigrationStage) throws -> Void

    /// The version the stage begins with.
    public final let currentModel: NSManagedObjectModelReference
    /// The version the stage leads to.
    public final let nextModel: NSManagedObjectModelReference
    /// Called with the store open at `currentModel`, before it is migrated to `nextModel`. Where it
    /// throws, the migration ends there.
    open var willMigrateHandler: Handler?
    /// Called with the store open at `nextModel`.
    open var didMigrateHandler: Handler?

    /// A stage from one version to another, which must be reached by an inferred mapping.
    public init(
        migratingFrom currentModel: NSManagedObjectModelReference,
        to nextModel: NSManagedObjectModelReference
    ) {
        self.currentModel = currentModel
        self.nextModel = nextModel
        super.init()
    }
}

/// The way of a store through the versions of its model, given as the option
/// `NSPersistentStoreStagedMigrationManagerOptionKey`. Source: Apple, NSStagedMigrationManager.
///
/// Each step is whole before the next begins: a migration that ends between two goes on from there
/// the next time. Apple's error codes: 134504 for a store whose version no stage names, 134506 for
/// one that is newer than the model it is opened with.
///
/// Queue: one at a time; the migration runs on the thread that opens the store.
open class NSStagedMigrationManager: NSObject, @unchecked Sendable {
    // @unchecked: `container` is set and read by the thread that migrates.

    /// The steps, oldest first.
    public final let stages: [NSMigrationStage]
    /// The store at its present version, while a handler of a custom stage runs; nil otherwise.
    public internal(set) final var container: NSPersistentContainer?

    /// A way over `stages`, oldest first.
    public init(_ stages: [NSMigrationStage]) {
        self.stages = stages
        super.init()
    }
}
