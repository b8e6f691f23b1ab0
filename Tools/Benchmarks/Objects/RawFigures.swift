internal import Foundation

/// Times the floors of the object figures: raw SQLite doing the same with the same rows, without
/// history and with it.
enum RawFigures {
    /// What the findings of a floor begin with.
    static let plain = "raw."
    static let logged = "logged."

    static func measure(
        _ samples: [Sample], at path: String, keepsHistory: Bool, into found: inout Findings
    ) throws {
        let prefix = keepsHistory ? logged : plain
        let table = try RawTable(path: path, keepsHistory: keepsHistory)
        func time(_ name: String, _ work: () throws -> Void) throws {
            found.note(prefix + name, seconds: try Stopwatch.processorSeconds(work))
        }
        try time("insert") { try table.insert(samples) }
        try time("update") { try table.update(samples.count, to: 7) }
        try time("delete") { try table.delete(samples.count) }
    }

    static func check(_ found: Int, _ expected: Int) throws {
        guard found == expected else {
            throw BenchmarkError("\(found) objects came where \(expected) are.")
        }
    }
}
