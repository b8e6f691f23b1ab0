import Foundation
import RecordService
import RecordWire
import Testing

/// Every operation, asked by everybody who may come to a zone of Anna's of which a part is shared.
@Suite(.everyBackend) struct CrosswiseTests {
    /// Who asks. `container` and `environment`: the writer, elsewhere; `foreign`: a user who names
    /// Anna's zone in the private database; `app`: an app's token alone.
    private static let callers = [
        "owner", "reader", "writer", "stranger", "app", "container", "environment", "foreign",
    ]

    /// What each is answered: `ok`, or the code of the refusal; a number counts what is listed.
    private static let table = """
        operation          owner  reader writer stranger app  container environment foreign
        lookup             ok     ok     ok     zone     auth zone      zone        zone
        lookupHidden       ok     none   none   zone     auth zone      zone        zone
        query              4      3      3      zone     auth zone      zone        zone
        zoneChanges        5      4      4      zone     auth zone      zone        zone
        recordChanges      5      4      4      zone     auth zone      zone        zone
        databaseChanges    1      1      1      0        auth 0         0           0
        listZones          2      1      1      0        auth 0         0           1
        lookupZones        ok     ok     ok     zone     auth zone      zone        zone
        create             ok     denied ok     zone     auth zone      zone        zone
        createOutside      ok     denied denied zone     auth zone      zone        zone
        createOverHidden   exists denied denied zone     auth zone      zone        zone
        update             ok     denied ok     zone     auth zone      zone        zone
        updateHidden       ok     none   none   zone     auth zone      zone        zone
        forceUpdate        ok     denied ok     zone     auth zone      zone        zone
        forceUpdateHidden  ok     denied denied zone     auth zone      zone        zone
        replace            ok     denied ok     zone     auth zone      zone        zone
        forceReplace       ok     denied ok     zone     auth zone      zone        zone
        delete             ok     denied ok     zone     auth zone      zone        zone
        forceDelete        ok     denied ok     zone     auth zone      zone        zone
        deleteHidden       ok     none   none   zone     auth zone      zone        zone
        deleteRoot         needed denied denied zone     auth zone      zone        zone
        moveOut            ok     denied denied zone     auth zone      zone        zone
        changeShare        ok     denied denied zone     auth zone      zone        zone
        makeShare          ok     denied denied zone     auth zone      zone        zone
        deleteShare        ok     ok     ok     zone     auth zone      zone        zone
        resolve            ok     ok     ok     none     auth none      none        none
        accept             ok     ok     ok     none     auth none      none        none
        createZone         ok     denied denied denied   auth denied    denied      ok
        deleteZone         ok     ok     ok     zone     auth zone      zone        zone
        subscribeDatabase  ok     ok     ok     ok       auth ok        ok          ok
        subscribeZone      ok     bad    bad    bad      auth bad       bad         zone
        lookupSubscription none   none   none   none     auth none      none        none
        listSubscriptions  0      0      0      0        auth 0         0           0
        createToken        ok     ok     ok     ok       auth ok        ok          ok
        registerToken      ok     ok     ok     ok       auth ok        ok          ok
        caller             ok     ok     ok     ok       auth ok        ok          ok
        currentUser        ok     ok     ok     ok       auth ok        ok          ok
        discover           0      0      0      0        auth 0         0           0
        lookupUsers        0      0      0      0        auth 0         0           0
        upload             ok     denied ok     zone     auth zone      zone        zone
        rereference        asset  denied asset  zone     auth zone      zone        zone
        rereferenceHidden  asset  denied none   zone     auth zone      zone        zone
        """

    private static let rows = table.split(separator: "\n").dropFirst().map {
        $0.split(separator: " ").map(String.init)
    }

