internal import MirrorEngine
internal import SQLiteStore
internal import Stores

/// Users who take back what the service refused, and put back what a merge discarded.
extension SimulatedWorld {
    private var takingDice: SeededRandomness { editor.memory.takenBack.dice }

    /// Throws the dice for what some device takes back. Returns whether one did.
    func takeBack() throws -> Bool {
        guard takingDice.chance(percent: settings.faults.devices.takeBackPercent) else {
            return false
        }
        disarmDevices()
        defer { armDevices() }
        let kind = takingDice.below(10)
        let first = takingDice.below(devices.count)
        for device in devices[first...] + devices[..<first] where !device.waitsForShare {
            do {
                let isDone =
                    switch kind {
                    case ..<5: try takeEditsBack(on: device)
                    case ..<8: try takeDeletionsBack(on: device)
                    case 8: try restoreDeleted(on: device)
                    default: try decideAgain(on: device)
                    }
                if isDone { return true }
            } catch let error as MirrorError where Self.refusals.contains(error.code) {
                tell("\(device.name) cannot take it back: \(error.message)")
                return true
            }
        }
        return false
    }

    /// What a device answers where it cannot: another object has the key, or nothing is kept.
    private static let refusals: Set<MirrorError.Code> = [
        .keyTaken, .objectDeleted, .unknownConflict, .keyMissing, .unknownEntity,
    ]

    /// What comes of one name, or of all; nothing where there is none.
    private func oneOrAll<Restored>(
        _ names: [String], one: (String) throws -> Restored, all: () throws -> [Restored]
    ) rethrows -> [Restored] {
        guard let name = takingDice.pick(names) else { return [] }
        return try takingDice.chance(percent: 50) ? [one(name)] : all()
    }

    /// One refused edit, or all.
    private func takeEditsBack(on device: SimulatedDevice) throws -> Bool {
        let edits = try oneOrAll(
            device.mirrored.refusedEdits().map(\.recordName),
            one: { try device.mirrored.restore(refusedEditOf: $0) },
            all: { try device.mirrored.restoreRefusedEdits() })
        guard !edits.isEmpty else { return false }
        statistics.count(.tookEditBack)
        for edit in edits {
            editor.memory.tookBackEdit(of: edit.recordName)
            tell("\(device.name) takes its edit of \(edit.recordName.suffix(6)) back")
        }
        let staying = edits.filter { !$0.staying.isEmpty }.map(\.recordName)
        let left = try device.mirrored.refusedEdits().map(\.recordName)
        for edit in edits where left.contains(edit.recordName) && !staying.contains(edit.recordName)
        {
            broken.append(
                "\(device.name) took its edit of \(edit.recordName.suffix(6)) back, and it stays "
                    + "refused.")
        }
        return true
    }

    /// One refused deletion, or all.
    private func takeDeletionsBack(on device: SimulatedDevice) throws -> Bool {
        let objects = try oneOrAll(
            device.mirrored.refusedDeletions().map(\.recordName),
            one: { try device.mirrored.restore(refusedDeletionOf: $0) },
            all: { try device.mirrored.restoreRefusedDeletions() })
        guard !objects.isEmpty else { return false }
        statistics.count(.tookDeletionBack)
        for object in objects {
            editor.memory.tookBackDeletion(of: object.recordName, on: device.name)
            tell("\(device.name) takes its deletion of \(object.recordName.suffix(6)) back")
            guard object.way != .comesWithNextRound,
                try device.store.row(object.row) == nil
            else { continue }
            broken.append(
                "\(device.name) took its deletion of \(object.recordName.suffix(6)) back, and it "
                    + "is not there.")
        }
        return true
    }

    /// An object that went while somebody edited it.
    private func restoreDeleted(on device: SimulatedDevice) throws -> Bool {
        let lines = try device.mirrored.conflicts()
        let gone = try device.store.read { store in
            let ledger = device.ledger(in: store)
            return try lines.filter { try ledger.row(named: $0.recordName) == nil }
        }
        guard let line = takingDice.pick(gone) else { return false }
        let object = try device.mirrored.restore(objectOfConflict: line.id)
        statistics.count(.restoredObject)
        tell(
            "\(device.name) restores \(line.recordName.suffix(6)) as "
                + "\(object.recordName.suffix(6))")
        if object.way == .madeAnew {
            editor.memory.letGo(line.recordName)
        } else {
            editor.memory.tookBackDeletion(of: line.recordName, on: device.name)
        }
        return true
    }

    /// A value that a merge discarded.
    private func decideAgain(on device: SimulatedDevice) throws -> Bool {
        let lines = try device.mirrored.conflicts().filter(isValue)
        guard let line = takingDice.pick(lines),
            let side = takingDice.pick(ConflictSide.allCases)
        else { return false }
        try device.mirrored.resolve(conflict: line.id, taking: side)
        statistics.count(.decidedAgain)
        editor.memory.decided(line.recordName, editor.versions.lastName(of: line.property))
        tell(
            "\(device.name) takes back \(line.property) of \(line.recordName.suffix(6)): "
                + side.rawValue)
        return true
    }

    /// Whether a line of the log is of an attribute or a link to one object.
    private func isValue(_ line: ConflictEntry) -> Bool {
        let layout = editor.versions.last.layout.entity(named: line.entity)
        let name = editor.versions.lastName(of: line.property)
        return layout?.attributeSlot(name) != nil || layout?.toOneSlot(name) != nil
    }
}
