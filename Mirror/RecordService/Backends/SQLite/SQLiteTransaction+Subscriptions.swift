internal import Foundation
internal import SQLiteDriver

/// Rows of subscriptions and courier tokens.
extension SQLiteTransaction {
    static let subscriptionTable = """
        CREATE TABLE IF NOT EXISTS subscriptions(
            container TEXT NOT NULL, environment TEXT NOT NULL, scope TEXT NOT NULL,
            user TEXT NOT NULL, id TEXT NOT NULL, body BLOB NOT NULL,
            PRIMARY KEY (container, environment, scope, user, id)) WITHOUT ROWID;
        """
    static let courierTable = """
        CREATE TABLE IF NOT EXISTS couriers(
            hash BLOB PRIMARY KEY, user TEXT NOT NULL, container TEXT NOT NULL,
            environment TEXT NOT NULL, created_at INTEGER NOT NULL, token TEXT) WITHOUT ROWID;
        CREATE INDEX IF NOT EXISTS couriers_by_user ON couriers(user, created_at);
        """

    /// Makes the tables where they are missing. Courier tokens of the time when they did not know
    /// by which token they were asked for could outlive it: they end, and clients ask for others.
    static func prepareSubscriptions(_ connection: Connection) throws {
        let isFormer = try connection.value(
            """
            SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'couriers'
            AND NOT EXISTS (SELECT 1 FROM pragma_table_info('couriers') WHERE name = 'token')
            """)
        if isFormer != nil { try connection.script("DROP TABLE couriers") }
        try connection.script(subscriptionTable + courierTable)
    }

    private static let place = "container = ? AND environment = ? AND scope = ? AND user = ?"

    private static func values(_ key: DatabaseKey, _ user: String) -> [SQLiteValue] {
        [.text(key.container), .text(key.environment), .text(key.scope), .text(user)]
    }

    func subscriptions(of user: String, in key: DatabaseKey) throws -> [SubscriptionRow] {
        try all(
            "SELECT id, body FROM subscriptions WHERE \(Self.place) ORDER BY id",
            Self.values(key, user)
        ) {
            SubscriptionRow(user: user, id: $0.text(at: 0) ?? "", body: $0.blob(at: 1) ?? Data())
        }
    }

    func subscription(
        _ id: String, of user: String, in key: DatabaseKey
    ) throws -> SubscriptionRow? {
        try first(
            "SELECT body FROM subscriptions WHERE \(Self.place) AND id = ?",
            Self.values(key, user) + [.text(id)]
        ) { SubscriptionRow(user: user, id: id, body: $0.blob(at: 0) ?? Data()) }
    }

    func save(_ subscription: SubscriptionRow, in key: DatabaseKey) throws {
        try connection.run(
            """
            INSERT OR REPLACE INTO subscriptions(container, environment, scope, user, id, body)
            VALUES (?, ?, ?, ?, ?, ?)
            """,
            Self.values(key, subscription.user) + [
                .text(subscription.id), .blob(subscription.body),
            ])
    }

    func removeSubscription(_ id: String, of user: String, in key: DatabaseKey) throws -> Bool {
        try connection.run(
            "DELETE FROM subscriptions WHERE \(Self.place) AND id = ?",
            Self.values(key, user) + [.text(id)]) > 0
    }

    func courier(_ hash: Data) throws -> CourierTokenRow? {
        try first(
            "SELECT user, container, environment, token FROM couriers WHERE hash = ?",
            [.blob(hash)]
        ) {
            CourierTokenRow(
                hash: hash,
                owner: CourierRow(
                    user: $0.text(at: 0) ?? "", container: $0.text(at: 1) ?? "",
                    environment: $0.text(at: 2) ?? ""),
                tokenID: $0.text(at: 3))
        }
    }

    func save(
        _ courier: CourierTokenRow, at milliseconds: Int64, tokensMax: Int
    ) throws {
        let owner = courier.owner
        try connection.run(
            """
            INSERT OR REPLACE INTO couriers(hash, user, container, environment, created_at, token)
            VALUES (?, ?, ?, ?, ?, ?)
            """,
            [
                .blob(courier.hash), .text(owner.user), .text(owner.container),
                .text(owner.environment), .integer(milliseconds), SQLiteValue(courier.tokenID),
            ])
        try connection.run(
            """
            DELETE FROM couriers WHERE user = ? AND hash NOT IN (
                SELECT hash FROM couriers WHERE user = ? ORDER BY created_at DESC LIMIT ?)
            """, [.text(owner.user), .text(owner.user), SQLiteValue(tokensMax)])
    }
}
