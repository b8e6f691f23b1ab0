import CoreData
import Foundation
import Platform
import SQLiteStore
import Testing

@testable import Persistence

/// Ways over the versions of a model: found by hashes, told before, gone step by step.
@Suite struct ProgressiveMigrationTests {
    private static func version(_ properties: [NSPropertyDescription]) -> NSManagedObjectModel {
        VersionDraft.model { $0.entity("Note", [text("name")] + properties) }
    }

    /// An attribute that is renamed twice, and one that only a mapping model turns into a number.
    private let models = [
        version([text("age")]), version([text("years", from: "age")]),
        version([text("span", from: "years")]), version([number("span"), text("extra")]),
    ]

    private var mapping: NSMappingModel {
        let model = NSMappingModel()
        model.entityMappings = [
            .transforming(
                "Note", "Note", ["name": "$source.name", "span": "CAST($source.span, 'NSNumber')"],
                from: models[2], to: models[3])
        ]
        return model
    }

    private func versions(_ order: [Int], mapped: Bool = true) -> ModelVersions {
        ModelVersions(
            order.map { .init(name: "Notes \($0)", model: models[$0]) },
            mappings: mapped ? [mapping] : [])
    }

    private func filled(_ place: Int, _ kind: StoreKind = .sqlite) throws -> MigrationBench {
        let bench = try MigrationBench(kind)
        let key = ["age", "years", "span", "extra"][place]
        try bench.fill(models[place]) { _ = $0.make("Note", ["name": "a", key: "7"]) }
        return bench
    }

    private func migration(
        _ bench: MigrationBench, _ versions: ModelVersions, _ options: [AnyHashable: Any] = [:],
        faults: any FaultPoints = Environment.system.faults
    ) -> ProgressiveMigration {
        var platform = Environment.system
        platform.faults = faults
        return ProgressiveMigration(
            storeAt: bench.url, type: .init(rawValue: bench.kind.type), versions: versions,
            options: options, platform: platform)
    }

