public import Foundation
internal import MirrorEngine
internal import Persistence
internal import Platform
internal import RecordWire
internal import Stores

/// Plays a story: each line is done on real stores, over a simulated wire, with a clock that stands
/// still. The same story and seed come out the same.
public final class StoryRun {
    let world: StoryWorld
    private let rule: String?
    /// Whether a step that cannot be done fails the story, or is passed over.
    private let isStrict: Bool
    private var report: StoryReport
    private var graphs: [String: HeldGraph] = [:]
    private var shown: [String: [StoryHeldObject]] = [:]
    private var logged: [String: Set<Int64>] = [:]
    /// What the app or the model refused in the last step, and what the last step told.
    var refusal: String?
    private var told: [String] = []
    /// The names of the records of shares, by what the story calls them.
    var shares: [String: String] = [:]
    var memory = StoryMemory()

    /// Prepares a story's devices in `folder`, which is created within one that is there; the
    /// caller removes it. `rule` is the store's rule on all devices, where several are compared.
    /// Throws what the stores throw.
    public convenience init(
        _ story: Story, rule: String? = nil, folder: URL, seed: UInt64 = 1
    ) throws {
        try self.init(story, rule: rule, folder: folder, seed: seed, destination: nil)
    }

    package init(
        _ story: Story, rule: String? = nil, folder: URL, seed: UInt64 = 1, isStrict: Bool = true,
        destination: StoryDestination?
    ) throws {
        world = try StoryWorld(
            story, rule: rule, folder: folder, seed: seed, destination: destination)
        self.rule = rule
        self.isStrict = isStrict
        report = StoryReport(
            title: story.title, rule: rule,
            holders: story.devices.map(\.name) + [StoryExpectation.service])
    }

    /// The world's wire, for tests of the laws.
    var network: StoryNetwork { world.network }

    /// Plays all steps. A step that fails is in the report, and ends the story unless it only
    /// expected something. Throws what reading a device's state throws.
    public func play() throws -> StoryReport {
        for step in world.story.steps {
            if case .expect(let expectation) = step.action, let only = expectation.rule,
                only != rule
            {
                continue
            }
            guard try play(step) else { break }
        }
        return report
    }

    /// Plays one step. Returns whether the story goes on.
    private func play(_ step: StoryStep) throws -> Bool {
        var line = StoryStepReport(step)
        if case .expect(let expectation) = step.action {
            line.failure = try expect(expectation)
            report.steps.append(line)
            return true
        }
        let former = refusal
        (refusal, told) = (nil, [])
        do {
            try perform(step.action)
        } catch let error as StoryError {
            let reason = error.message + (error.hint.map { " \($0)" } ?? "")
            if isStrict { line.failure = reason } else { told.append("passed over: " + reason) }
        } catch let unrest as Unrest {
            line.failure = unrest.message
        } catch let missing as MissingObject {
            let reason = "\(missing.device) has no object \(missing.handle)."
            if isStrict { line.failure = reason } else { told.append("passed over: " + reason) }
        }
        if let former, isStrict, line.failure == nil, !wasExpected(before: step) {
            line.failure = "Before it, something was refused: \(former)"
        }
        if let refusal { told.append("refused: \(refusal)") }
        try world.learn()
        try tellConflicts()
        line.notes = told
        line.changes = try changes()
        report.steps.append(line)
        return line.failure == nil
    }

    /// Whether the step before this one is one that expects the refusal.
    private func wasExpected(before step: StoryStep) -> Bool {
        guard let last = report.steps.last else { return false }
        return last.isExpectation && last.text.contains("refused")
    }

    // MARK: What is held

    private func changes() throws -> [(holder: String, objects: [StoryHeldObject])] {
        var changes: [(holder: String, objects: [StoryHeldObject])] = []
        for name in report.holders {
            let graph =
                name == StoryExpectation.service
                ? try world.serviceGraph() : try world.graph(of: world.device(name))
            graphs[name] = graph
            let held = graph.held(world.objects.handles)
            guard held != shown[name] ?? [] else { continue }
            shown[name] = held
            changes.append((name, held))
        }
        return changes
    }

