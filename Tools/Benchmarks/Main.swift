internal import Foundation

/// Measures Diptych against the floor of the machine it runs on. `Tools/bench` starts it.
@main
struct Main {
    private static let usage = """
        usage: diptych-bench [objects] [reading] [lines] [sync] [opening] [migrations] [history]
                             [service] [growth] [postgres] [watch] [change]
                             [--count N] [--rounds N]
          objects   objects and rows against raw SQLite
          reading   fetches, faults, prefetching, batches, and reading beside saves
          lines     import and export by the command, against raw SQLite
          sync      first export and first import over TLS on loopback
          opening   opening a store of 100 entities
          migrations  another version of the model, in place, by copy, and by a policy in code
          history   new changes beside many old ones
          service   what the record service bears, alone
          growth    its requests beside few and many records of a zone
          postgres  what it writes to PostgreSQL, against raw libpq
          watch     devices that sync by themselves: how soon, at what cost
          change    one changed object in a store of a hundredth, of all, of ten times the count
        Without a word, all twelve. --count is the number of objects and records (100000).
        """

    static func main() async {
        signal(SIGPIPE, SIG_IGN)
        do {
            let words = Array(CommandLine.arguments.dropFirst())
            if let arguments = RoleArguments(words) {
                try await play(arguments)
            } else {
                try report(words)
            }
        } catch {
            try? FileHandle.standardError.write(
                contentsOf: Data("diptych-bench: \(error)\n".utf8))
            exit(1)
        }
    }

    private static func play(_ arguments: RoleArguments) async throws {
        switch arguments.role {
        case .objects: try ObjectFigures.play(arguments)
        case .changes: try ChangeFigures.play(arguments)
        case .memory: try MemoryFigures.play(arguments)
        case .single: try SingleSaveFigures.play(arguments)
        case .fetches: try FetchFigures.play(arguments)
        case .walk: try WalkFigures.play(arguments)
        case .reading: try ReadingFigures.play(arguments)
        case .beside: try BesideFigures.play(arguments)
        case .serve: try ServiceRole.play(arguments)
        case .bareServe: try BareExchange.serve(arguments)
        case .bareSend: try BareExchange.send(arguments)
        case .fill: try DeviceRole.fill(arguments)
        case .sync: try await DeviceRole.sync(arguments)
        case .make, .open: try OpeningReport.open(arguments)
        case .migrationFill: try MigrationFigures.fill(arguments)
        case .migrating: try MigrationFigures.migrate(arguments)
        case .history: try HistoryFigures.play(arguments)
        case .latency: try await WatchRole.latency(arguments)
        case .idle: try await WatchRole.idle(arguments)
        case .change: try await OneChangeRole.play(arguments)
        case .load: try LoadFigures.play(arguments)
        case .pull: try LoadFigures.pull(arguments)
        case .growth: try GrowthFigures.play(arguments)
        }
    }

    private static let groups = [
        "objects", "reading", "lines", "sync", "opening", "migrations", "history", "service",
        "growth", "postgres", "watch", "change",
    ]

    private static func report(_ words: [String]) throws {
        var chosen: Set<String> = []
        var numbers = ["--count": 100_000, "--rounds": 3]
        var rest = words[...]
        while let word = rest.popFirst() {
            if numbers[word] != nil, let number = rest.popFirst().flatMap({ Int($0) }), number > 0 {
                numbers[word] = number
            } else if groups.contains(word) {
                chosen.insert(word)
            } else {
                print(usage)
                exit(word == "--help" ? 0 : 2)
            }
        }
        let count = numbers["--count"] ?? 0
        func isChosen(_ word: String) -> Bool { chosen.isEmpty || chosen.contains(word) }
        if isChosen("objects") {
            try ObjectReport.run(count: count, rounds: numbers["--rounds"] ?? 1)
        }
        if isChosen("reading") {
            try ReadingReport.run(count: count, rounds: numbers["--rounds"] ?? 1)
        }
        if isChosen("lines") { try ExchangeReport.run(count: count * 10) }
        if isChosen("sync") { try SyncReport.run(counts: [max(1, count / 10), count]) }
        if isChosen("opening") { try OpeningReport.run() }
        if isChosen("migrations") { try MigrationReport.run(count: count * 10) }
        if isChosen("watch") { try WatchReport.run(count: count) }
        if isChosen("change") {
            try OneChangeReport.run(counts: [max(1, count / 100), count, count * 10])
        }
        if isChosen("service") { try ServiceReport.run(count: count) }
        if isChosen("growth") { try GrowthReport.run(count: count * 10) }
        if isChosen("postgres") { try PostgresReport.run(count: count) }
        if isChosen("history") { try HistoryReport.run(old: [count / 10, count * 100]) }
    }
}
