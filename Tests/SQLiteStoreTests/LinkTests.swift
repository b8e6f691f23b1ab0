import ObjectModel
import SQLiteDriver
import Stores
import Testing

@testable import SQLiteStore

@Suite struct LinkTests {
    let fixture: StoreFixture

    init() throws { fixture = try StoreFixture(TestModel.society()) }

    @Test func aToOneKnowsTheConcreteEntityOfItsTarget() throws {
        let boss = try fixture.insert("Manager", ["name": .text("Ada")])
        let worker = try fixture.insert("Employee", [:], ["boss": boss])
        let slot = try #require(try fixture.layout("Employee").toOneSlot("boss"))
        let link = try #require(try fixture.store.row(worker)?.toOnes[slot])
        #expect(link == Link(boss, orderKey: 2048))
        #expect(try fixture.members(boss, "reports") == [worker])
        _ = try fixture.save { $0.updates = [try fixture.update(worker, [:], ["boss": nil])] }
        #expect(try fixture.members(boss, "reports") == [])
        #expect(try fixture.store.row(worker)?.toOnes[slot] == nil)
    }

    @Test func orderedMembersKeepTheirOrderWithFewNewKeys() throws {
        let boss = try fixture.insert("Manager")
        let workers = try (0..<4).map { _ in try fixture.insert("Employee", [:], ["boss": boss]) }
        #expect(try fixture.members(boss, "reports") == workers)
        let wanted = [workers[3], workers[0], workers[2], workers[1]]
        _ = try fixture.save {
            $0.toManys = [try fixture.toMany(boss, "reports", order: wanted)]
        }
        #expect(try fixture.members(boss, "reports") == wanted)
        let slot = try #require(try fixture.layout("Manager").toManySlot("reports"))
        let keys = try fixture.store.members(of: boss, toMany: slot).map(\.orderKey)
        #expect(keys == [1024, 2048, 4096, 5120] || keys == [1024, 2048, 2560, 3072])
        let late = try fixture.insert("Employee", [:], ["boss": boss])
        #expect(try fixture.members(boss, "reports") == wanted + [late])
    }

    @Test func manyToManyPairsAreSeenFromBothEnds() throws {
        let people = try (0..<3).map { _ in try fixture.insert("Person") }
        let tags = try (0..<3).map { _ in try fixture.insert("Tag") }
        _ = try fixture.save {
            $0.toManys = [
                try fixture.toMany(people[0], "tags", add: [tags[0], tags[1]]),
                try fixture.toMany(tags[1], "people", add: [people[0], people[2]]),
            ]
        }
        #expect(try fixture.members(people[0], "tags") == [tags[0], tags[1]])
        #expect(try fixture.members(tags[1], "people") == [people[0], people[2]])
        let pairs = try fixture.store.read { try $0.pairs(of: tags[1]) }
        #expect(pairs.map(\.other) == [people[0], people[2]])
        let layout = try fixture.layout("Tag")
        #expect(pairs.map { layout.toManys[$0.toManySlot].name } == ["people", "people"])
        _ = try fixture.save {
            $0.toManys = [try fixture.toMany(people[0], "tags", remove: [tags[1], tags[2]])]
        }
        #expect(try fixture.members(tags[1], "people") == [people[2]])
    }

    @Test func orderedManyToManyIsOrderedOnItsSideOnly() throws {
        let person = try fixture.insert("Employee")
        let tags = try (0..<4).map { _ in try fixture.insert("Tag") }
        _ = try fixture.save {
            $0.toManys = [
                try fixture.toMany(person, "favorites", add: [tags[2], tags[0], tags[1]])
            ]
        }
        #expect(try fixture.members(person, "favorites") == [tags[2], tags[0], tags[1]])
        let order = [tags[1], tags[3], tags[2], tags[0]]
        _ = try fixture.save {
            $0.toManys = [try fixture.toMany(person, "favorites", add: [tags[3]], order: order)]
        }
        #expect(try fixture.members(person, "favorites") == order)
        #expect(try fixture.members(tags[3], "fans") == [person])
    }

