import CoreData
import Foundation
import ObjectModel
import SQLiteDriver
import Testing

@testable import Persistence

/// Each chain of versions in the corpus: each version to the next and straight to the last, with
/// stores that plain SQL filled, and values that plain SQL reads again.
@Suite(.enabled(if: MigrationCorpusTests.folder != nil, "the corpus is not here"))
struct MigrationChainTests {
    @Test(arguments: MigrationChain.all) func eachVersionMigrates(_ chain: MigrationChain) throws {
        var table = MigrationTable()
        for (index, step) in chain.steps.enumerated() {
            let (old, new) = (try chain.model(step.from), try chain.model(step.to))
            if old.entityVersionHashesByName == new.entityVersionHashesByName { continue }
            let bench = try filled(old, seed: UInt64(index))
            let inferred = try InferredMapping(from: old.entities, to: new.entities)
            let before = try Connection(path: bench.url.path).backup(
                to: bench.folder.appendingPathComponent("before").path)
            do {
                try bench.open(new) { _ in }
            } catch let error as NSError {
                // Rows lack what the newer version demands: the rule is named, the store is whole.
                let cause = try #require(error.userInfo[NSUnderlyingErrorKey] as? NSError)
                let rule = try #require(cause.userInfo["reason"] as? String)
                #expect(cause.userInfo["attribute"] is String)
                let whole = try compare(
                    InferredMapping(from: old.entities, to: old.entities), before,
                    Connection(path: bench.url.path), "refused")
                table.add(step.from, step.to, "refused: \(rule)", whole)
                continue
            }
            let after = try Connection(path: bench.url.path)
            let count = try compare(inferred, before, after, "\(step.from) to \(step.to)")
            #expect(try after.value("PRAGMA integrity_check")?.string == "ok")
            try bench.expectFreshShape(new)
            table.add(step.from, step.to, "inferred", count)
        }
        table.print(chain.testDescription)
    }

    private func filled(_ model: NSManagedObjectModel, seed: UInt64) throws -> MigrationBench {
        let bench = try MigrationBench()
        try bench.open(model) { _ in }
        var filler = try RowFiller(bench.url, model: model, seed: seed)
        try filler.fill()
        return bench
    }

    /// Committed mapping models, on the versions they were made for: each source object becomes one
    /// of its destination, with the values that the mapping copies.
    @Test(arguments: MigrationChain.mappings) func mappedStepsMigrate(_ name: String) throws {
        let mapping = try NSMappingModel.load(from: MigrationChain.file(name))
        let repository = name.split(separator: "/")[1]
        var table = MigrationTable()
        for chain in MigrationChain.all where chain.bundle.contains("/\(repository)/") {
            let models = try chain.versions.map { ($0, try chain.model($0)) }
            for (from, old) in models {
                for (to, new) in models where from != to && mapping.fits(old, new) {
                    let count = try migrate(mapping, old, new)
                    table.add(from, to, "mapped", count)
                }
            }
        }
        table.print((name as NSString).lastPathComponent)
    }

