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

    @Test func aReaderThatWritesTooLateIsToldToBeginAgain() throws {
        let scratch = try Scratch()
        let url = scratch.url("store.sqlite")
        let (mine, other) = (
            try StoreFixture(TestModel.society(), url: url),
            try StoreFixture(TestModel.society(), url: url)
        )
        let rows = (try mine.row("Tag"), try other.row("Tag"))
        let error = try mine.store.read { transaction in
            #expect(try transaction.lastTransactionNumber() == 0)
            _ = try other.save { $0.inserts = [rows.1] }
            return #expect(throws: StoreError.self) {
                var changes = ChangeSet()
                changes.inserts = [rows.0]
                _ = try transaction.apply(changes)
            }
        }
        #expect(error?.code == .busy && error?.message.contains("begin it again") == true)
        _ = try mine.save { $0.inserts = [rows.0] }
    }
}
