internal import MirrorEngine
internal import ObjectModel
internal import RecordWire
internal import SQLiteDriver
internal import SQLiteStore
internal import Stores

/// The laws of MERGE.md, checked on a world that came to rest. Each finding is one sentence.
struct WorldLaws {
    let world: SimulatedWorld

    func check() throws -> [String] {
        let images = try world.owners.map { (name: $0.name, image: try DeviceImage($0)) }
        guard let first = images.first, let device = world.devices.first else { return [] }
        var broken: [String] = []
        for other in images.dropFirst() where other.image != first.image {
            broken.append(
                "Devices \(first.name) and \(other.name) differ: "
                    + first.image.differences(from: other.image).joined(separator: "; "))
        }
        broken += try serviceAgrees(with: first.image, device)
        for (name, image) in images where !image.dangling.isEmpty {
            broken.append("\(name) has links to nothing: \(image.dangling.joined(separator: ", "))")
        }
        let oneSided = first.image.oneSidedLinks(world.editor.layout)
        if !oneSided.isEmpty {
            broken.append("One-to-one links are not answered: \(oneSided.joined(separator: ", "))")
        }
        broken += try world.devices.flatMap(isClean)
        let log = try ConflictLog(world)
        broken += try ShareLaws(world: world, image: first.image, log: log).check()
        log.count(in: &world.statistics)
        broken += OrderLaws(world: world, image: first.image).check()
        if world.mayRollBack { return broken }
        if world.settings.faults.lostTime.isPossible {
            broken += HeldLaws(world: world, image: first.image).check()
        } else {
            broken += try MemoryLaws(world: world, image: first.image, log: log).check()
            broken += DeletionLaws(world: world, image: first.image, log: log).check()
            broken += RuleLaws(world: world, image: first.image, log: log).check()
            broken += LogLaws(world: world, image: first.image, log: log).check()
            broken += SealLaws(world: world, image: first.image, log: log).check()
        }
        return broken
    }

    private func serviceAgrees(
        with image: DeviceImage, _ device: SimulatedDevice
    ) throws -> [String] {
        var service = try DeviceImage(world.service, as: device)
        if world.settings.faults.lostTime.isPossible || world.share.wasRevoked {
            // A store that was lost may have been the only one that had an object, which a record
            // names, or a guest's that takes part no more: that link waits for ever. Or it was of
            // the device that would have taken out its link to what another deleted.
            let zone = device.mirrored.settings.zoneName
            let alive = try world.service.feed(ofZone: zone).filter { !$0.value.deleted }
            service.dropLinks(outside: Set(alive.keys))
            service.dropPairs(outside: Set(alive.keys))
        }
        guard service != image else { return [] }
        return [
            "The service differs from \(device.name): "
                + service.differences(from: image).joined(separator: "; ")
        ]
    }

    /// Nothing waits, nothing is refused, the file is whole, and what was kept on the way is gone.
    private func isClean(_ device: SimulatedDevice) throws -> [String] {
        guard !device.waitsForShare else { return [] }
        let status = try device.mirrored.status()
        var broken: [String] = []
        if let status, status.keptHere > 0 || !status.keptForLater.isEmpty {
            broken.append("\(device.name) goes on leaving out what it chose no more.")
        }
        let waiting = try world.namesThatNoShareTakes(of: device)
        if let pending = status?.pending,
            pending.inserts + pending.updates != waiting.count || pending.deletes != 0
                || waiting.isEmpty && pending.pairs != 0
        {
            broken.append("\(device.name)'s export queue is not empty: \(pending)")
        }
        let refusals = status?.refusals.filter { !waiting.contains($0.recordName) } ?? []
        if !refusals.isEmpty {
            let lines = refusals.map { "\($0.recordName.suffix(6)): \($0.reason)" }
            broken.append("\(device.name) was refused records: \(lines)")
        }
        try device.store.read { store in
            let check = try store.connection.pragma("quick_check")
            if check != "ok" {
                broken.append("\(device.name)'s file is damaged: \(String(describing: check))")
            }
        }
        return broken
    }
}

extension SimulatedWorld {
    /// Whether a plain service may be put back or lost: without epochs the devices agree, and on
    /// what is not said. (docs/MERGE.md §14)
    var mayRollBack: Bool {
        let faults = settings.faults.lostTime
        return settings.dialect == .plain
            && faults.serviceRestorePercent + faults.serviceLossPercent > 0
    }
}

/// All devices' conflict logs.
struct ConflictLog {
    let entries: [(device: String, entry: ConflictEntry)]

    /// The properties, and the objects, of which something was lost with a share.
    let endedProperties: Set<EditMemory.Property>
    let endedObjects: Set<String>
    /// Objects that were made where no share is any more: they wait there for the next.
    let waiting: Set<String>

    init(_ world: SimulatedWorld) throws {
        entries = try world.devices.flatMap { device in
            try device.mirrored.conflicts().map { (device.name, $0) }
        }
        waiting = try world.namesThatWaitForShares()
        let ended = entries.map(\.entry).filter { $0.rule == ShareLaws.endRule }
        endedObjects = Set(ended.map(\.recordName)).union(waiting)
        endedProperties = Set(
            ended.map { EditMemory.Property(recordName: $0.recordName, name: $0.property) })
    }

    func count(in statistics: inout WorldStatistics) {
        for (_, entry) in entries {
            switch entry.rule {
            case ShareLaws.endRule: statistics.count(.loggedShareEnd)
            case "unique": statistics.count(.loggedUnique)
            case "key": statistics.count(.loggedKey)
            case "oneToOne": statistics.count(.loggedOneToOne)
            case let rule where DeletionRule(rawValue: rule) != nil:
                statistics.count(.loggedDeletion)
            default: statistics.count(.loggedConflict)
            }
        }
    }
}