    /// One place is what the list as a whole says of it.
    @Test func aPlaceIsAskedForByItself() throws {
        let person = try fixture.insert("Employee")
        let boss = try fixture.insert("Manager")
        let tags = try (0..<3).map { _ in try fixture.insert("Tag") }
        let workers = try (0..<3).map { _ in try fixture.insert("Employee", [:], ["boss": boss]) }
        func place(of member: RowID, in owner: RowID, _ slot: Int) throws -> Int64? {
            try fixture.store.write { try $0.place(of: member, in: owner, toMany: slot) }
        }
        _ = try fixture.save {
            $0.toManys = [
                try fixture.toMany(person, "favorites", add: [tags[2], tags[0]]),
                try fixture.toMany(boss, "reports", order: workers.reversed()),
            ]
        }
        for (entity, owner, name, other, count) in [
            ("Employee", person, "favorites", tags[1], 2), ("Manager", boss, "reports", boss, 3),
        ] {
            let slot = try #require(try fixture.layout(entity).toManySlot(name))
            let members = try fixture.store.members(of: owner, toMany: slot)
            #expect(members.count == count && members.allSatisfy { $0.orderKey != nil })
            for link in members {
                #expect(try place(of: link.target, in: owner, slot) == link.orderKey)
            }
            #expect(try place(of: other, in: owner, slot) == nil)
        }
        let slot = try #require(try fixture.layout("Tag").toManySlot("fans"))
        #expect(try place(of: person, in: tags[0], slot) == nil)
    }

    @Test func aRelationshipThatIsItsOwnInverseCountsInBothDirections() throws {
        let people = try (0..<3).map { _ in try fixture.insert("Person") }
        _ = try fixture.save {
            $0.toManys = [try fixture.toMany(people[1], "friends", add: [people[0], people[2]])]
        }
        #expect(try fixture.members(people[0], "friends") == [people[1]])
        #expect(try fixture.members(people[1], "friends") == [people[0], people[2]])
        _ = try fixture.save {
            $0.toManys = [try fixture.toMany(people[0], "friends", remove: [people[1]])]
        }
        #expect(try fixture.members(people[1], "friends") == [people[2]])
    }

    @Test func aToManyWithoutInverseHasItsOwnColumn() throws {
        let person = try fixture.insert("Person")
        let other = try fixture.insert("Manager")
        let notes = try (0..<3).map { _ in try fixture.insert("Note") }
        _ = try fixture.save { $0.toManys = [try fixture.toMany(person, "notes", add: notes)] }
        #expect(try fixture.members(person, "notes") == notes)
        _ = try fixture.save {
            $0.toManys = [
                try fixture.toMany(
                    person, "notes", remove: [notes[0]], order: [notes[2], notes[1]]),
                try fixture.toMany(other, "notes", add: [notes[0]]),
            ]
        }
        #expect(try fixture.members(person, "notes") == [notes[2], notes[1]])
        #expect(try fixture.members(other, "notes") == [notes[0]])
    }

    @Test func referrersAreTheRowsWhoseToOnePointsHere() throws {
        let manager = try fixture.insert("Manager")
        let worker = try fixture.insert("Employee", [:], ["boss": manager])
        let place = try fixture.insert("Place", [:], ["mayor": manager])
        let home = try fixture.save {
            $0.updates = [try fixture.update(manager, [:], ["home": place])]
        }
        #expect(home.versions[manager] == 2)
        let found = try fixture.store.read { try $0.referrers(of: manager) }
        #expect(Set(found.map(\.row)) == [worker, place])
        let names = try found.map {
            try #require(fixture.store.layout.entity($0.row.entity)).toOnes[$0.toOneSlot].name
        }
        #expect(Set(names) == ["boss", "mayor"])
        #expect(try fixture.store.read { try $0.referrers(of: place) }.map(\.row) == [manager])
    }

    @Test func aDeletedRowLeavesItsJoinTables() throws {
        let people = try (0..<2).map { _ in try fixture.insert("Person") }
        let tag = try fixture.insert("Tag")
        let note = try fixture.insert("Note")
        _ = try fixture.save {
            $0.toManys = [
                try fixture.toMany(people[0], "tags", add: [tag]),
                try fixture.toMany(people[0], "friends", add: [people[1]]),
                try fixture.toMany(people[0], "notes", add: [note]),
            ]
        }
        _ = try fixture.save { $0.deletes = [RowDelete(id: people[0], expectedVersion: 1)] }
        #expect(try fixture.store.row(people[0]) == nil)
        #expect(try fixture.members(tag, "people") == [])
        #expect(try fixture.members(people[1], "friends") == [])
        for table in ["Z_2TAGS", "Z_2FRIENDS"] {
            #expect(try fixture.sql("SELECT count(*) FROM \(table)") == [[0]])
        }
        #expect(try fixture.sql("SELECT Z2NOTES, Z_FOK_2NOTES FROM ZNOTE") == [[.null, .null]])
    }
}
