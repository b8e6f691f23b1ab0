import Foundation
import RecordService
import RecordWire
import Testing

/// How much is taken, and what goes again.
@Suite(.everyBackend) struct AssetLimitTests {
    private let folder: AssetFolder

    init() throws { folder = try AssetFolder() }

    private func fixture(_ change: (inout AssetLimits) -> Void = { _ in }) throws -> ServiceFixture
    {
        var limits = ServiceLimits()
        change(&limits.assets)
        return try ServiceFixture(folder.storage, limits: limits)
    }

    private func data(_ seed: UInt8, _ count: Int = 10_000) -> Data {
        Data(repeating: seed, count: count)
    }

    // MARK: How much

    @Test func anAssetHasALargestSize() throws {
        let fixture = try fixture { $0.bytesMax = 10_000 }
        _ = try fixture.upload(data(1))
        #expect(fixture.code { _ = try fixture.upload(data(2, 10_001)) } == .limitExceeded)
        let unannounced = try fixture.service.beginUpload(key: try fixture.uploadKey())
        #expect(
            fixture.code { try ServiceFixture.send(data(2, 10_001), to: unannounced) }
                == .limitExceeded)
        #expect(folder.kept().count == 1)
    }

    @Test func whatComesInHasRoomForEachUserAndForAll() throws {
        let fixture = try fixture {
            $0.incomingBytesPerUserMax = 20_000
            $0.incomingBytesMax = 30_000
        }
        var other = fixture
        other.caller = Caller(userRecordName: "_bo")
        let key = try fixture.uploadKey()
        var first: AssetUpload? = try fixture.service.beginUpload(key: key, announced: 15_000)
        #expect(
            fixture.code { _ = try fixture.service.beginUpload(key: key, announced: 10_000) }
                == .tryAgainLater)
        let others = try other.uploadKey()
        #expect(
            fixture.code { _ = try other.service.beginUpload(key: others, announced: 16_000) }
                == .tryAgainLater)
        _ = try other.service.beginUpload(key: others, announced: 15_000)
        #expect(first != nil)
        first = nil
        _ = try fixture.service.beginUpload(key: key, announced: 20_000)
        #expect(folder.incoming().isEmpty)
    }

    @Test func aUserHasATotal() throws {
        let fixture = try fixture { $0.bytesPerUserMax = 25_000 }
        try fixture.save(fixture.note("a", try fixture.upload(data(1))))
        _ = try fixture.upload(data(2))
        #expect(fixture.code { _ = try fixture.upload(data(3)) } == .quotaExceeded)
        // The same content counts once.
        _ = try fixture.upload(data(1))
        var other = fixture
        other.caller = Caller(userRecordName: "_bo")
        _ = try other.upload(data(3))
        fixture.clock.advance(seconds: AssetLimits().receiptSeconds)
        _ = try fixture.upload(data(3))
        #expect(folder.incoming().isEmpty)
    }

    /// Deleting makes no room at once, and who is refused is told when it does.
    @Test func whatWasDeletedCountsAsLongAsItsReceipt() throws {
        let fixture = try fixture { $0.bytesPerUserMax = 15_000 }
        try fixture.save(fixture.note("a", try fixture.upload(data(1))))
        try fixture.save(Record(recordName: "a", recordType: "Note"), .forceDelete)
        let refusal = #expect(throws: RecordError.self) { _ = try fixture.upload(data(2)) }
        #expect(refusal?.code == .quotaExceeded)
        #expect(refusal?.reason.contains("72 hours after its upload") == true)
        fixture.clock.advance(seconds: 72 * 3_600)
        _ = try fixture.upload(data(2))
    }

    @Test func equalContentsAreOneFile() throws {
        let fixture = try fixture()
        var other = fixture
        other.caller = Caller(userRecordName: "_bo")
        try other.createZone(ServiceFixture.zone)
        try fixture.save(fixture.note("a", try fixture.upload()))
        try fixture.save(fixture.note("b", try fixture.upload()))
        try other.save(other.note("a", try other.upload()))
        #expect(folder.kept().count == 1)
        try fixture.save(Record(recordName: "a", recordType: "Note"), .forceDelete)
        try fixture.save(Record(recordName: "b", recordType: "Note"), .forceDelete)
        try age(fixture)
        #expect(folder.kept().count == 1)
        #expect(try other.content(of: other.asset(of: "a")) == ServiceFixture.picture)
    }

    // MARK: What goes

    /// Lets receipts and the time of grace pass, with collections in between.
    private func age(_ fixture: ServiceFixture) throws {
        for seconds in [0, AssetLimits().receiptSeconds, AssetLimits().graceSeconds, 100] {
            fixture.clock.advance(seconds: seconds)
            _ = try fixture.service.collectAssets()
        }
    }

    @Test func anAssetStaysWhileARecordNamesIt() throws {
        let fixture = try fixture()
        try fixture.save(fixture.note("a", try fixture.upload(data(1))))
        try fixture.save(fixture.note("b", try fixture.upload(data(2))))
        try age(fixture)
        #expect(folder.kept().count == 2)
        try fixture.save(fixture.note("a", nil), .forceUpdate)
        try fixture.save(Record(recordName: "b", recordType: "Note"), .forceDelete)
        #expect(try fixture.service.collectAssets() == 0)
        fixture.clock.advance(seconds: AssetLimits().graceSeconds - 100)
        #expect(try fixture.service.collectAssets() == 0)
        fixture.clock.advance(seconds: 200)
        #expect(try fixture.service.collectAssets() == 2)
        #expect(folder.kept().isEmpty)
    }

    @Test func anAssetStaysWhileAReceiptNamesIt() throws {
        let fixture = try fixture()
        let asset = try fixture.upload()
        fixture.clock.advance(seconds: AssetLimits().receiptSeconds - 10)
        #expect(try fixture.service.collectAssets() == 0)
        try fixture.save(fixture.note("a", asset))
        try age(fixture)
        #expect(try fixture.content(of: fixture.asset(of: "a")) == ServiceFixture.picture)
    }

    @Test func anUploadThatNobodyNamesGoes() throws {
        let fixture = try fixture()
        _ = try fixture.upload()
        try age(fixture)
        #expect(folder.kept().isEmpty)
        // And may come again.
        try fixture.save(fixture.note("a", try fixture.upload()))
        #expect(try fixture.content(of: fixture.asset(of: "a")) == ServiceFixture.picture)
    }

    @Test func theAssetsOfADeletedZoneGo() throws {
        let fixture = try fixture()
        try fixture.save(fixture.note("a", try fixture.upload()))
        _ = try fixture.zones(.modifyZones([ZoneOperation(.delete, ServiceFixture.zone)]))
        try fixture.service.removeDeletedRecords()
        try age(fixture)
        #expect(folder.kept().isEmpty)
    }

    @Test func anEditOfAnotherFieldKeepsTheAsset() throws {
        let fixture = try fixture()
        try fixture.save(fixture.note("a", try fixture.upload()))
        var edit = Record(recordName: "a", recordType: "Note")
        edit.fields["title"] = .string("y")
        try fixture.save(edit, .forceUpdate)
        try age(fixture)
        #expect(try fixture.content(of: fixture.asset(of: "a")) == ServiceFixture.picture)
    }

    @Test func aRefusedRecordNamesNothing() throws {
        let fixture = try fixture()
        let record = fixture.note("a", try fixture.upload())
        let results = try fixture.modify(
            [
                RecordOperation(.create, record),
                RecordOperation(.update, Record(recordName: "none", recordType: "Note")),
            ], atomic: true)
        #expect(results[0].error?.code == .atomicError)
        try age(fixture)
        #expect(folder.kept().isEmpty)
    }

    // MARK: Failures of the disk

    @Test(arguments: [
        "service.assets.beforeSync", "service.assets.beforeRename", "service.assets.afterRename",
        "service.write.beforeCommit",
    ])
    func anUploadThatFailsIsNotAcknowledgedAndLeavesNothing(_ point: String) throws {
        let fixture = try fixture()
        let upload = try fixture.service.beginUpload(key: try fixture.uploadKey())
        try ServiceFixture.send(ServiceFixture.picture, to: upload)
        fixture.faults.arm(point, RecordError(.tryAgainLater, "the test's"))
        #expect(fixture.code { _ = try upload.finish() } == .tryAgainLater)
        // The same again goes through, whatever was left.
        try fixture.save(fixture.note("a", try fixture.upload()))
        try age(fixture)
        #expect(try fixture.content(of: fixture.asset(of: "a")) == ServiceFixture.picture)
        #expect(folder.kept().count == 1)
    }

    @Test func filesThatNoRowKnowsGoAfterTheTimeOfGrace() throws {
        let fixture = try fixture()
        let upload = try fixture.service.beginUpload(key: try fixture.uploadKey())
        try ServiceFixture.send(ServiceFixture.picture, to: upload)
        fixture.faults.arm("service.write.beforeCommit", RecordError(.tryAgainLater, "x"))
        #expect(fixture.code { _ = try upload.finish() } == .tryAgainLater)
        #expect(folder.kept().count == 1)
        // What the clock of the disk says is of this day; the service's is of another.
        let kept = folder.assets.appendingPathComponent(folder.kept()[0])
        // Where contents have rows of their own, one is there already: another content has none.
        let name = kept.lastPathComponent
        let file = kept.deletingLastPathComponent().appendingPathComponent(
            String(name.dropLast()) + (name.hasSuffix("0") ? "1" : "0"))
        try FileManager.default.moveItem(at: kept, to: file)
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: 1_600_000_000)],
            ofItemAtPath: file.path)
        #expect(try fixture.service.collectAssets() == 1)
        #expect(folder.kept().isEmpty)
    }

    @Test func whatADeadProcessLeftComingInGoes() throws {
        let fixture = try fixture()
        _ = try fixture.upload()
        let dead = folder.assets.appendingPathComponent("incoming/dead")
        try Data("x".utf8).write(to: dead)
        let living = try fixture.service.beginUpload(key: try fixture.uploadKey())
        #expect(folder.incoming().count == 2)
        _ = try fixture.service.collectAssets()
        #expect(folder.incoming().count == 1)
        try ServiceFixture.send(ServiceFixture.picture, to: living)
        _ = try living.finish()
    }

    /// A client that leaves the name to the service learns it with the address.
    @Test(arguments: [ServiceDialect.extended, .plain])
    func anUploadWithoutARecordNameIsGivenOne(dialect: ServiceDialect) throws {
        let fixture = try ServiceFixture(dialect: dialect)
        let request = UploadAssets(
            tokens: [.init(recordType: "Note", fieldName: "picture")],
            zoneID: ServiceFixture.zone)
        guard case .assetUploads(let addresses) = try fixture.send(.uploadAssets(request)) else {
            throw WrongAnswer()
        }
        #expect(UUID(uuidString: addresses[0].recordName) != nil)
    }
}
