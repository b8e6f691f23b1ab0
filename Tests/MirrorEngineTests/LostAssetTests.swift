import Foundation
import MirrorEngine
import MirrorTestKit
import ObjectModel
import RecordWire
import SQLiteStore
import Stores
import Testing

/// A service that was lost lacks the assets, too: of those that a device cannot have, the object
/// waits for who has them, and holds nothing up.
@Suite struct LostAssetTests {
    private let service: SimulatedService
    /// Of an older model, which does not know the `image` of notes.
    private let old: Device
    private let new: Device

    init() throws {
        service = try Device.service()
        old = try Device(1, service, assetsAbove: 40)
        let later = SampleModel.make()
        later.entitiesByName["Note"]?.properties += [
            SampleModel.attribute("image", .binaryDataAttributeType)
        ]
        new = try Device(2, service, model: later, assetsAbove: 40)
    }

    private func text(_ letter: Character) -> AttributeValue {
        .text(String(repeating: letter, count: 100))
    }

    @Test func anAssetThatOnlyAnotherDeviceHasIsWaitedFor() throws {
        let image = AttributeValue.data(Data(repeating: 7, count: 100))
        try new.insert("Note", ["title": text("a"), "image": image])
        try settle([new, old])
        try service.lose()
        try old.set(old.only("Note"), "title", text("b"))
        let tag = try old.insert("Tag", ["label": .text("x")])
        #expect(try old.sync().error == nil)
        // The rest goes on, and the object is told.
        #expect(try service.records(inZone: old.mirrored.settings.zoneName).count == 1)
        let refusals = try #require(try old.mirrored.status()).refusals
        #expect(refusals.map { $0.reason.contains("ASSET_NOT_FOUND") } == [true])
        try settle([new, old])
        for device in [new, old] {
            #expect(try device.value(device.only("Note"), "title") == text("b"))
            #expect(try device.rows("Tag").count == 1)
        }
        #expect(try new.value(new.only("Note"), "image") == image)
        #expect(try old.store.row(tag) != nil)
    }
}
