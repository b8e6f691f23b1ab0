internal import Foundation

/// Objects and rows against raw SQLite, and what objects and single saves cost.
enum ObjectReport {
    static func run(count: Int, rounds: Int) throws {
        let folder = try TemporaryFolder()
        let words = [folder.url.path, String(count), String(rounds)]
        let objects = try ChildProcess.run(.objects, words)
        let logged = "with history"
        func line(_ text: String, _ name: String, _ found: Findings, raw: String? = nil) {
            let key = raw ?? name
            let isWritten = ["insert", "update", "delete"].contains(key)
            Report.rate(
                text, count, seconds: found[name], floor: objects[RawFigures.plain + key],
                secondFloor: isWritten ? objects[RawFigures.logged + key] : nil)
        }
        Report.title(
            "Objects: \(Report.grouped(Double(count))) of 7 attributes, with history",
            secondFloor: logged)
        line("insert and save", "insert", objects)
        line("update one attribute, save", "update", objects)
        line("delete, save", "delete", objects)
        Report.fact("peak memory", Report.megabytes(objects["peakBytes"]))

        let changes = try ChildProcess.run(.changes, words)
        Report.title("Rows: the same through change sets, with history", secondFloor: logged)
        line("insert", "insert", changes)
        line("update one attribute", "update", changes)
        line("delete", "delete", changes)
        Report.fact("peak memory", Report.megabytes(changes["peakBytes"]))
        Report.note("The floor is raw SQLite through C: WAL, NORMAL, one transaction, no history;")
        Report.note("the second writes the same rows of the history in that transaction, too.")
        Report.note(
            "All in processor time, best round, so that other work on the machine counts for none."
        )
        try reportMemory(in: folder, count)
        try reportSingleSaves(in: folder, largest: count * 10)
    }

    private static func reportMemory(in folder: TemporaryFolder, _ count: Int) throws {
        var memory = Findings()
        for part in MemoryFigures.Part.allCases {
            let words = [folder.path("memory.sqlite"), String(count), part.rawValue]
            memory.add(try ChildProcess.run(.memory, words))
        }
        Report.facts("Memory of objects of 7 attributes, bytes each")
        func line(_ text: String, _ name: String) {
            Report.fact(text, Report.grouped(memory[name] / Double(count)))
        }
        line("registered, as a fault", "faults")
        line("registered, with values", "values")
        line("changed, beyond that", "changed")
        line("new, not saved", "inserted")
        Report.fact(
            "peak of inserting \(Report.grouped(Double(count)))",
            Report.megabytes(memory["insertPeakBytes"]))
        Report.note("What the process holds more than before; the two texts count for 110 of them.")
    }

    private static func reportSingleSaves(in folder: TemporaryFolder, largest: Int) throws {
        Report.facts("One object saved at a time, microseconds a save")
        var first: Findings?
        for rows in [1_000, largest] {
            let found = try ChildProcess.run(
                .single, [folder.path("single\(rows).sqlite"), String(rows)])
            for name in ["insert", "update", "delete"] {
                let against = first.map { String(format: " (%.2f)", found[name] / $0[name]) } ?? ""
                Report.fact(
                    "\(name), \(Report.grouped(Double(rows))) rows",
                    String(format: "%.1f", found[name] * 1e6) + against)
            }
            if first == nil { first = found }
        }
        Report.note("In processor time; in brackets how many times that of the small store.")
    }
}
