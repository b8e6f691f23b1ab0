import Foundation
import RecordService
import RecordWire
import Testing

@Suite(.everyBackend) struct AssetTests {
    private let folder: AssetFolder
    private let fixture: ServiceFixture

    init() throws {
        folder = try AssetFolder()
        fixture = try ServiceFixture(folder.storage)
    }

    @Test func whatIsUploadedComesBackByteForByte() throws {
        let uploaded = try fixture.upload()
        #expect(uploaded.size == 100_000)
        #expect(uploaded.receipt != nil && uploaded.downloadURL == nil)
        let saved = try fixture.save(fixture.note("r", uploaded))
        guard case .asset(let answered)?? = saved.fields["picture"] else { throw WrongAnswer() }
        #expect(answered.receipt == nil && answered.fileChecksum == uploaded.fileChecksum)
        #expect(try fixture.content(of: answered) == ServiceFixture.picture)
        #expect(try fixture.content(of: fixture.asset(of: "r")) == ServiceFixture.picture)
        let fed = try fixture.changes(since: nil).records[0]
        guard case .asset(let asset)?? = fed.fields["picture"] else { throw WrongAnswer() }
        #expect(try fixture.content(of: asset) == ServiceFixture.picture)
        #expect(folder.kept().count == 1 && folder.incoming().isEmpty)
    }

    @Test func anEmptyAssetIsOne() throws {
        try fixture.save(fixture.note("r", try fixture.upload(Data())))
        #expect(try fixture.content(of: fixture.asset(of: "r")).isEmpty)
    }

    @Test func aServiceInMemoryKeepsFilesThatEndWithIt() throws {
        func files() throws -> Set<String> {
            Set(
                try FileManager.default.contentsOfDirectory(
                    atPath: FileManager.default.temporaryDirectory.path
                ).filter { $0.hasPrefix("diptych-assets-") && !$0.contains("test") })
        }
        var memory: ServiceFixture? = try ServiceFixture()
        let before = try files()
        _ = try memory?.save(memory!.note("r", memory!.upload()))
        let asset = try memory?.asset(of: "r")
        #expect(try asset.map { try memory?.content(of: $0) } == ServiceFixture.picture)
        let own = try files().subtracting(before)
        #expect(!own.isEmpty)
        memory = nil
        #expect(try files().isDisjoint(with: own) || own.count > 1)
    }

    @Test func aDefaultZoneToWhichNothingWasWrittenHasNoAssets() throws {
        let request = RereferenceAssets(
            assets: [.init(recordName: "r", fieldName: "picture")], zoneID: nil)
        guard case .assets(let results) = try fixture.send(.rereferenceAssets(request)),
            case .failure(let error) = results[0]
        else { throw WrongAnswer() }
        #expect(error.code == .notFound && error.recordName == "r")
    }

    // MARK: Receipts

    @Test func onlyWhoUploadedAnAssetMayNameIt() throws {
        var invented = try fixture.upload()
        invented.receipt = "nonsense"
        func refusal(_ asset: RecordAsset, _ fixture: ServiceFixture) throws -> RecordError.Code? {
            try fixture.modify([RecordOperation(.forceUpdate, fixture.note("r", asset))])[0]
                .error?.code
        }
        #expect(try refusal(invented, fixture) == .assetNotFound)
        var stranger = fixture
        stranger.caller = Caller(userRecordName: "_bo")
        try stranger.createZone(ServiceFixture.zone)
        let good = try fixture.upload()
        #expect(try refusal(good, stranger) == .assetNotFound)
        var bare = good
        bare.receipt = nil
        #expect(try refusal(bare, stranger) == .assetNotFound)
        #expect(try refusal(good, fixture) == nil)
        #expect(try refusal(bare, stranger) == .assetNotFound)
    }

    @Test func aReceiptEnds() throws {
        let asset = try fixture.upload()
        fixture.clock.advance(seconds: AssetLimits().receiptSeconds + 1)
        let result = try fixture.modify([RecordOperation(.create, fixture.note("r", asset))])[0]
        #expect(result.error?.code == .assetNotFound)
    }

    @Test func whatAnAssetSaysOfItselfIsCompared() throws {
        for change in [{ $0.size = 1 }, { $0.fileChecksum = "x" }] as [(inout RecordAsset) -> Void]
        {
            var asset = try fixture.upload()
            change(&asset)
            let result = try fixture.modify([RecordOperation(.create, fixture.note("r", asset))])[0]
            #expect(result.error?.code == .badRequest)
        }
    }

    @Test func anAssetThatARecordOfTheUserNamesNeedsNoReceipt() throws {
        try fixture.save(fixture.note("r", try fixture.upload()))
        var fetched = try fixture.asset(of: "r")
        try fixture.save(fixture.note("r", fetched), .forceReplace)
        try fixture.save(fixture.note("s", fetched))
        #expect(try fixture.content(of: fixture.asset(of: "s")) == ServiceFixture.picture)
        fetched.size = 5
        let result = try fixture.modify([RecordOperation(.forceUpdate, fixture.note("s", fetched))])
        #expect(result[0].error?.code == .badRequest)
    }