    @Test(arguments: rows.map { $0[0] })
    func everybodyIsAnsweredAsTheTableSays(operation: String) throws {
        let row = try #require(Self.rows.first { $0[0] == operation })
        #expect(row.count == Self.callers.count + 1)
        // One service for the row, in which each cell has a container of its own.
        let service = try ServiceFixture(makesZone: false)
        for (index, name) in Self.callers.enumerated() {
            let cell = try Cell(name, service)
            let before = try cell.whatAnnaHas()
            let answer = try cell.answer(to: operation)
            #expect(answer == row[index + 1], "\(operation) by \(name)")
            let isRefused = !["ok", "0", "1", "2", "3", "4", "5"].contains(answer)
            if isRefused { #expect(try cell.whatAnnaHas() == before, "\(operation) by \(name)") }
        }
    }

    /// Without an app's token, with another container's, and with another user's nobody gets in.
    @Test func tokensAreForTheirContainerAndTheirUser() throws {
        let service = try ServiceFixture().service
        let accounts = service.accounts
        try accounts.createContainer("iCloud.other")
        let user = try accounts.createUser(label: "x").userRecordName
        let own = try accounts.issueAPIToken(container: ServiceFixture.container, label: "x").secret
        let other = try accounts.issueAPIToken(container: "iCloud.other", label: "x").secret
        let token = try accounts.issueUserToken(userRecordName: user, label: "x").secret
        func code(_ api: String?, _ user: String?) -> RecordError.Code? {
            do {
                _ = try service.authenticate(
                    apiToken: api, userToken: user, container: ServiceFixture.container)
                return nil
            } catch { return error.code }
        }
        #expect(code(nil, token) == .authenticationRequired)
        #expect(code(own, nil) == .authenticationRequired)
        #expect(code(other, token) == .authenticationFailed)
        #expect(code(own, own) == .authenticationFailed)
        #expect(code(own, token) == nil)
    }
}

/// One service with one who asks it.
private struct Cell {
    private let world: SharingFixture
    private let asker: ServiceFixture
    private let zone: ZoneID
    private let share: Record

    init(_ name: String, _ service: ServiceFixture) throws {
        world = try SharingFixture(in: "iCloud.cell.\(name)", of: service)
        share = try world.shareRoot(with: [
            SharingFixture.participant("_bert"), SharingFixture.participant("_carla", .readOnly),
        ])
        _ = try world.accept(share, world.bert)
        _ = try world.accept(share, world.carla)
        var asker = world.bert
        switch name {
        case "owner": asker = world.anna
        case "reader": asker = world.carla
        case "stranger": asker.caller = Caller(userRecordName: "_dora")
        case "app": asker.caller = .world
        case "container":
            try world.anna.service.accounts.createContainer("iCloud.other")
            asker.target.container = "iCloud.other"
        case "environment": asker.target.environment = "production"
        case "foreign":
            asker.caller = Caller(userRecordName: "_dora")
            asker.target.database = "private"
        default: break
        }
        self.asker = asker
        zone = name == "owner" ? ServiceFixture.zone : SharingFixture.shared
    }

    func whatAnnaHas() throws -> [RecordResult] {
        try world.anna.lookup(["root", "a", "b", "private", "share", "new"])
    }

    /// `ok`, the number of things in a list, or a word for the code of what is refused.
    func answer(to operation: String) throws -> String {
        do {
            let request = try request(operation)
            return Self.word(try asker.send(request), isList: request == .listZones)
        } catch let error as RecordError {
            return Self.word(error)
        }
    }

    private static func word(_ error: RecordError) -> String {
        switch error.code {
        case .zoneNotFound: "zone"
        case .notFound: "none"
        case .accessDenied: "denied"
        case .authenticationRequired: "auth"
        case .badRequest: "bad"
        case .exists: "exists"
        case .assetNotFound: "asset"
        case .validatingReferenceError: "needed"
        default: error.description
        }
    }

    private static func word(_ response: RecordResponse, isList: Bool) -> String {
        switch response {
        case .records(let reply):
            if reply.results.count == 1, let error = reply.results[0].error { return word(error) }
            return reply.results.count > 1 ? "\(reply.results.count)" : "ok"
        case .zoneChanges(let pages):
            return pages[0].failure.map(word) ?? "\(pages[0].records.count)"
        case .recordChanges(let page): return "\(page.records.count)"
        case .databaseChanges(let reply): return "\(reply.zones.count)"
        case .zones(let zones):
            if zones.count == 1, let error = zones[0].error { return word(error) }
            return isList ? "\(zones.count)" : "ok"
        case .subscriptions(let results):
            guard let first = results.first else { return "0" }
            if case .failure(let error) = first { return word(error) }
            return "ok"
        case .users(let reply): return "\(reply.users.count)"
        case .shares(let results): return results[0].error.map(word) ?? "ok"
        case .assets(let results):
            if case .failure(let error) = results[0] { return word(error) }
            return "ok"
        case .courierToken, .nothing, .caller, .assetUploads: return "ok"
        }
    }

    // MARK: Requests

