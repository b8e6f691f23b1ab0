import Dispatch
import Foundation
import Platform
import PostgresTesting
import RecordService
import RecordWire
import Testing

/// Services that share a database and are told where the assets are.
@Suite(.enabled(if: TestServer.isInstalled, StoragePlace.missing)) final class AssetHomeTests {
    private let folder = FileManager.default.temporaryDirectory
        .appendingPathComponent("diptych-home-test-\(UUID().uuidString)")
    private let address: String

    init() throws {
        address = try TestServer.shared.get().makeDatabase()
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    private func fixture(
        _ name: String, seed: UInt64 = 1, makesZone: Bool = false
    ) throws -> ServiceFixture {
        try ServiceFixture(
            .postgres(address, assets: folder.appendingPathComponent(name).path), seed: seed,
            makesZone: makesZone)
    }

    @Test func servicesOfOnePlaceAreWell() throws {
        let one = try fixture("shared", makesZone: true)
        let two = try fixture("shared", seed: 2)
        #expect(one.service.settleAssetPlace() == nil && two.service.settleAssetPlace() == nil)
        try two.save(two.note("a", try one.upload()))
        #expect(try two.content(of: two.asset(of: "a")) == ServiceFixture.picture)
    }

    @Test func assetsAreRefusedForNowWhereTheyWouldGoElsewhere() throws {
        let one = try fixture("shared", makesZone: true)
        #expect(one.service.settleAssetPlace() == nil)
        try one.save(one.note("a", try one.upload()))
        let other = try fixture("other", seed: 2)
        let told = other.service.settleAssetPlace()
        #expect(told?.reason.contains("--assets") == true)
        #expect(other.code { _ = try other.upload() } == .tryAgainLater)
        #expect(
            other.code { _ = try other.content(of: other.asset(of: "a")) } == .tryAgainLater)
        #expect(try one.content(of: one.asset(of: "a")) == ServiceFixture.picture)
        // Records go on.
        try other.save(.note("b"))
    }

    /// Whoever is started first is not right by that.
    @Test func aPlaceWithoutWhatRecordsNameIsNotTaken() throws {
        let one = try fixture("shared", makesZone: true)
        try one.save(one.note("a", try one.upload()))
        #expect(try fixture("other", seed: 2).service.settleAssetPlace() != nil)
        #expect(one.service.settleAssetPlace() == nil)
    }

    /// As a folder is moved into another place.
    @Test func theWholePlaceMayMove() throws {
        let one = try fixture("shared", makesZone: true)
        #expect(one.service.settleAssetPlace() == nil)
        try one.save(one.note("a", try one.upload()))
        try FileManager.default.moveItem(
            at: folder.appendingPathComponent("shared"),
            to: folder.appendingPathComponent("moved"))
        let moved = try fixture("moved", seed: 2)
        #expect(moved.service.settleAssetPlace() == nil)
        #expect(try moved.content(of: moved.asset(of: "a")) == ServiceFixture.picture)
    }

    /// It is no asset that nobody names.
    @Test func theMarkIsNotCollected() throws {
        let one = try fixture("shared", makesZone: true)
        #expect(one.service.settleAssetPlace() == nil)
        for _ in 0..<4 {
            // Past the true time, by which files are dated.
            one.clock.advance(seconds: 365 * 86_400)
            #expect(try one.service.collectAssets() == 0)
        }
        #expect(one.service.settleAssetPlace() == nil)
    }

    @Test func twoThatMarkAtOnceAgree() throws {
        let fixtures = try (UInt64(1)...3).map {
            try fixture("shared", seed: $0, makesZone: $0 == 1)
        }
        let problems = Lock<[RecordError]>([])
        DispatchQueue.concurrentPerform(iterations: fixtures.count) { index in
            guard let problem = fixtures[index].service.settleAssetPlace() else { return }
            problems.withLock { $0.append(problem) }
        }
        #expect(problems.withLock { $0.isEmpty })
    }
}
