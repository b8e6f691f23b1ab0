import Foundation
import MirrorEngine
import MirrorTestKit
import Platform
import RecordWire
import SQLiteDriver
import SQLiteStore
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

    /// A store whose share ended waits for the next, whoever looks at it after an update: here one
    /// that a version of this library mirrored which kept nothing aside, so that all is read anew.
    @Test func aLookAfterAnUpdateTiesAWaitingStoreToNoZone() throws {
        let world = try VersionedWorld()
        let device = try world.device()
        let zone = ZoneID(
            zoneName: "com.apple.coredata.cloudkit.zone", ownerRecordName: "owner")
        func takingPart(_ device: Device) throws -> MirroredStore {
            try MirroredStore(
                store: device.store, zoneName: zone.zoneName, zoneOwner: zone.ownerRecordName,
                platform: Environment(
                    clock: device.clock, randomness: SeededRandomness(seed: 9), faults: NoFaults()))
        }
        let guest = try takingPart(device)
        _ = try guest.prepare(container: "test")
        try guest.leaveZone()
        try device.insert("Note", ["title": .text("meanwhile")])
        _ = try device.store.write { transaction in
            try transaction.connection.run(
                "UPDATE ANSCKMETADATAENTRY SET ZSTRINGVALUE = replace(ZSTRINGVALUE, "
                    + "'\"keepsAside\":true', '\"keepsAside\":false') "
                    + "WHERE ZKEY = 'DiptychModelCatalog'")
        }
        let updated = try world.updated(device)
        _ = try updated.mirrored.status()
        #expect(try takingPart(updated).prepare(container: "test").token == nil)
        #expect(try updated.rows("Note").count == 1)
    }
}
