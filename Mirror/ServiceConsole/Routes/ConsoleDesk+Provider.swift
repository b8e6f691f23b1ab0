internal import Foundation
internal import RecordServer
internal import RecordService
internal import RecordWire

/// Signing in by a provider, for whose pages the browser leaves and comes back.
extension ConsoleDesk {
    private var cookie: ConsoleCookie {
        ConsoleCookie(
            isEncrypted: sessions.cookie.isEncrypted, name: "diptych-sign-in", sameSite: "Lax")
    }

    /// How one may sign in here.
    func ways() throws -> HTTPResponse {
        try .json(of: WaysAnswer(provider: provider?.provider.title))
    }

    /// Sends the browser to the provider.
    func leave(_ request: HTTPRequest) throws -> HTTPResponse {
        guard let provider,
            let home = provider.provider.address
                ?? request.serviceAddress(scheme: cookie.isEncrypted ? "https" : "http")
        else { throw Self.noProvider }
        let (url, secret) = try provider.begin(home: home, from: request.address)
        var response = HTTPResponse.redirect(to: url, status: 303)
        response.headers.append("Set-Cookie", cookie.header(secret, for: request))
        return response
    }

    /// Begins a session with who came back.
    func comeBack(_ request: HTTPRequest) throws -> HTTPResponse {
        guard let provider else { throw Self.noProvider }
        let bearer = try provider.finish(request.query, secret: cookie.secret(in: request))
        let (secret, _) = try sessions.begin(bearer)
        var response = HTTPResponse.redirect(to: "/console", status: 303)
        response.headers.append("Set-Cookie", sessions.cookie.header(secret, for: request))
        response.headers.append("Set-Cookie", cookie.removal(for: request))
        return response
    }

    /// A refusal as a page: the browser shows what comes of going somewhere.
    func answerAsPage(_ body: (ConsoleDesk) throws -> HTTPResponse) -> HTTPResponse {
        do {
            return try body(self)
        } catch {
            let refusal = HTTPResponse.refusal(error)
            let reason = (error as? RecordError)?.reason ?? "The service failed; try again."
            return HTTPResponse(
                console: refusal.status, type: "text/plain; charset=utf-8",
                Data("\(reason)\n\nThe console is at /console of this address.\n".utf8))
        }
    }

    private static let noProvider = RecordError(
        .notFound, "This service has no provider to sign in by.")
}

struct WaysAnswer: Encodable {
    /// What the provider is called; nil where there is none.
    var provider: String?
}
