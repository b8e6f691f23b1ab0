internal import Foundation

/// Bringing a store of very many rows to another version of its model, against plain SQL.
enum MigrationReport {
    static func run(count: Int) throws {
        let folder = try TemporaryFolder()
        let plain = folder.path("plain.sqlite")
        _ = try ChildProcess.run(.migrationFill, [plain, String(count), "0"])
        Report.title("Migrating \(Report.grouped(Double(count))) rows of 7 attributes", "rows/s")
        var peaks: [(MigrationKind, Double)] = []
        for kind in MigrationKind.allCases where !kind.isLinked {
            peaks.append((kind, try line(kind, plain, count)))
        }
        let linked = folder.path("linked.sqlite")
        let fewer = count / 5
        _ = try ChildProcess.run(.migrationFill, [linked, String(fewer), "1"])
        for kind in MigrationKind.allCases where kind.isLinked {
            peaks.append((kind, try line(kind, linked, fewer)))
        }
        Report.facts("Peak memory of the process that migrates")
        for (kind, bytes) in peaks { Report.fact(kind.text, Report.megabytes(bytes)) }
        Report.note("The floor: plain SQL that gives the same columns, in one transaction.")
        Report.note("Mappings and policies go object by object; the linked rows are a fifth.")
    }

    private static func line(_ kind: MigrationKind, _ path: String, _ count: Int) throws -> Double {
        let found = try ChildProcess.run(.migrating, [path, kind.rawValue, String(count)])
        Report.rate(kind.text, count, seconds: found["seconds"], floor: found["raw"])
        return found["peak"]
    }
}

/// The ways to another version that are measured.
enum MigrationKind: String, CaseIterable {
    case optional, filled, copied, mapped, coded, linked

    var text: String {
        switch self {
        case .optional: "an optional attribute, in place"
        case .filled: "one with a default, in place"
        case .copied: "by copy within the file"
        case .mapped: "by a mapping model"
        case .coded: "by a policy in code"
        case .linked: "by a mapping model, with links"
        }
    }

    var isLinked: Bool { self == .linked }
}
