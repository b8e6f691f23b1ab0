public import Foundation
internal import MirrorEngine
internal import Platform
internal import RecordService
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
    let network: SimulatedNetwork
    var service: SimulatedService { network.service }
    var devices: [SimulatedDevice] = []
    var editor: GraphEditor
    private var record = WorldRecord()
    /// Each device's fault points, armed once all devices are made.
    private var crashing: [SeededFaults] = []
    var lostTime: LostTime
    var share: WorldShare

    /// What happened, a line for each event.
    public internal(set) var story: [String] {
        get { record.story }
        set { record.story = newValue }
    }
    /// What this world met.
    public internal(set) var statistics: WorldStatistics {
        get { record.statistics }
        set { record.statistics = newValue }
    }
    /// Laws that were broken on the way.
    var broken: [String] {
        get { record.broken }
        set { record.broken = newValue }
    }

    /// Makes the world in `folder`, which is created; the caller removes it.
    public init(seed: UInt64, settings: WorldSettings, folder: URL) throws {
        self.seed = seed
        self.settings = settings
        lostTime = LostTime(folder: folder)
        share = WorldShare(seed: seed)
        randomness = SeededRandomness(seed: seed)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        network = try SimulatedNetwork(
            seed: seed, settings: settings, clock: clock, randomness: randomness, folder: folder)
        editor = GraphEditor(
            randomness: randomness, model: settings.model, later: settings.laterModel,
            policy: settings.policy, weights: settings.edits,
            undoDice: SeededRandomness(seed: seed &* 961_748_941),
            cascadeDice: SeededRandomness(seed: seed &* 573_259_391))
        editor.memory.takenBack.dice = SeededRandomness(seed: seed &* 198_491_317)
        editor.rollbackPercent = settings.faults.rollbackPercent
        try makeDevices(in: folder)
        network.arm()
    }

    private func makeDevices(in folder: URL) throws {
        let guests = settings.faults.devices.sharing?.guests ?? 0
        for index in 0..<settings.devices + guests {
            let faults = SeededFaults(
                randomness: SeededRandomness(seed: seed &* 131 &+ UInt64(index)), crashPercent: 0)
            crashing.append(faults)
            let most = settings.faults.devices.clockSkewSecondsMax
            let skew = most == 0 ? 0 : randomness.among(-most...most)
            let platform = Environment(
                clock: SkewedClock(world: clock, skewSeconds: Double(skew)),
                randomness: SeededRandomness(seed: seed &* 31 &+ UInt64(index + 1)),
                faults: faults)
            let updates = SeededRandomness(seed: seed &* 104_729 &+ UInt64(index))
            let ahead = SeededRandomness(seed: seed &* 15_485_863 &+ UInt64(index))
            devices.append(
                try SimulatedDevice(
                    name: String(UnicodeScalar(UInt8(65 + index))),
                    file: folder.appendingPathComponent("device\(index).sqlite"),
                    settings: settings, platform: platform,
                    updateDice: updates, aheadDice: ahead,
                    keyDice: SeededRandomness(seed: seed &* 32_452_843 &+ UInt64(index)),
                    isLater: settings.laterModel != nil && updates.chance(percent: 40),
                    user: index < settings.devices ? nil : WorldShare.guest, assets: network))
        }
        armDevices()
    }

    /// Adds the conflict logs to the story of a world that broke a law.
    private func tellLogs() throws {
        for (device, entry) in try ConflictLog(self).entries {
            tell(
                "\(device) logged \(entry.property) of \(entry.recordName.suffix(6)), "
                    + "\(entry.rule): \(entry.winner) of \(String(describing: entry.base)), "
                    + "\(String(describing: entry.local)), \(String(describing: entry.remote))")
        }
    }

    func tell(_ line: @autoclosure () -> String) { record.story.append(line()) }

    // MARK: Running

    /// Runs the whole story. Returns the laws it broke, each in a sentence; none when all is well.
    public func run() throws -> [String] {
        for _ in 0..<settings.steps { try step() }
        try calmDown()
        try settle()
        try forgetUndone()
        if broken.isEmpty { broken = try WorldLaws(world: self).check() }
        statistics.merge(network.statistics)
        if !broken.isEmpty { try tellLogs() }
        return broken
    }

    private func step() throws {
        let isLong = randomness.chance(percent: 5)
        clock.advance(seconds: Double(randomness.below(isLong ? 90_000 : 2_000)) / 1_000)
        if try changeSharing() { return }
        guard let device = randomness.pick(devices), !device.waitsForShare else { return }
        if try changeSelection(of: device) { return }
        if try strike(device) { return }
        switch randomness.below(100) {
        case ..<32: try edit(on: device)
        case 92...: try network.deliverDelayed(tell: { self.tell($0) })
        default:
            guard let session = randomness.pick(device.sessions) else { return }
            if !session.isRunning { session.startRound() }
            for _ in 0..<(1 + randomness.below(6)) where session.isRunning {
                guard try advance(session, of: device) else { break }
            }
        }
    }

    /// An app's saves. They are not struck by the fault points: what was saved must be known for
    /// sure.
    private func edit(on device: SimulatedDevice) throws {
        disarmDevices()
        defer { armDevices() }
        for _ in 0..<(1 + randomness.below(3)) {
            if randomness.chance(percent: settings.faults.devices.oversizedPercent) {
                editor.bytesOfNextText = settings.sizes.recordBytesMax
                statistics.count(.oversized)
            }
            editor.hidesSealed = lacksKeys(device)
            if let line = try editor.edit(device) {
                tell("\(device.name) \(line)")
                if device.user != nil {
                    statistics.count(share.mayWrite ? .guestEdited : .readerEdited)
                }
            }
        }
        if editor.counts.takenBack > 0 { statistics.count(.rolledBackSave) }
        if editor.counts.undone > 0 { statistics.count(.undoneDeletion) }
        if editor.counts.cascades > 0 { statistics.count(.cascade) }
    }

    func armDevices() {
        for faults in crashing { faults.setCrashPercent(settings.faults.crashPointPercent) }
    }

    /// From now on no fault point kills.
    func calmDevices() {
        disarmDevices()
        crashing = []
    }

    func disarmDevices() { for faults in crashing { faults.setCrashPercent(0) } }

    /// One step of a round, its request carried over a bad network. Returns false once the process
    /// was killed.
    private func advance(
        _ session: SimulatedSession, of device: SimulatedDevice
    ) throws -> Bool {
        do {
            if let request = session.requestAhead() {
                try carryAhead(request, session, device)
            } else if session.hasCarried, try session.workAhead() {
                statistics.count(.batchAhead)
            }
            if let request = try session.step(now: clock.now()) {
                try carry(request, session, device)
            } else if !session.isRunning {
                try roundEnded(session, device)
            }
            return true
        } catch let crash as SimulatedCrash {
            tell("\(device.name) killed at \(crash.point)")
            statistics.count(.crashPoint)
            try device.restart()
            return false
        }
    }

    func carry(
        _ request: RecordRequest, _ session: SimulatedSession, _ device: SimulatedDevice
    ) throws {
        let answer = try send(request, session, device)
        if try session.workAhead() { statistics.count(.batchAhead) }
        session.answer(answer)
    }

    /// Carries a request before it is due.
    private func carryAhead(
        _ request: RecordRequest, _ session: SimulatedSession, _ device: SimulatedDevice
    ) throws {
        if case .modifyRecords = request {
            statistics.count(.batchUnrecorded)
        } else {
            statistics.count(.pageAhead)
        }
        session.keep(try send(request, session, device), to: request)
    }

    private func send(
        _ request: RecordRequest, _ session: SimulatedSession, _ device: SimulatedDevice
    ) throws -> Result<RecordResponse, any Error> {
        let id = try session.mirrored.deviceID()
        device.noteLook()
        // A store that was copied goes on under another ID.
        if let user = device.user { service.give(id, to: user) }
        return network.carry(request, from: device.name, id: id, &session.notes) {
            self.tell($0)
        }
    }

    func roundEnded(_ session: SimulatedSession, _ device: SimulatedDevice) throws {
        guard let result = session.lastResult else { return }
        if let error = result.error { tell("\(device.name) ends its round: \(error.message)") }
        disarmDevices()
        defer { armDevices() }
        guard try !leaves(device, after: result) else { return }
        broken += try RoundLaws(world: self).check(session, device, result)
    }
}

/// What is known of a world's run.
private struct WorldRecord {
    var story: [String] = []
    var statistics = WorldStatistics()
    var broken: [String] = []
}

/// What a world that loses time keeps of earlier times.
struct LostTime {
    let folder: URL
    /// Copies of files that a restore may go back to.
    var serviceCopies: [URL] = []
    var storeCopies: [(device: String, file: URL, isLater: Bool)] = []
    /// What devices and service held when faults ended.
    var heldImages: [DeviceImage] = []
    var heldByService: DeviceImage?
}
