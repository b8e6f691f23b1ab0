import Dispatch
import Foundation
import Platform
import PostgresTesting
import RecordService
import RecordWire
import Testing

/// Where the rows and files of a trial are; removed with it.
final class TrialStorage: Sendable {
    let clock = SteppingClock()
    private let storage: ServiceStorage
    private let folder: URL
    private let opened = Lock<UInt64>(0)

    init(_ place: StoragePlace) throws {
        folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("operations-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        switch place {
        case .sqlite: storage = .file(folder.appendingPathComponent("service.sqlite").path)
        case .postgres:
            storage = .postgres(
                try TestServer.shared.get().makeDatabase(),
                assets: folder.appendingPathComponent("assets").path)
        }
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    func open() throws -> RecordService {
        let number = opened.withLock { opened in
            opened += 1
            return opened
        }
        let platform = Environment(
            clock: clock, randomness: SeededRandomness(seed: number), faults: OneFault())
        switch storage {
        case .file(let path): return try RecordService(path: path, platform: platform)
        case .postgres(let address, let assets):
            return try RecordService(
                database: StoragePlace.database(address, assets: assets), platform: platform)
        }
    }
}

/// Steps of one seed, performed in one world and compared with the model.
struct OperationTrial {
    let seed: UInt64
    let place: StoragePlace
    let steps: [OperationStep]
    /// Steps that the search for a shorter story may take.
    private static let shrinkingStepsMax = 4_000

    init(seed: UInt64, place: StoragePlace, count: Int, isAlone: Bool = true) {
        self.seed = seed
        self.place = place
        let dice = OperationDice(random: SeededRandomness(seed: seed), isAlone: isAlone)
        steps = Self.beginning + (0..<count).map { _ in dice.step() }
    }

    /// Every user has both zones.
    private static let beginning = (0..<OperationWorld.usersCount).flatMap { user in
        (1..<OperationStep.zonesCount).map {
            OperationStep(actor: user, deed: .makeZone($0, production: false))
        }
    }

    struct Failure: Sendable {
        let step: Int
        let reason: String
    }

    /// The first step after which service and model disagree, in a world of its own.
    func failure(
        of steps: [OperationStep], counts: inout [String: Int]
    ) throws -> Failure? {
        let storage = try TrialStorage(place)
        let world = try OperationWorld(0, seed: seed, clock: storage.clock, storage.open)
        let found = Self.failure(of: steps, in: world)
        counts.merge(world.counts, uniquingKeysWith: +)
        return found
    }

    static func failure(of steps: [OperationStep], in world: OperationWorld) -> Failure? {
        for (index, step) in steps.enumerated() {
            do {
                try world.perform(step)
            } catch {
                return Failure(step: index, reason: "\(error)")
            }
        }
        return nil
    }

    /// Runs all steps; what fails is told with the fewest steps that fail.
    func run(_ counts: inout [String: Int]) throws {
        guard let failure = try failure(of: steps, counts: &counts) else { return }
        let story = try shrunk(Array(steps[...failure.step]))
        var ignored: [String: Int] = [:]
        let last = try self.failure(of: story, counts: &ignored) ?? failure
        Issue.record(
            """
            seed \(seed) on \(place.rawValue), step \(failure.step): \(failure.reason)
            the shortest story found: \(last.reason)
            \(story.map(\.description).joined(separator: "\n"))
            """)
    }

    private func shrunk(_ steps: [OperationStep]) throws -> [OperationStep] {
        var steps = steps
        var ignored: [String: Int] = [:]
        var left = Self.shrinkingStepsMax
        var size = max(1, steps.count / 2)
        while left > 0 {
            var start = 0
            let before = steps.count
            while start < steps.count, left > 0 {
                var fewer = steps
                fewer.removeSubrange(start..<min(start + size, steps.count))
                left -= fewer.count + 1
                if let found = try failure(of: fewer, counts: &ignored) {
                    steps = Array(fewer[...found.step])
                } else {
                    start += size
                }
            }
            if size == 1, steps.count == before { break }
            size = max(1, size / 2)
        }
        return steps
    }
}
