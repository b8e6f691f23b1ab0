internal import Foundation
public import MirrorEngine
public import ObjectModel
internal import Platform

/// Two devices of an app and their record service in one process: a fixture for tests of one
/// certain conflict.
///
/// Stores, contexts, engine and service are the real ones; the wire is simulated and the clock
/// stands still, so that a test comes out the same each time. One thread at a time.
public final class TwoDevices: @unchecked Sendable {
    // @unchecked: a test uses it from one thread at a time, as its comment says.
    public let first: TestDevice
    public let second: TestDevice
    private let clock = VirtualClock()
    private let folder: URL

    /// Opens two empty stores of a model. `seed` decides on record names, by which ties are
    /// broken. Throws what opening a store throws, and `MirrorError` for a model whose userInfo
    /// names an unknown rule.
    public init(
        model: NSManagedObjectModel, policy: MergePolicy = MergePolicy(), seed: UInt64 = 1
    ) throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "two-devices-\(Environment.system.randomness.uuid().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        do {
            let open = try Self.opener(model, policy, seed, clock, folder)
            first = try open("first", 1)
            second = try open("second", 2)
        } catch {
            // There is no `deinit` for what was not made.
            try? FileManager.default.removeItem(at: folder)
            throw error
        }
    }

    /// Opens devices of one service by name and number.
    private static func opener(
        _ model: NSManagedObjectModel, _ policy: MergePolicy, _ seed: UInt64,
        _ clock: VirtualClock, _ folder: URL
    ) throws -> (String, UInt64) throws -> TestDevice {
        let service = try SimulatedService(
            platform: Environment(
                clock: clock, randomness: SeededRandomness(seed: seed ^ 0x5E), faults: NoFaults()))
        let network = StoryNetwork(service: service)
        return { name, number in
            let platform = Environment(
                clock: clock, randomness: SeededRandomness(seed: seed &* 31 &+ number),
                faults: NoFaults())
            let setting = ManagedDevice.Setting(
                name: name, file: folder.appendingPathComponent("\(name).sqlite"), model: model,
                policy: policy, platform: platform, container: network.container)
            return TestDevice(try ManagedDevice(setting), network: network, clock: clock)
        }
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// Time passes, for the rule `latest` and for what waits.
    public func advance(seconds: Double) { clock.advance(seconds: seconds) }

    /// Rounds of both until nothing moves. Returns whether they came to rest: false where a round
    /// fails, as without a network. Throws what the stores throw.
    @discardableResult
    public func settle() throws -> Bool {
        for _ in 0..<SimulatedWorld.quietPassesMax {
            var moved = 0
            for device in [first, second] {
                let round = try device.sync()
                guard round.failure == nil else { return false }
                moved += round.sent + round.fetched
            }
            if moved == 0 { return true }
        }
        return false
    }

    /// The devices of the test that runs, where it has the trait `.twoDevices` of MirrorTesting.
    @TaskLocal public static var current: TwoDevices?
}
