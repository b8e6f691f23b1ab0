internal import Foundation
internal import Platform

/// Figures and probes for whoever runs the service, on an address of their own: plain HTTP, and
/// nothing but reading.
final class MetricsListener: Sendable {
    private let http: HTTPServer

    init(
        platform: Environment, health: HealthAnswers, page: @escaping @Sendable () -> String
    ) {
        http = HTTPServer(
            configuration: Self.configuration, platform: platform,
            admit: { .answer(Self.answer(to: $0, health, page)) })
    }

    /// Returns the real port. Throws `ServerError`.
    func start(at place: ListenPlace) throws -> UInt16 {
        try http.start(address: place.address, port: place.port, tls: nil)
    }

    func stop() { http.stop() }

    private static var configuration: HTTPConfiguration {
        var configuration = HTTPConfiguration()
        configuration.threads = 2
        configuration.bodyBytesMax = 0
        configuration.discardedBytesMax = 1 << 20
        configuration.headerBytesMax = 8 << 10
        configuration.connections.max = 32
        configuration.connections.idleSeconds = 30
        configuration.drainSeconds = 1
        return configuration
    }

    private static func answer(
        to request: HTTPRequest, _ health: HealthAnswers, _ page: () -> String
    ) -> HTTPResponse {
        guard ["GET", "HEAD"].contains(request.method) else {
            var response = text(405, "This address takes GET and HEAD.\n")
            response.headers.append("Allow", "GET, HEAD")
            return response
        }
        switch request.path {
        case "/metrics":
            return answer(200, Data(page().utf8), type: ExpositionText.contentType)
        case "/healthz": return answer(200, HealthAnswers.alive, type: json)
        case "/readyz":
            guard let reason = health.readiness.reason else {
                return answer(200, HealthAnswers.ready, type: json)
            }
            return text(503, reason + "\n")
        default: return text(404, "There are /metrics, /healthz and /readyz here.\n")
        }
    }

    private static let json = "application/json; charset=utf-8"

    private static func text(_ status: Int, _ words: String) -> HTTPResponse {
        answer(status, Data(words.utf8), type: "text/plain; charset=utf-8")
    }

    private static func answer(_ status: Int, _ body: Data, type: String) -> HTTPResponse {
        var response = HTTPResponse(status: status, body: body)
        response.headers.append("Content-Type", type)
        response.headers.append("Cache-Control", "no-store")
        return response
    }
}
