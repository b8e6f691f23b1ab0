import SQLiteDriver
import Testing

/// Files may come from strangers: what their schema says is not obeyed.
@Suite struct StrangerTests {
    let connection: Connection

    init() throws {
        connection = try Connection(path: ":memory:")
        try connection.script("CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT)")
    }

    private func refusal(_ body: () throws -> Void) -> String {
        do {
            try body()
            return "nothing was refused"
        } catch {
            return (error as? SQLiteFault)?.message ?? "\(error)"
        }
    }

    @Test func viewsAreClosed() throws {
        try connection.script("CREATE VIEW other AS SELECT name FROM item")
        let message = refusal { _ = try connection.rows("SELECT name FROM other") }
        #expect(message.contains("access to view"))
        // The queries of programs may still count by themselves.
        let count = try connection.value(
            "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 5)"
                + " SELECT count(*) FROM n")
        #expect(count == 5)
    }

    @Test func aTriggerCallsOnlyWhatIsHarmless() throws {
        var calls: [String] = []
        for (name, isHarmless) in [("costly", false), ("harmless", true)] {
            try connection.register(function: name, arguments: 1, isHarmless: isHarmless) { _ in
                calls.append(name)
                return .null
            }
            try connection.script(
                "CREATE TRIGGER \(name)_trigger AFTER INSERT ON item WHEN NEW.name = '\(name)' "
                    + "BEGIN SELECT \(name)(NEW.name); END")
        }
        let message = refusal { try connection.run("INSERT INTO item (name) VALUES ('x')") }
        #expect(message.contains("unsafe use of costly"))
        try connection.script("DROP TRIGGER costly_trigger")
        try connection.run("INSERT INTO item (name) VALUES ('harmless')")
        #expect(calls == ["harmless"])
        _ = try connection.value("SELECT costly(1)")
        #expect(calls == ["harmless", "costly"])
    }

    @Test func noColumnIsComputedByAFunctionOfOurs() throws {
        try connection.register(function: "costly", arguments: 1) { _ in 1 }
        let message = refusal {
            try connection.script("CREATE TABLE t (a, b GENERATED ALWAYS AS (costly(a)))")
            try connection.run("INSERT INTO t (a) VALUES (1)")
            _ = try connection.rows("SELECT b FROM t")
        }
        #expect(message.contains("unsafe use of costly"))
    }

    @Test func theSchemaIsNotWrittenDirectly() throws {
        try connection.script("PRAGMA writable_schema = ON")
        let message = refusal {
            try connection.run("UPDATE sqlite_master SET sql = 'CREATE TABLE item (x)'")
        }
        #expect(message.contains("may not be modified"))
    }

    @Test func aFileCanStillBeRewrittenWithoutGaps() throws {
        try connection.script("VACUUM")
        #expect(try connection.pragma("cell_size_check") == 1)
    }
}
