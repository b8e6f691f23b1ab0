import Foundation
import Testing

/// One of the three things that a base, a device and the service may have of something.
enum MergeSide: String, CaseIterable {
    case absent = "–"
    case a, b
}

/// What the three have of it.
struct MergeCase: Hashable, CustomTestStringConvertible {
    var base: MergeSide
    var local: MergeSide
    var remote: MergeSide

    var testDescription: String { "\(base.rawValue) \(local.rawValue) \(remote.rawValue)" }

    static let all = MergeSide.allCases.flatMap { base in
        MergeSide.allCases.flatMap { local in
            MergeSide.allCases.map { MergeCase(base: base, local: local, remote: $0) }
        }
    }

    /// Both sides changed it.
    var isMet: Bool { local != base && remote != base }
}

/// A table of docs/MERGE.md section 13: lines by case, columns by their heading.
struct MergeTable {
    /// What becomes of each kind of thing.
    static let kinds = try? MergeTable(with: "property")
    /// What each rule makes of what both sides changed.
    static let rules = try? MergeTable(with: "`counter`")

    let columns: [String]
    private(set) var lines: [MergeCase: [String]] = [:]

    /// The table that has a column of this heading.
    init(with heading: String) throws {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../docs/MERGE.md")
        let rows = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
            .map(Self.cells)
        let sides = ["base", "local", "remote"]
        let head = try #require(
            rows.firstIndex { $0.starts(with: sides) && $0.joined().contains(heading) })
        columns = Array(rows[head].dropFirst(sides.count))
        for row in rows[(head + 2)...].prefix(while: { !$0.isEmpty }) {
            let values = try row.prefix(sides.count).map {
                try #require(MergeSide(rawValue: $0), "\($0) is no side")
            }
            let met = MergeCase(base: values[0], local: values[1], remote: values[2])
            #expect(lines[met] == nil, "two lines of \(met.testDescription)")
            lines[met] = Array(row.dropFirst(sides.count))
        }
    }

    /// The words of a line between bars; none for a line that is no part of a table.
    private static func cells(_ line: Substring) -> [String] {
        guard line.hasPrefix("|") else { return [] }
        return line.dropFirst().dropLast().split(separator: "|").map {
            $0.trimmingCharacters(in: .whitespaces)
        }
    }

    func cell(_ heading: String, _ met: MergeCase) throws -> String {
        let column = try #require(columns.firstIndex { $0.contains(heading) })
        return try #require(lines[met])[column]
    }
}
