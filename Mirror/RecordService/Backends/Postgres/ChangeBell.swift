internal import Dispatch
internal import Foundation
internal import Platform
internal import PostgresDriver

/// Tells other services over the same database of commits, and hears of theirs, by NOTIFY.
///
/// It rings after the commit and for many commits at once: a NOTIFY inside each transaction would
/// make all commits of the server wait for one another. A ring that found no session goes out as
/// soon as there is one, and says that anything may have changed.
final class ChangeBell: @unchecked Sendable {
    // @unchecked: `connection`, `source`, `isMute` and `isOwing` are used on `queue` only.
    private let queue = DispatchQueue(label: "record-service.bell")
    private var connection: PostgresConnection?
    private var source: (any DispatchSourceRead)?
    /// The engine has no LISTEN.
    private var isMute = false
    /// A ring did not go out: the next one says that anything may have changed.
    private var isOwing = false
    private let pool: PostgresPool
    private let channel: String
    private let sender: String
    private let waiting = Lock(CommitNotices())
    private let heard = Handler<CommitNotice, Never>()

    /// What NOTIFY carries is less than 8,000 bytes.
    private static let textBytesMax = 7_000
    /// Set on the queue, to know whether it is there that one is.
    private static let key = DispatchSpecificKey<ObjectIdentifier>()
    private static let secondsToEnd = 5
    /// A ring need not be on the disk.
    private static let settings = "SET synchronous_commit = off; SET statement_timeout = 10000"

    init(_ pool: PostgresPool, channel: String, sender: String) {
        self.pool = pool
        self.channel = channel
        self.sender = sender
        queue.setSpecific(key: Self.key, value: ObjectIdentifier(self))
    }

    /// Calls `heard` from now on with what another service has done.
    func listen(_ heard: @escaping @Sendable (CommitNotice) -> Void) {
        self.heard.set(heard)
        queue.async { [weak self] in _ = self?.connected(isFirst: true) }
    }

    /// Says what is still to be said and ends its session, for some seconds at most. No session of
    /// its is to be on its way while the process ends: libpq's libraries abort it when they are
    /// asked after their own end. Returns at once where it is the queue itself that lets go of the
    /// service.
    func stop() {
        let end = DispatchWorkItem { [self] in hangUp() }
        queue.async(execute: end)
        guard DispatchQueue.getSpecific(key: Self.key) != ObjectIdentifier(self) else { return }
        _ = end.wait(timeout: .now() + .seconds(Self.secondsToEnd))
    }

    /// Something was committed. Returns at once.
    func ring(_ notice: CommitNotice) {
        let isFirst = waiting.withLock { waiting in
            defer { waiting.add(notice) }
            return waiting.isEmpty
        }
        if isFirst { queue.async { [weak self] in self?.ringNow() } }
    }

    /// Whether something may have been said since the last call that was not heard.
    func mayHaveMissed() -> Bool {
        queue.sync {
            if isMute { return true }
            if isOwing {
                ringNow()
                return true
            }
            // The end of a session may go unheard until somebody looks.
            if let connection, (try? hear(connection)) != nil { return false }
            hangUp()
            _ = connected()
            return true
        }
    }

    /// Rings what did not go out. Returns at once.
    func sayWhatIsOwed() {
        queue.async { [weak self] in
            guard let self, isOwing else { return }
            ringNow()
        }
    }

    // MARK: On the queue

    private func ringNow() {
        var notices = waiting.withLock { waiting in
            defer { waiting = CommitNotices() }
            return waiting.all
        }
        guard isOwing || !notices.isEmpty else { return }
        if isOwing || notices.map(CommitWord.word).joined().utf8.count > Self.textBytesMax {
            notices = [.anything]
        }
        isOwing = true
        // That a session has ended may come out when something is said in it; then in another.
        for _ in 0..<2 where isOwing {
            guard let connection = connected() else { return }
            do {
                try say(notices, connection)
                isOwing = false
                try hear(connection)
            } catch {
                hangUp()
            }
        }
    }

    private func say(_ notices: [CommitNotice], _ connection: PostgresConnection) throws {
        let text = ([sender] + notices.map(CommitWord.word)).joined(separator: " ")
        _ = try connection.rows("SELECT pg_notify($1, $2)", [.text(channel), .text(text)])
    }

    /// The session; a new one tells those here that anything may have changed, since nobody heard
    /// what was said before. `isFirst`: nobody waits yet.
    private func connected(isFirst: Bool = false) -> PostgresConnection? {
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
                // Who waits is to ask, and hears that the server is away.
                if connected() == nil { heard(.anything) }
            }
        }
        source.resume()
        self.source = source
        connection = made
        if !isFirst { heard(.anything) }
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
            for word in words.dropFirst() { heard(CommitWord.notice(word)) }
        }
    }
}
