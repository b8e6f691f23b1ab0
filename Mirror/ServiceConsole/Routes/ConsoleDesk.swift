internal import Foundation
internal import Platform
internal import RecordServer
internal import RecordService
internal import RecordWire

/// Answers what the page asks for.
struct ConsoleDesk: Sendable {
    let service: RecordService
    let sessions: ConsoleSessions
    let hour: RecentHour
    let clock: any Clock
    let statistics: @Sendable () -> ServerActivity
    let started: Date
    let usage = UsageMemory()
    let devices: DeviceSignIns
    /// nil where nobody signs in by one.
    let provider: ProviderDesk?
    /// nil where no folder is named for them.
    let backups: BackupDesk?

    init(
        service: RecordService, sessions: ConsoleSessions, hour: RecentHour, clock: any Clock,
        provider: SignInProvider?, backups: BackupDesk?,
        statistics: @escaping @Sendable () -> ServerActivity
    ) {
        self.provider = provider.map {
            ProviderDesk($0, accounts: service.accounts, clock: clock)
        }
        self.backups = backups
        self.service = service
        self.sessions = sessions
        self.hour = hour
        self.clock = clock
        self.statistics = statistics
        started = clock.now()
        devices = DeviceSignIns(accounts: service.accounts, clock: clock)
    }

    /// What `body` answers, or its error as an answer.
    func answer(_ body: (ConsoleDesk) throws -> HTTPResponse) -> HTTPResponse {
        do {
            return try body(self)
        } catch {
            return .refusal(error)
        }
    }

    func outcome(
        of inquiry: ConsoleRoute.Inquiry, _ session: ConsoleSession, _ request: HTTPRequest
    ) -> HTTPOutcome {
        if case .operation(let operation, let target) = inquiry {
            do {
                return try records(operation, target, session, request)
            } catch {
                return .response(.refusal(error))
            }
        }
        return .response(
            session.tell(in: answer { try $0.perform(inquiry, session, request) }))
    }

    private func perform(
        _ inquiry: ConsoleRoute.Inquiry, _ session: ConsoleSession, _ request: HTTPRequest
    ) throws -> HTTPResponse {
        switch inquiry {
        case .session: return try .json(of: SessionAnswer(session, service))
        case .signOut: return try signOut(request)
        case .changePassword: return try changePassword(session, request)
        case .containers: return try .json(of: service.accounts.containers())
        case .tokens: return try tokens(of: session)
        case .revokeToken(let id): return try revoke(id, session)
        case .schema(let target): return try schema(target, session, request)
        case .lookAtDevice: return try lookAtDevice(session, request)
        case .settleDevice: return try settleDevice(session, request)
        case .operation: throw RecordError(.internalError, "Operations are answered elsewhere.")
        case .status, .addContainer, .users, .addUser, .issueToken, .administration, .storage: break
        }
        guard session.isAdministrator else { throw Self.forAdministrators }
        let accounts = accounts(of: session)
        switch inquiry {
        case .addContainer:
            let wish: ContainerWish = try request.wish()
            try accounts.createContainer(wish.name)
            return try .json(of: accounts.containers())
        case .users: return try .json(of: accounts.users().map(UserAnswer.init))
        case .addUser:
            let wish: UserWish = try request.wish()
            return try .json(
                of: UserAnswer(
                    accounts.createUser(label: wish.label, profile: UserProfile())))
        case .issueToken: return try issue(request, accounts)
        case .administration(let asked): return try asked.perform(accounts, request)
        case .storage(let asked): return try asked.perform(self, session)
        default: return try status()
        }
    }

    /// Containers, users and tokens; what is done to them is noted under who is signed in.
    func accounts(of session: ConsoleSession) -> ServiceAccounts {
        service.accounts.acting(as: session.actor)
    }

    static let forAdministrators = RecordError(
        .accessDenied, "Only an administrator's token lets in here.")

    // MARK: Sessions

    func signIn(_ request: HTTPRequest) throws -> HTTPResponse {
        guard request.isFromOwnPage else {
            throw RecordError(.accessDenied, "Sign in on the console's own page.")
        }
        let wish: SignInWish = try request.wish()
        let (secret, session) = try begin(wish, request)
        var response = try HTTPResponse.json(of: SessionAnswer(session, service))
        response.headers.append("Set-Cookie", sessions.cookie.header(secret, for: request))
        return response
    }

    private func begin(
        _ wish: SignInWish, _ request: HTTPRequest
    ) throws(RecordError) -> (secret: String, session: ConsoleSession) {
        if let token = wish.token { return try sessions.begin(token: token, from: request.address) }
        guard let name = wish.name, let password = wish.password else {
            throw RecordError(.badRequest, "Sign in with a token, or with a name and a password.")
        }
        return try sessions.begin(name: name, password: password, from: request.address)
    }

    /// The session that asked ends with the others.
    private func changePassword(
        _ session: ConsoleSession, _ request: HTTPRequest
    ) throws -> HTTPResponse {
        let wish: PasswordWish = try request.wish()
        try sessions.changePassword(
            from: wish.former, to: wish.password, session, request.address)
        return try signOut(request)
    }

    private func signOut(_ request: HTTPRequest) throws -> HTTPResponse {
        try sessions.end(request)
        var response = HTTPResponse.json(Data("{}".utf8))
        response.headers.append("Set-Cookie", sessions.cookie.removal(for: request))
        return response
    }
}
