public import Foundation
internal import Platform
public import RecordWire

/// Tokens of the courier, and what it brings. (SERVICE §3, subscriptions)
extension RecordService {
    func createToken(
        _ request: CourierToken, _ key: DatabaseKey, _ caller: Caller
    ) throws(RecordError) -> RecordResponse {
        let text = try accounts.drawnSecret()
        var token = CourierToken(apnsEnvironment: request.apnsEnvironment, apnsToken: text)
        token.webcourierURL = nil
        let owner = CourierRow(
            user: caller.userRecordName, container: key.container, environment: key.environment)
        let hash = try Self.hash(text)
        let now = platform.milliseconds
        try backend.write {
            try $0.save(
                CourierTokenRow(hash: hash, owner: owner, tokenID: caller.tokenID), at: now,
                tokensMax: self.limits.work.courierTokensMax)
        }
        courier.open(hash, owner, with: [])
        return .courierToken(token)
    }

    /// The next notice for a token as JSON; nil while there is none. Throws AUTHENTICATION_FAILED
    /// for a token that is not known.
    public func nextNotice(forCourierToken token: String) throws(RecordError) -> Data? {
        try nextNotice(forCourierToken: token, poll: "")?.json
    }

    /// The next notice for one of several polls, of which the newest that listens is told: a client
    /// polls again when it was cut off. Throws as `nextNotice(forCourierToken:)` does.
    public func nextNotice(
        forCourierToken token: String, poll: String
    ) throws(RecordError) -> TakenNotice? {
        let (hash, _) = try admit(token)
        guard let notice = courier.take(hash, poll: poll) else { return nil }
        let name = platform.randomness.uuid().uuidString
        return TakenNotice(json: WireCodec.encode(notice, name: name)) { [courier] in
            courier.putBack(notice, hash)
        }
    }

    /// Calls `changed` for each new notice for a token until what is returned ends, or another
    /// poll listens. Throws as `nextNotice` does.
    public func listen(
        forCourierToken token: String, poll: String = "",
        changed: @escaping @Sendable () -> Void
    ) throws(RecordError) -> ChangeListening {
        courier.listen(try admit(token).hash, poll: poll, changed)
    }

    /// The user whose token it is. Throws as `nextNotice` does.
    public func user(ofCourierToken token: String) throws(RecordError) -> String {
        try admit(token).owner.user
    }

    /// Who comes first after a start may have missed anything, and hears so. With the token or key
    /// by which it was asked for, a courier's token ends.
    private func admit(
        _ token: String
    ) throws(RecordError) -> (hash: Data, owner: CourierRow) {
        let hash = try Self.hash(token)
        guard let row = try backend.read({ try $0.courier(hash) }) else {
            courier.close(hash)
            throw RecordError(
                .authenticationFailed,
                "The courier does not know the token; get one from tokens/create.")
        }
        do {
            try accounts.requireGood(tokenID: row.tokenID)
        } catch {
            if error.code == .authenticationFailed { courier.close(hash) }
            throw error
        }
        let owner = row.owner
        if !courier.knows(hash) {
            courier.open(
                hash, owner,
                with: try backend.read(.container(owner.container)) { try Self.all(of: owner, $0) })
        }
        return (hash, owner)
    }

    private static func hash(_ token: String) throws(RecordError) -> Data {
        guard token.utf8.count <= 200, let hash = try? SecretHash.sha256(token) else {
            throw RecordError(.authenticationFailed, "The text is no token of the courier.")
        }
        return hash
    }

    /// A notice for each of a user's subscriptions.
    private static func all(
        of owner: CourierRow, _ transaction: any BackendTransaction
    ) throws -> [CourierNotice] {
        try DatabaseKey.all(of: owner).flatMap { key in
            try transaction.subscriptions(of: owner.user, in: key).compactMap { row in
                guard let subscription = try? WireCodec.decodeSubscription(row.body) else {
                    return nil
                }
                let zone = subscription.zoneID?.zoneName
                return subscription.notice(
                    of: zone.map { .zone($0) } ?? .database, in: key)
            }
        }
    }

    // MARK: After a commit

    /// Tells those who wait at the courier, here and at other services, of written records.
    /// Failures are passed over: who missed a notice finds the change in the feed.
    func deliver(_ rows: [RecordRow], in zone: ZoneID, _ key: DatabaseKey) {
        guard let written = WrittenRecords(rows, in: zone, key) else { return }
        backend.announce(.records(written))
        bring(rows, in: zone, key)
    }

