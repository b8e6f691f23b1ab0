import CoreData
import Foundation
import ObjectModel
import SQLiteDriver
import Testing

/// Each chain of versions in the corpus: each version to the next and straight to the last, with
/// stores that plain SQL filled, and values that plain SQL reads again.
@Suite(.enabled(if: MigrationCorpusTests.folder != nil, "the corpus is not here"))
struct MigrationChainTests {
    @Test(arguments: MigrationChain.all) func eachVersionMigrates(_ chain: MigrationChain) throws {
        for (index, step) in chain.steps.enumerated() {
            let (old, new) = (try chain.model(step.from), try chain.model(step.to))
            if old.entityVersionHashesByName == new.entityVersionHashesByName { continue }
            let bench = try MigrationBench()
            try bench.open(old) { _ in }
            var filler = try RowFiller(bench.url, model: old, seed: UInt64(index))
            try filler.fill()
            let inferred = try InferredMapping(from: old.entities, to: new.entities)
            let before = try Connection(path: bench.url.path).backup(
                to: bench.folder.appendingPathComponent("before").path)
            try bench.open(new) { _ in }
            let after = try Connection(path: bench.url.path)
            let count = try compare(inferred, before, after, "\(step.from) to \(step.to)")
            #expect(try after.value("PRAGMA integrity_check")?.string == "ok")
            try bench.expectFreshShape(new)
            print("\(chain.testDescription): \(step.from) to \(step.to): \(count) values")
        }
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
