internal import Foundation

/// Reading what is new in a history, beside few and beside very many old changes.
enum HistoryReport {
    static func run(old counts: [Int]) throws {
        let folder = try TemporaryFolder()
        let fresh = HistoryFigures.freshChanges
        Report.title("Fetching \(Report.grouped(Double(fresh))) new changes of a history")
        var times: [Double] = []
        for count in counts {
            let found = try ChildProcess.run(
                .history, [folder.path("history-\(count).sqlite"), String(count)])
            Report.rate(
                "beside \(Report.grouped(Double(count))) old ones", fresh,
                seconds: found["history"], floor: found["raw"])
            times.append(found["history"])
        }
        if let first = times.first, let last = times.last {
            Report.fact("the last, to the first", String(format: "%.2f", last / first))
        }
        Report.note("With transactions and changed objects; the floor: one SELECT of the rows.")
    }
}
