internal import Foundation

/// A subscription as a row: whose it is, and its text.
struct SubscriptionRow {
    let user: String
    let id: String
    let body: Data
}

/// Who waits at the courier.
struct CourierRow: Hashable {
    let user: String
    let container: String
    let environment: String
}

/// A token of the courier.
struct CourierTokenRow {
    let hash: Data
    let owner: CourierRow
    /// The user's token or the server's key by which it was asked for; nil for callers that
    /// somebody else lets in.
    let tokenID: String?
}

/// Rows of subscriptions and courier tokens, inside one transaction.
protocol SubscriptionTransaction: AnyObject {
    func subscriptions(of user: String, in key: DatabaseKey) throws -> [SubscriptionRow]
    func subscription(_ id: String, of user: String, in key: DatabaseKey) throws -> SubscriptionRow?
    /// Adds it or replaces the one of its name.
    func save(_ subscription: SubscriptionRow, in key: DatabaseKey) throws
    /// Returns whether it was there.
    func removeSubscription(_ id: String, of user: String, in key: DatabaseKey) throws -> Bool

    func courier(_ hash: Data) throws -> CourierTokenRow?
    /// Keeps the token; of this user's the newest `tokensMax` stay.
    func save(_ courier: CourierTokenRow, at milliseconds: Int64, tokensMax: Int) throws
}