    /// Tells them of zones that were made or deleted.
    func deliver(_ zones: [String], _ key: DatabaseKey) {
        guard !zones.isEmpty else { return }
        backend.announce(.zones(zones, key))
        bring(zones, key)
    }

    /// Tells them that something in a database changed.
    func deliverChange(in key: DatabaseKey) {
        backend.announce(.shared(key))
        bringChange(in: key)
    }

    /// Tells those who wait here what another service did.
    func bring(_ notice: CommitNotice) {
        switch notice {
        case .database, .access: return
        case .records(let written):
            guard let rows = try? backend.read(written.key.place, { try written.rows($0) }) else {
                return courier.miss()
            }
            bring(rows, in: ZoneID(zoneName: written.zone), written.key)
        case .zones(let names, let key): bring(names, key)
        case .shared(let key): bringChange(in: key)
        case .fired(let fired): courier.put(self.notice(of: fired), for: fired.owner)
        case .anything:
            for owner in courier.owners {
                guard
                    let notices = try? backend.read(
                        .container(owner.container), { try Self.all(of: owner, $0) })
                else {
                    courier.miss()
                    continue
                }
                for notice in notices { courier.put(notice, for: owner) }
            }
        }
    }

    // MARK: To those who wait here

    private func bring(_ rows: [RecordRow], in zone: ZoneID, _ key: DatabaseKey) {
        guard !courier.isEmpty, !rows.isEmpty else { return }
        bring(in: key) { user, transaction in
            let access = try self.rules(for: Caller(userRecordName: user))
                .access(to: key, transaction)
            let seen = access.seesAll ? rows : try rows.filter { try access.sees($0) }
            return { subscription in
                guard !seen.isEmpty else { return [] }
                return try SubscriptionMatch(subscription, key, transaction)
                    .causes(of: seen, in: zone)
            }
        }
    }

    private func bring(_ zones: [String], _ key: DatabaseKey) {
        guard !courier.isEmpty else { return }
        bring(in: key) { _, _ in
            { subscription in
                switch subscription.kind {
                case .database: [Happening(.database)]
                case .zone:
                    zones.filter { $0 == subscription.zoneID?.zoneName }
                        .map { Happening(.zone($0)) }
                case .query: []
                }
            }
        }
    }

    private func bringChange(in key: DatabaseKey) {
        guard !courier.isEmpty else { return }
        bring(in: key) { _, _ in { $0.kind == .database ? [Happening(.database)] : [] } }
    }

    /// What happened, as far as one user may know of it, to a subscription of theirs.
    private typealias Causes = (RecordSubscription) throws -> [Happening]

    private func bring(
        in key: DatabaseKey, _ causes: (String, any BackendTransaction) throws -> Causes
    ) {
        var users = courier.users(container: key.container, environment: key.environment)
        if !key.isPublic { users.formIntersection([key.owner]) }
        for user in users {
            let found = try? backend.read(key.place) { transaction in
                let subscriptions = try transaction.subscriptions(of: user, in: key)
                guard !subscriptions.isEmpty else {
                    return [(RecordSubscription, [Happening])]()
                }
                let causes = try causes(user, transaction)
                return try subscriptions.compactMap { row in
                    try (try? WireCodec.decodeSubscription(row.body)).map { ($0, try causes($0)) }
                }
            }
            let owner = CourierRow(
                user: user, container: key.container, environment: key.environment)
            for (subscription, causes) in found ?? [] where !causes.isEmpty {
                guard !subscription.firesOnce else {
                    bringOnce(
                        FiredSubscription(
                            owner: owner, key: key, subscription: subscription,
                            cause: causes[0].cause), causes[0].fields)
                    continue
                }
                for found in causes {
                    courier.put(
                        subscription.notice(of: found.cause, found.fields, in: key), for: owner)
                }
            }
        }
    }

    /// Of several services that would tell it, the one that removes the subscription does, to those
    /// who wait at the others too.
    private func bringOnce(_ fired: FiredSubscription, _ fields: RecordFields) {
        let isFirst = try? backend.write(fired.key.place) {
            try $0.removeSubscription(
                fired.subscription.subscriptionID, of: fired.owner.user, in: fired.key)
        }
        guard isFirst ?? true else { return }
        courier.put(fired.notice(with: fields), for: fired.owner)
        backend.announce(.fired(fired))
    }

