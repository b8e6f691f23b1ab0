import Foundation
import SQLiteDriver
import Testing

@Suite struct ConnectionTests {
    let connection: Connection

    init() throws {
        connection = try Connection(path: ":memory:")
        try connection.run(
            "CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT UNIQUE, bytes BLOB)")
    }

    @Test func valuesReadBackAsTheyWereBound() throws {
        let values: [SQLiteValue] = [
            .integer(.max), .text("näme\u{0}after"), .blob(Data([0, 1, 255])),
        ]
        try connection.run("INSERT INTO item VALUES (?, ?, ?)", values)
        #expect(try connection.rows("SELECT * FROM item") == [values])
        #expect(try connection.value("SELECT ?", [.blob(Data())]) == .blob(Data()))
        #expect(try connection.value("SELECT ?", [.text("")]) == .text(""))
    }

    /// Swift calls the two texts equal, and they are two statements.
    @Test func textsThatOnlyLookAlikeAreStatementsOfTheirOwn() throws {
        let (composed, decomposed) = ("SELECT length('\u{E9}')", "SELECT length('e\u{301}')")
        #expect(composed == decomposed)
        for _ in 0..<2 {
            #expect(try connection.value(composed) == 1)
            #expect(try connection.value(decomposed) == 2)
        }
    }

    @Test func integersAreGatheredInsideTheStatement() throws {
        let query = "SELECT id, name FROM item WHERE name <> ?"
        #expect(try connection.integers(in: "id", of: query, [.text("b")]).isEmpty)
        for (id, name) in [(3, "a"), (1, "b"), (Int64.max, "c"), (-2, "d")] {
            try connection.run("INSERT INTO item VALUES (?, ?, NULL)", [.integer(id), .text(name)])
        }
        let found = try connection.integers(in: "id", of: query, [.text("b")])
        #expect(found.sorted() == [-2, 3, .max])
        let bounded = try connection.integers(
            in: "id", of: "SELECT id FROM item ORDER BY 1 LIMIT 2")
        #expect(bounded == [-2, 1])
        #expect(throws: SQLiteFault.self) {
            try connection.integers(in: "id", of: "SELECT id FROM missing")
        }
    }

    @Test func aTransactionThatThrowsLeavesNothing() throws {
        struct Stop: Error {}
        #expect(throws: Stop.self) {
            try connection.transaction {
                try connection.run("INSERT INTO item (name) VALUES ('a')")
                throw Stop()
            }
        }
        #expect(try connection.value("SELECT count(*) FROM item") == 0)
        #expect(!connection.isInTransaction)
    }

    @Test func aNestedTransactionRollsBackAlone() throws {
        struct Stop: Error {}
        try connection.transaction {
            try connection.run("INSERT INTO item (name) VALUES ('kept')")
            #expect(throws: Stop.self) {
                try connection.transaction {
                    try connection.run("INSERT INTO item (name) VALUES ('lost')")
                    throw Stop()
                }
            }
        }
        #expect(try connection.rows("SELECT name FROM item") == [["kept"]])
    }

    @Test func aConstraintFaultNamesTheStatementButNotTheValue() throws {
        try connection.run("INSERT INTO item (name) VALUES (?)", ["secret"])
        let fault = #expect(throws: SQLiteFault.self) {
            try connection.run("INSERT INTO item (name) VALUES (?)", ["secret"])
        }
        #expect(fault?.isConstraint == true)
        #expect(fault?.description.contains("secret") == false)
    }

    @Test func aRegisteredFunctionIsCalled() throws {
        try connection.register(function: "twice", arguments: 1) { values in
            SQLiteValue((values.first?.int64 ?? 0) * 2)
        }
        #expect(try connection.value("SELECT twice(21)") == 42)
    }
}
