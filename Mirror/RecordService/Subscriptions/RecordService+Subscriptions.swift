internal import Foundation
internal import Platform
internal import RecordWire

/// What users want to hear of. (SERVICE §3, subscriptions)
extension RecordService {
    func modifySubscriptions(
        _ operations: [SubscriptionOperation], _ key: DatabaseKey, _ caller: Caller
    ) throws(RecordError) -> RecordResponse {
        try limits.checkCount(operations.count, of: "operations")
        return try backend.write(key.place) { transaction in
            .subscriptions(
                try operations.map { operation in
                    do {
                        return try self.perform(
                            operation, key, caller.userRecordName, transaction)
                    } catch var error as RecordError {
                        error.subscriptionID = operation.subscription.subscriptionID
                        return .failure(error)
                    }
                })
        }
    }

    func lookupSubscriptions(
        _ ids: [String], _ key: DatabaseKey, _ caller: Caller
    ) throws(RecordError) -> RecordResponse {
        try limits.checkCount(ids.count, of: "names")
        return try backend.read(key.place) { transaction in
            .subscriptions(
                try ids.map { id in
                    guard
                        let row = try transaction.subscription(
                            id, of: caller.userRecordName, in: key)
                    else { return .failure(Self.noSubscription(id)) }
                    return .subscription(try WireCodec.decodeSubscription(row.body))
                })
        }
    }

    func listSubscriptions(
        _ key: DatabaseKey, _ caller: Caller
    ) throws(RecordError) -> RecordResponse {
        try backend.read(key.place) { transaction in
            .subscriptions(
                try transaction.subscriptions(of: caller.userRecordName, in: key).map {
                    .subscription(try WireCodec.decodeSubscription($0.body))
                })
        }
    }

    private func perform(
        _ operation: SubscriptionOperation, _ key: DatabaseKey, _ user: String,
        _ transaction: any BackendTransaction
    ) throws -> SubscriptionResult {
        var subscription = operation.subscription
        if subscription.subscriptionID.isEmpty, operation.kind == .create {
            subscription.subscriptionID = platform.randomness.uuid().uuidString
        }
        let id = subscription.subscriptionID
        try limits.checkName(id, of: "subscriptionID")
        switch operation.kind {
        case .delete:
            guard try transaction.removeSubscription(id, of: user, in: key) else {
                throw Self.noSubscription(id)
            }
            return .deleted(id)
        case .update:
            guard try transaction.subscription(id, of: user, in: key) != nil else {
                throw Self.noSubscription(id)
            }
        case .create:
            let others = try transaction.subscriptions(of: user, in: key).filter { $0.id != id }
            guard others.count < limits.work.subscriptionsMax else { throw tooManySubscriptions }
        }
        try check(subscription, key, transaction)
        let row = SubscriptionRow(
            user: user, id: id, body: try WireCodec.encode(subscription))
        guard row.body.count <= limits.work.subscriptionBytesMax else {
            throw RecordError(
                .limitExceeded,
                "The subscription has more than \(limits.work.subscriptionBytesMax) bytes.")
        }
        try transaction.save(row, in: key)
        return .subscription(subscription)
    }

    /// Refuses what could never fire.
    private func check(
        _ subscription: RecordSubscription, _ key: DatabaseKey,
        _ transaction: any BackendTransaction
    ) throws {
        guard !key.isShared || subscription.kind == .database else {
            throw RecordError(
                .badRequest, "Subscriptions in the shared database are of type database.")
        }
        let zone = try subscription.zoneID.map { try $0.owned(by: key.owner) }
        if let zone, !zone.isDefault {
            guard let database = try transaction.database(key) else {
                throw zone.notFound(wasDeleted: false)
            }
            _ = try transaction.liveZone(zone, in: database)
        }
        guard case .query(let query) = subscription.kind else { return }
        try limits.checkName(query.recordType, of: "record type")
        guard query.filters.count <= limits.work.filtersMax else {
            throw RecordError(
                .limitExceeded, "A query takes at most \(limits.work.filtersMax) filters.")
        }
        for filter in query.filters {
            let system: String? =
                if case .system(let field) = filter.field { field.type.rawValue } else { nil }
            _ = try QueryFilter(filter, type: system)
        }
    }

    private static func noSubscription(_ id: String) -> RecordError {
        var error = RecordError(.notFound, "There is no subscription of this name.")
        error.subscriptionID = id
        return error
    }

    private var tooManySubscriptions: RecordError {
        RecordError(
            .limitExceeded,
            "The user has \(limits.work.subscriptionsMax) subscriptions in the database, the most "
                + "there may be; delete one first.")
    }
}