    /// What another service told, with the record's values as they are now.
    private func notice(of fired: FiredSubscription) -> CourierNotice {
        guard case .record(let name, let event, let zoneName) = fired.cause, event != .delete,
            let info = fired.subscription.notificationInfo, !info.fieldNames.isEmpty
        else { return fired.notice(with: [:]) }
        let row = try? backend.read(fired.key.place) { transaction -> RecordRow? in
            guard let database = try transaction.database(fired.key),
                let zone = try transaction.zone(named: zoneName, in: database.id)
            else { return nil }
            return try transaction.record(named: name, in: zone.id)
        }
        return fired.notice(with: (row ?? nil)?.fields(for: info) ?? [:])
    }
}

/// A notice on its way, which its queue has no more.
public struct TakenNotice: Sendable {
    public let json: Data
    /// Gives it back to the queue, where it did not arrive.
    public let putBack: @Sendable () -> Void
}

/// What written records mean to one subscription.
private struct SubscriptionMatch {
    private let subscription: RecordSubscription
    private let key: DatabaseKey
    /// nil where one fits the type no more that its field has now: no record passes it.
    private let filters: [QueryFilter]?

    init(
        _ subscription: RecordSubscription, _ key: DatabaseKey,
        _ transaction: any BackendTransaction
    ) throws {
        self.subscription = subscription
        self.key = key
        guard case .query(let query) = subscription.kind else {
            filters = []
            return
        }
        let database = try transaction.database(key)
        let types = try query.filters.map { filter -> String? in
            switch filter.field {
            case .system(let system): return system.type.rawValue
            case .anyText: return nil
            case .field(let name):
                return try database.flatMap {
                    try transaction.fieldUse(FieldKey(name, of: query.recordType), in: $0.id)?.type
                }
            }
        }
        filters = try? zip(query.filters, types).map { try QueryFilter($0, type: $1) }
    }

    func causes(of rows: [RecordRow], in zone: ZoneID) -> [Happening] {
        switch subscription.kind {
        case .database: return key.hasFeed(zone) ? [Happening(.database)] : []
        case .zone:
            let isIt = subscription.zoneID?.zoneName == zone.zoneName
            return isIt ? [Happening(.zone(zone.zoneName))] : []
        case .query(let query):
            let isAnywhere = subscription.zoneID == nil && subscription.zoneWide
            guard isAnywhere || (subscription.zoneID ?? ZoneID()).zoneName == zone.zoneName else {
                return []
            }
            return rows.filter { $0.type.isExactly(query.recordType) && fires(for: $0) }
                .map { row in
                    Happening(
                        .record(row.name, row.event, zoneName: zone.zoneName),
                        row.fields(for: subscription.notificationInfo))
                }
        }
    }

    /// Of a deleted record its type alone is known.
    private func fires(for row: RecordRow) -> Bool {
        guard subscription.firesOn.contains(row.event) else { return false }
        guard !row.isDeleted else { return true }
        guard let filters, let record = try? QueriedRecord(row) else { return false }
        return filters.allSatisfy { $0.passes(record) }
    }
}

extension RecordRow {
    fileprivate var event: RecordSubscription.Event {
        isDeleted ? .delete : created == modified ? .create : .update
    }

    /// What a notice shows of it.
    fileprivate func fields(for info: NotificationInfo?) -> RecordFields {
        guard let info, !isDeleted, !info.fieldNames.isEmpty,
            let fields = try? RecordArchive.decodeFields(self.fields)
        else { return [:] }
        return info.shown(fields)
    }
}

/// What a notice is of, and the values of it that are shown.
private struct Happening {
    let cause: CourierNotice.Cause
    let fields: RecordFields

    init(_ cause: CourierNotice.Cause, _ fields: RecordFields = [:]) {
        self.cause = cause
        self.fields = fields
    }
}

extension RecordSubscription {
    func notice(
        of cause: CourierNotice.Cause, _ fields: RecordFields = [:], in key: DatabaseKey
    ) -> CourierNotice {
        CourierNotice(
            container: key.container, database: key.scope, owner: key.owner,
            subscriptionID: subscriptionID, cause: cause, info: notificationInfo, fields: fields)
    }
}
