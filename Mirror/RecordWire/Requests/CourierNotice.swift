public import Foundation

/// What a subscription tells, as Apple's pushes say it: a client looks up or fetches then.
public struct CourierNotice: Hashable, Sendable {
    public enum Cause: Hashable, Sendable {
        case record(String, RecordSubscription.Event, zoneName: String)
        case zone(String)
        case database
    }
    public var container: String
    /// `public`, `private` or `shared`.
    public var database: String
    /// Whose database it is; empty for a public one.
    public var owner: String
    public var subscriptionID: String
    public var cause: Cause
    public var info: NotificationInfo?

    public init(
        container: String, database: String, owner: String, subscriptionID: String, cause: Cause,
        info: NotificationInfo? = nil
    ) {
        self.container = container
        self.database = database
        self.owner = owner
        self.subscriptionID = subscriptionID
        self.cause = cause
        self.info = info
    }
}

extension WireCodec {
    /// The text of a notice. (SERVICE §3, subscriptions)
    public static func encode(_ notice: CourierNotice) -> Data {
        var writer = JSONWriter()
        writer.object {
            $0.key("aps")
            $0.object { $0.alert(notice.info) }
            $0.key("ck")
            $0.object { $0.cause(of: notice) }
        }
        return writer.data
    }
}

extension JSONWriter {
    fileprivate mutating func alert(_ info: NotificationInfo?) {
        member("alert", info?.texts["alertBody"])
        member("sound", info?.texts["soundName"])
        member("category", info?.texts["category"])
        if info?.flags["shouldSendContentAvailable"] == true {
            member("content-available", Int64(1))
        }
    }

    fileprivate mutating func cause(of notice: CourierNotice) {
        member("ce", Int64(2))
        member("cid", notice.container)
        switch notice.cause {
        case .record(let name, let event, let zone):
            key("qry")
            object {
                $0.member("rid", name)
                $0.member("fo", event.number)
                $0.member("zid", zone)
                $0.place(of: notice)
            }
        case .zone(let zone):
            key("fet")
            object {
                $0.member("zid", zone)
                $0.place(of: notice)
            }
        case .database:
            key("met")
            object { $0.place(of: notice) }
        }
    }

    private static func number(ofDatabase name: String) -> Int64 {
        switch name {
        case "public": 1
        case "shared": 3
        default: 2
        }
    }

    private mutating func place(of notice: CourierNotice) {
        if !notice.owner.isEmpty { member("zoid", notice.owner) }
        member("dbs", Self.number(ofDatabase: notice.database))
        member("sid", notice.subscriptionID)
    }
}

extension RecordSubscription.Event {
    fileprivate var number: Int64 {
        switch self {
        case .create: 1
        case .update: 2
        case .delete: 3
        }
    }
}
