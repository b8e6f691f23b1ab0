internal import Foundation
internal import MirrorEngine
internal import ObjectModel
internal import Persistence
internal import Platform
internal import RecordWire
internal import SQLiteStore
internal import Stores

/// The devices and the service of a story, as they are while it is played.
final class StoryWorld {
    let story: Story
    let network: StoryNetwork
    let clock = VirtualClock()
    private(set) var devices: [ManagedDevice] = []
    private var clocks: [String: StoryClock] = [:]
    var objects = StoryObjects()
    private var backups: [String: URL] = [:]
    private let folder: URL
    private let seed: UInt64

    /// Makes the devices' stores in `folder`, which is created within one that is there. `rule`
    /// goes before the rules of the story.
    init(
        _ story: Story, rule: String?, folder: URL, seed: UInt64, destination: StoryDestination?
    ) throws {
        self.story = story
        self.folder = folder
        self.seed = seed
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        if let destination {
            guard !story.isPublic else { throw StoryNetwork.elsewhere }
            network = StoryNetwork(destination: destination)
        } else {
            let platform = Environment(
                clock: clock, randomness: SeededRandomness(seed: seed ^ 0x5E), faults: NoFaults())
            network = StoryNetwork(
                service: try SimulatedService(
                    platform: platform, folder: story.strikesService ? folder : nil),
                isPublic: story.isPublic)
        }
        for (index, line) in story.devices.enumerated() {
            devices.append(try make(line, index: index, rule: rule))
        }
    }

    private func make(_ line: StoryDevice, index: Int, rule: String?) throws -> ManagedDevice {
        let own = StoryClock(world: clock, ahead: line.clockSeconds)
        clocks[line.name] = own
        var policy = story.policy
        if let name = rule ?? line.rule, let rule = MergeRule(name: name) { policy.standard = rule }
        if let deletion = line.deletion { policy.deletion = deletion }
        let shared = line.sharedStore.flatMap { name in devices.first { $0.name == name } }
        let platform = Environment(
            clock: own, randomness: SeededRandomness(seed: seed &* 31 &+ UInt64(index + 1)),
            faults: NoFaults())
        var setting = ManagedDevice.Setting(
            name: line.name,
            file: shared?.setting.file ?? folder.appendingPathComponent("\(line.name).sqlite"),
            model: story.models[line.model] ?? NSManagedObjectModel(), policy: policy,
            platform: platform, container: network.container)
        setting.place.zone = line.user == nil ? network.zone : nil
        setting.place.user = line.user
        setting.place.isPublic = story.isPublic
        setting.keys = try line.hasKey ? Self.keys() : nil
        setting.undoes = story.undoes
        setting.assetValueBytesMax = story.assetValueBytesMax
        setting.assets = StoryAssets(network: network, device: line.name)
        return try ManagedDevice(setting, isNew: shared == nil)
    }

    /// The key of all devices of a story that have one.
    private static func keys() throws -> SealingKeys {
        try SealingKeys([SealingKey(secret: Data(repeating: 7, count: 32))])
    }

    // MARK: Finding

    func device(_ name: String) throws -> ManagedDevice {
        guard let device = devices.first(where: { $0.name == name }) else {
            throw StoryError("There is no device \(name).")
        }
        return device
    }

    /// What the store of a device is called: two processes share one.
    func store(of device: String) -> String {
        story.devices.first { $0.name == device }?.sharedStore ?? device
    }

    /// The devices that work on a store.
    private func processes(of store: String) -> [ManagedDevice] {
        devices.filter { self.store(of: $0.name) == store }
    }

    /// The object on a device. Throws `StoryError` where it is not there.
    func object(_ handle: String, on device: ManagedDevice) throws -> NSManagedObject {
        if let object = device.unsaved[handle] { return object }
        let row = try device.mirrored.store.read { transaction in
            try objects.row(
                of: handle, in: store(of: device.name), transaction,
                device.ledger(in: transaction))
        }
        guard let row, let object = device.object(of: row), !object.isDeleted else {
            throw MissingObject(handle: handle, device: device.name)
        }
        return object
    }