    private func request(_ operation: String) throws -> RecordRequest {
        switch operation {
        case "lookup": return .lookupRecords(LookupRecords(recordNames: ["a"], zoneID: zone))
        case "lookupHidden":
            return .lookupRecords(LookupRecords(recordNames: ["private"], zoneID: zone))
        case "query":
            return .queryRecords(QueryRecords(RecordQuery(recordType: "Note"), zoneID: zone))
        case "zoneChanges":
            return .zoneChanges(ZoneChanges(zones: [.init(zoneID: zone, syncToken: nil)]))
        case "recordChanges":
            return .recordChanges(RecordChanges(zone: .init(zoneID: zone, syncToken: nil)))
        case "databaseChanges": return .databaseChanges(DatabaseChanges(syncToken: nil))
        case "listZones": return .listZones
        case "lookupZones": return .lookupZones([zone])
        case "createZone": return .modifyZones([ZoneOperation(.create, newZone)])
        case "deleteZone": return .modifyZones([ZoneOperation(.delete, zone)])
        default: return try writing(operation) ?? other(operation)
        }
    }

    private var newZone: ZoneID {
        ZoneID(
            zoneName: "new",
            ownerRecordName: asker.target.database == "private" ? nil : zone.ownerRecordName)
    }

    private func writing(_ operation: String) throws -> RecordRequest? {
        func write(_ kind: RecordOperation.Kind, _ record: Record) -> RecordRequest {
            .modifyRecords(
                ModifyRecords(operations: [RecordOperation(kind, record)], zoneID: zone))
        }
        func tagged(_ name: String) throws -> Record {
            .note(name, "x", tag: try world.anna.lookup([name])[0].record?.recordChangeTag)
        }
        switch operation {
        case "create": return write(.create, SharingFixture.child("new", of: "b"))
        case "createOutside": return write(.create, .note("new"))
        case "createOverHidden": return write(.create, SharingFixture.child("private", of: "a"))
        case "update": return write(.update, try tagged("a"))
        case "updateHidden": return write(.update, try tagged("private"))
        case "forceUpdate": return write(.forceUpdate, .note("a", "x"))
        case "forceUpdateHidden": return write(.forceUpdate, .note("private", "x"))
        case "replace": return write(.replace, try tagged("a"))
        case "forceReplace": return write(.forceReplace, .note("a", "x"))
        case "delete": return write(.delete, try tagged("b"))
        case "forceDelete": return write(.forceDelete, .note("b"))
        case "deleteHidden": return write(.delete, try tagged("private"))
        case "deleteRoot": return write(.forceDelete, .note("root"))
        case "moveOut": return write(.forceUpdate, SharingFixture.child("a", of: nil))
        case "changeShare":
            var change = Record(recordName: "share", recordType: Record.shareType)
            change.publicPermission = .readWrite
            return write(.forceUpdate, change)
        case "makeShare": return write(.create, SharingFixture.share("more", of: "private"))
        case "deleteShare":
            return write(.forceDelete, Record(recordName: "share", recordType: Record.shareType))
        default: return nil
        }
    }

    private func other(_ operation: String) -> RecordRequest {
        let guid = ShareLookup([.init(shortGUID: share.shortGUID ?? "", fetchesRoot: true)])
        let token = CourierToken(apnsEnvironment: "development", apnsToken: "t")
        func subscribe(_ kind: RecordSubscription.Kind, _ zone: ZoneID?) -> RecordRequest {
            .modifySubscriptions([
                SubscriptionOperation(
                    .create,
                    RecordSubscription(subscriptionID: "s", kind: kind, zoneID: zone))
            ])
        }
        func receipt(_ record: String) -> RecordRequest {
            .rereferenceAssets(
                RereferenceAssets(
                    assets: [.init(recordName: record, fieldName: "f")], zoneID: zone))
        }
        switch operation {
        case "resolve": return .resolveShares(guid)
        case "accept": return .acceptShares(guid)
        case "subscribeDatabase": return subscribe(.database, nil)
        case "subscribeZone": return subscribe(.zone, zone)
        case "lookupSubscription": return .lookupSubscriptions(["none"])
        case "listSubscriptions": return .listSubscriptions
        case "createToken": return .createToken(token)
        case "registerToken": return .registerToken(token)
        case "caller": return .caller
        case "currentUser": return .currentUser
        case "discover":
            return .lookupUsers(
                UserLookup(.discover, [UserLookupInfo(userRecordName: "_anna")]))
        case "lookupUsers":
            return .lookupUsers(UserLookup(.id, [UserLookupInfo(userRecordName: "_anna")]))
        case "upload":
            return .uploadAssets(UploadAssets(tokens: [.init(fieldName: "f")], zoneID: zone))
        case "rereference": return receipt("a")
        default: return receipt("private")
        }
    }
}
