import Foundation
import Platform
import RecordService
import RecordWire
import Testing

/// Shares of records with all below them.
@Suite(.everyBackend) struct ShareTests {
    @Test func aShareLeadsFromItsShortGUIDToItsRecords() throws {
        let world = try SharingFixture()
        let share = try world.shareRoot()
        #expect(share.shortGUID?.count ?? 0 > 20)
        #expect(share.publicPermission == ShareParticipant.Permission.none)
        #expect(share.participants?.map(\.kind) == [.owner, .user])
        #expect(share.participants?.map(\.status) == [.accepted, .invited])
        let root = try #require(try world.anna.lookup(["root"])[0].record)
        #expect(root.share == "share")
        #expect(try world.anna.lookup(["a"])[0].record?.parent == "root")

        #expect(try world.bert.databaseChanges(since: nil).zones.isEmpty)
        let lookup = ShareLookup([
            .init(shortGUID: share.shortGUID ?? "", fetchesRoot: true), .init(shortGUID: "0none"),
        ])
        let found = try world.bert.shares(.resolveShares(lookup))
        #expect(found[0].found?.rootRecordName == "root")
        #expect(found[0].found?.rootRecord?.fields["title"] == .string("t"))
        #expect(found[0].found?.zoneID == SharingFixture.shared)
        #expect(found[0].found?.participant.status == .invited)
        #expect(found[0].found?.isShared == true)
        #expect(found[1].error?.code == .notFound)

        let accepted = try #require(try world.accept(share, world.bert).found)
        #expect(accepted.participant.status == .accepted)
        #expect(accepted.participant.permission == .readWrite)
        #expect(try world.accept(share, world.bert).found == accepted)
        let zones = try world.bert.databaseChanges(since: nil).zones
        #expect(zones == [.init(zoneID: SharingFixture.shared, deleted: false)])
        #expect(try world.bert.zones(.listZones).map { $0.zone?.zoneID } == [SharingFixture.shared])
        #expect(
            try world.feed(world.bert).names.sorted() == ["a", "b", "root", "share"])
        #expect(
            try world.see(["root", "a", "b", "share", "private"], world.bert)
                == [nil, nil, nil, nil, .notFound])
        let own = try #require(try world.anna.lookup(["share"])[0].record)
        #expect(own.participants?.map(\.status) == [.accepted, .accepted])
        #expect(own.currentParticipantID == own.participants?[0].participantID)
    }

    @Test func aStrangerSeesAndHearsNothing() throws {
        let world = try SharingFixture()
        let share = try world.shareRoot()
        _ = try world.accept(share, world.bert)
        #expect(try world.accept(share, world.carla).error?.code == .notFound)
        let unknown = try world.carla.shares(
            .resolveShares(ShareLookup([.init(shortGUID: "0none")])))[0]
        #expect(try world.accept(share, world.carla).error == unknown.error)
        for (zone, user) in [
            (SharingFixture.shared, world.carla),
            (ZoneID(zoneName: "none", ownerRecordName: "_anna"), world.bert),
            (ZoneID(zoneName: "notes", ownerRecordName: "_nobody"), world.bert),
        ] {
            let error = #expect(throws: RecordError.self) { try user.lookup(["a"], zone: zone) }
            #expect(error?.code == .zoneNotFound)
            #expect(try user.changes(since: nil, zone: zone).failure?.code == .zoneNotFound)
        }
        #expect(try world.carla.zones(.listZones).isEmpty)
    }

    @Test func aShareForAllWhoKnowItTakesThemIn() throws {
        let world = try SharingFixture()
        let share = try world.shareRoot(with: [], public: .readOnly)
        let found = try #require(try world.accept(share, world.carla).found)
        #expect(found.participant.kind == .publicUser)
        #expect(found.participant.permission == .readOnly)
        #expect(try world.see(["root"], world.carla) == [nil])
        #expect(
            try world.write(.forceUpdate, .note("a", "x"), world.carla).error?.code
                == .accessDenied)
        var open = Record(recordName: "share", recordType: Record.shareType)
        open.publicPermission = .readWrite
        try world.anna.save(open)
        #expect(try world.write(.forceUpdate, .note("a", "x"), world.carla).error == nil)
        open.publicPermission = ShareParticipant.Permission.none
        try world.anna.save(open)
        #expect(throws: RecordError.self) { try world.see(["root"], world.carla) }
    }

    /// Who is invited as an owner would be left out without a word.
    @Test func nobodyElseBecomesTheOwner() throws {
        let world = try SharingFixture()
        let share = try world.shareRoot()
        func given(_ identity: UserIdentity) throws -> RecordError? {
            var changed = share
            let owner = ShareParticipant(identity: identity, permission: .readWrite, kind: .owner)
            changed.participants = [owner, SharingFixture.participant("_bert")]
            return try world.anna.modify([RecordOperation(.forceUpdate, changed)])[0].error
        }
        #expect(try given(UserIdentity(userRecordName: "_carla"))?.code == .badRequest)
        let named = UserLookupInfo(userRecordName: "_carla")
        #expect(try given(UserIdentity(lookupInfo: named))?.code == .badRequest)
        for own in ["_anna", "__defaultOwner__", ""] {
            #expect(try given(UserIdentity(userRecordName: own)) == nil)
        }
        #expect(try given(UserIdentity()) == nil)
        let now = try #require(try world.anna.lookup(["share"])[0].record)
        #expect(now.participants?.map(\.kind) == [.owner, .user])
    }

    // MARK: What participants write

    @Test func readersWriteNothing() throws {
        let world = try SharingFixture()
        let share = try world.shareRoot(with: [SharingFixture.participant("_bert", .readOnly)])
        _ = try world.accept(share, world.bert)
        let tag = try world.bert.lookup(["a"], zone: SharingFixture.shared)[0].record?
            .recordChangeTag
        let before = try world.anna.lookup(["a", "root", "private"])
        for kind in RecordOperation.Kind.allCases {
            for name in ["a", "root", "share"] where !(name == "share" && kind.isDeletion) {
                var record = Record.note(name, "x", tag: tag)
                if name == "share" { record.recordType = Record.shareType }
                let result = try world.write(kind, record, world.bert)
                #expect(result.error?.code == .accessDenied, "\(kind) \(name)")
            }
            let new = SharingFixture.child("new", of: "a")
            let expected: RecordError.Code = kind.mayMake ? .accessDenied : .notFound
            #expect(try world.write(kind, new, world.bert).error?.code == expected, "\(kind)")
        }
        #expect(try world.anna.lookup(["a", "root", "private"]) == before)
    }

    @Test func writersWriteWithinTheShare() throws {
        let world = try SharingFixture()
        _ = try world.accept(try world.shareRoot(), world.bert)
        let written = try #require(
            try world.write(.forceUpdate, .note("a", "x"), world.bert).record)
        #expect(written.modified?.userRecordName == "_bert")
        #expect(written.zoneID == SharingFixture.shared)
        #expect(try world.anna.lookup(["a"])[0].record?.fields["title"] == .string("x"))
        #expect(try world.anna.lookup(["a"])[0].record?.parent == "root")

        #expect(
            try world.write(.create, SharingFixture.child("c", of: "b"), world.bert).error == nil)
        #expect(try world.see(["c"], world.bert) == [nil])
        // What is outside is not there, and its names cannot be had.
        for (kind, name, code) in [
            (RecordOperation.Kind.create, "private", RecordError.Code.accessDenied),
            (.forceUpdate, "private", .accessDenied), (.forceReplace, "private", .accessDenied),
            (.forceDelete, "private", .accessDenied), (.update, "private", .notFound),
            (.replace, "private", .notFound), (.delete, "private", .notFound),
            (.create, "new", .accessDenied), (.forceDelete, "new", .notFound),
        ] {
            let result = try world.write(kind, .note(name, tag: "1"), world.bert)
            #expect(result.error?.code == code, "\(kind) \(name)")
            #expect(result.error?.serverRecord == nil)
        }
        #expect(
            try world.write(.create, SharingFixture.child("new", of: "private"), world.bert).error?
                .code == .accessDenied)
        #expect(
            try world.write(.forceUpdate, SharingFixture.child("a", of: nil), world.bert).error?
                .code == .accessDenied)
        #expect(
            try world.write(.forceDelete, .note("root"), world.bert).error?.code == .accessDenied)
        #expect(try world.write(.forceDelete, .note("c"), world.bert).record?.deleted == true)
        #expect(try world.anna.lookup(["c"])[0].error?.code == .notFound)
    }

    /// Others would see it than its owner chose, and those who saw it would lose it.
    @Test func writersTakeNothingIntoAnotherShare() throws {
        let world = try SharingFixture()
        let first = try world.shareRoot(with: [
            SharingFixture.participant("_bert"), SharingFixture.participant("_carla", .readOnly),
        ])
        let other = SharingFixture.share(
            "share2", of: "root2", [SharingFixture.participant("_bert")])
        let second = try #require(
            try world.anna.modify([
                RecordOperation(.create, .note("root2")), RecordOperation(.create, other),
            ])[1].record)
        for share in [first, second] { _ = try world.accept(share, world.bert) }
        _ = try world.accept(first, world.carla)
        let token = try world.feed(world.carla).token
        let move = SharingFixture.child("a", of: "root2")
        for kind in [RecordOperation.Kind.forceUpdate, .forceReplace] {
            #expect(try world.write(kind, move, world.bert).error?.code == .accessDenied)
        }
        // Who does not know the record as it is, is told that first.
        #expect(try world.write(.create, move, world.bert).error?.code == .exists)
        let both = try world.bert.modify(
            [
                RecordOperation(.create, SharingFixture.child("new", of: "root2")),
                RecordOperation(.forceUpdate, SharingFixture.child("a", of: "new")),
            ], zone: SharingFixture.shared)
        #expect(both.map { $0.error?.code } == [nil, .accessDenied])
        #expect(try world.feed(world.carla, since: token).names.isEmpty)
        #expect(try world.see(["a", "b"], world.carla) == [nil, nil])
        // Within a share records are moved as before.
        let within = SharingFixture.child("b", of: "root")
        #expect(try world.write(.forceUpdate, within, world.bert).error == nil)
        #expect(try world.feed(world.carla, since: token).names == ["b"])
    }

    @Test func aParticipantIsNoOwner() throws {
        let world = try SharingFixture()
        let share = try world.shareRoot()
        _ = try world.accept(share, world.bert)
        var more = Record(recordName: "share", recordType: Record.shareType)
        more.participants = [SharingFixture.participant("_carla")]
        #expect(try world.write(.forceUpdate, more, world.bert).error?.code == .accessDenied)
        #expect(
            try world.write(.create, SharingFixture.share("other", of: "a"), world.bert).error?.code
                == .accessDenied)
        var named = Record.note("a")
        named.createsShortGUID = true
        #expect(try world.write(.forceUpdate, named, world.bert).error?.code == .accessDenied)
        let made = try world.bert.zones(
            .modifyZones([ZoneOperation(.create, SharingFixture.shared)]))[0]
        #expect(made.error?.code == .accessDenied)
    }

    private func note(
        _ name: String, to target: String, _ action: RecordReference.Action, of parent: String?
    ) -> Record {
        var record = Record.note(name)
        if let parent { record.parent = parent }
        record.fields["to"] = .reference(RecordReference(recordName: target, action: action))
        return record
    }

    @Test func whatAParticipantMayNotDeleteGoesWithNothing() throws {
        let world = try SharingFixture()
        _ = try world.accept(try world.shareRoot(), world.bert)
        for name in ["kid", "late", "own"] {
            _ = try world.write(.create, SharingFixture.child(name, of: "a"), world.bert)
        }
        let leaf = note("leaf", to: "own", .deleteSelf, of: "a")
        #expect(try world.write(.create, leaf, world.bert).error == nil)
        let root = note("root", to: "kid", .deleteSelf, of: nil)
        #expect(try world.write(.forceUpdate, root, world.bert).error == nil)
        // What is refused is the deletion, not what else the request brings.
        let results = try world.bert.modify(
            [
                RecordOperation(.forceDelete, .note("kid")),
                RecordOperation(.forceUpdate, .note("b", "x")),
            ], zone: SharingFixture.shared)
        #expect(results.map { $0.error?.code } == [.accessDenied, nil])
        #expect(results[0].error?.serverRecord == nil)
        _ = try? world.bert.modify(
            [
                RecordOperation(.forceDelete, .note("late")),
                RecordOperation(.forceUpdate, note("root", to: "late", .deleteSelf, of: nil)),
            ], zone: SharingFixture.shared)
        #expect(
            try world.anna.lookup(["kid", "root", "share"]).allSatisfy { $0.record != nil })
        // What may be deleted goes, and the owner's deletions take all with them.
        #expect(try world.write(.forceDelete, .note("own"), world.bert).error == nil)
        #expect(try world.anna.lookup(["leaf"])[0].error?.code == .notFound)
        let all = try world.anna.modify(
            ["kid", "late", "b", "a"].map { RecordOperation(.forceDelete, .note($0)) })
        #expect(all.allSatisfy { $0.error == nil })
        #expect(try world.anna.lookup(["root"])[0].error?.code == .notFound)
    }

    @Test func aReferenceOfAParticipantsTakesNoRootAlong() throws {
        let world = try SharingFixture()
        _ = try world.accept(try world.shareRoot(), world.bert)
        for name in ["b", "a"] { try world.anna.save(.note(name), .forceDelete) }
        _ = try world.write(.create, SharingFixture.child("kid", of: "root"), world.bert)
        let root = note("root", to: "kid", .deleteSelf, of: nil)
        #expect(try world.write(.forceUpdate, root, world.bert).error == nil)
        let deleted = try world.write(.forceDelete, .note("kid"), world.bert)
        #expect(deleted.error?.code == .accessDenied)
        #expect(try world.anna.lookup(["kid", "root", "share"]).allSatisfy { $0.record != nil })
        try world.anna.save(.note("kid"), .forceDelete)
        #expect(try world.anna.lookup(["root"])[0].error?.code == .notFound)
    }

    @Test func aParticipantRefersToWhatIsSeenAndNoShare() throws {
        let world = try SharingFixture()
        _ = try world.accept(try world.shareRoot(), world.bert)
        let names = ["none", "private", "share"]
        let refusals = try names.map {
            try world.write(.create, note("x", to: $0, .validate, of: "a"), world.bert).error
        }
        #expect(refusals.allSatisfy { $0?.code == .validatingReferenceError })
        // But for the name that was asked for, all are alike.
        let reasons = zip(refusals, names).map { error, name in
            error?.reason.replacingOccurrences(of: "record \(name) ", with: "record ")
        }
        #expect(Set(reasons).count == 1)
        let below = SharingFixture.child("x", of: "share")
        #expect(try world.write(.create, below, world.bert).error != nil)
        // Nor where the request names the target, too.
        for (kind, target) in [
            (RecordOperation.Kind.forceUpdate, "private"), (.update, "share"), (.delete, "share"),
        ] {
            var named = Record.note(target)
            if target == "share" { named.recordType = Record.shareType }
            _ = try? world.bert.modify(
                [
                    RecordOperation(.create, note("x", to: target, .validate, of: "a")),
                    RecordOperation(kind, named),
                ], zone: SharingFixture.shared)
            #expect(try world.anna.lookup(["x"])[0].error?.code == .notFound, "\(kind)")
        }
        #expect(
            try world.anna.modify([
                RecordOperation(.forceDelete, .note("private")),
                RecordOperation(.forceDelete, Record(recordName: "share", recordType: "")),
            ]).allSatisfy { $0.error == nil })
    }

    @Test func aParticipantKeepsTheReferencesOfTheOwner() throws {
        let world = try SharingFixture()
        _ = try world.accept(try world.shareRoot(), world.bert)
        try world.anna.save(note("a", to: "private", .validate, of: nil))
        #expect(try world.write(.forceUpdate, .note("a", "x"), world.bert).error == nil)
        let within = note("x", to: "b", .validate, of: "a")
        #expect(try world.write(.create, within, world.bert).error == nil)
        let both = try world.bert.modify(
            [
                RecordOperation(.create, note("y", to: "z", .validate, of: "a")),
                RecordOperation(.create, SharingFixture.child("z", of: "a")),
            ], zone: SharingFixture.shared)
        #expect(both.allSatisfy { $0.error == nil })
    }

    @Test func aSharedZonesShareIsNoTarget() throws {
        let world = try SharingFixture()
        _ = try world.accept(try world.shareZone(), world.bert)
        let record = note("x", to: Record.zoneShareName, .validate, of: nil)
        #expect(
            try world.write(.create, record, world.bert).error?.code == .validatingReferenceError)
        let other = note("x", to: "a", .validate, of: nil)
        #expect(try world.write(.create, other, world.bert).error == nil)
    }

    // MARK: What comes and goes

    @Test func whoEntersAndLeavesIsToldToTheParticipants() throws {
        let world = try SharingFixture()
        _ = try world.accept(try world.shareRoot(), world.bert)
        var token = try world.feed(world.bert).token
        func news(_ limit: Int? = nil) throws -> [String] {
            let (names, next) = try world.feed(world.bert, since: token, limit: limit)
            let backwards = try world.feed(
                world.bert, since: token, limit: limit, isReversed: true)
            #expect(backwards.names == names.reversed())
            token = next
            return names
        }
        #expect(try news().isEmpty)
        try world.anna.save(.note("private", "x"))
        #expect(try news().isEmpty)
        try world.anna.save(SharingFixture.child("private", of: "root"))
        #expect(try news() == ["private"])
        try world.anna.save(.note("b", "x"))
        #expect(try news() == ["b"])
        // With a goes what is below it, page by page.
        try world.anna.save(SharingFixture.child("a", of: nil))
        #expect(try news(1).sorted() == ["-a", "-b"])
        #expect(try world.see(["a", "b"], world.bert) == [.notFound, .notFound])
        try world.anna.save(.note("b", "y"))
        #expect(try news().isEmpty)
        try world.anna.save(SharingFixture.child("a", of: "private"))
        #expect(try news(1).sorted() == ["a", "b"])
        _ = try world.anna.modify([
            RecordOperation(.forceDelete, .note("b")), RecordOperation(.forceDelete, .note("a")),
        ])
        #expect(try news() == ["-b", "-a"])
    }

    @Test func tagsAreTheSameForAll() throws {
        let world = try SharingFixture()
        try world.anna.save(.note("root"))
        try world.anna.save(SharingFixture.child("a", of: "root"))
        let share = try #require(
            try world.anna.modify([
                RecordOperation(
                    .create,
                    SharingFixture.share("share", of: "root", [SharingFixture.participant("_bert")])
                )
            ])[0].record)
        _ = try world.accept(share, world.bert)
        let page = try world.bert.changes(since: nil, zone: SharingFixture.shared)
        let told = try #require(page.records.first { $0.recordName == "a" })
        let own = try #require(try world.anna.lookup(["a"])[0].record)
        #expect(told.recordChangeTag == own.recordChangeTag)
        var edit = told
        edit.fields["title"] = .string("bert")
        #expect(try world.write(.update, edit, world.bert).error == nil)
        let late = try world.write(.update, edit, world.bert)
        #expect(late.error?.code == .conflict)
        #expect(late.error?.serverRecord?.fields["title"] == .string("bert"))
    }

    @Test func participantsAreWoken() throws {
        let world = try SharingFixture()
        let share = try world.shareRoot()
        let calls = Lock(0)
        let listening = try world.bert.service.listen(
            for: .databaseChanges(DatabaseChanges(syncToken: nil)), target: world.bert.target,
            caller: world.bert.caller
        ) { calls.withLock { $0 += 1 } }
        let subscription = RecordSubscription(subscriptionID: "all", kind: .database)
        _ = try world.bert.send(
            .modifySubscriptions([SubscriptionOperation(.create, subscription)]))
        guard
            case .courierToken(let courier) = try world.bert.send(
                .createToken(CourierToken(apnsEnvironment: "development")))
        else { throw WrongAnswer() }
        let token = try #require(courier.apnsToken)
        func hears() throws -> Bool {
            let called = calls.withLock { calls in
                defer { calls = 0 }
                return calls > 0
            }
            let notice = try world.bert.service.nextNotice(forCourierToken: token)
            if let notice { #expect(String(decoding: notice, as: UTF8.self).contains("\"dbs\":3")) }
            #expect(called == (notice != nil))
            return called
        }
        try world.anna.save(.note("a", "x"))
        #expect(try !hears())
        _ = try world.accept(share, world.bert)
        #expect(try hears())
        var since = try world.bert.databaseChanges(since: nil).syncToken
        try world.anna.save(.note("private", "x"))
        #expect(try !hears())
        #expect(try world.bert.databaseChanges(since: since).zones.isEmpty)
        try world.anna.save(.note("a", "y"))
        #expect(try hears())
        let told = try world.bert.databaseChanges(since: since)
        #expect(told.zones == [.init(zoneID: SharingFixture.shared, deleted: false)])
        since = told.syncToken
        try world.anna.save(Record(recordName: "share", recordType: Record.shareType), .forceDelete)
        #expect(try hears())
        #expect(
            try world.bert.databaseChanges(since: since).zones
                == [.init(zoneID: SharingFixture.shared, deleted: true)])
        withExtendedLifetime(listening) {}
    }

    // MARK: One person is one participant

    @Test func whoIsNamedTwiceIsOneParticipant() throws {
        let world = try SharingFixture()
        let share = try world.shareRoot(
            with: [
                SharingFixture.participant("_bert", .readOnly),
                SharingFixture.participant("_bert", .readWrite),
            ])
        let others = (share.participants ?? []).filter { $0.kind != .owner }
        #expect(others.map(\.permission) == [.readOnly])
    }

    /// Otherwise who is removed comes back as the other.
    @Test func acceptingEndsTheUsersOtherInvitations() throws {
        let world = try SharingFixture()
        let accounts = world.anna.service.accounts
        let bert = try accounts.createUser(label: "bert").userRecordName
        try accounts.setProfile(UserProfile(emailAddress: "bert@example.org"), of: bert)
        let user = SharingFixture.other(bert, world.anna)
        let byAddress = ShareParticipant(
            identity: UserIdentity(lookupInfo: UserLookupInfo(emailAddress: "bert@example.org")),
            permission: .readWrite)
        let share = try world.shareRoot(with: [
            SharingFixture.participant(bert, .readOnly), byAddress,
        ])
        #expect(try world.accept(share, user).found != nil)
        let now = try #require(try world.anna.lookup(["share"])[0].record)
        #expect((now.participants ?? []).filter { $0.kind != .owner }.count == 1)
        let ended = SharingFixture.share("share", of: "root", [])
        #expect(
            try world.anna.modify([RecordOperation(.forceUpdate, ended)])[0].error == nil)
        #expect(try world.accept(share, user).error?.code == .notFound)
    }

    /// An app may make IDs of its own, or keep those of another share.
    @Test func anUnknownIDThrowsNobodyOut() throws {
        let world = try SharingFixture()
        let share = try world.shareRoot()
        #expect(try world.accept(share, world.bert).found != nil)
        var bert = SharingFixture.participant("_bert", .readOnly)
        bert.participantID = "made by the app"
        let given = SharingFixture.share("share", of: "root", [bert])
        let result = try world.anna.modify([RecordOperation(.forceUpdate, given)])[0]
        let others = (result.record?.participants ?? []).filter { $0.kind != .owner }
        #expect(others.map(\.status) == [.accepted] && others[0].permission == .readOnly)
        #expect(try world.see(["a"], world.bert) == [nil])
    }
}

extension RecordOperation.Kind {
    var isDeletion: Bool { self == .delete || self == .forceDelete }
    var mayMake: Bool { self == .create || self == .forceUpdate || self == .forceReplace }
}
