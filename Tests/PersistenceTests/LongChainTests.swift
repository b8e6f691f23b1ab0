import CoreData
import Foundation
import Testing

/// A model of more than a hundred versions, each an edit of the one before.
@Suite struct LongChainTests {
    private static let count = 120

    /// Attributes by what they were called first.
    private struct Draft {
        var attributes: [(identifier: String, name: String)] = [
            ("name", "name"), ("early", "early"),
        ]
        var tags = 0

        mutating func edit(_ number: Int) {
            switch number % 6 {
            case 0, 1: attributes.append(("a\(number)", "a\(number)"))
            case 2: attributes[attributes.count - 1].name = "r\(number)"
            case 3: tags += 1
            // Lost on each way; what came and went between two versions would be a reason to leave
            // them out.
            case 4 where number == 64: attributes.removeAll { $0.identifier == "early" }
            default: attributes[attributes.count / 2].name = "q\(number)"
            }
        }

        var model: NSManagedObjectModel {
            VersionDraft.model { draft in
                draft.entity("Note", attributes.map { text($0.name, from: $0.identifier) })
                draft.entity("Folder", [text("name")])
                draft.link("Note", "folder", .one, "Folder", "notes", .many)
                for number in 0..<tags { draft.entity("Tag\(number)", [text("name")]) }
            }
        }
    }

    private static let drafts: [Draft] = {
        var all = [Draft()]
        all[0].edit(0)
        for number in 1..<count {
            var next = all[number - 1]
            next.edit(number)
            all.append(next)
        }
        return all
    }()

    private func versions(upTo count: Int = LongChainTests.count) -> ModelVersions {
        ModelVersions(
            Self.drafts.prefix(count).enumerated().map {
                .init(name: "Notes \($0.offset + 1)", model: $0.element.model)
            })
    }

    private func fill(_ bench: MigrationBench, _ model: NSManagedObjectModel) throws {
        try bench.fill(model) { context in
            let folder = context.make("Folder", ["name": "F"])
            for number in 0..<5 {
                _ = context.make(
                    "Note", ["name": "n\(number)", "a0": "v\(number)", "folder": folder])
            }
        }
    }

    private func expectNotes(
        _ bench: MigrationBench, _ draft: Draft, _ model: NSManagedObjectModel
    ) throws {
        let first = try #require(draft.attributes.first { $0.identifier == "a0" }).name
        try bench.open(model, options: [:]) { context throws in
            #expect(try context.all("Note").map { $0.string(first) } == (0..<5).map { "v\($0)" })
            #expect(try context.one("Folder", "F").names("notes").count == 5)
        }
    }

    @Test func thePathOverAllVersionsIsToldAndGone() throws {
        let bench = try MigrationBench()
        let all = versions()
        try fill(bench, all.versions[0].model)
        let migration = ProgressiveMigration(storeAt: bench.url, type: .sqlite, versions: all)
        let path = try migration.path()
        #expect(path.count == Self.count - 1)
        #expect(path.first?.from.name == "Notes 1")
        #expect(path.last?.to.name == "Notes \(Self.count)")
        #expect(zip(path, path.dropFirst()).allSatisfy { $0.to.name == $1.from.name })
        var places: [Int] = []
        try migration.run { if $0.place != places.last { places.append($0.place) } }
        #expect(places == Array(path.indices))
        try expectNotes(bench, Self.drafts[Self.count - 1], all.versions[Self.count - 1].model)
        try bench.expectFreshShape(all.versions[Self.count - 1].model)
        #expect(try migration.path().isEmpty)
    }

    @Test func theFirstBecomesTheLastAtOnce() throws {
        let bench = try MigrationBench()
        let all = versions()
        try fill(bench, all.versions[0].model)
        try bench.open(all.versions[Self.count - 1].model) { _ in }
        try expectNotes(bench, Self.drafts[Self.count - 1], all.versions[Self.count - 1].model)
        try bench.expectFreshShape(all.versions[Self.count - 1].model)
    }

    @Test func eachStepIsGoneByItself() throws {
        let bench = try MigrationBench()
        let all = versions()
        try fill(bench, all.versions[0].model)
        for number in stride(from: 1, to: Self.count, by: 7) {
            let migration = ProgressiveMigration(
                storeAt: bench.url, type: .sqlite, versions: versions(upTo: number + 1))
            try migration.run()
            try expectNotes(bench, Self.drafts[number], all.versions[number].model)
        }
    }
}
