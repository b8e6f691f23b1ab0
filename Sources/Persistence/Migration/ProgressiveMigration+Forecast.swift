internal import Foundation
internal import ObjectModel
internal import SQLiteStore
internal import Stores

/// What the next step of a migration would do to a store's file, and what it needs.
public struct MigrationForecast: Sendable {
    /// One table of a SQLite file, or one entity of another store.
    public struct Table: Sendable {
        /// The table's in the file, or the entity's.
        public let name: String
        /// How many rows it has now.
        public let rows: Int
        /// Whether its rows are written anew; else they stay where they are.
        public let isRewritten: Bool
    }

    /// In order of their names.
    public let tables: [Table]
    /// How much room the disk must have beside the store, at most and as an estimate.
    public let bytesNeeded: Int64
    /// How many objects of a mirrored store have edits that no round has sent. Those of properties
    /// and entities that the migration drops are not sent any more: sync before.
    public let unsentObjects: Int
    /// The migration policies that mapping models name and this program does not have.
    public let missingPolicies: [String]

    /// All rows there are.
    public var rows: Int { tables.reduce(0) { $0 + $1.rows } }
}

extension ProgressiveMigration {
    /// What the first step of the path would do; nil where there is none. Reads the store only.
    /// Throws as `path()` does. Cost: counting its rows.
    public func forecast() throws -> MigrationForecast? {
        guard let step = try path().first else { return nil }
        let names = step.mappings.flatMap { $0.entityMappings ?? [] }
            .filter { (try? MigrationPolicies.policy(of: $0)) == nil }
            .compactMap(\.entityMigrationPolicyClassName)
        let missing = Set(names).sorted()
        let unsent =
            parameters.type == NSSQLiteStoreType
            ? try SQLiteRowStore.objectsWaitingForMirror(at: url) : 0
        if step.mappings.isEmpty, parameters.type == NSSQLiteStoreType {
            return try withinFile(step, unsent)
        }
        return MigrationForecast(
            tables: try entities(of: step), bytesNeeded: StoreSize(at: url).bytes,
            unsentObjects: unsent, missingPolicies: missing)
    }

    private func withinFile(_ step: Step, _ unsent: Int) throws -> MigrationForecast {
        let mapping = try InferredMapping(
            from: step.from.model.entities, to: step.to.model.entities)
        let found = try SQLiteRowStore.upgradeForecast(
            of: url, from: step.from.model, to: step.to.model, configuration: nil,
            mapping: mapping, options: parameters.sqliteOptions, platform: parameters.platform,
            defaults: AutomaticMigration.defaults)
        return MigrationForecast(
            tables: found.tables.map {
                .init(name: $0.name, rows: Int($0.rows), isRewritten: $0.isRewritten)
            }, bytesNeeded: found.bytesNeeded, unsentObjects: unsent, missingPolicies: [])
    }

    private func entities(of step: Step) throws -> [MigrationForecast.Table] {
        var reading = parameters
        reading.model = step.from.model
        reading.options = StoreMigration.withoutMigration(parameters.options)
        reading.options?[AnyHashable(NSReadOnlyPersistentStoreOption)] = true
        let rows = try StoreRegistry.factory(for: parameters.type)(reading)
        return try rows.layout.entities.map { entity in
            var query = RowQuery(entity: entity.number)
            query.includesSubentities = false
            return MigrationForecast.Table(
                name: entity.name, rows: try rows.count(matching: query), isRewritten: true)
        }
    }
}

/// How large a store is with all that lies beside it.
private struct StoreSize {
    let bytes: Int64

    init(at url: URL) {
        // Large values lie beside the file, whatever link leads to it.
        let url = url.resolvingSymlinksInPath()
        let support = SupportFolder.beside(url)
        let inside = FileManager.default.enumerator(atPath: support.path)?
            .compactMap { ($0 as? String).map { support.appendingPathComponent($0) } }
        bytes = ([url] + (inside ?? [])).reduce(0) { sum, file in
            let facts = try? FileManager.default.attributesOfItem(atPath: file.path)
            return sum + ((facts?[.size] as? NSNumber)?.int64Value ?? 0)
        }
    }
}
