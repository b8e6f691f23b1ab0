internal import MirrorEngine

/// Apps that are updated to the later version of the model.
extension SimulatedWorld {
    /// Throws the dice for an update. Returns whether one fell.
    func update(_ device: SimulatedDevice) throws -> Bool {
        guard settings.laterModel != nil, !device.isLater,
            device.updateDice.chance(percent: settings.updatePercent)
        else { return false }
        let byMapping = device.updateDice.chance(percent: 35)
        let wasRunning = device.sessions.contains(where: \.isRunning)
        do {
            try migrate(device, byMapping: byMapping)
            if wasRunning { statistics.count(.updatedInRound) }
        } catch let crash as SimulatedCrash {
            tell("\(device.name) killed at \(crash.point)")
            statistics.count(.updateKilled)
            try device.restart()
        }
        return true
    }

    private func migrate(
        _ device: SimulatedDevice, byMapping: Bool, calm: Bool = false
    ) throws {
        // What strikes a migration that makes a new file is tried by tests of its own.
        if byMapping { disarmDevices() }
        defer { armDevices() }
        // Rows have other numbers afterwards.
        try forgetUndone()
        let kept = try device.mirrored.status()?.keptForLater.count ?? 0
        tell("\(device.name) is updated\(byMapping ? " by mapping" : "")")
        try device.update(byMapping: byMapping, calm: calm)
        statistics.count(.updated)
        if byMapping { statistics.count(.updatedByMapping) }
        if kept > 0 { statistics.count(.keptAside) }
    }

    /// In the end all devices have the later version, and what waited for it.
    func updateAll() throws {
        guard settings.laterModel != nil else { return }
        for device in devices {
            if !device.isLater {
                try migrate(device, byMapping: device.updateDice.chance(percent: 35), calm: true)
            }
            _ = try device.mirrored.status()
        }
    }
}
