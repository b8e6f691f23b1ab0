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
    /// The record's values of the fields that `info` names.
    public var fields: RecordFields

    public init(
        container: String, database: String, owner: String, subscriptionID: String, cause: Cause,
        info: NotificationInfo? = nil, fields: RecordFields = [:]
    ) {
        self.container = container
        self.database = database
        self.owner = owner
        self.subscriptionID = subscriptionID
        self.cause = cause
        self.info = info
        self.fields = fields
    }

    /// Whether both tell the same, though one may tell it later.
    public func isSame(_ other: CourierNotice) -> Bool {
        var later = other
        later.fields = fields
        return self == later
    }
}

extension NotificationInfo {
    /// As much of a record's values as a notice carries.
    static let valueBytesMax = 4_096

    /// What a notice has of a record: values that are texts, numbers, times or references, in the
    /// order in which they are named. What is encrypted or too long is left out.
    public func shown(_ fields: RecordFields) -> RecordFields {
        var shown: RecordFields = [:]
        var bytesLeft = Self.valueBytesMax
        for name in fieldNames where shown[name] == nil {
            guard let value = fields[name] ?? nil, let text = value.noticeText else { continue }
            guard text.utf8.count <= bytesLeft else { continue }
            bytesLeft -= text.utf8.count
            shown[name] = .some(value)
        }
        return shown
    }

    /// The fields whose values a notice has.
    public var fieldNames: [String] { Self.lists.flatMap { lists[$0.text] ?? [] } }
}

extension FieldValue {
    /// As a word of a sentence; nil for what is none.
    var noticeText: String? {
        switch self {
        case .string(let text): text
        case .int64(let number), .timestamp(let number): String(number)
        case .double(let number): number.description
        case .reference(let target): target.recordName
        case .bytes, .location, .asset, .list, .encrypted: nil
        }
    }
}
