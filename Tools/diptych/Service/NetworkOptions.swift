internal import Foundation
internal import MirrorEngine

/// What a watch may take of the network, and when.
enum NetworkOptions {
    static let hours = Option(
        "hours", "TIMES", setting: true,
        "with --watch: rounds begin in these hours only, such as 22:00-06:30,12:00-13:00")
    static let metered = Option(
        "metered", "RULE", setting: true, words: ["all", "nothing"],
        "with --watch: this network is paid by the byte: all, nothing, or so many records a round")
    static let roundBytes = Option(
        "max-round", "BYTES", setting: true,
        "with --watch: a round ends once it has moved so many, and a later one goes on")
    static let dayBytes = Option(
        "max-day", "BYTES", setting: true, "with --watch: bytes that may travel in a day")
    static let all = [hours, metered, roundBytes, dayBytes]

    private static let recordsMax = 1_000_000_000
    private static let bytesMax = 1 << 50

    /// The policy that the arguments name, and whether they say that the network is metered.
    static func policy(_ arguments: Arguments) throws -> (policy: NetworkPolicy, isMetered: Bool) {
        var policy = NetworkPolicy()
        if let text = arguments.value(hours) {
            policy.hours = try text.split(separator: ",", omittingEmptySubsequences: false)
                .map(stretch)
        }
        let use = try arguments.value(metered).map(use)
        if let use { policy.metered = use }
        policy.bytesPerRoundMax = try arguments.number(roundBytes, in: 1...bytesMax).map(Int64.init)
        policy.bytesPerDayMax = try arguments.number(dayBytes, in: 1...bytesMax).map(Int64.init)
        return (policy, use != nil)
    }

    private static func stretch(_ text: Substring) throws -> DailyHours {
        let trimmed = text.trimmingCharacters(in: .whitespaces)
        guard let stretch = DailyHours(trimmed) else {
            throw CommandError(
                "usage", "--hours cannot be '\(trimmed)'.",
                hint: "Write times of day such as 22:00-06:30, with commas between several.",
                status: .usage)
        }
        return stretch
    }

    private static func use(_ text: String) throws -> NetworkPolicy.MeteredUse {
        switch text {
        case "all": return .all
        case "nothing": return .nothing
        default:
            guard let count = Int(text), (1...recordsMax).contains(count) else {
                throw CommandError(
                    "usage", "--metered cannot be '\(text)'.",
                    hint: "Write all, nothing, or the number of records of a small round.",
                    status: .usage)
            }
            return .smallRounds(recordsMax: count)
        }
    }
}