    @Test(arguments: LightweightMigrationTests.files)
    func thePathIsToldAndGone(_ kind: StoreKind) throws {
        let bench = try filled(0, kind)
        let migration = migration(bench, versions([0, 1, 2, 3]))
        #expect(
            try migration.path().map(\.description) == [
                "Notes 0 to Notes 1, inferred", "Notes 1 to Notes 2, inferred",
                "Notes 2 to Notes 3, mapped",
            ])
        let forecast = try #require(try migration.forecast())
        #expect(forecast.rows == 1 && forecast.bytesNeeded > 0)
        var seen: [String] = []
        var shares: [Float] = []
        try migration.run {
            if $0.share == 0 { seen.append($0.step.to.name) }
            shares.append((Float($0.place) + $0.share) / Float($0.count))
        }
        #expect(seen == ["Notes 1", "Notes 2", "Notes 3"])
        #expect(shares == shares.sorted())
        try bench.open(models[3], options: [:]) { context throws in
            #expect(try context.one("Note", "a").int("span") == 7)
        }
        #expect(try migration.path().isEmpty)
    }

    /// Ends the process's work after so many steps.
    private final class Stopping: FaultPoints {
        struct Stop: Error {}
        private let left: Lock<Int>
        init(after count: Int) { left = Lock(count) }
        func reach(_ name: String) throws {
            guard name == "migrate.step" else { return }
            let isOver = left.withLock { left in
                left -= 1
                return left == 0
            }
            if isOver { throw Stop() }
        }
    }

    @Test(arguments: [1, 2]) func whatEndedInTheMiddleGoesOn(_ count: Int) throws {
        let bench = try filled(0)
        let all = versions([0, 1, 2, 3])
        #expect(throws: Stopping.Stop.self) {
            try migration(bench, all, faults: Stopping(after: count)).run()
        }
        #expect(try migration(bench, all).path().count == 3 - count)
        try migration(bench, all).run()
        try bench.open(models[3], options: [:]) { context throws in
            #expect(try context.one("Note", "a").int("span") == 7)
        }
    }

    @Test func aVersionInTheWrongPlaceDoesNoHarm() throws {
        let bench = try filled(1)
        let stray = VersionDraft.model { $0.entity("Other", [text("name")]) }
        let list = ModelVersions([
            .init(name: "1", model: models[1]), .init(name: "stray", model: stray),
            .init(name: "2", model: models[2]),
        ])
        #expect(try migration(bench, list).path().map(\.description) == ["1 to 2, inferred"])
    }

    /// A hundred versions, of which every fifth drops what the one before it had, one has nothing
    /// in common with the others, and one loses what comes back.
    @Test func aLongPathIsFoundWithFewComparisons() {
        let count = 100
        let models = (0..<count).map { place -> NSManagedObjectModel in
            if place == 40 { return VersionDraft.model { $0.entity("Other", [text("name")]) } }
            let kept = place == 60 ? [] : [text("kept")]
            return Self.version(kept + [text("part\(place / 5)"), number("n\(place / 5)")])
        }
        let versions = ModelVersions(
            models.enumerated().map { .init(name: "\($0)", model: $1) })
        let (steps, comparisons) = MigrationPath(versions).search(from: 0, to: count - 1)
        let passed = Set(steps?.map(\.to) ?? [])
        #expect(!passed.contains(40) && !passed.contains(60) && passed.contains(61))
        #expect(steps?.count == count - 3)
        #expect(comparisons < 4 * count)
    }

    @Test func whatLeadsNowhereSaysWhy() throws {
        let bench = try filled(2)
        let error = try cocoaError {
            _ = try migration(bench, versions([2, 3], mapped: false)).path()
        }
        #expect(error.code == NSMigrationMissingMappingModelError)
        let cause = try #require(error.userInfo[NSUnderlyingErrorKey] as? NSError)
        #expect(cause.userInfo["property"] as? String == "span")
        let stranger = try cocoaError { _ = try migration(bench, versions([0, 1])).path() }
        #expect(stranger.code == NSMigrationMissingSourceModelError)
        let back = try cocoaError {
            let all = ModelVersions(versions([0, 1, 2]).versions, current: 1)
            _ = try migration(bench, all).path()
        }
        #expect(back.code == NSStagedMigrationBackwardMigrationError)
    }

    @Test(arguments: LightweightMigrationTests.files)
    func aBackupIsNamedByItsVersion(_ kind: StoreKind) throws {
        let bench = try filled(0, kind)
        let options: [AnyHashable: Any] = [NSPersistentStoreMigrationBackupOption: true]
        try migration(bench, versions([0, 1, 2]), options).run()
        let copy = try #require(bench.names.first { $0.contains("-before-") })
        #expect(copy.hasPrefix("store-before-") && copy.hasSuffix(".\(kind.rawValue)"))
        let place = bench.folder.appendingPathComponent(copy)
        try bench.open(models[0], at: place, options: [:]) { context throws in
            #expect(try context.one("Note", "a").string("age") == "7")
        }
        // On opening, too; one copy for each version.
        var opening = MigrationBench.migrating.merging(options) { $1 }
        opening[NSPersistentStoreMigrationBackupOption] = true
        try bench.open(Self.version([]), options: opening) { _ in }
        #expect(bench.names.filter { $0.contains("-before-") }.count == 2)
    }

    @Test func aBackupTakesAFreeName() throws {
        let options: [AnyHashable: Any] = [NSPersistentStoreMigrationBackupOption: true]
        let first = try filled(0)
        try migration(first, versions([0, 1]), options).run()
        let name = try #require(first.names.first { $0.contains("-before-") })

        let bench = try filled(0)
        let taken = bench.folder.appendingPathComponent(name)
        try Data("mine".utf8).write(to: taken)
        try migration(bench, versions([0, 1]), options).run()
        #expect(try Data(contentsOf: taken) == Data("mine".utf8))
        let copy = try #require(bench.names.first { $0.contains("-before-") && $0 != name })
        #expect(copy == name.replacing(".sqlite", with: "-2.sqlite"))
        let place = bench.folder.appendingPathComponent(copy)
        try bench.open(models[0], at: place, options: [:]) { context throws in
            #expect(try context.one("Note", "a").string("age") == "7")
        }
    }

    @Test func foldersAreReadAsPeopleCount() throws {
        let bench = try MigrationBench()
        let bundle = bench.folder.appendingPathComponent("Notes.xcdatamodeld")
        for (name, model) in zip(["Notes", "Notes 2", "Notes 10"], models) {
            try model.writeSource(to: bundle.appendingPathComponent("\(name).xcdatamodel"))
        }
        let found = try ModelVersions(in: bundle)
        #expect(found.versions.map(\.name) == ["Notes", "Notes 2", "Notes 10"])
        #expect(found.current == 2)
        #expect(try ModelVersions(in: bundle, current: "Notes 2").current == 1)
        #expect(throws: (any Error).self) { try ModelVersions(in: bundle, current: "None") }
        #expect(throws: (any Error).self) {
            try ModelVersions(in: bench.folder.appending(path: "x"))
        }
    }

    // MARK: What the program does not know

    @Test func aStoreOfANewerProgramIsRefusedAndUntouched() throws {
        func version(_ identifier: String, _ properties: [NSPropertyDescription])
            -> NSManagedObjectModel
        {
            let model = Self.version(properties)
            model.versionIdentifiers = [identifier]
            return model
        }
        let bench = try MigrationBench()
        // No coordinator of this program knows the model.
        _ = try SQLiteRowStore(
            url: bench.url, model: version("2.10", [text("later")]), platform: .system)
        let before = try Data(contentsOf: bench.url)
        let error = try cocoaError { try bench.open(version("2.9", [])) { _ in } }
        #expect(error.code == NSMigrationMissingSourceModelError)
        #expect(error.localizedDescription.contains("Note.later is gone"))
        #expect(try Data(contentsOf: bench.url) == before)
        // Where nothing is lost, or no number says which came first, it is migrated.
        try bench.open(version("2.9", [text("later"), text("more")])) { _ in }
        try bench.open(version("", [])) { context throws in
            #expect(try context.all("Note").isEmpty)
        }
    }

    @Test func theErrorTellsWhatDiffers() throws {
        let bench = try filled(0)
        let error = try cocoaError { try bench.open(models[1], options: [:]) { _ in } }
        #expect(error.code == NSPersistentStoreIncompatibleVersionHashError)
        #expect(error.localizedDescription.contains("Note.years was age"))
        #expect(error.localizedDescription.contains("diptych migrate"))
        #expect(error.userInfo["differences"] as? [String] == ["Note.years was age"])
        #expect(error.userInfo["metadata"] is [String: Any])
    }

    @Test func anExplanationNamesEveryRule() throws {
        let old = VersionDraft.model { draft in
            draft.entity("A", [text("gone"), text("kept"), number("n")])
            draft.entity("B", [text("name")])
            draft.entity("C")
            draft.link("A", "many", .many, "B", "as", .many)
        }
        let new = VersionDraft.model { draft in
            draft.entity(
                "A", [text("kept", optional: false), text("n"), text("t", optional: false)])
            draft.entity("Bee", [text("name")], from: "B", unique: [["name"]])
            draft.entity("D", below: "A")
            draft.link("A", "many", .one, "Bee", "as", .ordered)
        }
        let explanation = MigrationExplanation(from: old, to: new)
        #expect(!explanation.isPossible && explanation.losesValues)
        #expect(
            explanation.lines.map(\.description) == [
                "A.gone is gone, with its values", "A.kept is mandatory now",
                "A.many leads to one now; one stays",
                "A.n cannot be inferred: Source and destination attribute types are incompatible",
                "A.n was of type Integer 32",
                "A.t is new, mandatory and without a default: no row has one",
                "Bee has other uniqueness constraints", "Bee was B", "Bee.as is ordered now",
                "C is gone, with its objects", "D is new",
            ])
    }
}
