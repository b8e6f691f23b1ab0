internal import Foundation

/// Reading otherwise than by one fetch, against raw SQLite; and reading beside saves.
enum ReadingReport {
    static func run(count: Int, rounds: Int) throws {
        let folder = try TemporaryFolder()
        let words = [folder.url.path, String(count), String(rounds)]
        let reading = try ChildProcess.run(.reading, words)
        let title = Report.grouped(Double(count))
        Report.title(
            "Reading: \(title) objects in folders of \(ReadingFigures.entriesPerFolder)")
        func line(_ text: String, _ name: String) {
            Report.rate(text, count, seconds: reading[name], floor: reading["raw.\(name)"])
        }
        line("faults, one by one", "faults")
        line("prefetched relationships", "prefetch")
        Report.fact("peak memory", Report.megabytes(reading["peakBytes"]))
        let each = (reading["raw.transactions"] - reading["raw.faults"]) / Double(count) * 1e6
        Report.fact(
            "a transaction for each row", String(format: "%.2f us more", each))
        Report.note("The floor: a prepared SELECT for each key; one for each table.")

        let beside = try ChildProcess.run(.beside, words)
        Report.title("Four contexts that read, beside one that saves 100 objects at a time")
        Report.rate("objects read", 1, seconds: beside["beside"], floor: beside["alone"])
        Report.note("In elapsed time; the floor is the same without saves.")
    }
}
