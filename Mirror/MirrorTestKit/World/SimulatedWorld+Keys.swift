internal import MirrorEngine

/// Devices that lack keys of sealed attributes, get them, and add new ones.
extension SimulatedWorld {
    /// The keys that there are.
    var keyRing: Set<UInt8> {
        devices.reduce([SimulatedDevice.firstKey]) { $0.union($1.keyNumbers) }
    }

    /// Whether the device may show nothing where others see a value.
    func lacksKeys(_ device: SimulatedDevice) -> Bool {
        settings.faults.devices.sealing != nil && device.keyNumbers != keyRing
    }

    /// Throws the dice for the keys of a device. Returns whether it was started anew with others.
    func changeKeys(of device: SimulatedDevice) throws -> Bool {
        guard let sealing = settings.faults.devices.sealing else { return false }
        if lacksKeys(device) {
            statistics.count(device.keyNumbers.isEmpty ? .keyless : .formerKey)
            guard device.keyDice.chance(percent: sealing.arrivalPercent) else { return false }
            tell("\(device.name) gets the keys")
            statistics.count(.keyArrived)
            device.take(keyRing)
        } else {
            guard keyRing.count < Self.keysMax,
                device.keyDice.chance(percent: sealing.rotationPercent)
            else { return false }
            tell("\(device.name) adds a key")
            statistics.count(.keyRotated)
            device.take([(keyRing.max() ?? 0) + 1])
        }
        try device.restart()
        return true
    }

    private static let keysMax = 4

    /// In the end all devices have all keys, and have opened what waited for them.
    func giveAllKeys() throws {
        guard settings.faults.devices.sealing != nil else { return }
        let ring = keyRing
        for device in devices {
            device.take(ring)
            try device.restart(calm: true)
            // One that takes part in nothing opens them when it does again; a round that names no
            // zone would tie its store to its user's own.
            guard !device.waitsForShare else { continue }
            _ = try device.mirrored.prepare(container: SimulatedService.container)
        }
    }
}
