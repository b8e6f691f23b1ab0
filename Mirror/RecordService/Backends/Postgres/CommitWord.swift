internal import Foundation
internal import RecordWire

/// A notice as one word of what NOTIFY carries: its parts in base64, with dots between. A database
/// alone has four parts, as it always had; a program that does not know a word takes it for
/// anything.
enum CommitWord {
    private static let anything = "*"
    private static let access = ["access"]
    private static let databaseParts = 4
    /// What a notice shows that is longer than this is left out of the word.
    private static let shownBytesMax = 4_000

    static func word(_ notice: CommitNotice) -> String {
        switch notice {
        case .anything: anything
        case .access: text(access)
        case .database(let key): text(parts(key))
        case .shared(let key): text(["shared"] + parts(key))
        case .zones(let names, let key): text(["zones"] + parts(key) + names)
        case .records(let written):
            text(
                ["records"] + parts(written.key) + [written.zone]
                    + [
                        written.changes.lowerBound, written.changes.upperBound,
                        written.times.lowerBound, written.times.upperBound,
                    ].map { String($0) })
        case .fired(let fired):
            text(
                ["fired"] + parts(fired.key) + [fired.owner.user, shown(of: fired)]
                    + parts(fired.cause))
        }
    }

    /// `.anything` for a word of a program that knows more.
    static func notice(_ word: String) -> CommitNotice {
        let parts = word.split(separator: ".", omittingEmptySubsequences: false)
            .compactMap { Base64URL.bytes(String($0)) }
            .map { String(decoding: $0, as: UTF8.self) }
        if parts == access { return .access }
        if parts.count == databaseParts { return .database(key(parts[...])) }
        guard parts.count > databaseParts else { return .anything }
        let key = key(parts.dropFirst())
        let rest = Array(parts.dropFirst(databaseParts + 1))
        switch parts[0] {
        case "shared": return .shared(key)
        case "zones": return .zones(rest, key)
        case "records": return records(rest, key).map { .records($0) } ?? .anything
        case "fired": return fired(rest, key).map { .fired($0) } ?? .anything
        default: return .anything
        }
    }

    private static func text(_ parts: [String]) -> String {
        parts.map { Base64URL.text($0.utf8) }.joined(separator: ".")
    }

    private static func parts(_ key: DatabaseKey) -> [String] {
        [key.container, key.environment, key.scope, key.owner]
    }

    /// `parts` has four at least.
    private static func key(_ parts: ArraySlice<String>) -> DatabaseKey {
        let parts = Array(parts)
        return DatabaseKey(
            container: parts[0], environment: parts[1], scope: parts[2], owner: parts[3])
    }

    private static func records(_ parts: [String], _ key: DatabaseKey) -> WrittenRecords? {
        let numbers = parts.dropFirst().compactMap { Int64($0) }
        guard numbers.count == 4, parts.count == 5, 0 < numbers[0], numbers[0] <= numbers[1],
            numbers[2] <= numbers[3]
        else { return nil }
        return WrittenRecords(
            key: key, zone: parts[0], changes: numbers[0]...numbers[1],
            times: numbers[2]...numbers[3])
    }

    // MARK: Subscriptions that fired

    /// Name and texts of the subscription.
    private static func shown(of fired: FiredSubscription) -> String {
        var shown = RecordSubscription(
            subscriptionID: fired.subscription.subscriptionID, kind: .database)
        shown.notificationInfo = fired.subscription.notificationInfo
        var body = try? WireCodec.encode(shown)
        if body?.count ?? 0 > shownBytesMax {
            shown.notificationInfo = nil
            body = try? WireCodec.encode(shown)
        }
        return String(decoding: body ?? Data(), as: UTF8.self)
    }

    private static func parts(_ cause: CourierNotice.Cause) -> [String] {
        switch cause {
        case .database: ["database"]
        case .zone(let name): ["zone", name]
        case .record(let name, let event, let zone): ["record", name, event.rawValue, zone]
        }
    }

    private static func cause(_ parts: ArraySlice<String>) -> CourierNotice.Cause? {
        let parts = Array(parts)
        switch (parts.first, parts.count) {
        case ("database", 1): return .database
        case ("zone", 2): return .zone(parts[1])
        case ("record", 4):
            return RecordSubscription.Event(rawValue: parts[2]).map {
                .record(parts[1], $0, zoneName: parts[3])
            }
        default: return nil
        }
    }

    private static func fired(_ parts: [String], _ key: DatabaseKey) -> FiredSubscription? {
        guard parts.count > 2,
            let subscription = try? WireCodec.decodeSubscription(Data(parts[1].utf8)),
            let cause = cause(parts.dropFirst(2))
        else { return nil }
        return FiredSubscription(
            owner: CourierRow(
                user: parts[0], container: key.container, environment: key.environment),
            key: key, subscription: subscription, cause: cause)
    }
}
