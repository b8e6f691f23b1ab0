import Foundation
import MirrorEngine
import MirrorTestKit
import RecordWire
import Stores
import Testing

/// A device whose clock was years ahead, and is right again.
@Suite struct ClockJumpTests {
    private static let years = 10.0 * 365 * 86_400
    private let service: SimulatedService
    private let device: Device

    init() throws {
        service = try Device.service()
        device = try Device(1, service)
        device.clock.advance(seconds: Self.years)
        try device.insert("Note", ["title": .text("n")])
    }

    @Test func whatWasRefusedThenIsSentAgainWithinTheHour() throws {
        device.refuseAll(.quotaExceeded, "The container is full.")
        try device.sync()
        #expect(try device.mirrored.status()?.refusals.count == 1)
        device.clock.advance(seconds: -Self.years)
        device.intercept = { _ in nil }
        device.clock.advance(seconds: 3_601)
        #expect(try device.sync().exported == 1)
        #expect(try device.mirrored.status()?.isInSync == true)
    }

    @Test func whatWaitsSinceThenIsStalledInTime() throws {
        device.refuseAll(.quotaExceeded, "The container is full.")
        try device.sync()
        device.clock.advance(seconds: -Self.years)
        try device.sync()
        device.clock.advance(seconds: 1_000)
        let status = try #require(try device.mirrored.status())
        #expect(status.isStalled(at: device.clock.now()))
    }
}
