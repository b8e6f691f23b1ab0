public import Foundation

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

/// Spells notices as Apple's pushes do.
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
                writer.member(name, Self.arguments(names, fields))
            }
        }
    }

    /// A value is as long each time that it is named; what is too much is left out.
    private static func arguments(_ names: [String], _ fields: RecordFields) -> [String] {
        var bytesLeft = NotificationInfo.valueBytesMax
        return names.map { name in
            guard let text = (fields[name] ?? nil)?.noticeText, text.utf8.count <= bytesLeft
            else { return "" }
            bytesLeft -= text.utf8.count
            return text
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
