internal import Dispatch
internal import Foundation
internal import Platform
internal import PostgresDriver

/// Tells other services over the same database of commits, and hears of theirs, by NOTIFY.
///
/// It rings after the commit and for many commits at once: a NOTIFY inside each transaction would
/// make all commits of the server wait for one another. A ring that is lost costs time and nothing
/// else: who waits asks again when its time is up.
final class ChangeBell: @unchecked Sendable {
    // @unchecked: `connection`, `source` and `isMute` are used on `queue` only.
    private let queue = DispatchQueue(label: "record-service.bell")
    private var connection: PostgresConnection?
    private var source: (any DispatchSourceRead)?
    /// The engine has no LISTEN.
    private var isMute = false
    private let pool: PostgresPool
    private let channel: String
    private let sender: String
    private let waiting = Lock<Set<DatabaseKey>>([])
    private let heard = Lock<(@Sendable (DatabaseKey?) -> Void)?>(nil)

    /// What NOTIFY carries is less than 8,000 bytes.
    private static let textBytesMax = 7_000
    private static let anything = "*"
    /// A ring need not be on the disk.
    private static let settings = "SET synchronous_commit = off; SET statement_timeout = 10000"

    init(_ pool: PostgresPool, channel: String, sender: String) {
        self.pool = pool
        self.channel = channel
        self.sender = sender
    }

    /// Calls `heard` from now on with what another service has changed; nil: nobody knows what.
    func listen(_ heard: @escaping @Sendable (DatabaseKey?) -> Void) {
        self.heard.withLock { $0 = heard }
        queue.async { [weak self] in _ = self?.connected() }
    }

    func stop() {
        queue.sync { hangUp() }
    }

    /// Something in the database was committed. Returns at once.
    func ring(_ database: DatabaseKey) {
        let isFirst = waiting.withLock { waiting in
            defer { waiting.insert(database) }
            return waiting.isEmpty
        }
        if isFirst { queue.async { [weak self] in self?.ringNow() } }
    }

    /// Whether something may have been said since the last call that was not heard.
    func mayHaveMissed() -> Bool {
        queue.sync {
            if isMute { return true }
            if connection != nil { return false }
            _ = connected()
            return true
        }
    }

    // MARK: On the queue

    private func ringNow() {
        let databases = waiting.withLock { waiting in
            defer { waiting = [] }
            return waiting
        }
        let words = databases.map(Self.word)
        let text = words.joined(separator: " ")
        guard let connection = connected() else { return }
        do {
            _ = try connection.rows(
                "SELECT pg_notify($1, $2)",
                [
                    .text(channel),
                    .text(
                        sender + " "
                            + (text.utf8.count > Self.textBytesMax ? Self.anything : text)),
                ])
            try hear(connection)
        } catch {
            hangUp()
        }
    }

    private func connected() -> PostgresConnection? {
        if let connection { return connection }
        guard !isMute, let made = try? pool.connect(settings: Self.settings) else { return nil }
        do {
            _ = try made.rows("LISTEN \(channel)")
        } catch {
            isMute = error.isUnknownFeature
            return nil
        }
        // libpq closes its own as soon as the server is gone, while this one is still watched.
        let socket = fcntl(made.socket, F_DUPFD_CLOEXEC, 0)
        guard socket >= 0 else { return nil }
        let source = DispatchSource.makeReadSource(fileDescriptor: socket, queue: queue)
        source.setCancelHandler { close(socket) }
        source.setEventHandler { [weak self] in
            guard let self, let connection = self.connection else { return }
            do {
                try hear(connection)
            } catch {
                hangUp()
                // What was said meanwhile is unknown.
                heard.withLock { $0 }?(nil)
                _ = connected()
            }
        }
        source.resume()
        self.source = source
        connection = made
        return made
    }

    private func hangUp() {
        source?.cancel()
        source = nil
        connection = nil
    }

    private func hear(_ connection: PostgresConnection) throws {
        for notice in try connection.notices() where notice.channel == channel {
            let words = notice.text.split(separator: " ").map(String.init)
            guard let from = words.first, from != sender else { continue }
            let heard = heard.withLock { $0 }
            for word in words.dropFirst() {
                heard?(word == Self.anything ? nil : Self.database(word))
            }
        }
    }

    // MARK: Words

    /// A database as one word: its parts in base64, with dots between.
    private static func word(_ database: DatabaseKey) -> String {
        [database.container, database.environment, database.scope, database.owner]
            .map { Base64URL.text($0.utf8) }.joined(separator: ".")
    }

    private static func database(_ word: String) -> DatabaseKey? {
        let parts = word.split(separator: ".", omittingEmptySubsequences: false)
            .compactMap { Base64URL.bytes(String($0)) }
            .map { String(decoding: $0, as: UTF8.self) }
        guard parts.count == 4 else { return nil }
        return DatabaseKey(
            container: parts[0], environment: parts[1], scope: parts[2], owner: parts[3])
    }
}
