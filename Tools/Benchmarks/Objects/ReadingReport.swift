internal import Foundation

/// Fetching, faulting, prefetching and walking, against raw SQLite; and reading beside saves.
enum ReadingReport {
    static func run(count: Int, rounds: Int) throws {
        let folder = try TemporaryFolder()
        let words = [folder.url.path, String(count), String(rounds)]
        let title = Report.grouped(Double(count))
        let fetches = try ChildProcess.run(.fetches, words)
        Report.title("Fetching: \(title) objects of 7 attributes")
        func line(_ text: String, _ name: String, _ found: Findings, raw: String? = nil) {
            Report.rate(text, count, seconds: found[name], floor: found["raw.\(raw ?? name)"])
        }
        line("fetch with values", "fetch", fetches)
        line("fetch, read all 7 values", "read", fetches, raw: "fetch")
        line("fetch object IDs", "ids", fetches)
        line("fetch them again", "ids.again", fetches, raw: "ids")
        Report.fact("peak memory", Report.megabytes(fetches["peakBytes"]))

        let reading = try ChildProcess.run(.reading, words)
        Report.title(
            "Reading: \(title) objects in folders of \(ReadingFigures.entriesPerFolder)")
        line("faults, one by one", "faults", reading)
        line("prefetched relationships", "prefetch", reading)
        Report.fact("peak memory", Report.megabytes(reading["peakBytes"]))
        let each = (reading["raw.transactions"] - reading["raw.faults"]) / Double(count) * 1e6
        Report.fact(
            "a transaction for each row", String(format: "%.2f us more", each))
        Report.note("The floor: a prepared SELECT for each key; one for each table.")

        try reportWalk(in: folder, count * 10)

        let beside = try ChildProcess.run(.beside, words)
        Report.title("Four contexts that read, beside one that saves 100 objects at a time")
        Report.rate("objects read", 1, seconds: beside["beside"], floor: beside["alone"])
        Report.note("In elapsed time; the floor is the same without saves.")
    }

    private static func reportWalk(in folder: TemporaryFolder, _ rows: Int) throws {
        let walk = try ChildProcess.run(.walk, [folder.url.path, String(rows), "1"])
        Report.title("Walking through \(Report.grouped(Double(rows))) objects in batches")
        Report.rate("read all objects", rows, seconds: walk["walk"], floor: walk["raw"])
        Report.fact("peak memory", Report.megabytes(walk["walkBytes"]))
        Report.note(
            "A batch size of \(WalkFigures.batchSize), by date; the floor: one SELECT, in no order."
        )
    }
}