    @Test func anAssetThatTheSameRequestNamedNeedsNoReceipt() throws {
        let asset = try fixture.upload()
        var bare = asset
        bare.receipt = nil
        let results = try fixture.modify([
            RecordOperation(.forceUpdate, fixture.note("r", asset)),
            RecordOperation(.forceUpdate, fixture.note("s", bare)),
        ])
        #expect(results.allSatisfy { $0.error == nil })
        #expect(try fixture.content(of: fixture.asset(of: "s")) == ServiceFixture.picture)
    }

    @Test func rereferencesGiveReceiptsOfTheirOwn() throws {
        try fixture.save(fixture.note("r", try fixture.upload()))
        let places = RereferenceAssets(
            assets: [
                .init(recordName: "r", fieldName: "picture"),
                .init(recordName: "r", fieldName: "title"),
                .init(recordName: "gone", fieldName: "picture"),
            ], zoneID: ServiceFixture.zone)
        guard case .assets(let results) = try fixture.send(.rereferenceAssets(places)) else {
            throw WrongAnswer()
        }
        guard case .asset(let asset) = results[0], case .failure(let none) = results[1],
            case .failure(let gone) = results[2]
        else { throw WrongAnswer() }
        #expect(none.code == .assetNotFound && none.recordName == "r")
        #expect(gone.code == .notFound)
        try fixture.save(Record(recordName: "r", recordType: "Note"), .forceDelete)
        try fixture.save(fixture.note("s", asset))
        #expect(try fixture.content(of: fixture.asset(of: "s")) == ServiceFixture.picture)
    }

    // MARK: Addresses

    @Test func addressesAreGoodForWhatTheyWereGivenOut() throws {
        let upload = try fixture.uploadKey()
        try fixture.save(fixture.note("r", try fixture.upload()))
        let download = try ServiceFixture.key(in: fixture.asset(of: "r").downloadURL)
        #expect(fixture.code { _ = try fixture.service.openAsset(key: upload) } == .accessDenied)
        #expect(
            fixture.code { _ = try fixture.service.beginUpload(key: download) } == .accessDenied)
        for index in [0, 20, 60, download.count - 1] {
            var forged = Array(download)
            forged[index] = forged[index] == "A" ? "B" : "A"
            let key = String(forged)
            #expect(fixture.code { _ = try fixture.service.openAsset(key: key) } == .accessDenied)
        }
        for key in ["", "x", String(repeating: "A", count: 9_000)] {
            #expect(fixture.code { _ = try fixture.service.openAsset(key: key) } == .accessDenied)
        }
        fixture.clock.advance(seconds: AssetLimits().uploadAddressSeconds + 1)
        #expect(fixture.code { _ = try fixture.service.beginUpload(key: upload) } == .accessDenied)
        #expect(fixture.code { _ = try fixture.service.openAsset(key: download) } == nil)
        fixture.clock.advance(seconds: AssetLimits().downloadAddressSeconds)
        #expect(fixture.code { _ = try fixture.service.openAsset(key: download) } == .accessDenied)
    }

    @Test func addressesEndWithTheTokenTheyWereGivenOutFor() throws {
        let user = try fixture.service.accounts.createUser(label: "Cy")
        let token = try fixture.service.accounts.issueUserToken(
            userRecordName: user.userRecordName, label: "phone")
        var fixture = fixture
        fixture.caller = Caller(
            userRecordName: user.userRecordName, tokenID: token.description.id)
        try fixture.createZone(ServiceFixture.zone)
        let upload = try fixture.uploadKey()
        try fixture.save(fixture.note("r", try fixture.upload()))
        let download = try ServiceFixture.key(in: fixture.asset(of: "r").downloadURL)
        try fixture.service.accounts.revoke(tokenID: token.description.id)
        let service = fixture.service
        #expect(
            fixture.code { _ = try service.beginUpload(key: upload) } == .authenticationFailed)
        #expect(fixture.code { _ = try service.openAsset(key: download) } == .authenticationFailed)
    }

    @Test func addressesStayGoodAcrossStarts() throws {
        try fixture.save(fixture.note("r", try fixture.upload()))
        let asset = try fixture.asset(of: "r")
        let again = try ServiceFixture(folder.storage, makesZone: false)
        #expect(try again.content(of: asset) == ServiceFixture.picture)
    }

    @Test func aFileThatIsGoneIsSaidAlone() throws {
        try fixture.save(fixture.note("r", try fixture.upload()))
        let asset = try fixture.asset(of: "r")
        try FileManager.default.removeItem(
            at: folder.assets.appendingPathComponent(folder.kept()[0]))
        #expect(fixture.code { _ = try fixture.content(of: asset) } == .assetNotFound)
        #expect(try fixture.lookup(["r"])[0].record != nil)
    }
}
