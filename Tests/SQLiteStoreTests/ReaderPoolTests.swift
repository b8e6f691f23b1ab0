import Foundation
import ObjectModel
import Platform
import SQLiteDriver
import Stores
import Synchronization
import Testing

@testable import SQLiteStore

/// One connection writes, others read beside it.
@Suite struct ReaderPoolTests {
    private let scratch: Scratch
    private var url: URL { scratch.url("store.sqlite") }

    init() throws { scratch = try Scratch() }

    private func open(_ change: (inout SQLiteStoreOptions) -> Void = { _ in }) throws
        -> StoreFixture
    {
        var options = SQLiteStoreOptions()
        change(&options)
        return try StoreFixture(TestModel.society(), url: url, options: options)
    }

    private func tags(_ reader: any RowReading, _ fixture: StoreFixture) throws -> Int {
        try reader.count(matching: RowQuery(entity: try fixture.layout("Tag").number))
    }

    /// Runs `work` on a thread of its own; nil where it does not end, as when it waits for the
    /// caller.
    private func aside<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) -> Value? {
        let result = Lock<Value?>(nil)
        let done = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            if let value = try? work() { result.withLock { $0 = value } }
            done.signal()
        }
        guard done.wait(timeout: .now() + 600) == .success else { return nil }
        return result.withLock { $0 }
    }

    // MARK: Beside each other

    @Test func readsGoOnBesideAWrite() throws {
        let fixture = try open()
        let id = try fixture.insert("Tag", ["name": .text("old")])
        let store = fixture.store
        let slot = try #require(try fixture.layout("Tag").attributeSlot("name"))
        let change = ChangeSet(updating: try fixture.update(id, ["name": .text("new")]))
        try store.write { transaction in
            _ = try transaction.apply(change)
            #expect(try store.row(id)?.attributes[slot] == .text("new"), "it joins the write")
            #expect(aside { try store.row(id)?.attributes[slot] } == .text("old"))
            let counted = aside {
                try store.read { try $0.count(matching: RowQuery(entity: id.entity)) }
            }
            #expect(counted == 1)
        }
        #expect(aside { try store.row(id)?.attributes[slot] } == .text("new"))
        #expect(try store.row(id)?.attributes[slot] == .text("new"))
    }

    @Test func readsGoOnBesideEachOther() throws {
        let fixture = try open()
        try fixture.insert("Tag")
        let store = fixture.store
        let number = try fixture.layout("Tag").number
        let inner = try store.read { _ in
            aside { try store.read { try $0.ids(matching: RowQuery(entity: number)).count } }
        }
        #expect(inner == 1)
    }

    @Test func aWriteGoesOnBesideARead() throws {
        let fixture = try open()
        try fixture.insert("Tag")
        let row = try fixture.row("Tag")
        let store = fixture.store
        try store.read { transaction in
            let query = RowQuery(entity: row.id.entity)
            #expect(try transaction.count(matching: query) == 1)
            let saved = aside { try store.save(ChangeSet(inserting: row)).written.count }
            #expect(saved == 1)
            #expect(try transaction.count(matching: query) == 1)
            #expect(try store.count(matching: query) == 1, "a call inside it joins the read")
            let other = try fixture.row("Tag")
            _ = try store.save(ChangeSet(inserting: other))
            #expect(try transaction.ids(matching: query).count == 1)
        }
        #expect(try tags(store, fixture) == 3)
    }

    @Test func noReadSeesHalfASave() throws {
        let fixture = try open()
        let pair = [try fixture.insert("Tag"), try fixture.insert("Tag")]
        let store = fixture.store
        let slot = try #require(try fixture.layout("Tag").attributeSlot("name"))
        let isOver = Atomic(false)
        let torn = Atomic(0)
        let threads = DispatchGroup()
        for _ in 0..<3 {
            threads.enter()
            Thread.detachNewThread {
                while !isOver.load(ordering: .acquiring) {
                    let rows = (try? store.rows(pair)) ?? []
                    let found = (try? store.rows(matching: RowQuery(entity: pair[0].entity))) ?? []
                    let isWhole =
                        rows.count == 2 && rows[0].attributes[slot] == rows[1].attributes[slot]
                        && found.count.isMultiple(of: 2) && found.count >= 2
                        && found[0].attributes[slot] == found[1].attributes[slot]
                    if !isWhole { torn.add(1, ordering: .relaxed) }
                }
                threads.leave()
            }
        }
        for round in 0..<150 {
            let name = AttributeValue.text("\(round)")
            var changes = ChangeSet()
            changes.updates = try pair.map { try fixture.update($0, ["name": name]) }
            changes.inserts = [try fixture.row("Tag"), try fixture.row("Tag")]
            _ = try store.save(changes)
            // Who saved reads the save.
            #expect(try fixture.value(pair[1], "name") == name)
        }
        isOver.store(true, ordering: .releasing)
        threads.wait()
        #expect(torn.load(ordering: .relaxed) == 0)
        #expect(try fixture.integrity() == "ok")
    }

    // MARK: Where one connection serves

    @Test func withoutALogOneConnectionServesAll() throws {
        let first = try open { $0.pragmas = ["journal_mode": "DELETE"] }
        try first.insert("Tag")
        #expect(first.store.readers == nil)
        #expect(try first.store.makeSnapshot() == nil)
        #expect(try tags(first.store, first) == 1)
        let reading = try open { $0.isReadOnly = true }
        #expect(reading.store.readers == nil)
        #expect(try tags(reading.store, reading) == 1)
        let memory = try StoreFixture(TestModel.society())
        #expect(try memory.store.readers == nil && memory.store.makeSnapshot() == nil)
    }

    @Test func aFileThatWasPutInThePlaceIsNotReadForTheStore() throws {
        let mine = try open()
        try mine.insert("Tag")
        let elsewhere = scratch.url("other.sqlite")
        try { _ = try StoreFixture(TestModel.society(), url: elsewhere) }()
        try FileManager.default.removeItem(at: url)
        try FileManager.default.moveItem(at: elsewhere, to: url)
        #expect(try tags(mine.store, mine) == 1)
        #expect(try mine.store.makeSnapshot() == nil)
    }

    @Test func manyThreadsLeaveFewConnectionsOpen() throws {
        let fixture = try open()
        try fixture.insert("Tag")
        let store = fixture.store
        let readers = try #require(store.readers)
        let number = try fixture.layout("Tag").number
        let inside = DispatchGroup()
        let leaving = DispatchSemaphore(value: 0)
        let threads = DispatchGroup()
        for _ in 0..<12 {
            inside.enter()
            threads.enter()
            Thread.detachNewThread {
                try? store.read { transaction in
                    _ = try transaction.count(matching: RowQuery(entity: number))
                    inside.leave()
                    leaving.wait()
                }
                threads.leave()
            }
        }
        inside.wait()
        for _ in 0..<12 { leaving.signal() }
        threads.wait()
        #expect(readers.idleCount == ReaderPool.idleMax)
        store.closeIdleReaders()
        #expect(readers.idleCount == 0)
        #expect(try tags(store, fixture) == 1)
    }

    @Test func whoOnlyReadsOpensNoSecondConnection() throws {
        try { _ = try open().insert("Tag") }()
        let fixture = try open()
        let readers = try #require(fixture.store.readers)
        #expect(try tags(fixture.store, fixture) == 1)
        #expect(!readers.areNeeded && readers.idleCount == 0)
        try fixture.insert("Tag")
        #expect(try tags(fixture.store, fixture) == 2)
        #expect(readers.areNeeded && readers.idleCount == 1)
    }

    /// Beside a write it waits for nobody, and within one it sees what that has written.
    @Test func aGlanceOpensNoSecondConnectionBeforeAnybodyWrites() throws {
        do { try open().insert("Tag") }
        let fixture = try open()
        let store = fixture.store
        let query = RowQuery(entity: try fixture.layout("Tag").number)
        #expect(try store.glance { try $0.count(matching: query) } == 1)
        #expect(try store.glance { _ in try tags(store, fixture) } == 1, "a call inside it joins")
        #expect(store.readers?.areNeeded == false)
        #expect(throws: StoreError.self) {
            try store.glance { try $0.save(ChangeSet(inserting: fixture.row("Tag"))) }
        }
        let row = try fixture.row("Tag")
        try store.write { transaction in
            _ = try transaction.apply(ChangeSet(inserting: row))
            #expect(try store.glance { try $0.count(matching: query) } == 2)
            let seen = aside { try store.glance { try $0.count(matching: query) } }
            #expect(seen == 1)
        }
        #expect(try store.glance { try $0.count(matching: query) } == 2)
    }

    @Test func aSecondReaderDoesNotWaitForTheFirst() throws {
        try { _ = try open().insert("Tag") }()
        let fixture = try open()
        let readers = try #require(fixture.store.readers)
        let (inside, leaving) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let store = fixture.store
        Thread.detachNewThread {
            store.lock.run {
                inside.signal()
                leaving.wait()
            }
        }
        inside.wait()
        #expect(try tags(store, fixture) == 1)
        #expect(readers.areNeeded && readers.idleCount == 1)
        leaving.signal()
    }

    /// While somebody writes, and somebody reads an older state.
    @Test func theLogIsMovedBesideWhoeverWorks() throws {
        let fixture = try open()
        try fixture.insert("Tag")
        let alone = {
            let copy = url.deletingLastPathComponent().appendingPathComponent("alone.sqlite")
            try? FileManager.default.removeItem(at: copy)
            try FileManager.default.copyItem(at: url, to: copy)
            let file = try Connection(path: copy.path, access: .immutable)
            return try file.value("SELECT count(*) FROM ZTAG")?.int64
        }
        fixture.store.moveLog()
        #expect(try alone() == 1)
        let snapshot = try #require(try fixture.store.makeSnapshot())
        try fixture.insert("Tag")
        try fixture.store.write { transaction in
            try transaction.connection.run("INSERT INTO ZTAG (Z_ENT, Z_OPT) VALUES (1, 1)")
            fixture.store.moveLog()
            #expect(try alone() == 1)
        }
        let query = RowQuery(entity: try fixture.layout("Tag").number)
        #expect(try snapshot.count(matching: query) == 1)
        fixture.store.endSnapshots()
        fixture.store.moveLog()
        #expect(try alone() == 3)
        #expect(try tags(fixture.store, fixture) == 3)
    }

    @Test func theLogGoesWithTheLastConnection() throws {
        var snapshot: (any RowSnapshot)?
        try {
            let fixture = try open()
            try fixture.insert("Tag")
            #expect(try tags(fixture.store, fixture) == 1)
            snapshot = try fixture.store.makeSnapshot()
            #expect(snapshot?.isOver == false)
        }()
        #expect(snapshot?.isOver == true)
        #expect(!FileManager.default.fileExists(atPath: url.path + "-wal"))
    }
}

extension ChangeSet {
    fileprivate init(inserting row: Row) {
        self.init()
        inserts = [row]
    }

    fileprivate init(updating update: RowUpdate) {
        self.init()
        updates = [update]
    }
}
