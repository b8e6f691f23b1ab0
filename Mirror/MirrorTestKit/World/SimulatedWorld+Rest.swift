internal import Foundation
internal import MirrorEngine
internal import RecordWire

/// How a world comes to rest.
extension SimulatedWorld {
    /// Faults stop: what is delayed arrives, everything starts again from its file, and values that
    /// are too large are shortened.
    func calmDown() throws {
        calmDevices()
        try network.calmDown(tell: { self.tell($0) })
        for device in devices {
            if settings.faults.endsProcesses { try device.restart(calm: true) }
            device.session.abandonRound()
        }
        letRefusalsExpire()
        // An object that came back is held under a name of its own, too.
        try forgetUndone()
        try updateAll()
        try giveAllKeys()
        try endSelections()
        try endSharing()
        try shortenTexts()
        guard settings.faults.lostTime.isPossible, let first = devices.first else { return }
        lostTime.heldImages = try devices.map { try DeviceImage($0) }
        lostTime.heldByService = try DeviceImage(service, as: first)
    }

    /// A plain service refuses what it lost and what it never takes in the same words; it is asked
    /// again in an hour.
    private func letRefusalsExpire() {
        guard settings.dialect == .plain, settings.sizes.assetValueBytesMax != nil else { return }
        clock.advance(seconds: 3_601)
    }

    /// Rounds without faults until a whole pass moves nothing, and no conflict waits. Notes the law
    /// that was broken when that takes too long.
    func settle() throws {
        for _ in 0...Self.decisionsMax {
            guard try movesNothing() else { return }
            guard try decideWaiting() else { return }
        }
        broken.append("Conflicts go on waiting after \(Self.decisionsMax) rounds of decisions.")
    }

    /// Returns false where a law was broken.
    private func movesNothing() throws -> Bool {
        for pass in 1...Self.quietPassesMax {
            var moved = 0
            for device in devices where !device.waitsForShare {
                guard let result = try quietRound(of: device) else { return false }
                moved += result.exported + result.imported.received
            }
            tell("quiet pass \(pass): \(moved) records moved")
            if moved == 0 { return true }
        }
        broken.append(
            "The devices go on exchanging records after \(Self.quietPassesMax) quiet passes.")
        return false
    }

    private func quietRound(of device: SimulatedDevice) throws -> RoundResult? {
        let session = device.session
        session.startRound()
        while session.isRunning {
            if let request = try session.step(now: clock.now()) {
                try carry(request, session, device)
            } else if let seconds = session.secondsToWait(now: clock.now()) {
                clock.advance(seconds: max(0, seconds))
            }
            if session.notes.requests > Self.requestsMax { break }
        }
        guard let result = session.lastResult else {
            broken.append(
                "\(device.name) sends \(session.notes.requests) requests in a quiet round.")
            return nil
        }
        if try leaves(device, after: result) { return RoundResult() }
        broken += try RoundLaws(world: self).check(session, device, result)
        guard broken.isEmpty else { return nil }
        guard result.isInSync else {
            let reason = result.error?.message ?? "no result"
            broken.append("\(device.name) does not come to rest: \(reason)")
            return nil
        }
        return result
    }

    /// Decides what waits. Returns whether anything did. A value that is too large may come back.
    private func decideWaiting() throws -> Bool {
        var decided = false
        for device in devices { while try resolveOne(on: device) { decided = true } }
        if decided { try shortenTexts() }
        return decided
    }

    private func shortenTexts() throws {
        for device in devices {
            try editor.shortenTexts(on: device, above: settings.sizes.recordBytesMax / 2)
        }
    }

    /// Passes after which devices that stopped editing must be equal.
    static let quietPassesMax = 8
    private static let decisionsMax = 6
    private static let requestsMax = 2_000
}
