import Foundation
import Platform
import SQLiteDriver
import Stores
import Testing

@testable import SQLiteStore

@Suite struct FaultTests {
    @Test func aSaveThatDiesBeforeItsCommitLeavesNothing() throws {
        let faults = StrikingFaults()
        var platform = Environment.system
        platform.faults = faults
        let store = try SQLiteRowStore(url: nil, model: TestModel.society(), platform: platform)
        let tag = try #require(store.layout.entity(named: "Tag"))
        let key = try store.reserveKeys(entity: tag.number, count: 1)[0]
        var changes = ChangeSet()
        changes.author = "first"
        changes.inserts = [Row(id: RowID(entity: tag.number, key: key), layout: tag)]
        faults.arm("store.beforeCommit")
        #expect(throws: StrikingFaults.Strike.self) { try store.save(changes) }
        #expect(try store.row(changes.inserts[0].id) == nil)
        #expect(try store.lastTransactionNumber() == 0)
        #expect(try store.save(changes).transactionNumber == 1)
        #expect(try store.history(after: 0, limit: nil).map(\.author) == ["first"])
        faults.arm("store.beforeCommit")
        #expect(throws: StrikingFaults.Strike.self) {
            try store.reserveKeys(entity: tag.number, count: 1)
        }
        #expect(try store.reserveKeys(entity: tag.number, count: 1) == [key + 1])
    }

    @Test func aStoreThatDiesInTheMakingLeavesNoFile() throws {
        let scratch = try Scratch()
        let faults = StrikingFaults()
        var platform = Environment.system
        platform.faults = faults
        let url = scratch.url("store.sqlite")
        faults.arm("store.beforePlacing")
        #expect(throws: StrikingFaults.Strike.self) {
            try SQLiteRowStore(url: url, model: TestModel.society(), platform: platform)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.folder.path) == [])
        _ = try SQLiteRowStore(url: url, model: TestModel.society(), platform: platform)
    }
}
