import Foundation
import SQLiteDriver
import Stores
import Testing

@testable import SQLiteStore

/// Random saves against a dictionary that keeps the same rows.
@Suite struct RandomOperationsTests {
    @Test(arguments: 0..<8 as Range<UInt64>) func theStoreKeepsWhatADictionaryKeeps(seed: UInt64)
        throws
    {
        let scratch = try Scratch()
        let url = scratch.url("store.sqlite")
        let model = TestModel.society()
        var fixture = try StoreFixture(model, url: url)
        var random = SeededRandom(seed: seed)
        var oracle = Oracle()
        for step in 0..<60 {
            let changes = try oracle.changes(fixture, &random)
            if step % 7 == 3 {
                struct Stop: Error {}
                #expect(throws: Stop.self) {
                    try fixture.store.write { transaction in
                        _ = try transaction.apply(changes.set)
                        throw Stop()
                    }
                }
                continue
            }
            let outcome = try fixture.store.save(changes.set)
            oracle.take(changes.rows, outcome)
            if step % 20 == 19 { fixture = try StoreFixture(model, url: url) }
        }
        for (id, row) in oracle.rows { #expect(try fixture.store.row(id) == row) }
        let count = try ["Person", "Tag"].map {
            try fixture.store.count(matching: RowQuery(entity: fixture.layout($0).number))
        }.reduce(0, +)
        #expect(count == oracle.rows.count)
        #expect(try replayed(fixture) == Set(oracle.rows.keys))
        #expect(try fixture.integrity() == "ok")
    }

    /// The rows that are left when the history is carried out from the start.
    private func replayed(_ fixture: StoreFixture) throws -> Set<RowID> {
        var present: Set<RowID> = []
        for change in try fixture.store.history(after: 0, limit: nil).flatMap(\.changes) {
            switch change.kind {
            case .insert: #expect(present.insert(change.id).inserted)
            case .update: #expect(present.contains(change.id))
            case .delete: #expect(present.remove(change.id) != nil)
            }
        }
        return present
    }

    private struct Oracle {
        var rows: [RowID: Row] = [:]

        func changes(
            _ fixture: StoreFixture, _ random: inout SeededRandom
        ) throws -> (set: ChangeSet, rows: [RowID: Row?]) {
            var set = ChangeSet()
            var after: [RowID: Row?] = [:]
            for _ in 0..<Int.random(in: 1...5, using: &random) {
                let name =
                    ["Person", "Employee", "Manager", "Tag"].randomElement(using: &random) ?? "Tag"
                let row = try fixture.row(
                    name, ["name": .text("n\(Int.random(in: 0..<99, using: &random))")])
                set.inserts.append(row)
                after[row.id] = row
            }
            let known = rows.keys.sorted().shuffled(using: &random)
            for id in known.prefix(3) {
                guard let row = rows[id],
                    let slot = fixture.store.layout.entity(id.entity)?.attributeSlot("name")
                else { continue }
                var update = RowUpdate(id: id, expectedVersion: row.version)
                update.attributes = [(slot, .text("u\(Int.random(in: 0..<99, using: &random))"))]
                set.updates.append(update)
                after[id] = row.applying(update)
            }
            for id in known.dropFirst(3).prefix(2) {
                set.deletes.append(RowDelete(id: id, expectedVersion: rows[id]?.version))
                after[id] = .some(nil)
            }
            let people = after.compactMap { $1?.id }.filter {
                fixture.store.layout.entity($0.entity)?.name != "Tag"
            }
            let tags = after.compactMap { $1?.id }.filter {
                fixture.store.layout.entity($0.entity)?.name == "Tag"
            }
            if let person = people.min(), !tags.isEmpty {
                set.toManys = [
                    try fixture.toMany(
                        person, "favorites", add: tags.sorted(), order: tags.sorted().reversed())
                ]
            }
            return (set, after)
        }

        mutating func take(_ after: [RowID: Row?], _ outcome: SaveOutcome) {
            for (id, row) in after {
                rows[id] = row
                if let version = outcome.versions[id] { rows[id]?.version = version }
            }
        }
    }

    @Test func manyThreadsShareOneStore() async throws {
        let fixture = try StoreFixture(TestModel.society())
        let store = fixture.store
        let layout = try fixture.layout("Tag")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for worker in 0..<8 {
                group.addTask {
                    for number in 0..<25 {
                        var row = Row(
                            id: RowID(
                                entity: layout.number,
                                key: try store.reserveKeys(entity: layout.number, count: 1)[0]),
                            layout: layout)
                        row.attributes[0] = .text("\(worker)/\(number)")
                        var changes = ChangeSet()
                        changes.inserts = [row]
                        _ = try store.save(changes)
                        _ = try store.count(matching: RowQuery(entity: layout.number))
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try store.count(matching: RowQuery(entity: layout.number)) == 200)
        #expect(try store.history(after: 0, limit: nil).map(\.number) == Array(1...200))
    }
}
