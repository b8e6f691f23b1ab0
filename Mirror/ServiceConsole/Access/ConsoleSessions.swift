internal import Foundation
internal import Platform
internal import RecordServer
internal import RecordService
internal import RecordWire

/// Who is signed in, by the secret in the cookie.
final class ConsoleSessions: Sendable {
    static let requestHeader = "X-Diptych-Request-Token"

    private let accounts: ServiceAccounts
    let cookie: ConsoleCookie
    private let clock: any Clock
    private let sessions = Lock(SessionTable())
    private let failures: FailureMeter<ClientAddress>
    private let passwords: PasswordGate

    init(accounts: ServiceAccounts, cookie: ConsoleCookie, clock: any Clock) {
        self.accounts = accounts
        self.cookie = cookie
        self.clock = clock
        failures = FailureMeter(clock: clock, failuresMax: 30, within: 60)
        passwords = PasswordGate(clock: clock)
    }

    /// Lets the bearer of a token in, whatever others tried from the same address. Returns the
    /// secret for the cookie. Throws AUTHENTICATION_FAILED, and THROTTLED for the next wrong token
    /// of an address that had many.
    func begin(
        token: String, from address: ClientAddress
    ) throws(RecordError) -> (secret: String, session: ConsoleSession) {
        try begin(
            tried(from: address) { () throws(RecordError) in try accounts.bearer(of: token) })
    }

    /// Lets who has a name and its password in. Throws AUTHENTICATION_FAILED, THROTTLED for who
    /// guesses, TRY_AGAIN_LATER where others are looked at.
    func begin(
        name: String, password: String, from address: ClientAddress
    ) throws(RecordError) -> (secret: String, session: ConsoleSession) {
        let accounts = accounts
        return try begin(
            passwords.pass(name, from: address) { () throws(RecordError) in
                try accounts.bearer(name: name, password: password)
            })
    }

    /// Changes a user's own password; all sessions that began with the former end. Throws
    /// ACCESS_DENIED where the former is another, and as `begin(name:password:from:)`.
    func changePassword(
        from former: String, to password: String, _ session: ConsoleSession,
        _ address: ClientAddress
    ) throws(RecordError) {
        guard let user = session.bearer.userRecordName else {
            throw RecordError(.badRequest, "An administrator's token has no password.")
        }
        let accounts = accounts.acting(as: session.actor)
        try passwords.pass(user, from: address) { () throws(RecordError) in
            try accounts.changePassword(of: user, from: former, to: password)
        }
    }

    /// Lets in who was let in elsewhere.
    func begin(
        _ bearer: TokenBearer
    ) throws(RecordError) -> (secret: String, session: ConsoleSession) {
        let secret = try accounts.drawnSecret()
        let session = ConsoleSession(
            bearer: bearer, requestToken: try accounts.drawnSecret(), began: clock.now(),
            used: clock.now())
        let key = try ConsoleSecret.key(of: secret)
        sessions.withLock { $0.add(session, under: key) }
        return (secret, session)
    }

    /// Counts what fails.
    private func tried<Result>(
        from address: ClientAddress, _ look: () throws(RecordError) -> Result
    ) throws(RecordError) -> Result {
        do throws(RecordError) {
            return try look()
        } catch {
            try failures.check(address)
            failures.note(address)
            throw error
        }
    }

    /// The session of one request, whose program shows its token instead of a cookie. No browser
    /// adds that header by itself, so no other page can send such a request.
    private func passing(
        _ token: String, _ request: HTTPRequest
    ) throws(RecordError) -> ConsoleSession {
        let now = clock.now()
        let (bearer, outlook) = try tried(from: request.address) { () throws(RecordError) in
            try accounts.bearerAndOutlook(of: token)
        }
        return ConsoleSession(
            bearer: bearer, requestToken: "", began: now, used: now, outlook: outlook)
    }

    /// The session of a request. One that changes anything must come from the console's own page,
    /// or show a token. Throws AUTHENTICATION_FAILED, ACCESS_DENIED and, for a wrong token of an
    /// address that had many, THROTTLED.
    func session(of request: HTTPRequest) throws(RecordError) -> ConsoleSession {
        if let token = request.bearerToken { return try passing(token, request) }
        guard let secret = cookie.secret(in: request) else { throw Self.signedOut }
        let key = try ConsoleSecret.key(of: secret)
        let now = clock.now()
        guard let found = sessions.withLock({ $0.use(key, at: now) }) else { throw Self.signedOut }
        do throws(RecordError) {
            try accounts.requireGood(found.bearer)
        } catch  where error.code == .authenticationFailed {
            sessions.withLock { $0.remove(key) }
            throw Self.signedOut
        }
        if request.method != "GET", request.method != "HEAD" {
            try checkOrigin(of: request, found)
        }
        return found
    }

    func end(_ request: HTTPRequest) throws(RecordError) {
        guard let secret = cookie.secret(in: request) else { return }
        let key = try ConsoleSecret.key(of: secret)
        sessions.withLock { $0.remove(key) }
    }

    private func checkOrigin(
        of request: HTTPRequest, _ session: ConsoleSession
    ) throws(RecordError) {
        let shown = request.headers[Self.requestHeader] ?? ""
        guard try ConsoleSecret.areEqual(shown, session.requestToken),
            request.isFromOwnPage
        else {
            throw RecordError(
                .accessDenied,
                "The request does not come from the console's own page; load it anew.")
        }
    }

    private static let signedOut = RecordError(
        .authenticationFailed, "Nobody is signed in here, or it was too long ago; sign in.")
}

extension HTTPRequest {
    /// What stands behind `Authorization: Bearer`.
    fileprivate var bearerToken: String? {
        guard let value = headers["Authorization"] else { return nil }
        let words = value.split(separator: " ")
        guard words.count == 2, words[0].lowercased() == "bearer" else { return nil }
        return String(words[1])
    }

    /// Whether the browser says that one of this server's pages sent it, or says nothing.
    var isFromOwnPage: Bool {
        if let site = headers["Sec-Fetch-Site"], site != "same-origin" { return false }
        guard let origin = headers["Origin"] else { return true }
        guard let host = headers["Host"] else { return false }
        return origin == "https://\(host)" || origin == "http://\(host)"
    }
}
