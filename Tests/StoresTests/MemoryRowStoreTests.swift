import Foundation
import ObjectModel
import Predicates
import Stores
import Testing

@Suite struct MemoryRowStoreTests {
    /// Team 1—n Player (ordered), Player n—m Player "friends", Player → Badge one way;
    /// a player's name is unique.
    private func makeStore() throws -> MemoryRowStore {
        let team = entity("Team", ["name"])
        let player = entity("Player", ["name", "rank"])
        let badge = entity("Badge", [])
        player.uniquenessConstraints = [["name"]]
        let players = relationship("players", to: player, many: true)
        players.isOrdered = true
        let back = relationship("team", to: team, many: false)
        players.inverseRelationship = back
        back.inverseRelationship = players
        let friends = relationship("friends", to: player, many: true)
        friends.inverseRelationship = friends
        team.declaredProperties.append(players)
        player.declaredProperties += [back, friends, relationship("badges", to: badge, many: true)]
        let model = NSManagedObjectModel()
        model.entities = [team, player, badge]
        return MemoryRowStore(layout: ModelLayout(model: model))
    }

    private func entity(_ name: String, _ attributes: [String]) -> NSEntityDescription {
        let entity = NSEntityDescription()
        entity.name = name
        entity.properties = attributes.map { name in
            let attribute = NSAttributeDescription()
            attribute.name = name
            attribute.attributeType =
                name == "rank" ? .integer64AttributeType : .stringAttributeType
            attribute.preservesValueInHistoryOnDeletion = name == "name"
            return attribute
        }
        return entity
    }

    private func relationship(
        _ name: String, to entity: NSEntityDescription, many: Bool
    ) -> NSRelationshipDescription {
        let relationship = NSRelationshipDescription()
        relationship.name = name
        relationship.destinationEntity = entity
        relationship.maxCount = many ? 0 : 1
        return relationship
    }

    private func row(_ store: MemoryRowStore, _ entity: String, name: String? = nil) throws -> Row {
        let layout = try #require(store.layout.entity(named: entity))
        let key = try #require(try store.reserveKeys(entity: layout.number, count: 1).first)
        var row = Row(id: RowID(entity: layout.number, key: key), layout: layout)
        if let name, let slot = layout.attributeSlot("name") { row.attributes[slot] = .text(name) }
        return row
    }

    private func insert(_ store: MemoryRowStore, _ rows: Row...) throws {
        var changes = ChangeSet()
        changes.inserts = rows
        _ = try store.save(changes)
    }

    @Test func keysAreNeverHandedOutTwice() throws {
        let store = try makeStore()
        let number = try #require(store.layout.entity(named: "Player")).number
        #expect(try store.reserveKeys(entity: number, count: 2) == [1, 2])
        #expect(try store.reserveKeys(entity: number, count: 0) == [])
        #expect(try store.reserveKeys(entity: number, count: 1) == [3])
        #expect(throws: StoreError.self) { try store.reserveKeys(entity: 99, count: 1) }
    }

    @Test func aStaleVersionStopsTheWholeSave() throws {
        let store = try makeStore()
        let ada = try row(store, "Player", name: "Ada")
        let bob = try row(store, "Player", name: "Bob")
        try insert(store, ada, bob)
        var changes = ChangeSet()
        changes.updates = [
            RowUpdate(id: ada.id, expectedVersion: 1), RowUpdate(id: bob.id, expectedVersion: 7),
        ]
        changes.updates[0].attributes = [(0, .text("Bea"))]
        let conflicts = try #require(throws: SaveConflicts.self) { try store.save(changes) }
        #expect(conflicts.conflicts.map(\.id) == [bob.id])
        #expect(conflicts.conflicts.first?.stored?.version == 1)
        #expect(try store.row(ada.id) == ada)
        changes.updates.removeLast()
        #expect(try store.save(changes).versions == [ada.id: 2])
        #expect(try store.row(ada.id)?.attributes[0] == .text("Bea"))
    }

    @Test func aUniqueValueIsFreeAgainAfterItsHolderLeft() throws {
        let store = try makeStore()
        let ada = try row(store, "Player", name: "Ada")
        try insert(store, ada)
        let double = try row(store, "Player", name: "Ada")
        let violation = try #require(throws: UniquenessViolation.self) { try insert(store, double) }
        #expect(violation.id == double.id && violation.holder == ada.id)
        #expect(violation.constraint == ["name"])
        #expect(try store.row(double.id) == nil)
        var changes = ChangeSet()
        changes.deletes = [RowDelete(id: ada.id)]
        changes.inserts = [double]
        _ = try store.save(changes)
        #expect(try store.row(double.id) != nil)
        try insert(store, try row(store, "Player"), try row(store, "Player"))
    }

