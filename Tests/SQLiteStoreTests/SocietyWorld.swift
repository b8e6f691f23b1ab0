import Foundation
import Stores

@testable import SQLiteStore

/// A store full of people, made from a seed.
struct SocietyWorld {
    let fixture: StoreFixture
    private(set) var people: [RowID] = []
    private(set) var tags: [RowID] = []

    static let names = [
        "Ada", "ada", "ADA", "Ångström", "angstrom", "Zoë", "zoe", "Bob", "Bo b", "a*c", "Ünal",
    ]

    /// With `missing`, some values and links are nil.
    init(seed: UInt64, missing: Bool) throws {
        fixture = try StoreFixture(TestModel.society())
        var random = SeededRandom(seed: seed)
        func text() -> AttributeValue { .text(Self.names.randomElement(using: &random) ?? "") }
        func maybe(_ value: AttributeValue) -> AttributeValue {
            missing && Int.random(in: 0..<4, using: &random) == 0 ? .null : value
        }
        var changes = ChangeSet()
        let places = try (0..<4).map { _ in try fixture.row("Place", ["name": maybe(text())]) }
        let tagRows = try (0..<6).map { number in
            try fixture.row(
                "Tag", ["name": maybe(text()), "rank": maybe(.integer(Int64(number % 4)))])
        }
        changes.inserts = places + tagRows
        for number in 0..<40 {
            let kind = ["Person", "Employee", "Manager"].randomElement(using: &random) ?? "Person"
            var links: [String: RowID] = [:]
            if !missing || Bool.random(using: &random) {
                links["home"] = places.randomElement(using: &random)?.id
            }
            let row = try fixture.row(
                kind,
                [
                    "name": maybe(text()),
                    "age": maybe(.integer(Int64.random(in: 0..<9, using: &random))),
                    "born": maybe(.date(Double(Int.random(in: 0..<5, using: &random)) * 1000)),
                    "email": .text("p\(number)@x"),
                ], links)
            changes.inserts.append(row)
            people.append(row.id)
        }
        tags = tagRows.map(\.id)
        for place in places.indices {
            guard let slot = try fixture.layout("Place").toOneSlot("mayor") else { continue }
            changes.inserts[place].toOnes[slot] = people.randomElement(using: &random).map {
                Link($0)
            }
        }
        for person in people {
            changes.toManys += [
                try fixture.toMany(person, "tags", add: pick(tags, 0...3, &random)),
                try fixture.toMany(person, "favorites", add: pick(tags, 0...2, &random)),
                try fixture.toMany(person, "friends", add: pick(people, 0...2, &random)),
            ]
        }
        for number in 0..<20 {
            let note = try fixture.row("Note", ["text": maybe(.text("note \(number % 5)"))])
            changes.inserts.append(note)
            guard let owner = people.randomElement(using: &random) else { continue }
            changes.toManys.append(try fixture.toMany(owner, "notes", add: [note.id]))
        }
        _ = try fixture.store.save(changes)
    }
}

private func pick(_ ids: [RowID], _ count: ClosedRange<Int>, _ random: inout SeededRandom)
    -> [RowID]
{
    Array(ids.shuffled(using: &random).prefix(Int.random(in: count, using: &random)))
}
