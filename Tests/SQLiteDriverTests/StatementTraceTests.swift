import Platform
import SQLiteDriver
import Testing

@Suite struct StatementTraceTests {
    private func lines(level: Int) throws -> [String] {
        final class Page { var lines: [String] = [] }
        let page = Page()
        let connection = try Connection(path: ":memory:")
        try connection.run("CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT)")
        connection.follow(with: StatementTrace(level: level) { page.lines.append($0) })
        try connection.run("INSERT INTO item VALUES (?, ?)", [.integer(1), .text("Ann")])
        _ = try connection.rows("SELECT name FROM item WHERE id = ?", [.integer(1)])
        connection.follow(with: nil)
        _ = try connection.rows("SELECT 1")
        return page.lines
    }

    @Test func statementsAreToldWithTheirTimes() throws {
        let lines = try lines(level: 1)
        #expect(lines.count == 4)
        #expect(lines[0] == "sql: INSERT INTO item VALUES (?, ?)")
        #expect(lines[1].hasPrefix("annotation: sql execution time: 0.0"))
        #expect(lines[2] == "sql: SELECT name FROM item WHERE id = ?")
    }

    @Test func valuesAndPlansComeWithHigherLevels() throws {
        #expect(try lines(level: 2).contains("details: INSERT INTO item VALUES (1, 'Ann')"))
        let plans = try lines(level: 4).filter { $0.hasPrefix("details: plan: ") }
        #expect(plans.contains { $0.contains("SEARCH item USING INTEGER PRIMARY KEY") })
    }

    @Test func switchesAreReadFromVariables() {
        let name = DebugSwitch.sql.name
        #expect(name == "com.apple.CoreData.SQLDebug")
        #expect(DebugSwitch(name: name, variables: [name: "3"]).level == 3)
        #expect(DebugSwitch(name: name, variables: [name: "yes"]).level == 0)
        #expect(DebugSwitch(name: name, variables: [:]).level == 0)
        #expect(DebugSwitch.escaped("a\u{1B}[0m\nb\u{202E}") == "a\\u{1b}[0m\\u{a}b\\u{202e}")
    }
}
