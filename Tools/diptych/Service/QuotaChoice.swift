internal import RecordService

/// What one user is to be allowed to keep.
struct QuotaChoice: Sendable {
    private static let records = Option(
        "records", "N|none|standard", "quotas: records, or what serve says")
    private static let bytes = Option(
        "bytes", "N|none|standard", "quotas: bytes of records' fields, or what serve says")
    static let options = [records, bytes]

    private enum Limit {
        case number(Int64), none, standard

        /// No limit is kept as one that nothing reaches.
        var kept: Int64? {
            switch self {
            case .number(let number): number
            case .none: .max
            case .standard: nil
            }
        }
    }

    private let records: Limit?
    private let bytes: Limit?

    init(_ arguments: Arguments) throws {
        records = try Self.limit(Self.records, arguments)
        bytes = try Self.limit(Self.bytes, arguments)
    }

    var isEmpty: Bool { records == nil && bytes == nil }

    private static func limit(_ option: Option, _ arguments: Arguments) throws -> Limit? {
        switch arguments.value(option) {
        case nil: return nil
        case "none": return Limit.none
        case "standard": return .standard
        case let text?:
            guard let number = Int64(text), number >= 0 else {
                throw CommandError(
                    "usage", "--\(option.name) cannot be '\(text)'.",
                    hint: "Give a number, none or standard.", status: .usage)
            }
            return .number(number)
        }
    }

    /// Changes what was given, and leaves the rest as it is.
    func set(of name: String, _ accounts: ServiceAccounts) throws -> UserHolding {
        let user = try accounts.user(called: name)
        let former = try Self.holding(of: user, accounts)?.quota
        let quota = UserQuota(
            recordsMax: records.map(\.kept) ?? former?.recordsMax,
            bytesMax: bytes.map(\.kept) ?? former?.bytesMax)
        try accounts.setQuota(quota == UserQuota() ? nil : quota, of: user.userRecordName)
        guard let holding = try Self.holding(of: user, accounts) else {
            throw CommandError("unknownUser", "There is no user '\(name)' any more.")
        }
        return holding
    }

    private static func holding(
        of user: ServiceUser, _ accounts: ServiceAccounts
    ) throws -> UserHolding? {
        try accounts.holdings().first { $0.user.userRecordName == user.userRecordName }
    }

    func words(_ holding: UserHolding) -> String {
        let records = Self.word(holding.quota?.recordsMax)
        let bytes = Self.word(holding.quota?.bytesMax)
        return "records: \(records), bytes: \(bytes)"
    }

    /// How a limit is told: a number, none, or standard.
    static func word(_ limit: Int64?) -> String {
        switch limit {
        case nil: "standard"
        case .max: "none"
        case let limit?: String(limit)
        }
    }
}
