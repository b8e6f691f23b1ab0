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
    private static let valueBytesMax = 4_096

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
    fileprivate var noticeText: String? {
        switch self {
        case .string(let text): text
        case .int64(let number), .timestamp(let number): String(number)
        case .double(let number): number.description
        case .reference(let target): target.recordName
        case .bytes, .location, .asset, .list, .encrypted: nil
        }
    }
}

extension WireCodec {
    /// The text of a notice; `name` tells it from all others. (SERVICE §3, subscriptions)
    public static func encode(_ notice: CourierNotice, name: String? = nil) -> Data {
        var writer = JSONWriter()
        writer.object {
            $0.key("aps")
            $0.object { $0.shown(notice) }
            $0.key("ck")
            $0.object {
                $0.member("nid", name)
                $0.cause(of: notice)
            }
        }
        return writer.data
    }
}

extension JSONWriter {
    fileprivate mutating func shown(_ notice: CourierNotice) {
        guard let info = notice.info else { return }
        alert(info, notice.fields)
        // Nobody tells how many were read.
        if info.flags["shouldBadge"] == true { member("badge", Int64(1)) }
        member("sound", info.texts["soundName"])
        member("category", info.texts["category"])
        if info.flags["shouldSendContentAvailable"] == true {
            member("content-available", Int64(1))
        }
        if info.flags["shouldSendMutableContent"] == true { member("mutable-content", Int64(1)) }
    }

    /// A text alone is the alert itself.
    private mutating func alert(_ info: NotificationInfo, _ fields: RecordFields) {
        let named = Self.alertTexts.filter { info.texts[$0.text] != nil }
        guard !named.isEmpty else { return }
        guard named.map(\.text) != ["alertBody"] else {
            return member("alert", info.texts["alertBody"])
        }
        key("alert")
        object { writer in
            for (text, name, arguments) in named {
                writer.member(name, info.texts[text])
                guard let (list, name) = arguments, let names = info.lists[list] else { continue }
                writer.member(name, names.map { (fields[$0] ?? nil)?.noticeText ?? "" })
            }
        }
    }

    private typealias AlertText = (text: String, name: String, arguments: (String, String)?)

    /// Texts of a subscription, what they are called in an alert, and what is put into them.
    private static let alertTexts: [AlertText] = [
        ("title", "title", nil),
        ("titleLocalizationKey", "title-loc-key", ("titleLocalizationArgs", "title-loc-args")),
        ("subtitle", "subtitle", nil),
        (
            "subtitleLocalizationKey", "subtitle-loc-key",
            ("subtitleLocalizationArgs", "subtitle-loc-args")
        ),
        ("alertBody", "body", nil),
        ("alertLocalizationKey", "loc-key", ("alertLocalizationArgs", "loc-args")),
        ("alertActionLocalizationKey", "action-loc-key", nil),
        ("alertLaunchImage", "launch-image", nil),
    ]

    private mutating func additionalFields(of notice: CourierNotice) {
        let names = notice.info?.lists["additionalFields"] ?? []
        let shown = names.enumerated().filter { index, name in
            notice.fields[name] != nil && !names[..<index].contains(name)
        }
        guard !shown.isEmpty else { return }
        key("af")
        object { writer in
            for (_, name) in shown { writer.plain(name, notice.fields[name] ?? nil) }
        }
    }

    private mutating func plain(_ name: String, _ value: FieldValue?) {
        switch value {
        case .int64(let number)?, .timestamp(let number)?: member(name, number)
        case .double(let number)?: member(name, number)
        default: member(name, value?.noticeText)
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
                $0.additionalFields(of: notice)
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