    private func tellConflicts() throws {
        for device in world.devices {
            let store = world.store(of: device.name)
            for entry in try device.mirrored.conflicts()
            where logged[store, default: []].insert(entry.id).inserted {
                told.append(ConflictText(entry, world.objects).sentence(on: device.name))
            }
        }
    }

    private func expect(_ expectation: StoryExpectation) throws -> String? {
        try StoryVerdict(
            world: world, graphs: graphs, refusal: refusal, told: told
        ).failure(of: expectation)
    }

    // MARK: Steps

    private func perform(_ action: StoryAction) throws {
        switch action {
        case .device(let names, let deed):
            for name in names { try perform(deed, on: world.device(name)) }
        case .everyoneSyncs:
            for device in world.devices { _ = try sync(device) }
        case .everyoneSettles: try settle()
        case .service(let deed):
            let zone = world.devices.first?.mirrored.settings.zoneName ?? ""
            try world.network.befall(deed, zone: zone)
        case .pass(let seconds): world.clock.advance(seconds: seconds)
        case .expect: break
        }
    }

    private func perform(_ deed: StoryDeed, on device: ManagedDevice) throws {
        let network = world.network
        switch deed {
        case .sync: _ = try sync(device)
        case .goOffline: network.change(device.name) { $0.isOffline = true }
        case .comeOnline: network.change(device.name) { $0.isOffline = false }
        case .loseNextRequest: network.change(device.name) { $0.losesRequest = true }
        case .loseNextAnswer: network.change(device.name) { $0.losesAnswer = true }
        case .crashInNextSync: network.change(device.name) { $0.diesAfterSending = true }
        case .crash: try device.restart()
        case .backUp: try world.backUp(device)
        case .restore: try world.restore(device)
        case .becomeCopy(let other): try world.replace(device, byCopyOf: world.device(other))
        case .reset: try device.mirrored.reset()
        case .open(let model):
            guard let model = world.story.models[model] else { return }
            try device.restart(with: model)
        case .decide(let property, let side): try decide(property, side, on: device)
        case .takeBackDeletion(let handle): try takeBack(handle, on: device)
        case .setClock(let seconds): world.setClock(of: device.name, ahead: seconds)
        case .sharing(let sharing): try share(sharing, on: device)
        case .choose(let choices):
            do {
                try device.restart(sending: Self.selection(choices, device.setting.model))
            } catch let error as MirrorError {
                throw StoryError(error.message)
            }
        default: try edit(deed, on: device)
        }
    }

    /// What the model or the app does not allow is a refusal, which a story may expect.
    private func edit(_ deed: StoryDeed, on device: ManagedDevice) throws {
        var editing = StoryEditing(world: world, device: device)
        do {
            try editing.perform(deed)
        } catch let error as StoryError {
            throw error
        } catch let error as MissingObject {
            throw error
        } catch {
            refusal = Self.words(of: error)
            return
        }
        memory.note(editing.facts, by: device.name)
    }

    static func words(of error: any Error) -> String {
        if let error = error as? MirrorError { return error.message }
        return (error as NSError).localizedDescription
    }

    private func decide(
        _ property: StoryProperty, _ side: ConflictSide, on device: ManagedDevice
    ) throws {
        let names = world.objects.names(of: property.handle)
        let entry = try device.mirrored.conflicts().last {
            names.contains($0.recordName) && $0.property == property.name
        }
        guard let entry else {
            throw StoryError("\(device.name) has logged no conflict of \(property.text).")
        }
        do {
            try device.mirrored.resolve(conflict: entry.id, taking: side)
            memory.decided(property)
        } catch let error as MirrorError {
            refusal = error.message
        }
        device.refresh()
    }

