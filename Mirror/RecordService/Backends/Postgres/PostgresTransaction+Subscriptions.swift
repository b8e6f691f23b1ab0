internal import Foundation
internal import PostgresDriver

/// Rows of subscriptions and courier tokens.
extension PostgresTransaction {
    private static let place =
        "container = $1 AND environment = $2 AND scope = $3 AND user_name = $4"

    private static func values(_ key: DatabaseKey, _ user: String) -> [PostgresValue] {
        [.name(key.container), .name(key.environment), .name(key.scope), .name(user)]
    }

    func subscriptions(of user: String, in key: DatabaseKey) throws -> [SubscriptionRow] {
        try all(
            "SELECT id, body FROM subscriptions WHERE \(Self.place) ORDER BY id",
            Self.values(key, user)
        ) { SubscriptionRow(user: user, id: $0.text(at: 0), body: $0.data(at: 1)) }
    }

    func subscription(
        _ id: String, of user: String, in key: DatabaseKey
    ) throws -> SubscriptionRow? {
        try first(
            "SELECT body FROM subscriptions WHERE \(Self.place) AND id = $5",
            Self.values(key, user) + [.name(id)]
        ) { SubscriptionRow(user: user, id: id, body: $0.data(at: 0)) }
    }

    func save(_ subscription: SubscriptionRow, in key: DatabaseKey) throws {
        try connection.send(
            """
            INSERT INTO subscriptions(container, environment, scope, user_name, id, body)
            VALUES ($1, $2, $3, $4, $5, $6)
            ON CONFLICT (container, environment, scope, user_name, id)
            DO UPDATE SET body = excluded.body
            """,
            Self.values(key, subscription.user) + [
                .name(subscription.id), .bytes(subscription.body),
            ])
    }

    func removeSubscription(_ id: String, of user: String, in key: DatabaseKey) throws -> Bool {
        try isThere(
            "DELETE FROM subscriptions WHERE \(Self.place) AND id = $5 RETURNING 1",
            Self.values(key, user) + [.name(id)])
    }

    func courier(_ hash: Data) throws -> CourierTokenRow? {
        try first(
            "SELECT user_name, container, environment, token FROM couriers WHERE hash = $1",
            [.bytes(hash)]
        ) {
            CourierTokenRow(
                hash: hash,
                owner: CourierRow(
                    user: $0.text(at: 0), container: $0.text(at: 1), environment: $0.text(at: 2)),
                tokenID: $0.textIfAny(at: 3))
        }
    }

    func save(
        _ courier: CourierTokenRow, at milliseconds: Int64, tokensMax: Int
    ) throws {
        let owner = courier.owner
        try connection.send(
            """
            INSERT INTO couriers(hash, user_name, container, environment, created_at, token)
            VALUES ($1, $2, $3, $4, $5, $6)
            ON CONFLICT (hash) DO UPDATE SET user_name = excluded.user_name,
                container = excluded.container, environment = excluded.environment,
                created_at = excluded.created_at, token = excluded.token
            """,
            [
                .bytes(courier.hash), .name(owner.user), .name(owner.container),
                .name(owner.environment), .integer(milliseconds),
                PostgresValue(nameOf: courier.tokenID),
            ])
        try connection.send(
            """
            DELETE FROM couriers WHERE user_name = $1 AND hash NOT IN (
                SELECT hash FROM couriers WHERE user_name = $1
                ORDER BY created_at DESC, hash LIMIT $2)
            """, [.name(owner.user), PostgresValue(tokensMax)])
    }
}