    private func migrate(
        _ mapping: NSMappingModel, _ old: NSManagedObjectModel, _ new: NSManagedObjectModel
    ) throws -> Int {
        let (bench, made) = (try filled(old, seed: 1), try MigrationBench())
        for step in mapping.entityMappings where step.entityMigrationPolicyClassName != nil {
            // The code of the policies is elsewhere: the mapping alone is followed.
            step.entityMigrationPolicyClassName = nil
        }
        // Rows that plain SQL made need not keep all rules of the newer version.
        for entity in new.entities {
            for property in entity.declaredProperties {
                property.isOptional = true
                property.setValidationPredicates(nil, withValidationWarnings: nil)
            }
        }
        let relaxed = new
        for step in mapping.entityMappings {
            step.destinationEntityVersionHash =
                step.destinationEntityName.flatMap { relaxed.entitiesByName[$0]?.versionHash }
        }
        try NSMigrationManager(sourceModel: old, destinationModel: relaxed).migrateStore(
            from: bench.url, type: .sqlite, mapping: mapping, to: made.url, type: .sqlite)
        let before = try Connection(path: bench.url.path)
        let after = try Connection(path: made.url.path)
        var count = 0
        for step in mapping.entityMappings {
            guard let source = step.sourceEntityName.flatMap({ old.entitiesByName[$0] }),
                let entity = step.destinationEntityName.flatMap({ relaxed.entitiesByName[$0] }),
                !source.isAbstract
            else { continue }
            // Several entities may become one.
            let sources = mapping.entityMappings
                .filter { $0.destinationEntityName == entity.name }
                .compactMap { $0.sourceEntityName.flatMap { old.entitiesByName[$0] } }
            let keys = try sources.flatMap { try StoreTables.values(before, $0, "Z_PK") ?? [] }
            #expect(try StoreTables.values(after, entity, "Z_PK")?.count == keys.count)
            for property in step.attributeMappings ?? [] {
                guard let name = property.name,
                    property.valueExpression?.description == "$source.\(name)",
                    let values = try StoreTables.values(before, source, "Z" + name.uppercased()),
                    let found = try StoreTables.values(after, entity, "Z" + name.uppercased())
                else { continue }
                let kept = values.filter { $0 != .null && found.contains($0) }
                #expect(
                    kept.count == values.filter { $0 != .null }.count,
                    "\(source.name ?? "").\(name)")
                count += kept.count
            }
        }
        return count
    }

    /// Compares the rows and values of all entities. Returns how many values were equal.
    private func compare(
        _ mapping: InferredMapping, _ before: Connection, _ after: Connection, _ step: String
    ) throws -> Int {
        var count = 0
        for match in mapping.matches {
            guard let source = match.source, !source.isAbstract else { continue }
            let keys = try StoreTables.values(before, source, "Z_PK") ?? []
            let present = try StoreTables.values(after, match.destination, "Z_PK") ?? []
            #expect(keys.count == present.count, "\(step): \(source.name ?? "")")
            for attribute in match.attributes {
                guard let former = attribute.source,
                    !(attribute.destination is NSDerivedAttributeDescription),
                    let old = try StoreTables.values(
                        before, source, "Z" + former.name.uppercased()),
                    let new = try StoreTables.values(
                        after, match.destination, "Z" + attribute.destination.name.uppercased())
                else { continue }
                let isFilled = former.isOptional && !attribute.destination.isOptional
                for (one, other) in zip(old, new) where !(isFilled && one == .null) {
                    #expect(
                        one == other || Self.isSame(one, other, former, attribute.destination),
                        "\(step): \(source.name ?? "").\(former.name)")
                    count += 1
                }
            }
            count += try compareLinks(match, before, after, step)
        }
        return count
    }

    /// A value that moved out of the row, or back, has another mark before it.
    private static func isSame(
        _ one: SQLiteValue, _ other: SQLiteValue, _ old: NSAttributeDescription,
        _ new: NSAttributeDescription
    ) -> Bool {
        guard old.allowsExternalBinaryDataStorage != new.allowsExternalBinaryDataStorage else {
            return false
        }
        return one.data?.suffix(3) == other.data?.suffix(3)
    }

    private func compareLinks(
        _ match: EntityMatch, _ before: Connection, _ after: Connection, _ step: String
    ) throws -> Int {
        guard let source = match.source else { return 0 }
        var count = 0
        for relationship in match.relationships {
            guard let former = relationship.source, !former.isToMany,
                !relationship.destination.isToMany,
                let old = try StoreTables.values(before, source, "Z" + former.name.uppercased()),
                let new = try StoreTables.values(
                    after, match.destination, "Z" + relationship.destination.name.uppercased())
            else { continue }
            #expect(old == new, "\(step): \(source.name ?? "").\(former.name)")
            count += old.count
        }
        return count
    }
}

extension Connection {
    /// A copy of the database as it is now.
    fileprivate func backup(to path: String) throws -> Connection {
        try run("VACUUM INTO ?", [.text(path)])
        return try Connection(path: path, access: .readWrite)
    }
}

/// What became of each step, to be read by people.
private struct MigrationTable {
    private var lines: [String] = []

    mutating func add(_ from: String, _ to: String, _ how: String, _ values: Int) {
        lines.append("  \(from) -> \(to) | \(how) | \(values) values equal")
    }

    func print(_ title: String) {
        Swift.print(([title] + lines).joined(separator: "\n"))
    }
}
