import Foundation
import ObjectModel
import Platform
import Stores
import Testing

@testable import SQLiteStore

/// The same saves in a SQLite store and in one in memory: derived values must be equal in both.
@Suite struct DerivedTwinTests {
    @Test(arguments: 0..<12 as Range<UInt64>)
    func triggersAndMemoryDeriveTheSame(seed: UInt64) throws {
        let model = Self.model()
        let fixture = try StoreFixture(model)
        var platform = Environment.system
        platform.clock = fixture.clock
        let memory = MemoryRowStore(layout: fixture.store.layout, platform: platform)
        var random = SeededRandom(seed: seed)
        var saves = RandomSaves(fixture: fixture)
        var derived = 0
        for step in 0..<40 {
            let changes = try saves.next(&random)
            let told = try fixture.store.save(changes).derivedValues
            _ = try memory.save(changes)
            for id in saves.present.sorted() {
                let (row, twin) = (try fixture.store.row(id), try memory.row(id))
                #expect(row?.attributes == twin?.attributes, "seed \(seed) step \(step) \(id)")
            }
            for (id, values) in told {
                guard let row = try memory.row(id) else { continue }
                for (slot, value) in values {
                    #expect(row.attributes[slot] == value, "seed \(seed) step \(step) \(id)")
                    derived += 1
                }
            }
        }
        #expect(derived > 100)
    }

    private static func derived(
        _ name: String, _ type: NSAttributeType, _ text: String
    ) -> NSDerivedAttributeDescription {
        let attribute = NSDerivedAttributeDescription()
        attribute.name = name
        attribute.attributeType = type
        attribute.derivationExpressionText = text
        return attribute
    }

    /// Teams with a captain, players, badges shared with others, rivals and notes of their own.
    private static func model() -> NSManagedObjectModel {
        let player = TestModel.entity(
            "Player",
            [
                TestModel.attribute("score", .integer32AttributeType),
                TestModel.attribute("name", .stringAttributeType),
                derived("plain", .stringAttributeType, "canonical:(name)"),
                derived("saved", .dateAttributeType, "now()"),
            ])
        let team = TestModel.entity(
            "Team",
            [
                TestModel.attribute("title", .stringAttributeType),
                derived("size", .integer64AttributeType, "players.@count"),
                derived("total", .integer64AttributeType, "players.score.@sum"),
                derived("least", .integer32AttributeType, "players.score.@min"),
                derived("best", .integer32AttributeType, "max:(players.score)"),
                derived("mean", .doubleAttributeType, "players.score.@avg"),
                derived("lastName", .stringAttributeType, "players.name.@max"),
                derived("captainName", .stringAttributeType, "captain.name"),
                derived("badgeCount", .integer16AttributeType, "badges.@count"),
                derived("badgeSum", .integer64AttributeType, "badges.rank.@sum"),
                derived("rivalCount", .integer64AttributeType, "rivals.@count"),
                derived("noteCount", .integer64AttributeType, "notes.@count"),
                derived("longestNote", .integer64AttributeType, "notes.size.@max"),
            ])
        let badge = TestModel.entity(
            "Badge", [TestModel.attribute("rank", .integer32AttributeType)])
        let note = TestModel.entity(
            "Note", [TestModel.attribute("size", .integer32AttributeType)])
        TestModel.relate(team, "players", toMany: true, player, inverse: "team")
        TestModel.relate(team, "captain", player)
        TestModel.relate(
            team, "badges", toMany: true, badge, inverse: "teams", inverseToMany: true)
        TestModel.relate(
            team, "rivals", toMany: true, team, inverse: "rivals", inverseToMany: true)
        TestModel.relate(team, "notes", toMany: true, note)
        return TestModel.model([team, player, badge, note])
    }
}

/// Random inserts, updates, deletes and links.
private struct RandomSaves {
    let fixture: StoreFixture
    private(set) var present: Set<RowID> = []

    init(fixture: StoreFixture) { self.fixture = fixture }

    private func all(_ entity: String) throws -> [RowID] {
        let number = try fixture.layout(entity).number
        return present.filter { $0.entity == number }.sorted()
    }

    mutating func next(_ random: inout SeededRandom) throws -> ChangeSet {
        var changes = ChangeSet()
        func number() -> AttributeValue {
            Bool.random(using: &random) ? .integer(.random(in: -9...9, using: &random)) : .null
        }
        func text() -> AttributeValue {
            .text(["Émile", "ada", "Zoë", "b"].randomElement(using: &random) ?? "")
        }
        let teams = try all("Team")
        let players = try all("Player")
        func link(_ targets: [RowID]) -> [RowID] {
            targets.randomElement(using: &random).map { [$0] } ?? []
        }
        changes.inserts = [
            try fixture.row("Team", ["title": text()], captain(link(players))),
            try fixture.row(
                "Player", ["score": number(), "name": text()],
                link(teams).first.map { ["team": $0] } ?? [:]),
            try fixture.row("Badge", ["rank": number()]),
            try fixture.row("Note", ["size": number()]),
        ]
        for player in players.shuffled(using: &random).prefix(2) {
            changes.updates.append(
                try fixture.update(
                    player, ["score": number(), "name": text()], ["team": link(teams).first]))
        }
        for team in teams.shuffled(using: &random).prefix(1) {
            changes.updates.append(
                try fixture.update(team, [:], ["captain": link(players).first]))
        }
        try addPairs(teams, to: &changes, &random)
        present.formUnion(changes.inserts.map(\.id))
        return try removing(from: changes, &random)
    }

    private func captain(_ players: [RowID]) -> [String: RowID] {
        players.first.map { ["captain": $0] } ?? [:]
    }

    private func addPairs(
        _ teams: [RowID], to changes: inout ChangeSet, _ random: inout SeededRandom
    ) throws {
        for (name, entity) in [("badges", "Badge"), ("rivals", "Team"), ("notes", "Note")] {
            guard let owner = teams.randomElement(using: &random) else { continue }
            let members = try all(entity).shuffled(using: &random)
            changes.toManys.append(
                try fixture.toMany(
                    owner, name, add: Array(members.prefix(2)),
                    remove: Array(members.dropFirst(2).prefix(1))))
        }
    }

    /// Deletes a badge, a note and a player that nothing in the same save names.
    private mutating func removing(
        from changes: ChangeSet, _ random: inout SeededRandom
    ) throws -> ChangeSet {
        var changes = changes
        let named = Set(
            changes.inserts.map(\.id) + changes.updates.map(\.id)
                + changes.toManys.flatMap { $0.added.map(\.target) + $0.removed }
                + changes.inserts.flatMap { $0.toOnes.compactMap { $0?.target } }
                + changes.updates.flatMap { $0.toOnes.compactMap { $0.link?.target } })
        var captains: Set<RowID> = []
        for team in try all("Team") {
            guard let row = try fixture.store.row(team) else { continue }
            captains.formUnion(row.toOnes.compactMap { $0?.target })
        }
        for entity in ["Badge", "Note", "Player"] {
            let free = try all(entity).filter { !named.contains($0) && !captains.contains($0) }
            guard let id = free.randomElement(using: &random), Bool.random(using: &random) else {
                continue
            }
            changes.deletes.append(RowDelete(id: id))
            present.remove(id)
        }
        return changes
    }
}
