import SQLiteDriver
import Stores
import Testing

@testable import SQLiteStore

@Suite struct SaveTests {
    let fixture: StoreFixture

    init() throws { fixture = try StoreFixture(TestModel.society()) }

    @Test func allStaleRowsAreToldAndNothingIsWritten() throws {
        let people = try (0..<4).map { try fixture.insert("Person", ["name": .text("p\($0)")]) }
        _ = try fixture.save {
            $0.updates = [try fixture.update(people[0], expecting: 1, ["age": .integer(5)])]
            $0.deletes = [RowDelete(id: people[1])]
        }
        let before = try fixture.store.lastTransactionNumber()
        let conflicts = #expect(throws: SaveConflicts.self) {
            try fixture.save {
                $0.inserts = [try fixture.row("Tag")]
                $0.updates = [
                    try fixture.update(people[0], expecting: 1, ["age": .integer(6)]),
                    try fixture.update(people[1], expecting: 1, ["age": .integer(6)]),
                    try fixture.update(people[2], expecting: 1, ["age": .integer(6)]),
                ]
                $0.deletes = [RowDelete(id: people[3], expectedVersion: 7)]
            }
        }
        let found = try #require(conflicts).conflicts
        #expect(Set(found.map(\.id)) == [people[0], people[1], people[3]])
        let first = try #require(found.first { $0.id == people[0] }?.stored)
        #expect(first.version == 2 && first.attributes.contains(.integer(5)))
        #expect(found.contains { $0.id == people[1] && $0.stored == nil })
        #expect(try fixture.value(people[2], "age") == .null)
        #expect(try fixture.store.row(people[3]) != nil)
        #expect(
            try fixture.store.count(matching: RowQuery(entity: fixture.layout("Tag").number)) == 0)
        #expect(try fixture.store.lastTransactionNumber() == before)
    }

    @Test func aTakenUniqueKeyNamesConstraintAndHolder() throws {
        let holder = try fixture.insert("Person", ["email": .text("a@x")])
        let row = try fixture.row("Manager", ["email": .text("a@x")])
        let violation = #expect(throws: UniquenessViolation.self) {
            try fixture.save { $0.inserts = [row] }
        }
        #expect(violation?.entity == "Person" && violation?.constraint == ["email"])
        #expect(violation?.holder == holder && violation?.id == row.id)
        let other = try fixture.insert("Person", ["email": .text("b@x")])
        let second = #expect(throws: UniquenessViolation.self) {
            try fixture.save { $0.updates = [try fixture.update(other, ["email": .text("a@x")])] }
        }
        #expect(second?.holder == holder && second?.id == other)
        #expect(try fixture.value(other, "email") == .text("b@x"))
        let found = try fixture.store.read {
            try $0.holder(of: ["email"], values: [.text("a@x")], in: holder.entity)
        }
        #expect(found == holder)
        let nobody = try fixture.store.read {
            try $0.holder(of: ["email"], values: [.null], in: holder.entity)
        }
        #expect(nobody == nil)
    }

    @Test func uniqueKeysCanPassFromRowToRowInOneSave() throws {
        let people = try ["a", "b", "c"].map { try fixture.insert("Person", ["email": .text($0)]) }
        _ = try fixture.save {
            $0.updates = [
                try fixture.update(people[0], expecting: 1, ["email": .text("b")]),
                try fixture.update(people[1], expecting: 1, ["email": .text("c")]),
                try fixture.update(people[2], expecting: 1, ["email": .text("a")]),
            ]
        }
        #expect(
            try people.map { try fixture.value($0, "email") } == [
                .text("b"), .text("c"), .text("a"),
            ])
        let heir = try fixture.row("Person", ["email": .text("b")])
        _ = try fixture.save {
            $0.deletes = [RowDelete(id: people[0])]
            $0.inserts = [heir]
        }
        #expect(try fixture.value(heir.id, "email") == .text("b"))
    }

    @Test func aKeyThatIsTakenIsAnError() throws {
        let person = try fixture.insert("Person")
        var row = try fixture.row("Person")
        row.id = person
        let error = #expect(throws: StoreError.self) { try fixture.save { $0.inserts = [row] } }
        #expect(error?.code == .failed)
    }

    @Test func aMissingRowIsAnErrorWhenChangedAndNoneWhenDeleted() throws {
        let person = try fixture.insert("Person")
        _ = try fixture.save { $0.deletes = [RowDelete(id: person)] }
        _ = try fixture.save { $0.deletes = [RowDelete(id: person)] }
        let error = #expect(throws: StoreError.self) {
            try fixture.save { $0.updates = [try fixture.update(person, ["age": .integer(1)])] }
        }
        #expect(error?.code == .missingRow)
    }

    @Test func whatThrowsInsideAWriteLeavesNothing() throws {
        struct Stop: Error {}
        let person = try fixture.insert("Person", ["name": .text("kept")])
        let before = try fixture.store.history(after: 0, limit: nil).count
        #expect(throws: Stop.self) {
            try fixture.store.write { transaction in
                var changes = ChangeSet()
                changes.author = "never seen"
                changes.inserts = [try fixture.row("Tag", ["name": .text("lost")])]
                changes.updates = [try fixture.update(person, ["name": .text("lost")])]
                _ = try transaction.apply(changes)
                #expect(try transaction.lastTransactionNumber() == Int64(before + 1))
                throw Stop()
            }
        }
        #expect(try fixture.value(person, "name") == .text("kept"))
        #expect(try fixture.store.history(after: 0, limit: nil).count == before)
        var changes = ChangeSet()
        changes.author = "never seen"
        changes.inserts = [try fixture.row("Tag")]
        _ = try fixture.store.save(changes)
        #expect(
            try fixture.store.history(after: Int64(before), limit: nil).map(\.author) == [
                "never seen"
            ])
        #expect(try fixture.integrity() == "ok")
    }

    @Test func aFailedApplyLeavesWhatWasWrittenBefore() throws {
        let person = try fixture.insert("Person", ["name": .text("old")])
        let tag = try fixture.row("Tag")
        try fixture.store.write { transaction in
            var first = ChangeSet()
            first.inserts = [tag]
            _ = try transaction.apply(first)
            var second = ChangeSet()
            second.updates = [try fixture.update(person, expecting: 9, ["name": .text("new")])]
            #expect(throws: SaveConflicts.self) { try transaction.apply(second) }
        }
        #expect(try fixture.store.row(tag.id) != nil)
        #expect(try fixture.value(person, "name") == .text("old"))
    }

    @Test func callsInsideATransactionJoinIt() throws {
        let outcome = try fixture.store.write { transaction in
            let id = try fixture.insert("Person", ["name": .text("inner")])
            #expect(try transaction.row(id) != nil)
            return try fixture.store.read { try $0.lastTransactionNumber() }
        }
        #expect(outcome == 1)
    }

    @Test func aTransactionCannotBeUsedAfterwards() throws {
        let kept = try fixture.store.write { $0 }
        #expect(throws: StoreError.self) { try kept.lastTransactionNumber() }
    }

    @Test func systemKeysAreCountedInTheTableOfKeys() throws {
        let keys = try (0..<2).map { _ in
            try fixture.store.write { transaction in
                try transaction.nextPrimaryKey(forSystemEntity: 17001, name: "NSCKDatabaseMetadata")
            }
        }
        #expect(keys == [1, 2])
        let rows = try fixture.sql("SELECT * FROM Z_PRIMARYKEY WHERE Z_ENT = 17001")
        #expect(rows == [[17001, "NSCKDatabaseMetadata", 0, 2]])
    }
}
