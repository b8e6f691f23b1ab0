internal import Foundation
internal import MirrorEngine

/// What strikes a world between two steps.
extension SimulatedWorld {
    /// Throws the dice for each kind of strike. Returns whether one fell.
    func strike(_ device: SimulatedDevice) throws -> Bool {
        let faults = settings.faults
        network.disarm()
        defer { network.arm() }
        if try update(device) { return true }
        if try changeKeys(of: device) { return true }
        if try takeBack() { return true }
        if randomness.chance(percent: faults.killPercent) { return try kill(device) }
        if randomness.chance(percent: faults.devices.resetPercent) { return try reset(device) }
        if settings.policy.standard.name == MergeRule.error.name,
            randomness.chance(percent: Self.resolvePercent)
        {
            do {
                return try resolveOne(on: device)
            } catch let error as MirrorError where error.code == .objectDeleted {
                // The app deleted it, and no round has looked at the history since.
                return false
            }
        }
        if randomness.chance(percent: faults.service.killPercent) {
            tell("service killed")
            statistics.count(.serviceKill)
            try service.kill()
            return true
        }
        if try network.strike(tell: { self.tell($0) }) { return true }
        if try forgetDeletions() { return true }
        return faults.lostTime.isPossible ? try loseTime(device) : false
    }

    /// How often, per step, a decision is made under the rule `error`.
    private static let resolvePercent = 6

    /// The service forgets deletions that are older than any round.
    private func forgetDeletions() throws -> Bool {
        let percent = settings.faults.service.forgetPercent
        guard percent > 0, !devices.contains(where: { $0.sessions.contains(where: \.isRunning) }),
            randomness.chance(percent: percent)
        else { return false }
        tell("service forgets deletions")
        try network.forgetDeletions()
        return true
    }

    private func kill(_ device: SimulatedDevice) throws -> Bool {
        tell("\(device.name) killed")
        statistics.count(.deviceKill)
        try device.restart()
        return true
    }

    private func reset(_ device: SimulatedDevice) throws -> Bool {
        tell("\(device.name) is reset")
        statistics.count(.reset)
        disarmDevices()
        defer { armDevices() }
        try device.mirrored.reset()
        for session in device.sessions { session.notes.wasDisturbed = true }
        return true
    }

    /// Somebody decides a conflict that waits.
    @discardableResult
    func resolveOne(on device: SimulatedDevice) throws -> Bool {
        disarmDevices()
        defer { armDevices() }
        let waiting = try device.mirrored.conflicts(waitingOnly: true)
        guard let conflict = randomness.pick(waiting) else { return false }
        var side: ConflictSide = randomness.chance(percent: 50) ? .local : .remote
        do {
            try device.mirrored.resolve(conflict: conflict.id, taking: side)
        } catch let error as MirrorError where error.code == .keyTaken && side == .remote {
            // Another object has the key by now: what stands here is kept.
            side = .local
            try device.mirrored.resolve(conflict: conflict.id, taking: side)
        }
        editor.memory.decided(
            conflict.recordName, editor.versions.lastName(of: conflict.property))
        statistics.count(.resolved)
        tell(
            "\(device.name) decides \(conflict.property) of \(conflict.recordName.suffix(6)): "
                + side.rawValue)
        return true
    }

    // MARK: Lost time

    private func loseTime(_ device: SimulatedDevice) throws -> Bool {
        let faults = settings.faults
        if randomness.chance(percent: Self.backupPercent) { try backUp(device) }
        if randomness.chance(percent: faults.lostTime.serviceRestorePercent),
            let copy = randomness.pick(lostTime.serviceCopies)
        {
            tell("service is put back to \(copy.lastPathComponent)")
            statistics.count(.serviceRestored)
            network.freeDisk()
            try service.restore(copy)
            network.journal.forget()
            try lookAtShare()
            return true
        }
        if randomness.chance(percent: faults.lostTime.serviceLossPercent) {
            tell("service is lost; an empty one is in its place")
            statistics.count(.serviceLost)
            network.freeDisk()
            try service.lose()
            network.journal.forget()
            try lookAtShare()
            return true
        }
        if randomness.chance(percent: faults.lostTime.zoneLossPercent) {
            let zone = device.mirrored.settings.zoneName
            guard try network.deleteZone(zone) else { return false }
            tell("zone is deleted")
            statistics.count(.zoneLost)
            try lookAtShare()
            return true
        }
        return try loseStore(device)
    }

    private func loseStore(_ device: SimulatedDevice) throws -> Bool {
        let faults = settings.faults
        if settings.laterModel != nil { disarmDevices() }
        defer { armDevices() }
        if randomness.chance(percent: faults.lostTime.storeRestorePercent),
            let copy = randomness.pick(lostTime.storeCopies.filter { $0.device == device.name })
        {
            tell("\(device.name) is put back to \(copy.file.lastPathComponent)")
            statistics.count(.storeRestored)
            try restart(device, over: copy.file, isLater: copy.isLater)
            return true
        }
        guard randomness.chance(percent: faults.lostTime.storeCopyPercent),
            let other = randomness.pick(
                devices.filter { $0.name != device.name && $0.user == device.user })
        else { return false }
        tell("\(device.name) becomes a copy of \(other.name)")
        statistics.count(.storeCopied)
        // Whoever copies a store brings its key file.
        device.take(other.keyNumbers)
        device.takeSelections(of: other)
        try restart(device, over: other.file, isLater: other.isLater)
        return true
    }

    /// A kill may strike the first look at the other file, too.
    private func restart(_ device: SimulatedDevice, over file: URL, isLater: Bool) throws {
        do {
            try device.restart(over: file, isLater: isLater)
        } catch let crash as SimulatedCrash {
            tell("\(device.name) killed at \(crash.point)")
            statistics.count(.crashPoint)
            disarmDevices()
            try device.beginAgain()
        }
    }

    private func backUp(_ device: SimulatedDevice) throws {
        if randomness.chance(percent: 50) {
            if let copy = try service.copy() { lostTime.serviceCopies.append(copy) }
        } else {
            let copy = lostTime.folder.appendingPathComponent(
                "\(device.name)-backup\(lostTime.storeCopies.count).sqlite")
            try SimulatedFiles.copy(device.file, to: copy)
            lostTime.storeCopies.append((device.name, copy, device.isLater))
        }
    }

    /// How often, per step, a file is copied in worlds that lose time.
    private static let backupPercent = 10
}
