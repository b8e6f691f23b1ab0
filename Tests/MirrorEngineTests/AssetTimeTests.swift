import Foundation
import MirrorEngine
import MirrorTestKit
import ObjectModel
import Platform
import RecordWire
import SQLiteDriver
import SQLiteStore
import Stores
import Testing

/// Assets where the service goes back, a copy speaks, models differ, or values are sealed.
@Suite final class AssetTimeTests {
    private let folder = FileManager.default.temporaryDirectory
        .appendingPathComponent("asset-times-\(UUID().uuidString)")
    private let host: ServiceHost

    init() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        host = try ServiceHost(in: folder)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    private func text(_ word: String) -> AttributeValue {
        .text(String(repeating: "\(word) ", count: 100))
    }

    private func title(_ device: Device) throws -> AttributeValue? {
        try device.value(device.only("Note"), "title")
    }

    private func pair() throws -> (Device, Device) {
        let a = try Device(1, host.service, assetsAbove: 100)
        let b = try Device(2, host.service, assetsAbove: 100)
        try a.insert("Note", ["title": text("old")])
        try settle([a, b], inSync: true)
        return (a, b)
    }

    // MARK: Lost time

    @Test(arguments: [true, false])
    func aServiceThatLostTheAssetsGetsThemAgain(aFirst: Bool) throws {
        let (a, b) = try pair()
        try host.service.lose()
        try settle(aFirst ? [a, b] : [b, a], inSync: true)
        let c = try Device(3, host.service, assetsAbove: 100)
        try settle([c], inSync: true)
        #expect(try title(c) == text("old") && title(a) == text("old") && title(b) == text("old"))
        #expect(a.uploads.count + b.uploads.count == 2)
    }

    @Test(arguments: [true, false])
    func anAssetOfTheLostTimeComesBack(aFirst: Bool) throws {
        let (a, b) = try pair()
        let backup = try host.backup()
        try a.set(a.only("Note"), "title", text("new"))
        try settle([a, b], inSync: true)
        try host.service.restore(backup)
        try settle(aFirst ? [a, b] : [b, a], inSync: true)
        let c = try Device(3, host.service, assetsAbove: 100)
        try settle([c], inSync: true)
        for device in [a, b, c] { #expect(try title(device) == text("new")) }
        #expect(try a.mirrored.conflicts().isEmpty && b.mirrored.conflicts().isEmpty)
    }

    @Test func anEditUponALostVersionKeepsBothSides() throws {
        let (a, b) = try pair()
        let backup = try host.backup()
        try a.set(a.only("Note"), "title", text("new"))
        try settle([a, b], inSync: true)
        try host.service.restore(backup)
        try a.set(a.only("Note"), "title", text("newer"))
        try settle([b, a], inSync: true)
        for device in [a, b] { #expect(try title(device) == text("newer")) }
    }

    @Test func aCopyOfAStoreRecognisesTheAssetItWouldSend() throws {
        let (a, b) = try pair()
        let file = folder.appendingPathComponent("c.sqlite")
        let c = try Device(4, host.service, file: file, assetsAbove: 100)
        try settle([c], inSync: true)
        try c.set(c.only("Note"), "title", text("of c"))
        let copied = folder.appendingPathComponent("d.sqlite")
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(
                atPath: file.path + suffix, toPath: copied.path + suffix)
        }
        let d = try Device(5, host.service, file: copied, assetsAbove: 100)
        try settle([c, a, b], inSync: true)
        try settle([d, c, a], inSync: true)
        for device in [a, b, c, d] {
            #expect(try title(device) == text("of c"))
            #expect(try device.mirrored.conflicts().isEmpty)
        }
        #expect(d.uploads.isEmpty)
    }

    // MARK: Sealed

    private func sealed(_ seed: UInt64) throws -> Device {
        let model = SampleModel.make()
        model.entitiesByName["Note"]?.attributesByName["title"]?.allowsCloudEncryption = true
        return try Device(
            seed, host.service, model: model,
            keys: try SealingKeys([SealingKey(secret: Data(repeating: 9, count: 32))]),
            assetsAbove: 100
        ) { $0.sizes.sealedBytesMax = 1_000 }
    }

    @Test func aSealedValueIsNeverAnAsset() throws {
        let (a, b) = (try sealed(1), try sealed(2))
        try a.insert("Note", ["title": text("secret")])
        try settle([a, b], inSync: true)
        #expect(try title(b) == text("secret"))
        #expect(a.uploads.isEmpty && b.downloads == 0)
        for record in try host.service.records(inZone: a.mirrored.settings.zoneName).values {
            #expect(record.fields["CD_title_ckAsset"] == nil)
            guard case .bytes? = record.fields["CD_title"] ?? nil else {
                Issue.record("The title is not sealed.")
                continue
            }
        }
    }

    @Test func aSealedValueThatDoesNotFitIsRefusedHere() throws {
        let (a, b) = (try sealed(1), try sealed(2))
        let note = try a.insert(
            "Note", ["title": .text(String(repeating: "s", count: 1_001))])
        try a.sync()
        let code = try a.mirrored.store.read {
            try $0.connection.value("SELECT ZCODE FROM ADIPTYCHREFUSAL")?.string
        }
        #expect(code == "SEALED_TOO_LARGE")
        #expect(try host.service.records(inZone: a.mirrored.settings.zoneName).isEmpty)
        try a.set(note, "title", .text(String(repeating: "s", count: 1_000)))
        try settle([a, b], inSync: true)
        #expect(try title(b) == .text(String(repeating: "s", count: 1_000)))
        #expect(try a.mirrored.status()?.refusals.isEmpty == true)
    }
}

/// Assets of properties that one device's model has and another's has not.
@Suite struct AssetVersionTests {
    private let world: VersionedWorld

