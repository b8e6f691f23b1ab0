import Foundation
import ObjectModel
import Predicates
import Stores
import Synchronization
import Testing

@testable import SQLiteStore

/// States of a store that are held for reading.
@Suite struct SnapshotTests {
    private let scratch: Scratch
    private var url: URL { scratch.url("store.sqlite") }

    init() throws { scratch = try Scratch() }

    private func open(
        _ model: NSManagedObjectModel = TestModel.society(),
        _ change: (inout SQLiteStoreOptions) -> Void = { _ in }
    ) throws -> StoreFixture {
        var options = SQLiteStoreOptions()
        change(&options)
        return try StoreFixture(model, url: url, options: options)
    }

    private func held(_ fixture: StoreFixture) throws -> any RowSnapshot {
        try #require(try fixture.store.makeSnapshot())
    }

    /// The last reference to one snapshot goes while another thread makes the next.
    @Test func threadsHoldAndDropStatesBesideEachOther() throws {
        let fixture = try open()
        try fixture.insert("Tag")
        let readers = try #require(fixture.store.readers)
        let number = try fixture.layout("Tag").number
        let failures = Atomic(0)
        let threads = DispatchGroup()
        for _ in 0..<4 {
            threads.enter()
            Thread.detachNewThread {
                defer { threads.leave() }
                for _ in 0..<1500 {
                    let snapshot = try? readers.hold { nil }
                    let count = try? snapshot?.count(matching: RowQuery(entity: number))
                    if count != 1 { failures.add(1, ordering: .relaxed) }
                }
            }
        }
        // It waits for ever where one of them waits for itself.
        try #require(threads.wait(timeout: .now() + 600) == .success)
        #expect(failures.load(ordering: .relaxed) == 0 && !readers.holdsSnapshots)
    }

    @Test func aSnapshotShowsTheStateInWhichItWasMade() throws {
        let fixture = try open()
        let number = try fixture.layout("Tag").number
        let slot = try #require(try fixture.layout("Tag").attributeSlot("name"))
        let query = RowQuery(entity: number)
        let (kept, doomed) = (
            try fixture.insert("Tag", ["name": .text("a")]), try fixture.insert("Tag")
        )
        let snapshot = try held(fixture)
        _ = try fixture.save {
            $0.updates = [try fixture.update(kept, ["name": .text("b")])]
            $0.deletes = [RowDelete(id: doomed)]
        }
        let fresh = try fixture.insert("Tag")
        #expect(try snapshot.row(kept)?.attributes[slot] == .text("a"))
        #expect(try snapshot.row(fresh) == nil && snapshot.row(doomed) != nil)
        #expect(try snapshot.ids(matching: query) == [kept, doomed])
        #expect(
            try snapshot.rows(matching: query).count == 2 && snapshot.count(matching: query) == 2)
        #expect(try snapshot.rows([fresh, kept]).map(\.id) == [kept])
        #expect(try fixture.store.ids(matching: query) == [kept, fresh])
        #expect(try held(fixture).row(kept)?.attributes[slot] == .text("b"))
        snapshot.end()
        let error = #expect(throws: StoreError.self) { try snapshot.row(kept) }
        #expect(error?.code == .snapshotExpired && snapshot.isOver)
    }

    @Test func equalStatesAreOneSnapshot() throws {
        let (fixture, other) = (try open(), try open())
        try fixture.insert("Tag")
        let first = try held(fixture)
        #expect(try held(fixture) === first)
        try fixture.insert("Tag")
        let second = try held(fixture)
        #expect(second !== first)
        try other.insert("Tag")
        let third = try held(fixture)
        #expect(third !== second)
        let query = RowQuery(entity: try fixture.layout("Tag").number)
        #expect(
            try [first, second, third].map { try $0.count(matching: query) } == [1, 2, 3])
        fixture.store.endSnapshots()
        #expect(first.isOver && second.isOver && third.isOver)
        #expect(try held(fixture) !== third)
    }

    @Test func aLogThatGrowsTooLargeEndsThem() throws {
        let fixture = try open { $0.heldLogBytesMax = 200_000 }
        let snapshot = try held(fixture)
        for _ in 0..<20 where !snapshot.isOver {
            try fixture.insert("Tag", ["name": .text(String(repeating: "x", count: 20_000))])
        }
        #expect(snapshot.isOver)
        #expect(FileKind.size(at: url.path + "-wal") < 200_000)
        // The next one lives on, although the log was large once.
        let next = try held(fixture)
        try fixture.insert("Tag")
        #expect(!next.isOver)
    }

    @Test func valuesInFilesStayForASnapshot() throws {
        let fixture = try open(TestModel.kinds())
        let entity = try #require(
            fixture.store.layout.entities.first { layout in
                layout.attributes.contains { $0.attribute.allowsExternalBinaryDataStorage }
            })
        let slot = try #require(
            entity.attributes.firstIndex { $0.attribute.allowsExternalBinaryDataStorage })
        let name = entity.attributes[slot].name
        let first = Data(repeating: 1, count: 200_000)
        let id = try fixture.insert(entity.name, [name: .data(first)])
        let snapshot = try held(fixture)
        _ = try fixture.save {
            $0.updates = [try fixture.update(id, [name: .data(Data(repeating: 2, count: 200_000))])]
        }
        let row = try #require(try snapshot.row(id))
        #expect(row.attributes[slot] == .data(first) && row.missing.isEmpty)
    }

    @Test func aStoreCanBeEmptiedWhileOneIsHeld() throws {
        let fixture = try open()
        let id = try fixture.insert("Tag")
        let snapshot = try held(fixture)
        try SQLiteRowStore.destroy(at: url, busyMilliseconds: 1000)
        #expect(try snapshot.row(id) != nil)
        #expect(throws: StoreError.self) { try fixture.store.row(id) }
    }

    @Test func aReadThatFailsIsTriedWithAnotherConnection() throws {
        let fixture = try open()
        let id = try fixture.insert("Tag", ["name": .text("x")])
        #expect(try fixture.store.row(id) != nil)
        var query = RowQuery(entity: id.entity)
        query.sort = [NSSortDescriptor(key: "nothing", ascending: true)]
        let failing = query
        #expect(throws: (any Error).self) { try fixture.store.rows(matching: failing) }
        #expect(try fixture.store.row(id) != nil)
        #expect(fixture.store.readers?.idleCount == 1)
    }
}
