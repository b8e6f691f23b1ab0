import Foundation
import MirrorEngine
import MirrorTestKit
import RecordWire
import Stores
import Testing

/// A share that is lost before what was put into it was sent.
@Suite struct LostShareTests {
    /// The device has read nothing of the zone yet, so that nothing tells it of the loss but the
    /// service's answer.
    @Test func whatWasSharedInALostZoneIsSentWithoutTheShare() throws {
        let service = try Device.service()
        let (owner, other) = (try Device(1, service), try Device(2, service))
        try other.sync()
        let note = try owner.insert("Note", ["title": .text("t")])
        let tag = try owner.insert("Tag")
        try owner.pair(note, "tags", with: tag)
        _ = try owner.mirrored.prepare(container: "test")
        let requests = ZoneShares(owner.mirrored)
        let share = try requests.takeShare(
            service.handle(requests.creation(), from: owner.mirrored.deviceID()))
        _ = try owner.mirrored.share([note], below: try #require(share.sharedRoot))
        try service.lose()
        try other.sync()
        let result = try owner.sync()
        #expect(result.error == nil && result.exported == 3)
        #expect(try owner.mirrored.status()?.refusals.isEmpty == true)
        try other.sync()
        #expect(try other.value(other.only("Note"), "title") == .text("t"))
        #expect(try other.members(other.only("Note"), "tags") == [other.only("Tag")])
    }
}
