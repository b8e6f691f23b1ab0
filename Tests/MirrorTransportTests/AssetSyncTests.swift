import Foundation
import MirrorEngine
import MirrorTestKit
import MirrorTransport
import ObjectModel
import Platform
import RecordService
import RecordWire
import SQLiteStore
import Stores
import Testing

/// Stores on disk whose large values travel as assets, over TLS.
@Suite struct AssetSyncTests {
    private static let large = Data((0..<900_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })

    private func edited(_ byte: UInt8) -> Data {
        var data = Self.large
        data[0] = byte
        return data
    }

    @Test(arguments: ServiceDialect.allCases)
    func aLargeValueGoesFromDeviceToDevice(dialect: ServiceDialect) async throws {
        let world = try AssetWorld(dialect: dialect)
        let (a, b) = (try AssetDevice("a", world), try AssetDevice("b", world))
        let picture = Data(repeating: 9, count: 20 << 20)
        try a.insert("one", picture: picture, text: String(repeating: "ä", count: 500_000))
        let sent = try await a.sync()
        #expect(sent.isInSync && sent.exported == 1)
        let received = try await b.sync()
        #expect(received.isInSync)
        #expect(try b.note("one").picture == picture)
        #expect(try b.note("one").text?.count == 500_000)
        #expect(try b.waitingFiles().isEmpty)
        // Nothing is left to say.
        let requests = try await (a.sync().exported, b.sync().exported)
        #expect(requests == (0, 0))
    }

    /// 200 MB go out and come in without being in memory: what is sent is a mapping of the file
    /// that the store keeps the value in, and what is kept over there is read from one as well.
    @Test func whatIsSentIsTheFileItself() async throws {
        let world = try AssetWorld()
        let (a, b) = (try AssetDevice("a", world), try AssetDevice("b", world))
        try a.insert("one", picture: Data(count: 200 << 20), text: "x")
        let channel = BrokenChannel(try world.channel())
        #expect(try await a.sync(through: channel).isInSync)
        let sources = channel.sources.withLock { $0 }
        #expect(sources.count == 1)
        #expect(sources.allSatisfy { $0.contains(".a_SUPPORT/_EXTERNAL_DATA/") }, "\(sources)")
        #expect(try await b.sync().isInSync)
        #expect(try b.note("one").picture?.count == 200 << 20)
        #expect(BrokenChannel.file(behind: try #require(b.note("one").picture)).contains(".b_SUPP"))
    }

    @Test func aValueMayCrossTheThresholdBothWays() async throws {
        let world = try AssetWorld()
        let (a, b) = (try AssetDevice("a", world), try AssetDevice("b", world))
        try a.insert("one", picture: Data([1]), text: "x")
        try await a.sync()
        try await b.sync()
        for picture in [Self.large, Data([2]), edited(5), nil, edited(6)] {
            try b.set(picture: picture, of: "one")
            try await b.sync()
            try await a.sync()
            #expect(try a.note("one").picture == picture)
        }
        #expect(try await a.sync().isInSync)
        #expect(try a.mirrored.conflicts().isEmpty && b.mirrored.conflicts().isEmpty)
    }

    @Test func anEqualAssetIsNoConflict() async throws {
        let world = try AssetWorld()
        let (a, b) = (try AssetDevice("a", world), try AssetDevice("b", world))
        try a.insert("one", picture: Self.large, text: "x")
        try await a.sync()
        try await b.sync()
        try a.set(picture: edited(3), of: "one")
        try b.set(picture: edited(3), of: "one")
        try await a.sync()
        try await b.sync()
        #expect(try b.mirrored.conflicts().isEmpty)
        try a.set(picture: edited(4), of: "one")
        try b.set(text: "of b", of: "one")
        for device in [a, b, a] { try await device.sync() }
        for device in [a, b] {
            #expect(try device.note("one").picture == edited(4))
            #expect(try device.note("one").text == "of b")
            #expect(try device.mirrored.conflicts().isEmpty)
        }
    }

    @Test func aConflictOverAnAssetKeepsTheLoser() async throws {
        let world = try AssetWorld()
        let (a, b) = (try AssetDevice("a", world), try AssetDevice("b", world))
        try a.insert("one", picture: Self.large, text: "x")
        try await a.sync()
        try await b.sync()
        try a.set(picture: edited(1), of: "one")
        try b.set(picture: edited(2), of: "one")
        for device in [a, b, a] { try await device.sync() }
        #expect(try a.note("one").picture == edited(2))
        #expect(try b.note("one").picture == edited(2))
        let conflict = try #require(try b.mirrored.conflicts().first)
        try b.mirrored.resolve(conflict: conflict.id, taking: .remote)
        try await b.sync()
        try await a.sync()
        #expect(try a.note("one").picture == edited(1))
    }

