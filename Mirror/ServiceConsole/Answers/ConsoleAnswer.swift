internal import Foundation
internal import RecordServer
internal import RecordWire

extension HTTPResponse {
    /// What a browser may do with the page: take everything from this address, and be shown in no
    /// other page.
    private static let pagePolicy =
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        + "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

    init(console status: Int, type: String, _ body: Data) {
        self.init(status: status, body: body)
        headers.append("Content-Type", type)
        headers.append("Content-Security-Policy", Self.pagePolicy)
        headers.append("X-Content-Type-Options", "nosniff")
        headers.append("X-Frame-Options", "DENY")
        headers.append("Referrer-Policy", "no-referrer")
        headers.append("Cross-Origin-Opener-Policy", "same-origin")
        headers.append("Cross-Origin-Resource-Policy", "same-origin")
        headers.append("Cache-Control", "no-store")
    }

    static func json(_ body: Data, status: Int = 200) -> HTTPResponse {
        HTTPResponse(console: status, type: "application/json; charset=utf-8", body)
    }

    static func redirect(to path: String, status: Int = 308) -> HTTPResponse {
        var response = HTTPResponse(console: status, type: "text/plain; charset=utf-8", Data())
        response.headers.append("Location", path)
        return response
    }

    /// An error in the form of the protocol's.
    static func refusal(_ error: any Error) -> HTTPResponse {
        let error =
            error as? RecordError
            ?? RecordError(.internalError, "The service failed in a way of its own; try again.")
        let body = (try? WireCodec.encode(error)) ?? Data("{}".utf8)
        var response = json(body, status: error.code.httpStatus)
        if let seconds = error.retryAfterSeconds, seconds.isFinite {
            response.headers.append("Retry-After", String(Int(min(seconds, 1e9).rounded(.up))))
        }
        return response
    }
}
