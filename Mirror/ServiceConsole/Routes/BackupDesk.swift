internal import Dispatch
internal import Foundation
internal import Platform
internal import RecordService
internal import RecordWire

/// Backups that administrators ask for: one after another, into the one folder that whoever runs
/// the service named, under names that they do not choose.
final class BackupDesk: Sendable {
    private let folder: URL
    private let platform: Environment
    private let lane = DispatchQueue(label: "service-console.backups")
    private let work = Lock(Work())

    private static let prefix = "records-"
    private static let suffix = ".sqlite"
    private static let outcomesMax = 100

    private struct Work {
        /// What is written or looked through at the moment.
        var current: String?
        /// What came of the last ones, by name.
        var outcomes: [String: Outcome] = [:]
        /// What those in the folder say of themselves, and when each was written last.
        var lacks: [String: (written: Date, containers: [String])] = [:]
    }

    /// What is known of a backup since the service's start.
    struct Outcome {
        /// Containers that it is without.
        var lacking: [String]?
        /// What is wrong with it, once it was looked through.
        var damage: [String]?
        /// Why it was not made, or could not be looked through.
        var failure: String?
    }

    init(folder: URL, platform: Environment) {
        self.folder = folder
        self.platform = platform
    }

    // MARK: Work

    /// Begins a backup and returns at once. Throws TRY_AGAIN_LATER while one is at work,
    /// BAD_REQUEST where the records are in no file.
    func begin(_ administration: ServiceAdministration) throws {
        try administration.requireFiles()
        let time = ISO8601DateFormatter().string(from: platform.clock.now())
        let name = Self.prefix + time.filter { !"-:".contains($0) } + Self.suffix
        guard !files().contains(name) else { throw Self.busy }
        try start(name) { [self] in
            try FileManager.default.createDirectory(
                at: folder, withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700])
            return Outcome(lacking: try administration.backUp(to: path(name)))
        }
    }

    /// Begins to look through a backup, as a restore does before it puts one in place, and returns
    /// at once. Throws NOT_FOUND for one that is not there.
    func check(_ name: String) throws {
        guard files().contains(name) else {
            throw RecordError(.notFound, "There is no backup of this name.")
        }
        try start(name) { [self] in
            let found = try BackupCheck(path(name)).run()
            return Outcome(lacking: found.lacking, damage: found.damage)
        }
    }

    private func start(_ name: String, _ body: @escaping @Sendable () throws -> Outcome) throws {
        let isFree = work.withLock { work in
            guard work.current == nil else { return false }
            work.current = name
            return true
        }
        guard isFree else { throw Self.busy }
        lane.async { [work] in
            var outcome = Outcome()
            do {
                outcome = try body()
            } catch {
                let known = error as? RecordError
                outcome.failure = known?.reason ?? "The folder of backups cannot be written."
            }
            work.withLock { work in
                if work.outcomes.count >= Self.outcomesMax { work.outcomes = [:] }
                work.current = nil
                work.outcomes[name] = outcome
            }
        }
    }

    private static var busy: RecordError {
        var error = RecordError(
            .tryAgainLater, "Another backup is at work; ask again when it is done.")
        error.retryAfterSeconds = 5
        return error
    }

    // MARK: What is there

    /// Those in the folder and those that failed, by name. Cost: opens each that is seen for the
    /// first time.
    func all() -> [BackupAnswer] {
        let (current, outcomes) = work.withLock { ($0.current, $0.outcomes) }
        let files = Set(files())
        work.withLock { $0.lacks = $0.lacks.filter { files.contains($0.key) } }
        let names = files.union(outcomes.keys).union(current.map { [$0] } ?? [])
        return names.sorted().map { name in
            let isAtWork = name == current
            var answer = BackupAnswer(
                name, bytes: bytes(name), isAtWork: isAtWork, outcomes[name])
            answer.made = (Self.time(in: name) ?? written(name))?.milliseconds
            if answer.lacking == nil, answer.bytes != nil, !isAtWork {
                answer.lacking = lacking(name)
            }
            return answer
        }
    }

    /// The moment that a name of ours tells; nil for one of somebody else.
    private static func time(in name: String) -> Date? {
        let format = ISO8601DateFormatter()
        format.formatOptions = [.withYear, .withMonth, .withDay, .withTime, .withTimeZone]
        return format.date(from: String(name.dropFirst(prefix.count).dropLast(suffix.count)))
    }

    private func written(_ name: String) -> Date? {
        let facts = try? FileManager.default.attributesOfItem(atPath: path(name))
        return facts?[.modificationDate] as? Date
    }

    /// What a backup says that it is without; nil where it cannot be read.
    private func lacking(_ name: String) -> [String]? {
        guard let written = written(name) else { return nil }
        if let known = work.withLock({ $0.lacks[name] }), known.written == written {
            return known.containers
        }
        guard
            let containers = try? ServiceAdministration.lackingContainers(ofBackup: path(name))
        else { return nil }
        work.withLock { $0.lacks[name] = (written, containers) }
        return containers
    }

    private func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

    private func files() -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? [])
            .filter { $0.hasPrefix(Self.prefix) && $0.hasSuffix(Self.suffix) }
    }

    /// The file's and its containers'; nil where it is not there.
    private func bytes(_ name: String) -> Int64? {
        let containers = ServiceAdministration.containersFolder(besides: path(name))
        let inside = (try? FileManager.default.contentsOfDirectory(atPath: containers)) ?? []
        let sizes = ([path(name)] + inside.map { containers + "/" + $0 }).map { file in
            let facts = try? FileManager.default.attributesOfItem(atPath: file)
            return (facts?[.size] as? NSNumber)?.int64Value
        }
        return sizes[0].map { _ in sizes.reduce(0) { $0 + ($1 ?? 0) } }
    }
}

/// A backup as administrators hear of it.
struct BackupAnswer: Encodable {
    var name: String
    /// When it was begun, in milliseconds since 1970.
    var made: Int64?
    /// Without its assets; nil where it is not there.
    var bytes: Int64?
    var isAtWork: Bool
    var lacking: [String]?
    var damage: [String]?
    var failure: String?

    init(_ name: String, bytes: Int64?, isAtWork: Bool, _ outcome: BackupDesk.Outcome?) {
        self.name = name
        self.bytes = bytes
        self.isAtWork = isAtWork
        lacking = outcome?.lacking
        damage = outcome?.damage
        failure = outcome?.failure
    }
}
