internal import Foundation

/// Objects and rows against raw SQLite.
enum ObjectReport {
    static func run(count: Int, rounds: Int) throws {
        let folder = try TemporaryFolder()
        let words = [folder.url.path, String(count), String(rounds)]
        let objects = try ChildProcess.run(.objects, words)
        Report.title("Objects: \(Report.grouped(Double(count))) of 7 attributes, with history")
        func line(_ text: String, _ name: String, _ found: Findings, raw: String? = nil) {
            Report.rate(
                text, count, seconds: found[name], floor: objects["raw.\(raw ?? name)"])
        }
        line("insert and save", "insert", objects)
        line("fetch with values", "fetch", objects)
        line("fetch, read all 7 values", "read", objects, raw: "fetch")
        line("fetch object IDs", "ids", objects)
        line("fetch them again", "ids.again", objects, raw: "ids")
        line("update one attribute, save", "update", objects)
        line("delete, save", "delete", objects)
        Report.fact("peak memory", Report.megabytes(objects["peakBytes"]))

        let changes = try ChildProcess.run(.changes, words)
        Report.title("Rows: the same through change sets, with history")
        line("insert", "insert", changes)
        line("fetch rows", "fetch", changes)
        line("fetch row IDs", "ids", changes)
        line("update one attribute", "update", changes)
        line("delete", "delete", changes)
        Report.fact("peak memory", Report.megabytes(changes["peakBytes"]))
        Report.note("The floor is raw SQLite through C: WAL, NORMAL, one transaction, no history.")
        Report.note(
            "Both in processor time, best round, so that other work on the machine counts for none."
        )
    }
}
