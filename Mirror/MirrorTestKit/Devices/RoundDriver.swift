internal import Foundation
internal import MirrorEngine
internal import RecordWire

/// Drives one round of a device over the simulated wire, with a clock that moves where it waits.
struct RoundDriver {
    let network: StoryNetwork
    let clock: VirtualClock

    /// Runs a round to its end. Returns nil where it sends requests without end. Throws
    /// `SimulatedCrash` where the device dies, and what the store throws.
    func run(_ device: ManagedDevice) throws -> RoundResult? {
        let session = device.session
        session.startRound()
        while session.isRunning {
            if let request = try session.step(now: clock.now()) {
                session.notes.requests += 1
                let id = try device.mirrored.deviceID()
                session.answer(
                    try network.carry(
                        request, from: device.name, id: id, of: device.setting.place.user))
            } else if let seconds = session.secondsToWait(now: clock.now()) {
                clock.advance(seconds: max(0, seconds))
                network.wait(seconds)
            }
            if session.notes.requests > Self.requestsMax { session.abandonRound() }
        }
        device.refresh()
        return session.lastResult
    }

    private static let requestsMax = 2_000
}