    func graph(of device: ManagedDevice) throws -> HeldGraph {
        try HeldGraph(device, store: store(of: device.name), objects)
    }

    /// The device with the largest model, which reads what the service has.
    private var reader: ManagedDevice? {
        devices.filter { $0.setting.place.seesAll }.max { $0.breadth < $1.breadth }
    }

    /// The model by which a device, or else the service, is read.
    func model(of holder: String) -> NSManagedObjectModel? {
        (devices.first { $0.name == holder } ?? reader)?.setting.model
    }

    /// What the service has, as its reader reads it.
    func serviceGraph() throws -> HeldGraph {
        guard let settings = reader?.mirrored.settings else { return HeldGraph() }
        return try HeldGraph(
            zone: settings.zoneID, settings: settings, objects,
            send: { try network.send($0, as: "observer") },
            content: { try network.service?.content(of: $0) })
    }

    /// What the service shows to the user of a device that takes part in shares. Links to what is
    /// not shown lead nowhere.
    func sharedGraph(of device: ManagedDevice) throws -> HeldGraph {
        let settings = device.mirrored.settings
        return try HeldGraph(
            zone: settings.zoneID, settings: settings, objects,
            send: { try network.send($0, as: "observer", of: device.setting.place.user) },
            content: { try network.service?.content(of: $0) }
        ).closed
    }

    /// The record names that rounds gave become known.
    func learn() throws {
        for device in devices {
            try device.mirrored.store.read { transaction in
                guard let ledger = try device.ledger(in: transaction) else { return }
                try objects.learn(in: store(of: device.name), transaction, ledger)
            }
        }
    }

    func setClock(of device: String, ahead seconds: Double) {
        clocks[device]?.set(ahead: seconds)
    }

    // MARK: Files

    func backUp(_ device: ManagedDevice) throws {
        let name = store(of: device.name)
        let copy = folder.appendingPathComponent("\(name)-backup.sqlite")
        try SimulatedFiles.copy(device.setting.file, to: copy)
        backups[name] = copy
    }

    func restore(_ device: ManagedDevice) throws {
        let name = store(of: device.name)
        guard let copy = backups[name] else {
            throw StoryError(
                "\(device.name) was not backed up.", "Write '\(device.name) is backed up' before.")
        }
        try replace(device, by: copy, of: name)
    }

    func replace(_ device: ManagedDevice, byCopyOf other: ManagedDevice) throws {
        try replace(device, by: other.setting.file, of: store(of: other.name))
    }

    private func replace(_ device: ManagedDevice, by file: URL, of source: String) throws {
        let name = store(of: device.name)
        try device.restart(over: file)
        for process in processes(of: name) where process !== device {
            try process.restart(sharing: device)
        }
        try objects.replaced(name, byCopyOf: source) {
            try device.mirrored.store.row($0) != nil
        }
    }
}

/// A line speaks of an object that the device does not have.
struct MissingObject: Error {
    let handle: String
    let device: String
}

extension ManagedDevice {
    fileprivate var breadth: Int {
        setting.model.entities.reduce(0) { $0 + 1 + $1.properties.count }
    }
}

extension Story {
    /// Whether anything befalls the service, so that it must live in a file.
    var strikesService: Bool {
        steps.contains { if case .service = $0.action { true } else { false } }
    }

    /// Whether anything is undone.
    var undoes: Bool {
        steps.contains { if case .device(_, .undo) = $0.action { true } else { false } }
    }

    /// Whether something goes back in time, so that what was saved need not be there.
    var losesTime: Bool {
        steps.contains { step in
            switch step.action {
            case .service, .device(_, .restore), .device(_, .becomeCopy): true
            default: false
            }
        }
    }
}
