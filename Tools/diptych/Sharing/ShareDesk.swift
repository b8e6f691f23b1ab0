internal import Foundation
internal import MirrorEngine
internal import MirrorTransport
internal import Platform
internal import RecordWire
internal import SQLiteStore
internal import Stores

/// The works of `share` that ask the service. Each runs a round first, so that what it changes is
/// what the service has, and one after where that carries it out.
struct ShareDesk {
    private let mirrored: MirroredStore
    private let channel: CurlChannel
    private let session: MirrorSession
    private let requests: ZoneShares

    /// Throws for a store of the public database, which has no shares.
    init(_ mirrored: MirroredStore, _ service: ServiceChannel) throws {
        try Self.requireZones(of: mirrored)
        self.mirrored = mirrored
        channel = try service.carrier(of: mirrored)
        session = MirrorSession(
            mirrored: mirrored, container: service.place(of: mirrored), channel: channel)
        requests = ZoneShares(mirrored)
    }

    // MARK: The owner's

    /// Makes a share of objects, or of the whole zone for nil. Returns it and how many objects are
    /// in it; nil where all are.
    func make(
        _ words: [String]?, title: String?, openTo: ShareParticipant.Permission
    ) async throws -> (share: Record, count: Int?) {
        try requireOwner()
        guard let words else {
            _ = try await session.sync()
            let request = requests.creationOfWhole(title: title, permission: openTo)
            return (try requests.takeShare(try await channel.send(request)), nil)
        }
        let rows = try rows(words)
        _ = try await session.sync()
        let request = requests.creation(title: title, permission: openTo)
        let share = try requests.takeShare(try await channel.send(request))
        do {
            return (share, try await put(rows, into: share))
        } catch {
            // A share that was made for these objects alone is of no use.
            let answer = try? await channel.send(requests.end(of: share.recordName))
            if let answer { try? requests.takeEnd(of: share.recordName, answer) }
            throw error
        }
    }

    func add(_ words: [String], to name: String?) async throws -> (share: Record, count: Int?) {
        try requireOwner()
        let rows = try rows(words)
        _ = try await session.sync()
        let share = try Self.chosen(name, among: mirrored.shares())
        return (share, try await put(rows, into: share))
    }

    private func put(_ rows: [RowID], into share: Record) async throws -> Int? {
        guard let root = share.sharedRoot else { return nil }
        let shared = try mirrored.share(rows, below: root)
        _ = try await session.sync()
        try mirrored.checkShared(shared, below: root)
        return shared.count
    }

    func invite(
        _ word: String, _ permission: ShareParticipant.Permission, to name: String?
    ) async throws -> Record {
        let user = try ShareUser(word)
        return try await change(name) { list in
            if let place = list.firstIndex(where: user.isMeant) {
                list[place].permission = permission
            } else {
                list.append(
                    ShareParticipant(
                        identity: UserIdentity(lookupInfo: user.info), permission: permission))
            }
        }
    }

    func remove(_ word: String, from name: String?) async throws -> Record {
        let user = try ShareUser(word)
        let known = try await current(name)
        guard (known.participants ?? []).contains(where: { $0.kind != .owner && user.isMeant($0) })
        else {
            throw CommandError(
                "notFound", "'\(word)' takes no part in the share.",
                hint: "`diptych share` lists who does.")
        }
        return try await change(known) { $0.removeAll(where: user.isMeant) }
    }

    /// Returns the share that ended.
    func end(_ name: String?) async throws -> Record {
        let share = try await current(name)
        let answer = try await channel.send(requests.end(of: share.recordName))
        try requests.takeEnd(of: share.recordName, answer)
        return share
    }

    private func change(
        _ name: String?, _ body: (inout [ShareParticipant]) -> Void
    ) async throws -> Record {
        try await change(try await current(name), body)
    }

    private func change(
        _ share: Record, _ body: (inout [ShareParticipant]) -> Void
    ) async throws -> Record {
        try requests.takeShare(try await channel.send(requests.change(of: share, body)))
    }

    /// The share as the service has it now.
    private func current(_ name: String?) async throws -> Record {
        try requireOwner()
        _ = try await session.sync()
        return try Self.chosen(name, among: mirrored.shares())
    }

    private func requireOwner() throws {
        guard mirrored.settings.isShared else { return }
        throw CommandError(
            "notOwner", "The store's objects belong to somebody else, who alone shares them.",
            hint: "Ask the owner, whom `diptych share` names.")
    }

    private static func requireZones(of mirrored: MirroredStore) throws {
        guard mirrored.settings.database == .public else { return }
        throw CommandError(
            "publicDatabase",
            "The store is of the public database, where all users have part without a share.",
            hint: "Share the objects of a store of your own, or accept into an empty store: "
                + "`diptych create`.")
    }

    /// The share of that name, or the only one.
    static func chosen(_ name: String?, among shares: [Record]) throws -> Record {
        let names = shares.map(\.recordName)
        if let name {
            let titled = shares.filter { $0.recordName == name || $0.shareTitle == name }
            if titled.count == 1 { return titled[0] }
        } else if shares.count == 1 {
            return shares[0]
        }
        guard !shares.isEmpty else {
            throw CommandError(
                "noShare", "The store's zone has no share.",
                hint: "Make one: `diptych share STORE make --objects ENTITY:PREDICATE`.")
        }
        throw CommandError(
            "whichShare",
            name.map { "No share, or more than one, is called '\($0)'." }
                ?? "The store's zone has \(shares.count) shares.",
            hint: "Name one with --share: " + names.joined(separator: ", ") + ".", status: .usage)
    }

    // MARK: Objects

