import CoreData
import Foundation
import ObjectModel
import SQLiteDriver
import Testing

/// Real stores go to the other versions of their models.
@Suite struct MigrationCorpusTests {
    static let folder: URL? = {
        let named = ProcessInfo.processInfo.environment["DIPTYCH_CORPUS"].map {
            URL(fileURLWithPath: $0, isDirectory: true)
        }
        let beside = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("../shared/corpus").standardizedFileURL
        return [named, beside].compactMap { $0 }.first {
            FileManager.default.fileExists(atPath: $0.appendingPathComponent("pairs.tsv").path)
        }
    }()

    struct Step: CustomTestStringConvertible, Sendable {
        let store: String
        let bundle: String
        let from: String
        let to: String
        var testDescription: String { "\(store.suffix(40)): \(from) to \(to)" }
    }

    /// Each store whose model is known, with each other version of the model.
    static let steps: [Step] = {
        guard let folder,
            let text = try? String(
                contentsOf: folder.appendingPathComponent("pairs.tsv"), encoding: .utf8)
        else { return [] }
        return text.split(separator: "\n").dropFirst().flatMap { line -> [Step] in
            let cells = line.split(separator: "\t").map(String.init)
            let parts = cells.count > 1 ? cells[1].components(separatedBy: ".xcdatamodeld/") : []
            guard parts.count == 2 else { return [] }
            let bundle = parts[0] + ".xcdatamodeld"
            let from = parts[1].components(separatedBy: ".xcdatamodel/")[0]
            let versions = try? VersionBundle(at: folder.appendingPathComponent(bundle)).versions
            return (versions ?? []).filter { $0 != from }.map {
                Step(store: cells[0], bundle: bundle, from: from, to: $0)
            }
        }
    }()

    private func model(_ step: Step, _ version: String) throws -> NSManagedObjectModel {
        let folder = try #require(Self.folder)
        return try NSManagedObjectModel.load(
            from: folder.appendingPathComponent(step.bundle), version: version)
    }

    private func counts(_ connection: Connection) throws -> [String: Int64] {
        let entities = try connection.rows(
            "SELECT Z_NAME, Z_ENT, Z_SUPER FROM Z_PRIMARYKEY WHERE Z_ENT < 16000")
        let parents = entities.reduce(into: [Int64: (String, Int64)]()) { parents, row in
            parents[row[1].int64 ?? 0] = (row[0].string ?? "", row[2].int64 ?? 0)
        }
        return try entities.reduce(into: [:]) { counts, row in
            var root = row[1].int64 ?? 0
            while let parent = parents[root]?.1, parent != 0 { root = parent }
            let table = "Z" + (parents[root]?.0 ?? "").uppercased()
            // Some files have a wrong number in tables that hold one entity.
            let isAlone = row[2].int64 == 0 && !parents.values.contains { $0.1 == row[1].int64 }
            counts[row[0].string ?? ""] = try connection.value(
                "SELECT count(*) FROM \(table) WHERE Z_ENT = ? OR \(isAlone)", [row[1]])?.int64
        }
    }

    @Test(.enabled(if: folder != nil, "the corpus is not here"), arguments: steps)
    func aRealStoreMigratesOrSaysWhyNot(_ step: Step) throws {
        let bench = try MigrationBench()
        let source = try #require(Self.folder).appendingPathComponent(step.store)
        for suffix in ["", "-wal"]
        where FileManager.default.fileExists(atPath: source.path + suffix) {
            try FileManager.default.copyItem(
                atPath: source.path + suffix, toPath: bench.url.path + suffix)
        }
        let before = try counts(Connection(path: bench.url.path))
        let (old, new) = (try model(step, step.from), try model(step, step.to))
        if old.entityVersionHashesByName == new.entityVersionHashesByName { return }
        // Old stores keep no model of themselves: this one is known to the program.
        let known = NSPersistentStoreCoordinator(managedObjectModel: old)
        defer { withExtendedLifetime(known) {} }
        let mapping: NSMappingModel
        do {
            mapping = try NSMappingModel.inferredMappingModel(
                forSourceModel: old, destinationModel: new)
        } catch let error as NSError {
            #expect(error.code == NSInferredMappingModelError)
            print("\(step.testDescription): \(error.userInfo["reason"] ?? "")")
            return
        }
        do {
            try bench.open(new) { _ in }
        } catch let error as NSError {
            let cause = error.userInfo[NSUnderlyingErrorKey] as? NSError
            let reason = cause?.userInfo["reason"]
            print("\(step.testDescription): \(reason ?? error)")
            #expect(error.code == NSMigrationError && reason != nil)
            return
        }
        let connection = try Connection(path: bench.url.path)
        let after = try counts(connection)
        for entity in mapping.entityMappings {
            // A file may have been written under an entity's former name.
            guard let former = entity.sourceEntityName, let present = entity.destinationEntityName,
                let count = before[former]
            else { continue }
            #expect(count == after[present], "\(former) to \(present)")
        }
        let drops = mapping.entityMappings.contains { $0.destinationEntityName == nil }
        if !drops { #expect(before.values.reduce(0, +) == after.values.reduce(0, +)) }
        #expect(try connection.value("PRAGMA integrity_check")?.string == "ok")
        print("\(step.testDescription): \(before.values.reduce(0, +)) rows")
    }

    @Test(.enabled(if: folder != nil, "the corpus is not here"))
    func compiledMappingsAreRead() throws {
        let folder = try #require(Self.folder)
        let file = folder.appendingPathComponent(
            "compiled/alemar11__CoreDataPlus/Tests/Resources/SampleModel/Fixtures/V2toV3.cdm")
        let model = try NSMappingModel.load(from: file)
        #expect(model.entityMappings.count == 5)
        let car = try #require(model.entityMappingsByName["CarToCar"])
        #expect(car.mappingType == .customEntityMappingType)
        #expect(car.sourceEntityVersionHash?.count == 32)
        #expect(car.entityMigrationPolicyClassName?.hasSuffix("V2to3MakerPolicy") == true)
        #expect(
            car.attributeMappings?.map(\.name) == ["markedForDeletionAsOf", "model", "numberPlate"])
        let plate = try #require(car.attributeMappings?.last?.valueExpression)
        #expect(plate.description == "$source.numberPlate")
        #expect(car.sourceExpression != nil)
        #expect(NSMappingModel(contentsOf: folder.appendingPathComponent("README.md")) == nil)
        #expect(NSMappingModel(contentsOf: nil) == nil)
    }
}