    /// What the service would not delete comes back; where it refused no deletion, that is a
    /// refusal, which a story may expect.
    private func takeBack(_ handle: String, on device: ManagedDevice) throws {
        guard let name = world.objects.names(of: handle).last else {
            throw StoryError("The service has no \(handle).", "Let \(device.name) sync before.")
        }
        do {
            try device.mirrored.restore(refusedDeletionOf: name)
        } catch let error as MirrorError {
            refusal = error.message
        }
        device.refresh()
    }

    // MARK: Rounds

    /// One round of a device. Returns how many records moved; nil where the round failed. A device
    /// that dies in it has moved some.
    func sync(_ device: ManagedDevice) throws -> Int? {
        guard !device.waitsForShare else {
            told.append(device.name + Self.waiting)
            return 0
        }
        let result: RoundResult?
        do {
            result = try RoundDriver(network: world.network, clock: world.clock).run(device)
        } catch is SimulatedCrash {
            told.append("\(device.name) dies after the service took its records")
            try device.restart()
            return 1
        }
        try world.learn()
        guard let result else {
            throw Unrest(message: "\(device.name) sends requests without end.")
        }
        tell(result, of: device.name)
        if result.error?.code == .shareEnded {
            try device.restart(in: nil)
            return 1
        }
        return result.error == nil ? result.exported + result.imported.received : nil
    }

    private func tell(_ result: RoundResult, of device: String) {
        var words: [String] = []
        if result.exported > 0 { words.append("sent \(result.exported)") }
        if result.imported.received > 0 { words.append("fetched \(result.imported.received)") }
        if result.imported.merged > 0 { words.append("merged \(result.imported.merged)") }
        if result.refused > 0 { words.append("\(result.refused) refused by the service") }
        if let error = result.error { words = [error.message] }
        if words.isEmpty { words.append("nothing to do") }
        told.append("\(device): \(words.joined(separator: ", "))")
        told += result.notices.map { "\(device): \($0)" }
    }

    /// Rounds until a whole pass moves nothing.
    private func settle() throws {
        defer {
            told.removeAll { $0.hasSuffix(": nothing to do") || $0.hasSuffix(Self.waiting) }
        }
        for _ in 0..<SimulatedWorld.quietPassesMax {
            var moved = 0
            for device in world.devices {
                guard let records = try sync(device) else {
                    let reason = told.last { $0.hasPrefix("\(device.name): ") }
                    throw Unrest(message: Self.unrest(of: device.name, reason))
                }
                moved += records
            }
            if moved == 0 { return }
        }
        throw Unrest(message: "The devices go on exchanging records without end.")
    }

    private static func unrest(of device: String, _ reason: String?) -> String {
        let words = reason.map { ": " + $0.dropFirst(device.count + 2) } ?? "."
        return "\(device) does not come to rest\(words)"
    }

    // MARK: The end

    /// What a law of `StoryLaws` says at the end of a story of which all faults are over.
    func brokenLaws() throws -> [String] {
        try StoryLaws(world: world, memory: memory).check()
    }

    /// All faults end, and all devices come to rest.
    func comeToRest() throws {
        for device in world.devices {
            world.network.change(device.name) { $0 = StoryNetwork.Weather() }
            if device.holdsEdits { device.rollback() }
        }
        for _ in 0..<Self.decisionsMax {
            try settle()
            guard try decideAll() else { return }
        }
    }

    /// Takes this device's side in all that waits. Returns whether anything did.
    private func decideAll() throws -> Bool {
        var decided = false
        for device in world.devices {
            for entry in try device.mirrored.conflicts(waitingOnly: true) {
                do {
                    try device.mirrored.resolve(conflict: entry.id, taking: .local)
                } catch let error as MirrorError
                    where [.objectDeleted, .unknownConflict].contains(error.code)
                {
                    continue
                }
                decided = true
                if let handle = world.objects.handle(named: entry.recordName) {
                    memory.decided(StoryProperty(handle, entry.property))
                }
            }
        }
        return decided
    }

    private static let decisionsMax = 6
    private static let waiting = ": waits for a share"
}

/// Devices that never come to rest, which no line of a story asks for.
struct Unrest: Error {
    let message: String
}
