import Foundation
import MirrorTestKit
import RecordWire

/// What kind of world a seed is drawn as. Seeds' names have a letter for each before their number:
/// p for the plain dialect, v for two versions of the model, s for sealed attributes, h for shares
/// and selections, d for many devices, c for deletions that cascade, l for lost time,
/// r for refusals and decisions that are taken back.
struct WorldKind {
    var hasVersions = false
    var isSealed = false
    var isShared = false
    var hasManyDevices = false
    var cascades = false
    var losesTime = false
    var takesBack = false
    var forgets = false
    var dialect = ServiceDialect.extended

    static let ofVersions = WorldKind(hasVersions: true)
    static let sealed = WorldKind(isSealed: true)
    static let shared = WorldKind(isShared: true)
    static let plain = WorldKind(dialect: .plain)
    static let ofManyDevices = WorldKind(hasManyDevices: true)
    static let cascading = WorldKind(cascades: true)
    static let takingBack = WorldKind(isShared: true, takesBack: true)
    static let forgetting = WorldKind(cascades: true, forgets: true)
    static let sharedInLostTime = WorldKind(isShared: true, losesTime: true)

    private static var letters: [(Character, WritableKeyPath<WorldKind, Bool>)] {
        [
            ("v", \.hasVersions), ("s", \.isSealed), ("h", \.isShared), ("d", \.hasManyDevices),
            ("c", \.cascades), ("l", \.losesTime), ("r", \.takesBack), ("f", \.forgets),
        ]
    }

    /// Several kinds at once, or all, by dice of the seed's own.
    static func mixed(seed: UInt64) -> WorldKind {
        let dice = SeededRandomness(seed: seed &* 613_651_369)
        var kind = WorldKind()
        if dice.chance(percent: 30) { kind.dialect = .plain }
        let drawn = letters.filter { $0.0 != "f" }
        let count = dice.among(2...drawn.count)
        for _ in 0..<count {
            if let letter = dice.pick(drawn) { kind[keyPath: letter.1] = true }
        }
        // By dice of its own, so that a seed is of the same kinds but for it.
        kind.forgets = SeededRandomness(seed: seed &* 198_491_317).chance(percent: 25)
        return kind
    }

    /// What stands before the numbers of such seeds.
    var prefix: String {
        let flags = Self.letters.filter { self[keyPath: $0.1] }.map(\.0)
        return (dialect == .plain ? "p" : "") + String(flags)
    }

    /// The kind and the number of a seed's name; nil where it is none.
    static func named(_ name: some StringProtocol) -> (kind: WorldKind, seed: UInt64)? {
        var kind = WorldKind()
        let prefix = name.prefix { $0.isLetter }
        for letter in prefix {
            if letter == "p" {
                kind.dialect = .plain
            } else if let flag = letters.first(where: { $0.0 == letter })?.1 {
                kind[keyPath: flag] = true
            }
        }
        guard kind.prefix == prefix, let seed = UInt64(name.dropFirst(prefix.count)) else {
            return nil
        }
        return (kind, seed)
    }

    func settings(seed: UInt64, extremes: Set<WorldExtreme>) -> WorldSettings {
        .drawn(
            seed: seed, extremes: extremes, hasVersions: hasVersions, isSealed: isSealed,
            isShared: isShared, hasManyDevices: hasManyDevices, cascades: cascades,
            losesTime: losesTime, takesBack: takesBack, forgets: forgets, dialect: dialect)
    }
}

/// One world, run to its end and removed.
struct WorldRun {
    let broken: [String]
    let story: [String]
    let statistics: WorldStatistics

    init(seed: UInt64, kind: WorldKind = WorldKind()) throws {
        let folder = Self.folder(seed: seed)
        defer { try? FileManager.default.removeItem(at: folder) }
        let world = try SimulatedWorld(
            seed: seed, settings: kind.settings(seed: seed, extremes: Self.extremes),
            folder: folder)
        do {
            broken = try world.run()
        } catch {
            broken = ["The world threw \(error)"]
        }
        story = world.story
        statistics = world.statistics
    }

    /// `DIPTYCH_EXTREMES` names kinds of faults beyond those of every run, or `all`.
    static let extremes: Set<WorldExtreme> = {
        let words = ProcessInfo.processInfo.environment["DIPTYCH_EXTREMES"] ?? ""
        let named = words.split(separator: ",").compactMap { WorldExtreme(rawValue: String($0)) }
        return WorldExtreme.drawn.union(words == "all" ? WorldExtreme.allCases : named)
    }()

    /// A place for a world's files, which is not made yet: in memory where the system has such.
    static func folder(seed: UInt64) -> URL {
        let memory = URL(fileURLWithPath: "/dev/shm")
        let scratch =
            FileManager.default.isWritableFile(atPath: memory.path)
            ? memory : FileManager.default.temporaryDirectory
        return scratch.appendingPathComponent(
            "world-\(ProcessInfo.processInfo.processIdentifier)-\(seed)-\(UUID().uuidString)")
    }
}
