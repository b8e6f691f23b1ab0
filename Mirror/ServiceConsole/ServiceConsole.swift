public import Foundation
public import Platform
public import RecordServer
public import RecordService
internal import RecordWire

/// The console of a record service: a web page, and what it asks for.
///
/// It is put before a server by `stand`. Calls come from any thread.
public final class ServiceConsole: Sendable {
    /// Where the page is.
    public static let path = "/console"

    private let desk: ConsoleDesk
    private let sessions: ConsoleSessions
    private let hour: RecentHour

    /// A console of `service`. `isEncrypted`: the server itself speaks TLS. `statistics` tells what
    /// the server does at the moment; it is asked when somebody looks. By `provider` users sign in.
    /// Backups that are asked for go into the folder `backups`; nil: none are made.
    public init(
        service: RecordService, isEncrypted: Bool, platform: Environment = .system,
        provider: SignInProvider? = nil, backups: URL? = nil,
        statistics: @escaping @Sendable () -> ServerActivity = { ServerActivity() }
    ) {
        hour = RecentHour(clock: platform.clock)
        sessions = ConsoleSessions(
            accounts: service.accounts, cookie: ConsoleCookie(isEncrypted: isEncrypted),
            clock: platform.clock)
        desk = ConsoleDesk(
            service: service, sessions: sessions, hour: hour, clock: platform.clock,
            provider: provider,
            backups: backups.map { BackupDesk(folder: $0, platform: platform) },
            statistics: statistics)
    }

    /// Puts the console before the routes of a server, and counts what it answers.
    public func stand(before configuration: inout ServerConfiguration) {
        configuration.annex = ServerAnnex(signInPath: Self.path) { self.admit($0) }
        let log = configuration.accessLog
        configuration.accessLog = { entry in
            self.note(entry)
            log?(entry)
        }
    }

    /// Counts an answered request for the charts. Cost: next to nothing.
    public func note(_ entry: AccessLogEntry) { hour.note(entry) }

    /// Who is not known yet says beforehand how little is to be kept of the body.
    private func forAnybody(
        _ request: HTTPRequest,
        _ answer: @escaping @Sendable (ConsoleDesk, HTTPRequest) throws -> HTTPResponse
    ) throws(RecordError) -> Admission {
        guard let length = request.headers["Content-Length"].flatMap({ Int($0) }),
            length <= HTTPRequest.wishBytesMax
        else {
            throw RecordError(
                .limitExceeded, "Say with Content-Length that the body has 64 KiB at most.")
        }
        return .read(user: "") { [desk] request in
            .response(desk.answer { try answer($0, request) })
        }
    }

    /// A browser that goes somewhere sends no body.
    private func forBrowser(
        _ request: HTTPRequest,
        _ answer: @escaping @Sendable (ConsoleDesk, HTTPRequest) throws -> HTTPResponse
    ) throws(RecordError) -> Admission {
        guard request.headers["Transfer-Encoding"] == nil,
            request.headers["Content-Length"].map({ $0 == "0" }) ?? true
        else { throw RecordError(.badRequest, "Nothing but an address is taken here.") }
        return .read(user: "") { [desk] request in
            .response(desk.answerAsPage { try answer($0, request) })
        }
    }

    /// Answers paths of the console; nil for all others.
    package func admit(_ request: HTTPRequest) -> Admission? {
        guard request.path == Self.path || request.path.hasPrefix(Self.path + "/") else {
            return nil
        }
        do {
            switch try ConsoleRoute(request) {
            case .file(let file): return .answer(file.answer)
            case .elsewhere(let path): return .answer(.redirect(to: path))
            case .signIn:
                return try forAnybody(request) { try $0.signIn($1) }
            case .ways: return .answer(desk.answer { try $0.ways() })
            case .leave: return try forBrowser(request) { try $0.leave($1) }
            case .comeBack: return try forBrowser(request) { try $0.comeBack($1) }
            case .device: return try forAnybody(request) { try $0.beginDevice($1) }
            case .deviceOutcome: return try forAnybody(request) { try $0.deviceOutcome($1) }
            case .inquiry(let inquiry):
                let session = try sessions.session(of: request)
                return .read(user: session.user) { [desk] request in
                    desk.outcome(of: inquiry, session, request)
                }
            }
        } catch {
            return .answer(.refusal(error))
        }
    }
}

/// What the server does at the moment.
public struct ServerActivity: Sendable {
    public var connections: Int
    public var requests: Int
    /// Requests whose answers are held back.
    public var heldRequests: Int

    public init(connections: Int = 0, requests: Int = 0, heldRequests: Int = 0) {
        self.connections = connections
        self.requests = requests
        self.heldRequests = heldRequests
    }
}
