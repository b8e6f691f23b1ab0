import Foundation
import ObjectModel
import Stores
import Testing

@testable import SQLiteStore

/// Members asked of many owners at once are those asked of each.
@Suite struct SeveralOwnersTests {
    @Test(arguments: [1, 2, 3] as [UInt64]) func manyQuestionsAndOneAgree(seed: UInt64) throws {
        let world = try SocietyWorld(seed: seed, missing: true)
        let store = world.fixture.store
        var compared = 0
        for entity in store.layout.entities {
            var query = RowQuery(entity: entity.number)
            query.includesSubentities = false
            let owners = try store.ids(matching: query)
            for slot in entity.toManys.indices {
                let together = try store.members(ofEach: owners, toMany: slot)
                for owner in owners {
                    let alone = try store.members(of: owner, toMany: slot)
                    #expect(together[owner] ?? [] == alone, "\(entity.toManys[slot].name)")
                    compared += alone.count
                }
            }
        }
        #expect(compared > 100)
    }

    @Test func moreOwnersThanOneQuestionTakes() throws {
        let fixture = try StoreFixture(TestModel.society())
        let home = try fixture.insert("Place", ["name": .text("here")])
        var owners: [RowID] = []
        for number in 0..<1201 {
            let place = number == 1200 ? home : try fixture.insert("Place")
            try fixture.insert("Person", ["email": .text("\(number)")], ["home": place])
            owners.append(place)
        }
        let layout = try fixture.layout("Place")
        let slot = try #require(
            layout.toManys.firstIndex { $0.inverseRelationship?.name == "home" })
        let members = try fixture.store.members(ofEach: owners, toMany: slot)
        #expect(members.count == 1201 && members.values.allSatisfy { $0.count == 1 })
    }
}
