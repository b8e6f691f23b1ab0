import CoreData
import Foundation
import Testing

@testable import Persistence

/// Random pairs of versions by seed: what the upgrade of a SQLite file makes is what the migration
/// manager makes object by object, in one batch and in many, and what plain dictionaries say. Which
/// of several members stays in a to-one is left to each.
///
/// `DIPTYCH_MIGRATION_PAIRS` says how many, `DIPTYCH_SEED` from where on; `Tools/soak migrations`
/// asks for thousands.
@Suite struct MigrationOracleTests {
    private static let seeds: ClosedRange<UInt64> = {
        let environment = ProcessInfo.processInfo.environment
        let count = environment["DIPTYCH_MIGRATION_PAIRS"].flatMap(UInt64.init) ?? 40
        let first = environment["DIPTYCH_SEED"].flatMap(UInt64.init) ?? 1
        return first...(first + max(count, 1) - 1)
    }()

    @Test(arguments: seeds) func theFileTheObjectsAndTheOracleAgree(seed: UInt64) throws {
        var pair = MigrationPair(seed: seed)
        let (old, new) = (pair.old.model, pair.new.model)
        let (bench, twin) = (try MigrationBench(), try MigrationBench())
        try bench.fill(old) { pair.fill($0) }
        let before = try bench.open(old) { try pair.image(of: pair.old, $0) }
        let mapping = try NSMappingModel.inferredMappingModel(
            forSourceModel: old, destinationModel: new)
        let pieces = twin.folder.appendingPathComponent("pieces.sqlite")
        for (place, size) in [(twin.url, 1000), (pieces, 1 + Int(seed % 3))] {
            let manager = NSMigrationManager(sourceModel: old, destinationModel: new)
            manager.batchSize = size
            try manager.migrateStore(
                from: bench.url, type: .sqlite, mapping: mapping, to: place, type: .sqlite)
        }
        let late = try MigrationBench()
        try bench.copy(to: late.folder)
        let byRows = try bench.open(new) { try pair.image(of: pair.new, $0) }
        let byObjects = try twin.open(new) { try pair.image(of: pair.new, $0) }
        let byPieces = try twin.open(new, at: pieces) { try pair.image(of: pair.new, $0) }
        expectEqual(pair.comparable(byRows), pair.comparable(byObjects))
        expectEqual(pair.comparable(byRows), pair.comparable(byPieces))
        expectEqual(pair.comparable(byRows), pair.expected(before))
        #expect(!before.isEmpty)
        try expectLateWork(late, pair, new, image: byRows)
        if old.entityVersionHashesByName != new.entityVersionHashesByName {
            try bench.expectFreshShape(new)
        }
    }

    /// The same where the migration leaves for later what it can, before that is done and after.
    private func expectLateWork(
        _ bench: MigrationBench, _ pair: MigrationPair, _ model: NSManagedObjectModel,
        image: [String: MigrationPair.Plain]
    ) throws {
        var options = MigrationBench.migrating
        options[NSPersistentStoreDeferredLightweightMigrationOptionKey] = true
        try bench.open(model, options: options) { context throws in
            expectEqual(try pair.image(of: pair.new, context), image)
            try context.persistentStoreCoordinator?.finishDeferredLightweightMigration()
        }
        expectEqual(try bench.open(model) { try pair.image(of: pair.new, $0) }, image)
        if pair.old.model.entityVersionHashesByName != model.entityVersionHashesByName {
            try bench.expectFreshShape(model)
        }
    }

    private func expectEqual(
        _ one: [String: MigrationPair.Plain], _ other: [String: MigrationPair.Plain],
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let names = Set(one.keys).union(other.keys).filter { one[$0] != other[$0] }.sorted()
        let lines = names.prefix(3).map {
            "\(one[$0]?.description ?? "nothing") is not \(other[$0]?.description ?? "nothing")"
        }
        #expect(lines.isEmpty, sourceLocation: sourceLocation)
    }
}
