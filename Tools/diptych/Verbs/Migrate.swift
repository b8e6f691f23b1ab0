internal import Foundation
internal import ObjectModel
internal import Persistence
internal import Stores

/// `diptych migrate`: a store to another version of its model.
struct Migrate: Verb {
    private static let goal = Option(
        "to", "MODEL", "the model to have, or a bundle or folder of its versions")
    private static let version = Option("version", "NAME", "this version of a bundle's")
    private static let mapping = Option(
        "mapping", "FILE", "a mapping model: .xcmappingmodel or .cdm")
    private static let trial = Option(
        "dry-run", nil, "say what would change and what it needs, change nothing")
    private static let backup = Option("backup", nil, "leave a copy of the store beside it")

    static let manual = Manual(
        name: "migrate", summary: "Brings a store to another version of its model.",
        operands: ["STORE"], options: [goal, version, mapping, trial, backup, .model],
        notes: [
            HelpText.wrapped(
                "The store goes over the versions in a bundle or folder step by step, each to the "
                    + "next as the names are counted: by a mapping model where one fits, else by "
                    + "what follows from the two versions. Mapping models lie beside the versions, "
                    + "or are named. Each step is whole before the next begins, and where one "
                    + "fails, or the process ends, the store is of the version reached; the same "
                    + "command goes on from there. SQLite files are migrated within, in one "
                    + "transaction a step, or by a new file that takes the place of the old one; "
                    + "XML and binary stores by a new file. --model names the store's own model "
                    + "where neither the store nor the bundle has it. Mapping models that name "
                    + "policies in code need the program that has them."),
            HelpText.wrapped(
                "Exit status 1 of --dry-run: the migration cannot be done, and the rule is named."),
        ],
        examples: [
            (
                "diptych migrate Library.sqlite --to Library.xcdatamodeld --dry-run",
                "what would change"
            ),
            ("diptych migrate Library.sqlite --to Library.xcdatamodeld --backup", "to the current"),
            (
                "diptych migrate Library.sqlite --to New.xcdatamodel --mapping To.xcmappingmodel",
                "by a mapping model"
            ),
        ])

    private let access: StoreAccess
    private let goal: URL
    private let version: String?
    private let mapping: URL?
    private let isTrial: Bool
    private let isBackedUp: Bool

    init(_ arguments: Arguments) throws {
        guard let goal = arguments.file(Self.goal) else {
            throw CommandError(
                "usage", "--to is missing.", hint: "Write --to MODEL.", status: .usage)
        }
        access = StoreAccess(arguments)
        self.goal = goal
        version = arguments.value(Self.version)
        mapping = arguments.file(Self.mapping)
        isTrial = arguments.has(Self.trial)
        isBackedUp = arguments.has(Self.backup)
    }

    func run(_ console: Console) async throws -> ExitStatus {
        let type = try StoreFileKind(of: access.url)
        let metadata = try type.metadata(at: access.url)
        let versions = try MigrationGoal(
            goal, version: version, source: try access.knownModel(), storeMetadata: metadata,
            mapping: mapping
        ).versions
        var options: [AnyHashable: Any] = [NSSQLitePragmasOption: access.pragmas]
        if isBackedUp { options[NSPersistentStoreMigrationBackupOption] = true }
        let migration = ProgressiveMigration(
            storeAt: access.url, type: .init(rawValue: type.rawValue), versions: versions,
            options: options)
        do {
            let report = MigrationReport(
                path: try migration.path(), forecast: try migration.forecast(), store: access.url,
                type: type)
            guard !isTrial else { return report.show(console) }
            return try go(migration, report, console)
        } catch let error as NSError where error.domain == NSCocoaErrorDomain {
            throw MigrationReport.failure(error, access.name)
        }
    }

    private func go(
        _ migration: ProgressiveMigration, _ report: MigrationReport, _ console: Console
    ) throws -> ExitStatus {
        guard let last = report.path.last else {
            report.tellDone(console)
            return .done
        }
        report.warn(console)
        let start = ContinuousClock.now
        var told: Int?
        let copy = try migration.run { progress in
            // A bar moves on a terminal only; elsewhere a step is one line.
            guard console.hasTerminal || told != progress.place else { return }
            told = progress.place
            let done = (Double(progress.place) + Double(progress.share)) / Double(progress.count)
            let seconds = start.duration(to: .now) / .seconds(1)
            let left = done > 0.01 && seconds > 2 ? seconds * (1 - done) / done : nil
            console.progress(
                "Step \(progress.place + 1) of \(progress.count): \(progress.step)"
                    + (left.map { ", \(Figure.wait($0)) left" } ?? ""),
                done: Int(done * 100), total: 100)
        }
        let seconds = start.duration(to: .now) / .seconds(1)
        report.tellDone(console, at: last.to.name, seconds: seconds, copy: copy)
        return .done
    }
}
