/// What a user wants to hear of. (SERVICE §3, subscriptions)
public struct RecordSubscription: Hashable, Sendable {
    public enum Kind: Hashable, Sendable {
        /// Records that come to match a query, or that match and go.
        case query(RecordQuery)
        /// Anything in one zone.
        case zone
        /// Anything in the database's zones.
        case database
    }
    public enum Event: String, Hashable, Sendable, CaseIterable { case create, update, delete }

    /// Empty in a request that leaves it to the service.
    public var subscriptionID: String
    public var kind: Kind
    public var zoneID: ZoneID?
    /// Whether a query looks at all zones where no zone is named.
    public var zoneWide = false
    /// For a query.
    public var firesOn: Set<Event> = Set(Event.allCases)
    /// Whether it is forgotten once it has fired.
    public var firesOnce = false
    public var notificationInfo: NotificationInfo?

    public init(subscriptionID: String, kind: Kind, zoneID: ZoneID? = nil) {
        self.subscriptionID = subscriptionID
        self.kind = kind
        self.zoneID = zoneID
    }
}

/// How a notice is to be shown; kept and given back, and sent along with each notice, but for
/// `collapseIDKey`, which no courier needs.
public struct NotificationInfo: Hashable, Sendable {
    /// By the names of the wire, such as `alertBody`.
    public var texts: [String: String] = [:]
    public var lists: [String: [String]] = [:]
    public var flags: [String: Bool] = [:]

    public init() {}

    static let texts: [WireKey] = [
        "alertActionLocalizationKey", "alertBody", "alertLaunchImage", "alertLocalizationKey",
        "category", "collapseIDKey", "soundName", "subtitle", "subtitleLocalizationKey", "title",
        "titleLocalizationKey",
    ]
    static let lists: [WireKey] = [
        "additionalFields", "alertLocalizationArgs", "subtitleLocalizationArgs",
        "titleLocalizationArgs",
    ]
    static let flags: [WireKey] = [
        "shouldBadge", "shouldSendContentAvailable", "shouldSendMutableContent",
    ]

    package static var textKeys: [String] { texts.map(\.text) }
    package static var listKeys: [String] { lists.map(\.text) }
    package static var flagKeys: [String] { flags.map(\.text) }
}

/// One operation of `subscriptions/modify`.
public struct SubscriptionOperation: Hashable, Sendable {
    public enum Kind: String, Hashable, Sendable, CaseIterable { case create, update, delete }
    public var kind: Kind
    /// Of a deletion, the name alone counts.
    public var subscription: RecordSubscription

    public init(_ kind: Kind, _ subscription: RecordSubscription) {
        self.kind = kind
        self.subscription = subscription
    }
}

/// An entry of an answer about subscriptions.
public enum SubscriptionResult: Hashable, Sendable {
    case subscription(RecordSubscription)
    case deleted(String)
    case failure(RecordError)
}

/// `tokens/create` and `tokens/register`
public struct CourierToken: Hashable, Sendable {
    /// `development` or `production`.
    public var apnsEnvironment: String
    /// nil in a request for a new one.
    public var apnsToken: String?
    /// Where notices are waited for; in an answer.
    public var webcourierURL: String?

    public init(apnsEnvironment: String, apnsToken: String? = nil) {
        self.apnsEnvironment = apnsEnvironment
        self.apnsToken = apnsToken
    }
}
