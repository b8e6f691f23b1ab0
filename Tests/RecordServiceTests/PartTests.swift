import Foundation
import RecordService
import RecordWire
import Testing

/// Uploads that broke off and go on.
@Suite(.everyBackend) struct PartTests {
    private let folder: AssetFolder
    private let picture = ServiceFixture.picture

    init() throws { folder = try AssetFolder() }

    private func fixture(_ change: (inout AssetLimits) -> Void = { _ in }) throws -> ServiceFixture
    {
        var limits = ServiceLimits()
        change(&limits.assets)
        return try ServiceFixture(folder.storage, limits: limits)
    }

    private func data(_ seed: UInt8, _ count: Int = 10_000) -> Data {
        Data((0..<count).map { UInt8(truncatingIfNeeded: $0) ^ seed })
    }

    /// What the client says of `data`, whose bytes from `offset` on come.
    private func span(
        _ data: Data, from offset: Int = 0, isLast: Bool = true
    ) throws -> UploadSpan {
        let hash = try RunningSHA256()
        try data.withUnsafeBytes { try hash.update($0) }
        return try #require(
            UploadSpan(
                sha256: try hash.digest(), length: Int64(data.count), offset: Int64(offset),
                isLast: isLast))
    }

    private func begin(
        _ data: Data, from offset: Int = 0, _ fixture: ServiceFixture
    ) throws -> AssetUpload {
        try fixture.service.goOnUploading(
            key: try fixture.uploadKey(), span(data, from: offset))
    }

    /// Sends the bytes from `offset` to `end`, and breaks off.
    private func breakOff(
        _ data: Data, from offset: Int = 0, at end: Int, _ fixture: ServiceFixture
    ) throws {
        let upload = try begin(data, from: offset, fixture)
        try ServiceFixture.send(Data(data[offset..<end]), to: upload)
    }

    private func there(_ data: Data, _ fixture: ServiceFixture) throws -> Int64 {
        try fixture.service.uploadedBytes(key: try fixture.uploadKey(), span(data)).bytes
    }

    private func finish(
        _ data: Data, from offset: Int, _ fixture: ServiceFixture
    ) throws -> RecordAsset {
        let upload = try begin(data, from: offset, fixture)
        try ServiceFixture.send(Data(data[offset...]), to: upload)
        return try upload.finish()
    }

    private func parts() -> [String] { folder.kept().filter { $0.hasPrefix("parts/") } }

    private func age(_ paths: [String], to seconds: Double = 1_600_000_000) throws {
        for path in paths {
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSince1970: seconds)],
                ofItemAtPath: folder.assets.appendingPathComponent(path).path)
        }
    }

    // MARK: Going on

    @Test func whatBrokeOffGoesOnWhereItStopped() throws {
        let fixture = try fixture()
        #expect(try there(picture, fixture) == 0)
        try breakOff(picture, at: 30_000, fixture)
        #expect(try there(picture, fixture) == 30_000)
        try breakOff(picture, from: 30_000, at: 77_777, fixture)
        #expect(try there(picture, fixture) == 77_777)
        let asset = try finish(picture, from: 77_777, fixture)
        try fixture.save(fixture.note("a", asset))
        #expect(try fixture.content(of: fixture.asset(of: "a")) == picture)
        #expect(parts().isEmpty && folder.incoming().isEmpty && folder.kept().count == 1)
    }

    @Test func aPartOutlivesTheService() throws {
        try breakOff(picture, at: 60_000, try fixture())
        let again = try ServiceFixture(folder.storage, makesZone: false)
        #expect(try there(picture, again) == 60_000)
        try again.save(again.note("a", try finish(picture, from: 60_000, again)))
        #expect(try again.content(of: again.asset(of: "a")) == picture)
    }

    @Test func whatCameWholeNeedsOnlyItsEnd() throws {
        let fixture = try fixture()
        try breakOff(picture, at: picture.count, fixture)
        #expect(try there(picture, fixture) == Int64(picture.count))
        try fixture.save(fixture.note("a", try finish(picture, from: picture.count, fixture)))
        #expect(try fixture.content(of: fixture.asset(of: "a")) == picture)
    }

    /// A process that is being started has copies of all descriptors until it runs its program.
    @Test func aCopyOfItsDescriptorHoldsNoUpload() throws {
        let fixture = try fixture()
        var upload: AssetUpload? = try begin(picture, fixture)
        try ServiceFixture.send(picture.prefix(50_000), to: try #require(upload))
        let copies = try partDescriptors().map { dup($0) }
        defer { copies.forEach { close($0) } }
        #expect(!copies.isEmpty)
        upload = nil
        #expect(try there(picture, fixture) == 50_000)
        _ = try finish(picture, from: 50_000, fixture)
    }

    private func partDescriptors() throws -> [Int32] {
        let parts = folder.assets.appendingPathComponent("parts").path
        return try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").filter {
            let target = try? FileManager.default.destinationOfSymbolicLink(
                atPath: "/proc/self/fd/\($0)")
            return target?.hasPrefix(parts) == true
        }.compactMap(Int32.init)
    }

    @Test func aBusyDatabaseCostsNoBytes() throws {
        let fixture = try fixture()
        let upload = try begin(picture, fixture)
        try ServiceFixture.send(picture, to: upload)
        fixture.faults.arm("service.assets.beforeRename", RecordError(.tryAgainLater, "the test's"))
        #expect(fixture.code { _ = try upload.finish() } == .tryAgainLater)
        #expect(try there(picture, fixture) == Int64(picture.count))
        _ = try finish(picture, from: picture.count, fixture)
    }

    @Test func aPieceMayBeAskedForAsOne() throws {
        let fixture = try fixture()
        let first = try fixture.service.goOnUploading(
            key: try fixture.uploadKey(), span(picture, isLast: false))
        #expect(!first.isLast)
        try ServiceFixture.send(picture.prefix(20_000), to: first)
        #expect(first.size == 20_000)
        // The next one comes before the first is gone.
        _ = try finish(picture, from: 20_000, fixture)
        withExtendedLifetime(first) {}
    }

    // MARK: What does not go on

    @Test func anotherOffsetIsRefusedWithTheOneThatIsThere() throws {
        let fixture = try fixture()
        try breakOff(picture, at: 30_000, fixture)
        for offset in [1, 29_999, 30_001, picture.count] {
            let refusal = #expect(throws: UploadOffsetMismatch.self) {
                _ = try self.begin(self.picture, from: offset, fixture)
            }
            #expect(refusal?.offset == 30_000)
        }
        #expect(try there(picture, fixture) == 30_000)
        // From its beginning it may come always.
        _ = try finish(picture, from: 0, fixture)
    }

    @Test func anotherContentIsAnotherUpload() throws {
        let fixture = try fixture()
        try breakOff(picture, at: 30_000, fixture)
        var changed = picture
        changed[0] ^= 1
        #expect(try there(changed, fixture) == 0)
        #expect(try there(picture.prefix(50_000), fixture) == 0)
        var stranger = fixture
        stranger.caller = Caller(userRecordName: "_bo")
        #expect(try there(picture, stranger) == 0)
        #expect(throws: UploadOffsetMismatch.self) {
            _ = try self.begin(self.picture, from: 30_000, stranger)
        }
    }

    @Test func bytesThatAreNotThoseOfTheDigestAreThrownAway() throws {
        let fixture = try fixture()
        try breakOff(picture, at: 30_000, fixture)
        try FileHandle(
            forWritingTo: folder.assets.appendingPathComponent(try #require(parts().first))
        ).write(contentsOf: Data("damaged".utf8))
        #expect(
            fixture.code { _ = try self.finish(self.picture, from: 30_000, fixture) }
                == .tryAgainLater)
        #expect(try there(picture, fixture) == 0 && parts().isEmpty)
        let wrong = try begin(picture, fixture)
        try ServiceFixture.send(Data(count: picture.count), to: wrong)
        #expect(fixture.code { _ = try wrong.finish() } == .badRequest)
        let short = try begin(picture, fixture)
        try ServiceFixture.send(picture.dropLast(), to: short)
        #expect(fixture.code { _ = try short.finish() } == .badRequest)
        let long = try begin(picture, fixture)
        #expect(
            fixture.code { try ServiceFixture.send(self.picture + Data([1]), to: long) }
                == .badRequest)
        _ = try finish(picture, from: 0, fixture)
        #expect(folder.kept().count == 1)
    }

    @Test func theUploadThatComesLastHasThePart() throws {
        let fixture = try fixture()
        let lost = try begin(picture, fixture)
        try ServiceFixture.send(picture.prefix(14_000), to: lost)
        // Its connection is gone, and the service has not heard of that.
        let next = try begin(picture, from: 14_000, fixture)
        #expect(
            fixture.code { try ServiceFixture.send(Data(count: 7_000), to: lost) }
                == .tryAgainLater)
        try ServiceFixture.send(picture.dropFirst(14_000), to: next)
        #expect(fixture.code { _ = try lost.finish() } == .tryAgainLater)
        let asset = try next.finish()
        #expect(fixture.code { _ = try lost.finish() } == .tryAgainLater)
        try fixture.save(fixture.note("a", asset))
        #expect(try fixture.content(of: fixture.asset(of: "a")) == picture)
    }

    @Test func aPartThatAnotherServiceWritesIsBusy() throws {
        let fixture = try fixture()
        let upload = try begin(picture, fixture)
        try ServiceFixture.send(picture.prefix(14_000), to: upload)
        let other = try ServiceFixture(folder.storage, makesZone: false)
        #expect(
            fixture.code { _ = try self.begin(self.picture, from: 14_000, other) }
                == .tryAgainLater)
        _ = try other.service.collectAssets()
        try ServiceFixture.send(picture.dropFirst(14_000), to: upload)
        _ = try upload.finish()
    }

    // MARK: Bounds

    @Test func theOldestPartsGiveWay() throws {
        let fixture = try fixture {
            $0.parts.countPerUserMax = 3
            $0.parts.bytesPerUserMax = 20_000
            $0.parts.countMax = 4
        }
        for (age, seed) in (0..<5 as Range<UInt8>).enumerated() {
            let before = Set(parts())
            try breakOff(data(seed), at: 6_000, fixture)
            try self.age(
                Array(Set(parts()).subtracting(before)), to: 1_600_000_000 + Double(age))
        }
        #expect(parts().count == 3)
        #expect(try there(data(0), fixture) == 0 && there(data(4), fixture) == 6_000)
        try breakOff(data(9), at: 9_000, fixture)
        #expect(parts().count == 2)
        var other = fixture
        other.caller = Caller(userRecordName: "_bo")
        for seed in 20..<23 as Range<UInt8> { try breakOff(data(seed), at: 100, other) }
        #expect(parts().count == 4)
        #expect(try there(data(22), other) == 100)
    }

    @Test func aPartThatIsTooOldGoes() throws {
        let fixture = try fixture()
        try breakOff(picture, at: 30_000, fixture)
        let clock = 1_700_000_000.0
        try age(parts(), to: clock - 80_000)
        _ = try fixture.service.collectAssets()
        #expect(try there(picture, fixture) == 30_000)
        try age(parts(), to: clock - 90_000)
        _ = try fixture.service.collectAssets()
        #expect(try there(picture, fixture) == 0)
        #expect(
            try FileManager.default.contentsOfDirectory(
                atPath: folder.assets.appendingPathComponent("parts").path
            ).isEmpty)
        #expect(throws: UploadOffsetMismatch.self) {
            _ = try self.begin(self.picture, from: 30_000, fixture)
        }
        _ = try finish(picture, from: 0, fixture)
    }

    @Test func partsCountForTheirUser() throws {
        let fixture = try fixture { $0.bytesPerUserMax = 25_000 }
        try breakOff(data(1), at: 9_000, fixture)
        try fixture.save(fixture.note("a", try fixture.upload(data(2))))
        #expect(fixture.code { _ = try fixture.upload(self.data(3)) } == .quotaExceeded)
        _ = try finish(data(1), from: 9_000, fixture)
    }

    @Test func whatIsToldHasToFit() throws {
        let fixture = try fixture { $0.bytesMax = 10_000 }
        #expect(UploadSpan(sha256: Data(count: 31), length: 1) == nil)
        #expect(UploadSpan(sha256: Data(count: 32), length: -1) == nil)
        #expect(UploadSpan(sha256: Data(count: 32), length: 5, offset: 6) == nil)
        #expect(
            fixture.code { _ = try self.begin(self.data(1, 10_001), fixture) } == .limitExceeded)
        #expect(parts().isEmpty)
    }
}
