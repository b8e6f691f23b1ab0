internal import Foundation
internal import RecordService

/// The sessions that are open, by the hash of their secrets: as many as fit, and of each bearer no
/// more than a person has browsers for. Who signs in again and again ends their own, not others'.
struct SessionTable {
    private var sessions: [String: ConsoleSession] = [:]

    private static let sessionsMax = 1_000
    private static let sessionsPerBearerMax = 20
    private static let idleSeconds = 30.0 * 60
    private static let lifeSeconds = 12.0 * 3_600

    /// Takes a session in. Ends the one that its bearer used longest ago, where they have many;
    /// else, where there is no room, that of those who have most. Cost: a look at each session.
    mutating func add(_ session: ConsoleSession, under key: String) {
        sessions = sessions.filter { Self.isOpen($0.value, at: session.began) }
        let own = sessions.filter { $0.value.bearerName == session.bearerName }
        if own.count >= Self.sessionsPerBearerMax {
            remove(Self.oldest(of: own))
        } else if sessions.count >= Self.sessionsMax {
            let crowds = Dictionary(grouping: sessions) { $0.value.bearerName }.values
            let most = crowds.max { $0.count < $1.count } ?? []
            remove(Self.oldest(of: most))
        }
        sessions[key] = session
    }

    /// The session, which begins its time of rest anew; nil where there is none, or its time is
    /// over.
    mutating func use(_ key: String, at now: Date) -> ConsoleSession? {
        guard let session = sessions[key], Self.isOpen(session, at: now) else {
            remove(key)
            return nil
        }
        sessions[key]?.used = now
        return session
    }

    mutating func remove(_ key: String?) {
        if let key { sessions[key] = nil }
    }

    private static func isOpen(_ session: ConsoleSession, at now: Date) -> Bool {
        now.timeIntervalSince(session.used) < idleSeconds
            && now.timeIntervalSince(session.began) < lifeSeconds
    }

    private static func oldest(
        of sessions: some Sequence<(key: String, value: ConsoleSession)>
    ) -> String? {
        sessions.min { $0.value.used < $1.value.used }?.key
    }
}

extension ConsoleSession {
    /// Whose sessions count together: a user's, or those of one administrator's token.
    fileprivate var bearerName: String {
        bearer.userRecordName ?? "token \(bearer.tokenID ?? "")"
    }
}
