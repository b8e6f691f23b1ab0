import Foundation
import ObjectModel
import SQLiteDriver
import Stores
import Testing

@testable import SQLiteStore

/// Rows and history that are written several at a time, around the sizes of the statements.
@Suite struct ManyRowsTests {
    let fixture: StoreFixture

    init() throws { fixture = try StoreFixture(TestModel.society()) }

    private func insert(_ entity: String, _ count: Int, email: Bool = false) throws -> [Row] {
        let rows = try (0..<count).map {
            try fixture.row(entity, [email ? "email" : "name": .text("n\($0)")])
        }
        _ = try fixture.save { $0.inserts = rows }
        return rows
    }

    @Test(arguments: [1, 9, 10, 11, 39, 40, 41, 95])
    func rowsAndHistoryAreInOrder(count: Int) throws {
        let rows = try insert("Tag", count)
        #expect(try fixture.store.rows(rows.map(\.id)) == rows)
        _ = try fixture.save { changes in
            changes.updates = try rows.enumerated().map { index, row in
                try fixture.update(
                    row.id, expecting: 1,
                    index % 7 == 3 ? ["rank": .integer(1)] : ["name": .text("m\(index)")])
            }
            changes.inserts = [try fixture.row("Note")]
        }
        _ = try fixture.save { $0.deletes = rows.map { RowDelete(id: $0.id, expectedVersion: 2) } }
        let history = try fixture.store.history(after: 0, limit: nil)
        #expect(history.map(\.changes.count) == [count, count + 1, count])
        #expect(history[0].changes.map(\.id) == rows.map(\.id))
        #expect(history[0].changes.allSatisfy { $0.kind == .insert })
        #expect(history[1].changes[0].kind == .insert)
        #expect(history[1].changes.dropFirst().map(\.id) == rows.map(\.id))
        for (index, change) in history[1].changes.dropFirst().enumerated() {
            #expect(change.changedProperties == [index % 7 == 3 ? "rank" : "name"])
        }
        #expect(history[2].changes.map(\.id) == rows.map(\.id))
        #expect(history[2].changes.allSatisfy { $0.kind == .delete })
        let numbers = history.flatMap(\.changes).map(\.number)
        #expect(numbers == Array(1...Int64(3 * count + 1)))
        #expect(
            try fixture.sql("SELECT count(*) FROM ACHANGE WHERE Z_ENT = 16001") == [
                [
                    .integer(Int64(3 * count + 1))
                ]
            ])
    }

    @Test func tombstonesStandInTheirRowsAmongMany() throws {
        let rows = try insert("Person", 85, email: true)
        _ = try fixture.save { $0.deletes = rows.map { RowDelete(id: $0.id) } }
        let history = try fixture.store.history(after: 1, limit: nil)
        #expect(
            history[0].changes.map(\.tombstone)
                == (0..<85).map { ["email": .text("n\($0)")] })
    }

    @Test func aTakenKeyAmongManyNamesItsRow() throws {
        let holder = try fixture.insert("Person", ["email": .text("n12")])
        let rows = try (0..<25).map { try fixture.row("Person", ["email": .text("n\($0)")]) }
        let violation = #expect(throws: UniquenessViolation.self) {
            try fixture.save { $0.inserts = rows }
        }
        #expect(violation?.id == rows[12].id && violation?.holder == holder)
        let people = RowQuery(entity: holder.entity)
        #expect(try fixture.store.count(matching: people) == 1)
        _ = try fixture.save { $0.inserts = rows.filter { $0.id != rows[12].id } }
        #expect(try fixture.store.count(matching: people) == 25)
    }

    @Test func aSaveThatFailsLeavesNothingOfItsTransaction() throws {
        let person = try fixture.layout("Person").number
        #expect(throws: CancellationError.self) {
            try fixture.store.writing { writer in
                let keys = try writer.reserveKeys(entity: person, count: 3)
                #expect(keys == [1, 2, 3])
                throw CancellationError()
            }
        }
        let keys = try fixture.store.writing { writer in
            let keys = try writer.reserveKeys(entity: person, count: 1)
            var changes = ChangeSet()
            changes.inserts = [
                Row(
                    id: RowID(entity: person, key: keys[0]), layout: try fixture.layout("Person"))
            ]
            _ = try writer.save(changes)
            return keys
        }
        #expect(keys == [1])
        #expect(try fixture.store.lastTransactionNumber() == 1)
    }
}
