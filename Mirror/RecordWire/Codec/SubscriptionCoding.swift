public import Foundation

/// Reads subscriptions and tokens. (SERVICE §3, subscriptions)
extension WireObject {
    func modifySubscriptions() throws -> [SubscriptionOperation] {
        try allow(["operations"])
        return try required("operations") { key in
            try objects(key) { entry in
                try entry.allow(["operationType", "subscription"])
                let name = try entry.required("operationType", entry.string)
                guard let kind = SubscriptionOperation.Kind(rawValue: name) else {
                    throw entry.refusal(
                        "operationType", "is \(name); known are create, update, delete")
                }
                let given = try entry.required("subscription", entry.object)
                return SubscriptionOperation(kind, try given.subscription(isNamed: kind == .delete))
            }
        }
    }

    func lookupSubscriptions() throws -> [String] {
        try allow(["subscriptions"])
        return try required("subscriptions") { key in
            try objects(key) { entry in
                try entry.allow(["subscriptionID"])
                return try entry.required("subscriptionID", entry.string)
            }
        }
    }

    private static let subscriptionKeys: [WireKey] = [
        "subscriptionID", "subscriptionType", "zoneID", "zoneWide", "query", "firesOn",
        "firesOnce", "fireOnce", "notificationInfo",
    ]

    /// `isNamed`: only its name is wanted.
    func subscription(isNamed: Bool = false) throws -> RecordSubscription {
        try allow(Self.subscriptionKeys)
        let id = try string("subscriptionID") ?? ""
        guard !isNamed else { return RecordSubscription(subscriptionID: id, kind: .database) }
        var subscription = RecordSubscription(
            subscriptionID: id, kind: try subscriptionKind(), zoneID: try zoneID())
        subscription.zoneWide = try flag("zoneWide") ?? false
        subscription.firesOnce = try flag("firesOnce") ?? flag("fireOnce") ?? false
        subscription.notificationInfo = try object("notificationInfo")?.notificationInfo()
        guard let events = try strings("firesOn"), !events.isEmpty else { return subscription }
        subscription.firesOn = Set(
            try events.map { name in
                guard let event = RecordSubscription.Event(rawValue: name) else {
                    throw refusal("firesOn", "has \(name); known are create, update, delete")
                }
                return event
            })
        return subscription
    }

    private func subscriptionKind() throws -> RecordSubscription.Kind {
        let name = try required("subscriptionType", string)
        switch name.lowercased() {
        case "query":
            return .query(try required("query") { try object($0)?.recordQuery() })
        case "zone":
            guard has("zoneID") else { throw refusal("zoneID", "is missing") }
            return .zone
        case "database": return .database
        default:
            throw refusal("subscriptionType", "is \(name); known are query, zone, database")
        }
    }

    private func notificationInfo() throws -> NotificationInfo {
        typealias Info = NotificationInfo
        try allow(Info.texts + Info.lists + Info.flags)
        var info = Info()
        for key in Info.texts { info.texts[key.text] = try string(key) }
        for key in Info.lists { info.lists[key.text] = try strings(key) }
        for key in Info.flags { info.flags[key.text] = try flag(key) }
        return info
    }

    /// Clients name themselves with `clientId`, which nothing needs.
    func courierToken(isNew: Bool) throws -> CourierToken {
        try allow(["apnsEnvironment", "apnsToken", "clientId", "bundleID"])
        let environment =
            isNew
            ? try string("apnsEnvironment") ?? "development"
            : try required("apnsEnvironment", string)
        guard ["development", "production"].contains(environment) else {
            throw refusal("apnsEnvironment", "is development or production")
        }
        return CourierToken(
            apnsEnvironment: environment,
            apnsToken: isNew ? nil : try required("apnsToken", string))
    }

    // MARK: Answers

    func subscriptionResult() throws -> SubscriptionResult {
        if let error = try asError() { return .failure(error) }
        if try bool("deleted") == true { return .deleted(try required("subscriptionID", string)) }
        return .subscription(try subscription())
    }

    func courierReply() throws -> CourierToken {
        var token = CourierToken(
            apnsEnvironment: try required("apnsEnvironment", string),
            apnsToken: try string("apnsToken"))
        token.webcourierURL = try string("webcourierURL")
        return token
    }
}

/// Spells subscriptions and tokens.
extension JSONWriter {
    mutating func modifySubscriptions(_ operations: [SubscriptionOperation]) throws {
        key("operations")
        try array(operations) { writer, operation in
            try writer.object {
                $0.member("operationType", operation.kind.rawValue)
                $0.key("subscription")
                try $0.object {
                    guard operation.kind != .delete else {
                        return $0.member("subscriptionID", operation.subscription.subscriptionID)
                    }
                    try $0.subscription(operation.subscription)
                }
            }
        }
    }

    mutating func lookupSubscriptions(_ ids: [String]) {
        key("subscriptions")
        array(ids) { writer, id in writer.object { $0.member("subscriptionID", id) } }
    }

    /// Writes the members of a subscription into the innermost object.
    mutating func subscription(_ subscription: RecordSubscription) throws {
        if !subscription.subscriptionID.isEmpty {
            member("subscriptionID", subscription.subscriptionID)
        }
        switch subscription.kind {
        case .query(let query):
            member("subscriptionType", "query")
            key("query")
            try object { try $0.recordQuery(query) }
            member(
                "firesOn",
                RecordSubscription.Event.allCases.filter(subscription.firesOn.contains)
                    .map(\.rawValue))
        case .zone: member("subscriptionType", "zone")
        case .database: member("subscriptionType", "database")
        }
        member("zoneID", subscription.zoneID)
        if subscription.zoneWide { member("zoneWide", true) }
        if subscription.firesOnce { member("firesOnce", true) }
        guard let info = subscription.notificationInfo else { return }
        key("notificationInfo")
        object { $0.notificationInfo(info) }
    }

    private mutating func notificationInfo(_ info: NotificationInfo) {
        for (name, text) in info.texts.sorted(by: { $0.key < $1.key }) { member(name, text) }
        for (name, list) in info.lists.sorted(by: { $0.key < $1.key }) { member(name, list) }
        for (name, flag) in info.flags.sorted(by: { $0.key < $1.key }) { member(name, flag) }
    }

    mutating func subscriptions(_ results: [SubscriptionResult]) throws {
        key("subscriptions")
        try array(results) { writer, result in
            try writer.object {
                switch result {
                case .subscription(let subscription): try $0.subscription(subscription)
                case .deleted(let id):
                    $0.member("subscriptionID", id)
                    $0.member("deleted", true)
                case .failure(let error): try $0.error(error, numbersAsStrings: false)
                }
            }
        }
    }

    mutating func courierToken(_ token: CourierToken) {
        member("apnsEnvironment", token.apnsEnvironment)
        member("apnsToken", token.apnsToken)
        member("webcourierURL", token.webcourierURL)
    }
}

extension WireCodec {
    /// A subscription as it travels, for keeping.
    public static func encode(_ subscription: RecordSubscription) throws -> Data {
        var writer = JSONWriter()
        try writer.object { try $0.subscription(subscription) }
        return writer.data
    }

    /// Reads what `encode` wrote. Throws BAD_REQUEST for anything else.
    public static func decodeSubscription(
        _ data: Data
    ) throws(RecordError) -> RecordSubscription {
        try read(data, isStrict: false) { try $0.subscription() }
    }
}
