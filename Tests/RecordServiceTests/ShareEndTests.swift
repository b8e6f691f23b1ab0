import Foundation
import Platform
import RecordService
import RecordWire
import Testing

/// How shares and parts in them change and end, and shares of whole zones.
@Suite(.everyBackend) struct ShareEndTests {
    private let zone = SharingFixture.shared

    private func gone(_ user: ServiceFixture, asking name: String = "a") throws {
        let error = #expect(throws: RecordError.self) { try user.lookup([name], zone: zone) }
        #expect(error?.code == .zoneNotFound)
        #expect(try user.zones(.lookupZones([zone]))[0].error?.code == .zoneNotFound)
        #expect(try user.zones(.listZones).isEmpty)
        #expect(try user.databaseChanges(since: nil).zones.map(\.deleted) == [true])
    }

    @Test func whoLeavesAShareSeesItNoMore() throws {
        let world = try SharingFixture()
        let share = try world.shareRoot()
        _ = try world.accept(share, world.bert)
        let left = try world.write(
            .delete, Record(recordName: "share", recordType: ""), world.bert)
        #expect(left.record?.deleted == true)
        try gone(world.bert)
        let own = try #require(try world.anna.lookup(["share"])[0].record)
        #expect(own.participants?.map(\.kind) == [.owner])
        #expect(try world.anna.lookup(["root"])[0].record?.share == "share")
        #expect(try world.accept(share, world.bert).error?.code == .notFound)
    }

    @Test func whoDeletesASharedZoneLeavesAllItsShares() throws {
        let world = try SharingFixture()
        _ = try world.accept(try world.shareRoot(), world.bert)
        let answer = try world.bert.zones(.modifyZones([ZoneOperation(.delete, zone)]))[0]
        #expect(answer.zone?.deleted == true)
        try gone(world.bert)
        #expect(try world.anna.lookup(["a"])[0].record != nil)
    }

    @Test func theOwnerRevokesAndChangesPermission() throws {
        let world = try SharingFixture()
        let share = try world.shareRoot(with: [
            SharingFixture.participant("_bert"), SharingFixture.participant("_carla", .readOnly),
        ])
        _ = try world.accept(share, world.bert)
        _ = try world.accept(share, world.carla)
        let token = try world.feed(world.carla).token
        var change = Record(recordName: "share", recordType: Record.shareType)
        change.participants = [SharingFixture.participant("_carla")]
        let changed = try world.anna.save(change)
        #expect(changed.participants?.map(\.status) == [.accepted, .accepted])
        try gone(world.bert)
        #expect(try world.write(.forceUpdate, .note("a", "x"), world.carla).error == nil)
        // Who sees the same records as before reads on.
        #expect(try world.feed(world.carla, since: token).names.contains("a"))
    }