    private func rows(_ words: [String]) throws -> [RowID] {
        let found = try words.map { word in
            let rows = try self.rows(word)
            guard !rows.isEmpty else {
                throw CommandError(
                    "notFound", "The store has no object '\(word)'.",
                    hint: "Write ENTITY:PREDICATE; or as 'diptych inspect' does, such as Book/p3; "
                        + "or the name of a record.")
            }
            return rows
        }
        return Array(Set(found.joined())).sorted()
    }

    private func rows(_ word: String) throws -> [RowID] {
        let entity = String(word.prefix { $0 != ":" })
        if let layout = mirrored.store.layout.entity(named: entity) {
            let choice = try ObjectChoice(word, mirrored.store.layout.model)
            var query = RowQuery(entity: layout.number)
            query.predicate = choice.condition
            return try mirrored.store.read { try $0.ids(matching: query) }
        }
        return try mirrored.store.read { transaction in
            let isKnown = try Ledger.exists(in: transaction.connection)
            let ledger =
                isKnown ? Ledger(connection: transaction.connection, platform: .system) : nil
            let row = try ObjectName.row(
                word, transaction.layout, of: mirrored.store.identifier, ledger)
            return try row.map { try transaction.row($0) == nil ? [] : [$0] } ?? []
        }
    }

    // MARK: The participant's

    /// Takes part in a share whose objects come into a store: an empty one, one that has, or had,
    /// the zone of the same owner, or, for a further owner, one beside it. Returns which.
    static func accept(
        _ guid: String, into access: StoreAccess, _ round: RoundSettings, _ service: ServiceChannel
    ) async throws -> (metadata: ShareMetadata, summary: SyncSummary, store: StoreAccess) {
        let known = try access.openMirrored(round)
        try requireZones(of: known)
        let isShared = try known.isOfSharedDatabase()
        guard try isShared || known.isEmpty() else {
            throw CommandError(
                "notEmpty", "The store holds objects of its own, which would be shared too.",
                hint: "Accept the invitation into an empty store: `diptych create`.")
        }
        let environment = known.settings.scope.environment
        let asking = try service.carrier(deviceID: known.deviceID(), in: environment)
        let found = try await metadata(ZoneShares.resolution(of: [guid]), asking)
        guard let owner = found.zoneID.ownerRecordName else {
            throw CommandError(
                "ownShare", "The invitation is to a share of your own.",
                hint: "Send it to those who are invited.")
        }
        let bound = try MirroredStore.knownZone(of: known.store, .system)
        let place = try StoreFamily.place(
            of: found.zoneID, for: access, bound: bound, round.zone)
        let accepted = try await metadata(ZoneShares.acceptance(of: [guid]), asking)
        let zone = ZoneID(zoneName: found.zoneID.zoneName, ownerRecordName: owner)
        let mirrored = try MirroredStore(
            store: store(at: place, known, access), policy: round.policy, zoneName: zone.zoneName,
            zoneOwner: zone.ownerRecordName, environment: environment, keys: round.keys,
            platform: .system)
        let session = MirrorSession(
            mirrored: mirrored, container: service.place(of: mirrored),
            channel: try service.carrier(of: mirrored))
        return (accepted, try await session.sync(), place)
    }

    /// The store of the call, or the one beside it, which is made where it is not there.
    private static func store(
        at place: StoreAccess, _ known: MirroredStore, _ access: StoreAccess
    ) throws -> SQLiteRowStore {
        if place.url == access.url { return known.store }
        guard FileKind(of: place.url) == .absent else { return try place.open() }
        return try place.create(model: access.model())
    }

    private static func metadata(
        _ request: RecordRequest, _ channel: CurlChannel
    ) async throws -> ShareMetadata {
        do {
            guard let first = try ZoneShares.metadata(try await channel.send(request)).first else {
                throw RecordError(.notFound, "The service said nothing of the invitation.")
            }
            return first
        } catch let error as RecordError where error.code.canonical == .notFound {
            throw CommandError(
                "noInvitation", "The invitation leads to no share for you.",
                hint: "Ask who sent it: the share may have ended, or be for another user than "
                    + "the tokens are of.")
        }
    }

    /// Leaves the zone. Returns how many objects left the store.
    func leave() async throws -> Int {
        guard mirrored.settings.isShared else {
            throw CommandError(
                "ownZone", "The store's objects are your own; there is no share to leave.",
                hint: "To take others' part away, end the share: `diptych share STORE end`.")
        }
        // What waits is sent while that is allowed.
        _ = try await session.sync()
        let before = try mirrored.objectCount()
        try ZoneShares.takeLeaving(try await channel.send(requests.leaving))
        do {
            _ = try await session.sync()
        } catch let error as MirrorError where error.code == .shareEnded {
            // As it was to be.
        }
        return try before - mirrored.objectCount()
    }
}

/// Whom an owner means.
struct ShareUser {
    let info: UserLookupInfo

    init(_ word: String) throws {
        if word.contains("@") {
            info = UserLookupInfo(emailAddress: word.lowercased())
        } else if word.hasPrefix("+") {
            info = UserLookupInfo(phoneNumber: word)
        } else if word.hasPrefix("_") {
            info = UserLookupInfo(userRecordName: word)
        } else {
            throw CommandError(
                "usage", "USER cannot be '\(word)'.",
                hint: "Write an e-mail address, a telephone number as +49…, or the user's record "
                    + "name, which begins with _; 'diptych service users' lists them.",
                status: .usage)
        }
    }

    func isMeant(_ participant: ShareParticipant) -> Bool {
        let identity = participant.identity
        let known = [identity.lookupInfo?.userRecordName, identity.userRecordName]
        if let name = info.userRecordName { return known.contains(name) }
        if let phone = info.phoneNumber { return identity.lookupInfo?.phoneNumber == phone }
        return identity.lookupInfo?.emailAddress?.lowercased() == info.emailAddress
    }
}