    @Test func membersFollowLinksAndKeepTheirOrder() throws {
        let store = try makeStore()
        let team = try row(store, "Team")
        var players = try ["a", "b", "c"].map { try row(store, "Player", name: $0) }
        for index in players.indices { players[index].toOnes[0] = Link(team.id) }
        var changes = ChangeSet()
        changes.inserts = [team] + players
        var order = ToManyChange(owner: team.id, slot: 0)
        order.order = [players[2].id, players[0].id, players[1].id]
        changes.toManys = [order]
        _ = try store.save(changes)
        let members = try store.members(of: team.id, toMany: 0)
        #expect(members.map(\.target) == order.order)
        #expect(try store.row(players[2].id)?.toOnes[0]?.orderKey == members[0].orderKey)
        changes = ChangeSet()
        var update = RowUpdate(id: players[2].id)
        update.toOnes = [(0, nil)]
        changes.updates = [update]
        _ = try store.save(changes)
        #expect(
            try store.members(of: team.id, toMany: 0).map(\.target) == [
                players[0].id, players[1].id,
            ])
    }

    @Test func pairsGoWithTheRowsTheyJoin() throws {
        let store = try makeStore()
        let layout = try #require(store.layout.entity(named: "Player"))
        let (badges, friends) = (
            layout.toManySlot("badges") ?? 0, layout.toManySlot("friends") ?? 0
        )
        let ada = try row(store, "Player", name: "Ada")
        let bob = try row(store, "Player", name: "Bob")
        let badge = try row(store, "Badge")
        var changes = ChangeSet()
        changes.inserts = [ada, bob, badge]
        var pairs = ToManyChange(owner: ada.id, slot: friends)
        pairs.added = [Link(bob.id)]
        var awards = ToManyChange(owner: ada.id, slot: badges)
        awards.added = [Link(badge.id)]
        changes.toManys = [pairs, awards]
        _ = try store.save(changes)
        #expect(try store.members(of: bob.id, toMany: friends).map(\.target) == [ada.id])
        changes = ChangeSet()
        changes.deletes = [RowDelete(id: bob.id), RowDelete(id: badge.id)]
        _ = try store.save(changes)
        #expect(try store.members(of: ada.id, toMany: friends).isEmpty)
        #expect(try store.members(of: ada.id, toMany: badges).isEmpty)
    }

    @Test func historyTellsWhatChangedAndWhatWasLost() throws {
        let store = try makeStore()
        let ada = try row(store, "Player", name: "Ada")
        try insert(store, ada)
        var changes = ChangeSet()
        changes.author = "me"
        var update = RowUpdate(id: ada.id)
        update.attributes = [(1, .integer(3))]
        update.changedToManys = [0]
        changes.updates = [update]
        _ = try store.save(changes)
        changes = ChangeSet()
        changes.deletes = [RowDelete(id: ada.id)]
        _ = try store.save(changes)
        let history = try store.history(after: 1, limit: nil)
        #expect(history.map(\.number) == [2, 3] && history[0].author == "me")
        #expect(history[0].changes[0].changedProperties == ["rank", "badges"])
        #expect(history[1].changes[0].tombstone == ["name": .text("Ada")])
        #expect(try store.history(after: 0, limit: 1).map(\.number) == [1])
        try store.deleteHistory(.upTo(2))
        #expect(try store.history(after: 0, limit: nil).map(\.number) == [3])
        #expect(try store.lastTransactionNumber() == 3)
    }

    /// As of a store on disk: a reader that missed something is told so.
    @Test func historyThatWasRemovedIsToldAsExpired() throws {
        let store = try makeStore()
        let team = try #require(store.layout.entity(named: "Team"))
        for _ in 0..<3 {
            let key = try store.reserveKeys(entity: team.number, count: 1)[0]
            var changes = ChangeSet()
            changes.inserts = [Row(id: RowID(entity: team.number, key: key), layout: team)]
            _ = try store.save(changes)
        }
        #expect(try store.save(ChangeSet()).transactionNumber == nil)
        try store.deleteHistory(.upTo(2))
        #expect(try store.history(after: 2, limit: nil).map(\.number) == [3])
        let error = #expect(throws: StoreError.self) { try store.history(after: 1, limit: nil) }
        #expect(error?.code == .historyExpired)
        try store.deleteHistory(.upTo(3))
        #expect(try store.history(after: 3, limit: nil).isEmpty)
        #expect(throws: StoreError.self) { try store.history(after: 2, limit: nil) }
    }

    @Test func queriesFilterSortAndBound() throws {
        let store = try makeStore()
        for (index, name) in ["c", "a", "b"].enumerated() {
            var player = try row(store, "Player", name: name)
            player.attributes[1] = .integer(Int64(index))
            try insert(store, player)
        }
        let number = try #require(store.layout.entity(named: "Player")).number
        var query = RowQuery(entity: number)
        query.sort = [NSSortDescriptor(key: "name", ascending: true)]
        #expect(
            try store.rows(matching: query).map { $0.attributes[0] } == [
                .text("a"), .text("b"), .text("c"),
            ])
        query.offset = 1
        query.limit = 1
        #expect(try store.rows(matching: query).map { $0.attributes[0] } == [.text("b")])
        query.predicate = node(of: NSPredicate(format: "rank > 0 AND team == nil"))
        query.offset = 0
        query.limit = 0
        #expect(try store.count(matching: query) == 2)
        query.predicate = node(of: NSPredicate(format: "nothing == 1"))
        let error = try #require(throws: StoreError.self) { try store.rows(matching: query) }
        #expect(error.code == .unsupported && error.fields["key"] == "nothing")
    }
}
