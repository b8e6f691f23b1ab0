internal import Foundation
internal import SQLiteStore

/// The command's `import` and `export` of JSON lines, beside raw SQLite writing and reading the
/// same rows.
enum ExchangeReport {
    static func run(count: Int) throws {
        let folder = try TemporaryFolder()
        let lines = folder.path("lines.jsonl")
        try write(count, to: lines)
        let store = folder.path("store.sqlite")
        _ = try SQLiteRowStore(url: URL(fileURLWithPath: store), model: SampleModel.make())
        let written = try Tool.run(["import", store, lines, "--quiet"], output: "/dev/null")
        let read = try Tool.run(["export", store], output: folder.path("again.jsonl"))
        // Last, since the peak that the system tells of a child is never below its parent's.
        try check(folder.path("again.jsonl"), count)
        var floor = Findings()
        try RawFigures.measure(
            Sample.many(count), at: folder.path("raw.sqlite"), keepsHistory: false, into: &floor)

        Report.title("Lines: \(Report.grouped(Double(count))) objects of 7 attributes, by diptych")
        Report.rate("import", count, seconds: written.cpuSeconds, floor: floor["raw.insert"])
        Report.rate("export", count, seconds: read.cpuSeconds, floor: floor["raw.fetch"])
        Report.fact("import, elapsed", String(format: "%.1f s", written.seconds))
        Report.fact("export, elapsed", String(format: "%.1f s", read.seconds))
        Report.fact("peak memory, import", Report.megabytes(written.peakBytes))
        Report.fact("peak memory, export", Report.megabytes(read.peakBytes))
        Report.note("The floor is raw SQLite with the same rows, without JSON and without history.")
    }

    private static func write(_ count: Int, to path: String) throws {
        guard let file = fopen(path, "w") else { throw BenchmarkError("\(path) cannot be made.") }
        defer { fclose(file) }
        for index in 0..<count {
            let sample = Sample(index)
            let day = 700_000_000 + index
            let line = """
                {"id":"Entry/\(index + 1)","entity":"Entry","values":{"amount":\(sample.amount),\
                "count":"\(sample.count)","created":"\(date(day))","isDone":\(sample.isDone),\
                "key":"\(sample.key.uuidString)","name":"\(sample.name)","note":"\(sample.note)"},\
                "relationships":{}}

                """
            fputs(line, file)
        }
    }

    /// Seconds since 2001 as ISO 8601.
    private static func date(_ seconds: Int) -> String {
        var clock = time_t(seconds + 978_307_200)
        var parts = tm()
        gmtime_r(&clock, &parts)
        var text = [CChar](repeating: 0, count: 32)
        strftime(&text, text.count, "%Y-%m-%dT%H:%M:%SZ", &parts)
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init), as: UTF8.self)
    }

    private static func check(_ path: String, _ count: Int) throws {
        let data = try Data(contentsOf: URL(fileURLWithPath: path), options: .alwaysMapped)
        try RawFigures.check(data.count { $0 == 0x0A }, count)
    }
}

/// The command `diptych`, which lies beside this one, and what a run of it took.
struct Tool {
    let seconds: Double
    let cpuSeconds: Double
    let peakBytes: Double

    static func run(_ words: [String], output: String) throws -> Tool {
        let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let path = URL(fileURLWithPath: own).deletingLastPathComponent()
            .appendingPathComponent("diptych").path
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(
            &actions, STDOUT_FILENO, output, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        var arguments: [UnsafeMutablePointer<CChar>?] = ([path] + words).map { strdup($0) } + [nil]
        defer { arguments.forEach { free($0) } }
        let begin = ContinuousClock.now
        var child = pid_t()
        guard posix_spawn(&child, path, &actions, nil, &arguments, environ) == 0 else {
            throw BenchmarkError("\(path) is not there; Tools/bench builds it.")
        }
        var status: Int32 = 0
        var usage = rusage()
        while wait4(child, &status, 0, &usage) < 0, errno == EINTR {}
        guard status == 0 else {
            throw BenchmarkError("'diptych \(words.joined(separator: " "))' failed.")
        }
        let cpu = [usage.ru_utime, usage.ru_stime].reduce(0) {
            $0 + Double($1.tv_sec) + Double($1.tv_usec) / 1e6
        }
        return Tool(
            seconds: Stopwatch.seconds(since: begin), cpuSeconds: cpu,
            peakBytes: Double(usage.ru_maxrss) * 1024)
    }
}
