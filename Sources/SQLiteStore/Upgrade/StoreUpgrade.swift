internal import Foundation
internal import ObjectModel
internal import Platform
internal import SQLiteDriver
internal import Stores

/// Brings a store's file from one version of its model to another in one transaction.
///
/// Tables that stay as they are are left alone; the others are set aside under another name, made
/// anew and filled from what they were.
struct StoreUpgrade {
    let file: StoreFile
    let source: NSManagedObjectModel
    let destination: NSManagedObjectModel
    let configuration: String?
    let mapping: InferredMapping
    let platform: Environment
    let defaults: (NSAttributeDescription) -> AttributeValue
    let tell: ((Float) -> Void)?
    /// Whether what nobody waits for is left for later; see `DeferredWork`.
    var defers = false

    func run() throws {
        let connection = try file.open()
        let files = file.url.map { ExternalFiles(store: $0) }
        try ExternalFunctions.register(with: connection, files: files)
        try UpgradeFunctions.register(with: connection, now: platform.clock.now())
        // What triggers that are there call while rows go.
        let listening = try DerivedValues(schema: newSchema())
        try listening.register(with: connection)
        let mark = platform.randomness.uuid()
        let marks = files.flatMap { $0.exist ? $0 : nil }
        try marks?.putMark(mark)
        let losesValues: Bool
        do {
            losesValues = try connection.transaction(.immediate) {
                try upgrade(connection, files)
            }
        } catch {
            marks?.removeMark(mark)
            throw error
        }
        // The mark stays where values may have lost their rows: the next opening looks.
        if !losesValues { marks?.removeMark(mark) }
    }

    private func newSchema() throws -> StoreSchema {
        try ModelFacts.schema(destination, configuration, numbers: nil)
    }

    /// Returns whether large values lost their rows.
    private func upgrade(_ connection: Connection, _ files: ExternalFiles?) throws -> Bool {
        let former = try StoreMetadata(reading: connection, path: file.path)
        let entities = destination.entities(forConfigurationName: configuration) ?? []
        let hashes = destination.versionHashes(of: entities)
        // Another process may have been faster.
        if former.hashes == hashes { return false }
        let plan = try plan(connection, of: former)
        try plan.refuseMissingFiles(files, connection)
        try finishFormerWork(connection, plan)
        var tables = TableUpgrade(plan: plan, connection: connection)
        try tables.run(telling: tell)
        try platform.faults.reach("upgrade.rows")
        try BookkeepingUpgrade(plan: plan, connection: connection).run()
        var metadata = StoreMetadata(
            hashes: hashes, model: destination, identifier: former.identifier)
        metadata.replaceApplicationKeys(with: former.values)
        try DeferredWork(connection: connection, schema: plan.new, path: file.path)
            .leave(tables.left)
        if !tables.left.isEmpty {
            metadata.values[StoreMetadataKey.deferredMigration] = true
        }
        try metadata.write(to: connection)
        // Old files have no such table.
        try connection.script("DROP TABLE IF EXISTS Z_MODELCACHE")
        try connection.script(BookkeepingTables.modelCache)
        try ModelCache.write(destination, to: connection)
        try platform.faults.reach("upgrade.beforeCommit")
        return plan.losesExternalValues
    }

    /// What an earlier upgrade left would be taken for tables and columns of the old model.
    private func finishFormerWork(
        _ connection: Connection, _ plan: UpgradePlan
    ) throws {
        try DeferredWork(connection: connection, schema: plan.old, path: file.path).clear()
    }

    private func plan(_ connection: Connection, of former: StoreMetadata) throws -> UpgradePlan {
        let old = try formerSchema(connection, names: Set(former.hashes.keys))
        let new = try newSchema()
        if let refusal = new.content.refusals.first { throw refusal }
        return try UpgradePlan(
            old: old, new: new, mapping: mapping, connection: connection, defers: defers,
            defaults: defaults)
    }

    /// What `run` would do.
    func forecast() throws -> UpgradeForecast {
        let connection = try file.open()
        let former = try StoreMetadata(reading: connection, path: file.path)
        let tables = TableUpgrade(plan: try plan(connection, of: former), connection: connection)
        return try UpgradeForecast(of: tables, connection)
    }

    /// The schema the file has, in the names of the model it was made with.
    private func formerSchema(
        _ connection: Connection, names: Set<String>
    ) throws -> StoreSchema {
        let stored = try BookkeepingTables.numbers(in: connection)
        var numbers: [String: Int32] = [:]
        for entity in source.entities {
            guard let name = entity.name, names.contains(name) else { continue }
            numbers[name] = stored[name] ?? entity.givenRenamingIdentifier.flatMap { stored[$0] }
        }
        let layout = ModelLayout(model: source, numbers: numbers)
        let resolver = try SchemaResolver(
            connection: connection, path: file.path, layout: layout)
        return try resolver.resolve(SchemaBuilder.schema(of: layout))
    }
}