    init() throws {
        world = try VersionedWorld()
        world.assetsAbove = 100
    }

    private func text(_ word: String) -> AttributeValue {
        .text(String(repeating: "\(word) ", count: 100))
    }

    private func subtitle(_ device: Device) throws -> AttributeValue? {
        try device.value(device.only("Note"), "subtitle")
    }

    /// A note whose subtitle, which the older device does not know, is an asset.
    private func neighbours(
        _ world: VersionedWorld? = nil
    ) throws -> (old: Device, new: Device) {
        let world = world ?? self.world
        let (old, new) = (try world.device(), try world.device(isLater: true))
        try old.insert("Note", ["title": text("title"), "views": .integer(1)])
        try world.settle(old, new)
        try new.set(new.only("Note"), "subtitle", text("sub"))
        try world.settle(new, old)
        return (old, new)
    }

    @Test func anOlderDevicesEditLeavesTheAssetItDoesNotKnow() throws {
        let (old, new) = try neighbours()
        try old.set(old.only("Note"), "title", text("edited"))
        try world.settle(old, new)
        #expect(try subtitle(new) == text("sub"))
        #expect(try new.value(new.only("Note"), "headline") == text("edited"))
    }

    /// What the older device sent named the asset, too, though nobody there had it.
    @Test(arguments: [false, true])
    func anAnswerLostBeforeTheUpdateLeavesTheAssets(byMapping: Bool) throws {
        let (old, new) = try neighbours()
        try new.set(new.only("Note"), "mood", text("glad"))
        try world.settle(new, old)
        try old.set(old.only("Note"), "views", .integer(2))
        old.intercept = { [service = world.service, old] request in
            guard case .modifyRecords = request else { return nil }
            _ = try service.handle(request, from: try old.mirrored.deviceID())
            throw MirrorError(.stopped, "killed")
        }
        _ = try old.sync()
        let updated = try byMapping ? world.mapped(old) : world.updated(old)
        try world.settle(updated, new)
        for device in [updated, new] {
            let note = try device.only("Note")
            #expect(try subtitle(device) == text("sub"))
            #expect(try device.value(note, "mood") == text("glad"))
            #expect(try device.value(note, "views") == .integer(2))
            #expect(try device.mirrored.conflicts().isEmpty)
        }
    }

    @Test func anUpdatedDeviceFetchesTheAssetItNowKnows() throws {
        let (old, new) = try neighbours()
        #expect(old.downloads == 0)
        let updated = try world.updated(old)
        #expect(try updated.sync().isInSync)
        #expect(try subtitle(updated) == text("sub"))
        #expect(updated.downloads == 1)
        try world.settle(updated, new)
        #expect(try subtitle(new) == text("sub"))
        #expect(try new.value(new.only("Note"), "headline") == text("title"))
        #expect(try updated.mirrored.conflicts().isEmpty && new.mirrored.conflicts().isEmpty)
        #expect(updated.uploads.isEmpty)
    }

    @Test func anEditMadeBeforeTheAssetCameIsMergedWithIt() throws {
        let (old, new) = try neighbours()
        let updated = try world.updated(old)
        try updated.set(updated.only("Note"), "subtitle", text("mine"))
        try world.settle(updated, new)
        #expect(try subtitle(new) == text("mine") && subtitle(updated) == text("mine"))
        let logged = try updated.mirrored.conflicts().first { $0.property == "subtitle" }
        #expect(logged?.remote == .string(String(repeating: "sub ", count: 100)))
    }

    @Test func anAssetThatCannotBeHadYetIsFetchedLater() throws {
        let (old, new) = try neighbours()
        let updated = try world.updated(old)
        updated.interceptDownload = { _ in throw RecordError(.assetNotFound, "not now") }
        _ = try updated.sync()
        #expect(try subtitle(updated) == .null)
        #expect(try updated.mirrored.status()?.isInSync == false)
        // An edit made meanwhile does not go over it.
        try updated.set(updated.only("Note"), "headline", text("edited"))
        _ = try updated.sync()
        updated.interceptDownload = { _ in }
        try world.settle(updated, new)
        #expect(try subtitle(updated) == text("sub") && subtitle(new) == text("sub"))
        #expect(try new.value(new.only("Note"), "headline") == text("edited"))
    }
}
