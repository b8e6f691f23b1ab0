public import Foundation
internal import MirrorEngine
internal import Platform
internal import RecordWire
internal import Stores

/// A few devices and one service in one process, driven by a seed: the same seed is the same story.
///
/// A run has two halves. In the first, edits, rounds and faults happen in any order; in the second,
/// faults stop and every device syncs until nothing moves. Then the laws of MERGE.md are checked.
public final class SimulatedWorld {
    public let seed: UInt64
    let settings: WorldSettings
    let randomness: SeededRandomness
    let clock = VirtualClock()
    let faults: SeededFaults
    let service: SimulatedService
    var devices: [SimulatedDevice] = []
    var editor: GraphEditor
    private var delayed: [(request: RecordRequest, device: String)] = []
    /// What happened, a line for each event.
    public private(set) var story: [String] = []
    private let folder: URL

    /// Makes the world in `folder`, which is created; the caller removes it.
    public init(seed: UInt64, settings: WorldSettings, folder: URL) throws {
        self.seed = seed
        self.settings = settings
        self.folder = folder
        randomness = SeededRandomness(seed: seed)
        faults = SeededFaults(
            randomness: SeededRandomness(seed: seed ^ 0xFA), crashPercent: 0,
            plantedBug: settings.faults.plantedBug)
        let platform = Environment(
            clock: clock, randomness: SeededRandomness(seed: seed ^ 0x5E), faults: NoFaults())
        service = try SimulatedService(platform: platform)
        editor = GraphEditor(randomness: randomness, model: settings.model)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try makeDevices()
    }

    private func makeDevices() throws {
        for index in 0..<settings.devices {
            let platform = Environment(
                clock: clock, randomness: SeededRandomness(seed: seed &* 31 &+ UInt64(index + 1)),
                faults: deviceFaults(index))
            let file = folder.appendingPathComponent("device\(index).sqlite")
            devices.append(
                try SimulatedDevice(
                    name: String(UnicodeScalar(UInt8(65 + index))), file: file, settings: settings,
                    platform: platform))
        }
        armFaults()
    }

    /// The dice of the devices' fault points, which are thrown once all devices are made.
    private var crashing: [SeededFaults] = []

    private func deviceFaults(_ index: Int) -> SeededFaults {
        let faults = SeededFaults(
            randomness: SeededRandomness(seed: seed &* 131 &+ UInt64(index)),
            crashPercent: 0, plantedBug: settings.faults.plantedBug)
        crashing.append(faults)
        return faults
    }

    func tell(_ line: @autoclosure () -> String) { story.append(line()) }

    // MARK: Running

    /// Runs the whole story. Returns the laws it broke, each in a sentence; none when all is well.
    public func run() throws -> [String] {
        for _ in 0..<settings.steps { try step() }
        try calmDown()
        var broken = try settle()
        if broken.isEmpty { broken = try WorldLaws(world: self).check() }
        return broken
    }

    private func step() throws {
        clock.advance(seconds: Double(randomness.below(2_000)) / 1_000)
        guard let device = randomness.pick(devices) else { return }
        switch randomness.below(100) {
        case ..<30: try edit(on: device)
        case ..<(30 + settings.faults.killPercent): try kill(device)
        case 90...: try deliverDelayed()
        default:
            if device.instruction == nil { device.startRound() }
            for _ in 0..<(1 + randomness.below(6)) { try advance(device) }
        }
    }

    /// An app's saves. They are not struck by the fault points: what was saved must be known for
    /// sure.
    private func edit(on device: SimulatedDevice) throws {
        for faults in crashing { faults.setCrashPercent(0) }
        defer { armFaults() }
        let edits = 1 + randomness.below(3)
        do {
            for _ in 0..<edits {
                if let line = try editor.edit(device) { tell("\(device.name) \(line)") }
            }
        } catch let crash as SimulatedCrash {
            tell("\(device.name) killed at \(crash.point) while saving")
            try device.restart()
        }
    }

    private func armFaults() {
        for faults in crashing { faults.setCrashPercent(settings.faults.crashPointPercent) }
    }

    private func kill(_ device: SimulatedDevice) throws {
        tell("\(device.name) killed")
        try device.restart()
    }

    private func deliverDelayed() throws {
        guard !delayed.isEmpty else { return }
        let message = delayed.remove(at: randomness.below(delayed.count))
        tell("service gets a late copy from \(message.device)")
        _ = try? service.handle(message.request, from: message.device)
    }

    /// One instruction of a device's round, its request carried over a bad network.
    private func advance(_ device: SimulatedDevice) throws {
        do {
            guard let request = try device.step() else { return }
            device.handle(try carry(request, from: device))
        } catch let crash as SimulatedCrash {
            tell("\(device.name) killed at \(crash.point)")
            try device.restart()
        }
    }

    private func carry(
        _ request: RecordRequest, from device: SimulatedDevice
    ) throws -> MirrorMachine.Event {
        device.requests += 1
        let lost = MirrorFailure.transient(
            MirrorError(.offline, "The simulated network lost it."), retryAfterSeconds: nil)
        let id = try device.mirrored.deviceID()
        if randomness.chance(percent: settings.faults.lostRequestPercent) {
            tell("\(device.name) request lost")
            if randomness.chance(percent: settings.faults.duplicatePercent) {
                delayed.append((request, id))
            }
            return .failed(lost)
        }
        if randomness.chance(percent: settings.faults.busyPercent) {
            var busy = RecordError(.throttled, "The simulated service is busy.")
            busy.retryAfterSeconds = 1
            return .failed(MirrorFailure(busy))
        }
        if randomness.chance(percent: settings.faults.duplicatePercent) {
            delayed.append((request, id))
        }
        let answer = deliver(request, from: device, id: id)
        if randomness.chance(percent: settings.faults.lostReplyPercent) {
            tell("\(device.name) reply lost")
            return .failed(lost)
        }
        return answer
    }

    private func deliver(
        _ request: RecordRequest, from device: SimulatedDevice, id: String
    ) -> MirrorMachine.Event {
        do {
            let response = try service.handle(request, from: id)
            tell("\(device.name) \(request.summary) → \(response.summary)")
            return .replied(response)
        } catch {
            tell("\(device.name) \(request.summary) refused: \(error)")
            return .failed(MirrorFailure(error))
        }
    }

    // MARK: Coming to rest

    private func calmDown() throws {
        while !delayed.isEmpty { try deliverDelayed() }
        for faults in crashing { faults.setCrashPercent(0) }
        for device in devices { try device.restart() }
    }

    /// Rounds without faults until a whole pass moves nothing. Returns the law that was broken when
    /// that takes too long.
    private func settle() throws -> [String] {
        for pass in 1...Self.quietPassesMax {
            var moved = 0
            for device in devices {
                device.startRound()
                while device.instruction != nil {
                    guard let request = try device.step() else { continue }
                    device.requests += 1
                    device.handle(
                        deliver(request, from: device, id: try device.mirrored.deviceID()))
                }
                guard let result = device.lastResult, result.isInSync else {
                    let reason = device.lastResult?.error?.message ?? "no result"
                    return ["\(device.name) does not come to rest: \(reason)"]
                }
                moved += result.exported + result.imported.received
            }
            tell("quiet pass \(pass): \(moved) records moved")
            if moved == 0 { return [] }
        }
        return ["The devices go on exchanging records after \(Self.quietPassesMax) quiet passes."]
    }

    /// Passes after which devices that stopped editing must be equal.
    static let quietPassesMax = 8
}