    @Test func aTokenEndsWhereOtherSharesAreSeen() throws {
        let world = try SharingFixture()
        _ = try world.accept(try world.shareRoot(), world.bert)
        let token = try world.feed(world.bert).token
        let second = try #require(
            try world.anna.modify([
                RecordOperation(.create, .note("two")),
                RecordOperation(
                    .create,
                    SharingFixture.share("second", of: "two", [SharingFixture.participant("_bert")])
                ),
            ])[1].record)
        _ = try world.accept(second, world.bert)
        let page = try world.bert.changes(since: token, zone: zone)
        #expect(page.failure?.code == .changeTokenExpired)
        #expect(try world.feed(world.bert).names.contains("two"))
    }

    @Test(arguments: ["share", "root", "zone"])
    func aShareEndsWithWhatItIsFor(what: String) throws {
        let world = try SharingFixture()
        _ = try world.accept(try world.shareRoot(), world.bert)
        switch what {
        case "share":
            try world.anna.save(Record(recordName: "share", recordType: ""), .forceDelete)
            #expect(try world.anna.lookup(["root"])[0].record?.share == nil)
        case "root":
            let refused = try world.anna.modify([RecordOperation(.forceDelete, .note("root"))])
            #expect(refused[0].error?.code == .validatingReferenceError)
            _ = try world.anna.modify(
                ["b", "a", "root"].map { RecordOperation(.forceDelete, .note($0)) }, atomic: true)
            #expect(try world.anna.lookup(["share"])[0].error?.code == .notFound)
        default:
            _ = try world.anna.zones(.modifyZones([ZoneOperation(.delete, ServiceFixture.zone)]))
        }
        try gone(world.bert)
        if what == "zone" { try world.anna.createZone(ServiceFixture.zone) }
        try gone(world.bert)
    }

    // MARK: Whole zones

    @Test func aZoneIsSharedWholeInTheRequestThatEndsItsShares() throws {
        let world = try SharingFixture()
        try world.shareRoot()
        let bert = SharingFixture.participant("_bert")
        let results = try world.anna.modify(
            [
                RecordOperation(.forceDelete, Record(recordName: "share", recordType: "")),
                RecordOperation(
                    .create, SharingFixture.share(Record.zoneShareName, of: nil, [bert])),
            ], atomic: true)
        #expect(results.allSatisfy { $0.error == nil })
        let share = try #require(results[1].record)
        _ = try world.accept(share, world.bert)
        #expect(try world.see(["private", "root"], world.bert) == [nil, nil])
    }

    @Test func aRootIsSharedAnewInTheRequestThatEndsItsShare() throws {
        let world = try SharingFixture()
        var root = Record.note("root")
        root.createsShortGUID = true
        try world.anna.save(root)
        let bert = [SharingFixture.participant("_bert")]
        let first = try world.anna.save(SharingFixture.share("share", of: "root", bert))
        _ = try world.accept(first, world.bert)
        let results = try world.anna.modify(
            [
                RecordOperation(.forceDelete, Record(recordName: "share", recordType: "")),
                RecordOperation(.create, SharingFixture.share("second", of: "root", bert)),
            ], atomic: true)
        #expect(results.allSatisfy { $0.error == nil })
        try gone(world.bert, asking: "root")
        let second = try #require(try world.anna.lookup(["second"])[0].record)
        #expect(second.shortGUID == first.shortGUID)
        _ = try world.accept(second, world.bert)
        #expect(try world.see(["root"], world.bert) == [nil])
    }

    /// With its root the former share ends before the request comes to the new one.
    @Test func aShareThatIsMadeAgainUnderItsNameHoldsItsNewRootAlone() throws {
        let world = try SharingFixture()
        _ = try world.accept(try world.shareRoot(), world.bert)
        try world.anna.save(.note("root2"))
        let carla = [SharingFixture.participant("_carla")]
        let results = try world.anna.modify(
            [
                RecordOperation(.forceUpdate, SharingFixture.child("a", of: nil)),
                RecordOperation(.forceDelete, .note("root")),
                RecordOperation(.forceUpdate, SharingFixture.share("share", of: "root2", carla)),
            ], atomic: true)
        #expect(results.allSatisfy { $0.error == nil })
        try gone(world.bert)
        let share = try #require(try world.anna.lookup(["share"])[0].record)
        _ = try world.accept(share, world.carla)
        #expect(
            try world.see(["a", "b", "root2"], world.carla) == [.notFound, .notFound, nil])
        #expect(try world.feed(world.carla).names.sorted() == ["root2", "share"])
        #expect(
            try world.write(.forceUpdate, .note("b", "x"), world.carla).error?.code
                == .accessDenied)
        #expect(
            try world.write(.create, SharingFixture.child("c", of: "root2"), world.carla).error
                == nil)
    }

    @Test func aWholeZoneIsShared() throws {
        let world = try SharingFixture()
        let share = try world.shareZone(with: [
            SharingFixture.participant("_bert"), SharingFixture.participant("_carla", .readOnly),
        ])
        _ = try world.accept(share, world.bert)
        _ = try world.accept(share, world.carla)
        let (names, token) = try world.feed(world.bert)
        #expect(names.sorted() == ["a", "b", Record.zoneShareName])
        #expect(try world.write(.create, .note("c"), world.bert).error == nil)
        #expect(try world.write(.forceDelete, .note("b"), world.bert).error == nil)
        #expect(try world.write(.create, .note("d"), world.carla).error?.code == .accessDenied)
        // A token is good for its own user only.
        let strange = try world.carla.changes(since: token, zone: zone)
        #expect(strange.failure?.code == .changeTokenExpired)
        #expect(try world.feed(world.bert, since: token).names == ["c", "-b"])
        #expect(try world.see(["a", "b", "c"], world.carla) == [nil, .notFound, nil])
        #expect(
            try world.anna.modify([
                RecordOperation(.create, SharingFixture.share("part", of: "a"))
            ])[0].error?.code == .badRequest)
        let left = try world.write(
            .forceDelete, Record(recordName: Record.zoneShareName, recordType: ""), world.bert)
        #expect(left.error == nil)
        try gone(world.bert)
        #expect(try world.see(["a"], world.carla) == [nil])
    }

    // MARK: Queries

    @Test func queriesFindWhatIsShared() throws {
        let world = try SharingFixture()
        let share = try world.shareRoot()
        _ = try world.accept(share, world.bert)
        func names(_ user: ServiceFixture, _ limit: Int) throws -> [String] {
            var request = QueryRecords(
                RecordQuery(
                    recordType: "Note",
                    filters: [RecordFilter(.field("title"), .equals, .string("t"))]),
                zoneID: zone)
            request.resultsLimit = limit
            var names: [String] = []
            repeat {
                guard case .records(let reply) = try user.send(.queryRecords(request)) else {
                    throw WrongAnswer()
                }
                names += reply.results.compactMap { $0.record?.recordName }
                request.continuationMarker = reply.continuationMarker
                if let marker = reply.continuationMarker.flatMap({ Data(base64Encoded: $0) }) {
                    #expect(marker.range(of: Data("private".utf8)) == nil)
                }
            } while request.continuationMarker != nil
            return names
        }
        #expect(try names(world.bert, 1) == ["a", "b", "root"])
        let error = #expect(throws: RecordError.self) { try names(world.carla, 1) }
        #expect(error?.code == .zoneNotFound)
    }

    // MARK: Rules

    @Test func aShareIsForOneRootOfAZoneOfOnesOwn() throws {
        let world = try SharingFixture()
        try world.shareRoot()
        func refused(_ record: Record, zone: ZoneID? = ServiceFixture.zone) throws
            -> RecordError.Code?
        {
            try world.anna.modify([RecordOperation(.create, record)], zone: zone)[0].error?.code
        }
        #expect(try refused(SharingFixture.share("x", of: "root")) == .badRequest)
        #expect(try refused(SharingFixture.share("x", of: "a")) == .badRequest)
        #expect(try refused(SharingFixture.share("x", of: "none")) == .notFound)
        #expect(try refused(SharingFixture.share("x", of: nil)) == .badRequest)
        #expect(try refused(SharingFixture.share(Record.zoneShareName, of: nil)) == .badRequest)
        #expect(try refused(SharingFixture.share("x", of: "private"), zone: nil) == .badRequest)
        #expect(try refused(SharingFixture.child("y", of: "none")) == .validatingReferenceError)
        #expect(try refused(SharingFixture.child("y", of: "y")) == .badRequest)
        #expect(try refused(SharingFixture.child("y", of: "a"), zone: nil) == .badRequest)
        #expect(
            try world.anna.modify([
                RecordOperation(.forceUpdate, SharingFixture.child("root", of: "private"))
            ])[0].error?.code == .badRequest)
        #expect(
            try world.anna.modify([
                RecordOperation(.forceUpdate, SharingFixture.child("a", of: "b"))
            ])[0].error?.code == .badRequest)
    }

    @Test func aShareMayComeBeforeItsRootInARequest() throws {
        let world = try SharingFixture()
        var root = Record.note("root")
        root.createsShortGUID = true
        let results = try world.anna.modify(
            [
                RecordOperation(.create, SharingFixture.share("share", of: "root")),
                RecordOperation(.create, root),
            ], atomic: true)
        let (share, made) = (results[0].record, results[1].record)
        #expect(share?.recordName == "share")
        #expect(made?.share == "share")
        #expect(made?.shortGUID != nil && made?.shortGUID == share?.shortGUID)
        #expect(try world.anna.lookup(["root"])[0].record == made)
    }

    @Test func aRefusedChangeOfAShareOpensNothing() throws {
        let world = try SharingFixture()
        let share = try world.shareRoot(with: [SharingFixture.participant("_bert", .readOnly)])
        _ = try world.accept(share, world.bert)
        var change = Record(recordName: "share", recordType: Record.shareType)
        change.participants = [SharingFixture.participant("_bert")]
        change.fields["title"] = .string(String(repeating: "x", count: 1_100_000))
        var second = SharingFixture.share(
            "second", of: "private", [SharingFixture.participant("_bert")])
        second.fields["title"] = change.fields["title"]
        let refused = try world.anna.modify([
            RecordOperation(.forceUpdate, change), RecordOperation(.create, second),
            RecordOperation(.create, .note("other")),
        ])
        #expect(refused.map { $0.error?.code } == [.limitExceeded, .limitExceeded, nil])
        #expect(
            try world.write(.forceUpdate, .note("a", "x"), world.bert).error?.code
                == .accessDenied)
        #expect(try world.anna.lookup(["private"])[0].record?.share == nil)
        #expect(try world.see(["private"], world.bert) == [.notFound])
        second.fields["title"] = nil
        #expect(try world.anna.modify([RecordOperation(.create, second)])[0].error == nil)
    }

    @Test func aUserAcceptsSoManySharesOfAZone() throws {
        var limits = ServiceLimits()
        limits.work.sharing.sharesPerUserMax = 1
        let world = try SharingFixture(limits)
        _ = try world.accept(try world.shareRoot(), world.bert)
        let second = try #require(
            try world.anna.modify([
                RecordOperation(
                    .create, SharingFixture.share("second", of: "private", public: .readOnly))
            ])[0].record)
        #expect(try world.accept(second, world.bert).error?.code == .limitExceeded)
        #expect(try world.accept(second, world.carla).error == nil)
        let own = try #require(try world.anna.lookup(["second"])[0].record)
        #expect(own.participants?.map(\.identity.userRecordName) == ["_anna", "_carla"])
        #expect(try world.see(["private"], world.bert) == [.notFound])
    }

    @Test func inThePlainDialectAShareComesBackUnderItsName() throws {
        let world = try SharingFixture(dialect: .plain)
        for _ in 0..<2 {
            let results = try world.anna.modify([
                RecordOperation(.forceUpdate, .note("a")),
                RecordOperation(
                    .create,
                    SharingFixture.share(
                        Record.zoneShareName, of: nil, [SharingFixture.participant("_bert")])),
            ])
            let share = try #require(results[1].record)
            #expect(try world.accept(share, world.bert).error == nil)
            #expect(try world.see(["a"], world.bert) == [nil])
            let gone = try world.anna.modify([
                RecordOperation(
                    .forceDelete,
                    Record(recordName: Record.zoneShareName, recordType: Record.shareType))
            ])
            #expect(gone[0].record?.deleted == true)
            try self.gone(world.bert)
        }
    }

    @Test func whatIsSharedIsBounded() throws {
        var limits = ServiceLimits()
        limits.work.sharing.participantsMax = 2
        limits.work.sharing.recordsPerShareMax = 4
        limits.work.sharing.depthMax = 4
        limits.work.sharing.usersPerZoneMax = 1
        let world = try SharingFixture(limits)
        let share = try world.shareRoot(with: [], public: .readOnly)
        var many = Record(recordName: "share", recordType: Record.shareType)
        many.participants = ["_bert", "_carla"].map { SharingFixture.participant($0) }
        func refusal(_ record: Record) throws -> RecordError.Code? {
            try world.anna.modify([RecordOperation(.forceUpdate, record)])[0].error?.code
        }
        #expect(try refusal(many) == .limitExceeded)
        #expect(try refusal(SharingFixture.child("c", of: "b")) == .limitExceeded)
        #expect(try world.accept(share, world.bert).error == nil)
        #expect(try world.accept(share, world.carla).error?.code == .limitExceeded)
        for (name, parent) in [("2", "1"), ("3", "2"), ("4", "3")] {
            if name == "2" { try world.anna.save(.note("1")) }
            try world.anna.save(SharingFixture.child(name, of: parent))
        }
        #expect(try refusal(SharingFixture.child("5", of: "4")) == .limitExceeded)
        let guids = ShareLookup((0...50).map { .init(shortGUID: "\($0)") })
        let error = #expect(throws: RecordError.self) {
            try world.bert.shares(.resolveShares(guids))
        }
        #expect(error?.code == .limitExceeded)
    }

    @Test func whatOthersAreToldOfParticipantsIsLittle() throws {
        let world = try SharingFixture()
        let accounts = world.anna.service.accounts
        let dora = try accounts.createUser(label: "Dora").userRecordName
        try accounts.setProfile(
            UserProfile(emailAddress: "Dora@example.org", givenName: "Dora"), of: dora)
        let mailed = ["dora@Example.org", "nobody@example.org"].map { address in
            ShareParticipant(
                identity: UserIdentity(lookupInfo: UserLookupInfo(emailAddress: address)))
        }
        let share = try world.shareRoot(with: mailed + [SharingFixture.participant("_bert")])
        // Whether somebody has an address is not told to who invites.
        #expect(share.participants?.allSatisfy { $0.identity.nameComponents == nil } == true)
        #expect(share.participants?[1].identity.userRecordName == nil)
        _ = try world.accept(share, world.bert)
        let bertSees = try #require(
            try world.bert.lookup(["share"], zone: zone)[0].record?.participants)
        #expect(bertSees.map { $0.identity.userRecordName } == ["_anna", "_bert"])
        let found = try world.accept(share, SharingFixture.other(dora, world.anna)).found
        #expect(found?.participant.status == .accepted)
        let afterwards = try #require(try world.anna.lookup(["share"])[0].record?.participants)
        #expect(afterwards.map(\.status) == [.accepted, .accepted, .invited, .accepted])
        #expect(afterwards[1].identity.nameComponents?.givenName == "Dora")
        let told = try #require(
            try world.bert.lookup(["share"], zone: zone)[0].record?.participants)
        #expect(told.count == 3)
        #expect(told.allSatisfy { $0.identity.lookupInfo?.emailAddress == nil })
    }

    @Test func assetsOfAShareAreItsOwners() throws {
        let world = try SharingFixture()
        _ = try world.accept(
            try world.shareRoot(with: [SharingFixture.participant("_bert", .readOnly)]), world.bert)
        let upload = RecordRequest.uploadAssets(
            UploadAssets(tokens: [.init(fieldName: "f")], zoneID: zone))
        let error = #expect(throws: RecordError.self) { try world.bert.send(upload) }
        #expect(error?.code == .accessDenied)
        let strange = #expect(throws: RecordError.self) { try world.carla.send(upload) }
        #expect(strange?.code == .zoneNotFound)
    }

    @Test func aWriterSendsAssetsOfTheOwners() throws {
        let folder = try AssetFolder()
        let anna = try ServiceFixture(path: folder.database)
        let bert = SharingFixture.other("_bert", anna)
        let share = try #require(
            try anna.modify([
                RecordOperation(.create, .note("root")),
                RecordOperation(.create, anna.note("hidden", try anna.upload(Data("h".utf8)))),
                RecordOperation(
                    .create,
                    SharingFixture.share("share", of: "root", [SharingFixture.participant("_bert")])
                ),
            ])[2].record)
        _ = try bert.shares(
            .acceptShares(ShareLookup([.init(shortGUID: share.shortGUID ?? "")])))
        let request = UploadAssets(tokens: [.init(fieldName: "picture")], zoneID: zone)
        guard case .assetUploads(let addresses) = try bert.send(.uploadAssets(request)) else {
            throw WrongAnswer()
        }
        let upload = try bert.service.beginUpload(key: ServiceFixture.key(in: addresses[0].url))
        #expect(upload.userRecordName == "_bert")
        try ServiceFixture.send(ServiceFixture.picture, to: upload)
        let sent = try upload.finish()
        func write(_ asset: RecordAsset) throws -> RecordResult {
            var record = anna.note("new", asset)
            record.parent = "root"
            return try bert.modify([RecordOperation(.forceUpdate, record)], zone: zone)[0]
        }
        #expect(try write(sent).error == nil)
        #expect(try anna.content(of: anna.asset(of: "new")) == ServiceFixture.picture)
        // Who knows the checksum of what is hidden does not get it by that.
        var hidden = try anna.asset(of: "hidden")
        hidden.downloadURL = nil
        #expect(try write(hidden).error?.code == .assetNotFound)
        let place = RereferenceAssets(
            assets: [.init(recordName: "hidden", fieldName: "picture")], zoneID: zone)
        guard case .assets(let results) = try bert.send(.rereferenceAssets(place)),
            case .failure(let error) = results[0]
        else { throw WrongAnswer() }
        #expect(error.code == .notFound)
    }

    @Test func sharesOutliveTheService() throws {
        try withDatabasePath { path in
            var anna = try ServiceFixture(path: path)
            _ = try anna.modify([RecordOperation(.create, .note("root"))])
            let share = try #require(
                try anna.modify([
                    RecordOperation(
                        .create,
                        SharingFixture.share(
                            "share", of: "root", [SharingFixture.participant("_bert")]))
                ])[0].record)
            anna = try ServiceFixture(path: path, seed: 9, makesZone: false)
            let bert = SharingFixture.other("_bert", anna)
            let lookup = ShareLookup([.init(shortGUID: share.shortGUID ?? "")])
            #expect(try bert.shares(.acceptShares(lookup))[0].error == nil)
            #expect(try bert.lookup(["root"], zone: zone)[0].record != nil)
        }
    }
}