    @Test func whatWasUploadedIsNotUploadedAgainAfterABreak() async throws {
        let world = try AssetWorld()
        let a = try AssetDevice("a", world)
        try a.insert("one", picture: Self.large, text: "x")
        let broken = BrokenChannel(try world.channel()) { request in
            if case .modifyRecords = request { throw CancellationError() }
        }
        await #expect(throws: (any Error).self) { try await a.sync(through: broken) }
        #expect(broken.uploads.withLock { $0 } == 1)
        let whole = BrokenChannel(try world.channel())
        #expect(try await a.sync(through: whole).isInSync)
        #expect(whole.uploads.withLock { $0 } == 0)
    }

    @Test func aServiceThatForgotTheUploadGetsItAgain() async throws {
        let world = try AssetWorld(limits: { $0.assets.receiptSeconds = 0 })
        let a = try AssetDevice("a", world)
        try a.insert("one", picture: Self.large, text: "x")
        let channel = BrokenChannel(try world.channel())
        await #expect(throws: MirrorError.self) { try await a.sync(through: channel) }
        #expect(channel.uploads.withLock { $0 } > 1)
        #expect(try a.mirrored.status()?.pending.total == 1)
    }

    @Test func aMissingDownloadHoldsUpItsRecordAlone() async throws {
        let world = try AssetWorld()
        let (a, b) = (try AssetDevice("a", world), try AssetDevice("b", world))
        try a.insert("large", picture: Self.large, text: "x")
        try a.insert("small", picture: Data([1]), text: "y")
        try await a.sync()
        let broken = BrokenChannel(try world.channel())
        broken.refusesDownloads.withLock { $0 = true }
        #expect(try await b.sync(through: broken).isInSync == false)
        #expect(try b.note("small").text == "y")
        #expect(try b.titles() == ["small"])
        #expect(try b.mirrored.status()?.keptForLater.map(\.reason) == [.missingAsset])
        #expect(try await b.sync(through: broken).isInSync == false)
        #expect(try await b.sync().isInSync)
        #expect(try b.note("large").picture == Self.large)
        #expect(try b.mirrored.status()?.refusals.isEmpty == true)
    }

    @Test func aDeletionGoesOutThoughAnAssetIsMissing() async throws {
        let world = try AssetWorld()
        let (a, b) = (try AssetDevice("a", world), try AssetDevice("b", world))
        try a.insert("one", picture: Self.large, text: "x")
        try await a.sync()
        try await b.sync()
        try a.set(picture: edited(8), of: "one")
        try await a.sync()
        let broken = BrokenChannel(try world.channel())
        broken.refusesDownloads.withLock { $0 = true }
        try await b.sync(through: broken)
        try b.delete("one")
        try await b.sync(through: broken)
        try await a.sync()
        #expect(try a.titles().isEmpty)
    }

    @Test func aServiceWithoutAssetsGetsValuesInRecords() async throws {
        let world = try AssetWorld()
        let (a, b) = (try AssetDevice("a", world), try AssetDevice("b", world))
        let plain = BrokenChannel(try world.channel())
        plain.keepsAssets.withLock { $0 = false }
        try a.insert("one", picture: Data(repeating: 3, count: 800_000), text: "x")
        try a.insert("two", picture: Data(repeating: 3, count: 2_000_000), text: "y")
        let result = try await a.sync(through: plain)
        #expect(!result.isInSync && result.refused == 1)
        #expect(try a.mirrored.status()?.refusals.first?.reason.contains("1000000") == true)
        try await b.sync(through: plain)
        #expect(try b.note("one").picture?.count == 800_000)
        #expect(plain.uploads.withLock { $0 } == 0)
    }

    @Test func whatTheServiceTakesInNoWayWaitsAlone() async throws {
        let world = try AssetWorld(limits: { $0.assets.bytesPerUserMax = 1_000_000 })
        let a = try AssetDevice("a", world)
        try a.insert("one", picture: Self.large, text: "x")
        try a.insert("two", picture: edited(1), text: "y")
        try a.insert("three", picture: Data([1]), text: "z")
        let result = try await a.sync()
        #expect(!result.isInSync && result.exported == 2)
        #expect(try a.mirrored.status()?.refusals.first?.reason.contains("QUOTA") == true)
    }
}
