internal import Foundation
internal import Platform
internal import RecordServer
internal import RecordService
internal import RecordWire

/// Containers, users, tokens and how the service is.
extension ConsoleDesk {
    func status() throws -> HTTPResponse {
        let now = clock.now()
        let usage = try usage.value(at: now) { try service.usage() }
        let activity = statistics()
        return try .json(
            of: StatusAnswer(
                now: now.milliseconds, started: started.milliseconds,
                connections: activity.connections, requests: activity.requests,
                heldRequests: activity.heldRequests, dialect: service.dialect.rawValue,
                usage: usage.map(StatusAnswer.Usage.init), hour: hour.all()))
    }

    /// An administrator sees all tokens, a user those of the same user.
    func tokens(of session: ConsoleSession) throws -> HTTPResponse {
        let all = try service.accounts.tokens()
        let seen = all.filter {
            session.isAdministrator || $0.userRecordName == session.bearer.userRecordName
        }
        return try .json(of: seen.map { TokenAnswer($0, own: session.bearer.tokenID) })
    }

    /// A user's device is signed out by the revocation of its token.
    func revoke(_ id: String, _ session: ConsoleSession) throws -> HTTPResponse {
        if !session.isAdministrator {
            let isOwn = try service.accounts.tokens().contains {
                $0.id == id && $0.userRecordName == session.bearer.userRecordName
            }
            guard isOwn else {
                throw RecordError(.notFound, "There is no token \(id) of yours.")
            }
        }
        try accounts(of: session).revoke(tokenID: id)
        return try tokens(of: session)
    }

    /// Makes an app's token and a user's, or an administrator's; their texts are in this answer and
    /// nowhere else.
    func issue(_ request: HTTPRequest, _ accounts: ServiceAccounts) throws -> HTTPResponse {
        let wish: TokenWish = try request.wish()
        guard let user = wish.user else {
            let made = try accounts.issueAdministratorToken(
                label: wish.label, days: wish.days.flatMap { $0 == 0 ? nil : $0 })
            return try .json(of: IssuedAnswer(administrator: made.secret))
        }
        guard let container = wish.container else {
            throw RecordError(.badRequest, "Name the container that the token is for.")
        }
        let standard = service.limits.retention.userTokenDays
        let made = try accounts.issueDeviceTokens(
            container: container, userRecordName: user, label: wish.label,
            days: wish.days.map { $0 == 0 ? nil : $0 } ?? standard)
        return try .json(of: IssuedAnswer(api: made.api.secret, user: made.user.secret))
    }

    func schema(
        _ target: RecordTarget, _ session: ConsoleSession, _ request: HTTPRequest
    ) throws -> HTTPResponse {
        let owner = try owner(for: session, request)
        return try .json(
            of: service.recordTypes(in: target, owner: owner).map(RecordTypeAnswer.init))
    }

    /// Whose databases are meant: the user's own, or those that an administrator names.
    func owner(for session: ConsoleSession, _ request: HTTPRequest) throws(RecordError) -> String {
        if let user = session.bearer.userRecordName { return user }
        guard let owner = request.query["owner"], !owner.isEmpty else {
            throw RecordError(.badRequest, "Name the user whose database is meant as owner.")
        }
        guard try service.accounts.users().contains(where: { $0.userRecordName == owner }) else {
            throw RecordError(.notFound, "There is no user \(owner); add one first.")
        }
        return owner
    }
}
