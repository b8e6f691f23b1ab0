import Foundation
import ObjectModel
import Predicates
import Stores
import Testing

@testable import SQLiteStore

/// Rows in packs are the rows.
@Suite struct PackTests {
    private func rows(_ packs: [RowPack]) -> [Row] {
        packs.flatMap { pack in
            (0..<pack.count).map { index in
                Row(
                    id: RowID(entity: pack.entity, key: pack.key(index)),
                    version: pack.version(index), attributes: pack.attributes(of: index),
                    toOnes: (0..<pack.toOneCount).map {
                        pack.target($0, of: index).map { Link($0) }
                    })
            }
        }
    }

    /// Order keys are no part of a pack.
    private func plain(_ rows: [Row]) -> [Row] {
        rows.map { row in
            var row = row
            row.toOnes = row.toOnes.map { $0.map { Link($0.target) } }
            return row
        }
    }

    /// Entities that inherit from each other come mixed, with broken links among them.
    @Test(arguments: [4, 5] as [UInt64]) func packsAreTheRowsInTheirOrder(seed: UInt64) throws {
        let store = try SocietyWorld(seed: seed, missing: true).fixture.store
        var compared = 0
        for entity in store.layout.entities {
            for includesSubentities in [true, false] {
                var query = RowQuery(entity: entity.number)
                query.includesSubentities = includesSubentities
                if let name = entity.attributes.first?.name {
                    query.sort = [NSSortDescriptor(key: name, ascending: false)]
                }
                let packs = try #require(try store.packs(matching: query))
                let expected = try store.rows(matching: query)
                #expect(rows(packs) == plain(expected))
                compared += expected.count
            }
        }
        #expect(compared > 100)
    }

    @Test func keysThatAreAskedForComeInOrderOnce() throws {
        let fixture = try StoreFixture(TestModel.society())
        var ids: [RowID] = []
        for number in 0..<90 {
            ids.append(try fixture.insert("Place", ["name": .text("\(number)")]))
        }
        let store = fixture.store
        let ends = [ids[3], ids[70]]
        #expect(try store.packs(ends) == nil, "Few keys are read one by one.")
        let wanted = ids[5..<60].filter { !$0.key.isMultiple(of: 4) }
        let gone = RowID(entity: ids[0].entity, key: 1_000)
        let found = rows(try #require(try store.packs(wanted.reversed() + [wanted[2]])))
        #expect(found == plain(try store.rows(wanted)))
        let several = try store.packs([gone] + wanted)
        #expect(several == nil || rows(several ?? []) == found)
    }

    /// What may be in a file is read at once, since it may be gone.
    @Test func entitiesWithValuesInFilesHaveNoPacks() throws {
        let fixture = try StoreFixture(TestModel.kinds())
        let layout = try #require(fixture.store.layout.entities.first)
        #expect(try fixture.store.packs(matching: RowQuery(entity: layout.number)) == nil)
    }
}
