import SQLiteDriver
import Stores
import Testing

@testable import SQLiteStore

/// What SQLite's refusals mean for a program. Codes: <https://www.sqlite.org/rescode.html>
@Suite struct FaultMeaningTests {
    @Test(arguments: [
        (5, StoreError.Code.busy, "try again"), (261, .busy, "try again"),
        (517, .busy, "begin it again"), (6, .busy, "try again"),
        (5386, .cannotOpen, "journal_mode"), (3850, .cannotOpen, "local disk"),
        (13, .diskFull, "make room"), (11, .corrupt, "copy"), (8, .readOnly, "access"),
        (14, .cannotOpen, "path"), (266, .failed, "SQLite refused"),
    ])
    func everyRefusalSaysWhatToDo(code: Int32, meaning: StoreError.Code, advice: String) {
        let error = StoreError(SQLiteFault(code: code, message: "m", sql: "s"), path: "/p")
        #expect(error.code == meaning && error.message.contains(advice))
        #expect(error.fields == ["path": "/p", "sql": "s"])
    }

    @Test(arguments: [
        "parser stack overflow", "Expression tree is too large (maximum depth 1000)",
    ])
    func whatIsTooDeepForSQLiteIsNothingThatAStoreCanDo(message: String) {
        let error = StoreError(SQLiteFault(code: 1, message: message, sql: "s"), path: "/p")
        #expect(error.code == .unsupported && error.message.contains("deep"))
    }

    /// In order: SHMSIZE, SHMOPEN, SHMMAP, WRITE, FSYNC.
    @Test(arguments: [4874, 4618, 5386, 778, 1034] as [Int32])
    func whatDoesNotFitOnAFullDiskIsToldSo(code: Int32) {
        let fault = SQLiteFault(code: code, message: "disk I/O error")
        let full = StoreError(fault, path: "/p", hasRoom: false)
        #expect(full.code == .diskFull && full.message.contains("make room"))
        #expect(StoreError(fault, path: "/p", hasRoom: true).code != .diskFull)
        let reading = SQLiteFault(code: 266, message: "disk I/O error")
        #expect(StoreError(reading, path: "/p", hasRoom: false).code == .failed)
    }

    @Test(arguments: ["WAL", "DELETE"])
    func whatOnlyReadsRefusesToWrite(journal: String) throws {
        let scratch = try Scratch()
        var options = SQLiteStoreOptions()
        options.pragmas = ["journal_mode": journal]
        let fixture = try StoreFixture(
            TestModel.society(), url: scratch.url("store.sqlite"), options: options)
        let row = try fixture.row("Tag")
        let error = try fixture.store.read { transaction in
            #expect(throws: StoreError.self) {
                var changes = ChangeSet()
                changes.inserts = [row]
                _ = try transaction.apply(changes)
            }
        }
        #expect(error?.code == .readOnly && error?.message.contains("write") == true)
        _ = try fixture.save { $0.inserts = [row] }
    }
}
