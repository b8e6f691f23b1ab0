internal import CSQLite
internal import Foundation
internal import ObjectModel
internal import SQLiteStore
internal import Stores

/// Opening a store of many entities.
enum OpeningReport {
    private static let entityCount = 100

    static func run() throws {
        let folder = try TemporaryFolder()
        let made = try ChildProcess.run(.make, [folder.path("wide.sqlite")])
        var best = Findings()
        for _ in 0..<5 {
            let found = try ChildProcess.run(.open, [folder.path("wide.sqlite")])
            for name in ["model", "open", "raw"] { best.note(name, seconds: found[name]) }
        }
        Report.title("Opening a store of \(entityCount) entities, each time in a new process", "")
        Report.time("open, and count one entity", seconds: best["open"], floor: best["raw"])
        Report.fact("building its model", String(format: "%.4f s", best["model"]))
        Report.fact("making the store", String(format: "%.4f s", made["open"]))
        Report.note("The floor: raw SQLite opens the file, reads its schema and counts.")
    }

    static func open(_ arguments: RoleArguments) throws {
        let url = try arguments.url(0)
        var found = Findings()
        let isThere = FileManager.default.fileExists(atPath: url.path)
        if isThere {
            found["raw"] = try Stopwatch.processorSeconds {
                var counted = 0
                try RawDatabase(path: url.path).each("SELECT count(*) FROM ZKIND0") { _ in
                    counted += 1
                }
                try RawFigures.check(counted, 1)
            }
        }
        let begin = Stopwatch.cpuSeconds
        let model = SampleModel.wide(entityCount)
        found["model"] = Stopwatch.cpuSeconds - begin
        found["open"] = try Stopwatch.processorSeconds {
            let store = try SQLiteRowStore(url: url, model: model)
            guard let first = store.layout.entity(named: "Kind0") else {
                throw BenchmarkError("The model lacks its first entity.")
            }
            try RawFigures.check(store.count(matching: RowQuery(entity: first.number)), 0)
        }
        found.send()
    }
}
