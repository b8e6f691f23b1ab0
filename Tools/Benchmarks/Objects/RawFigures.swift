internal import Foundation

/// Times the floor of the object figures: raw SQLite doing the same with the same rows.
enum RawFigures {
    static func measure(_ samples: [Sample], at path: String, into found: inout Findings) throws {
        let table = try RawTable(path: path)
        func time(_ name: String, _ work: () throws -> Void) throws {
            found.note("raw.\(name)", seconds: try Stopwatch.processorSeconds(work))
        }
        try time("insert") { try table.insert(samples) }
        try time("fetch") { try check(table.fetch(), samples.count) }
        try time("ids") { try check(table.fetchKeys(), samples.count) }
        try time("update") { try table.update(samples.count, to: 7) }
        try time("delete") { try table.delete(samples.count) }
    }

    static func check(_ found: Int, _ expected: Int) throws {
        guard found == expected else {
            throw BenchmarkError("\(found) objects came where \(expected) are.")
        }
    }
}
