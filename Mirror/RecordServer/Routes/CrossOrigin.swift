internal import Foundation
internal import RecordService
internal import RecordWire

/// What browsers are told about a request of another address's page.
///
/// No cookie counts here, so credentials are never allowed: pages show tokens as programs do. The
/// console is answered before these routes, and for its own pages alone.
struct CrossOrigin: Sendable {
    private let origins: AllowedOrigins

    private static let methods = "GET, HEAD, POST, PUT, PATCH"
    private static let headers = [
        AccessTokens.apiHeader, AccessTokens.userHeader, AccessTokens.deviceHeader,
        "X-Diptych-Client-Version", "X-Diptych-Round", "Content-Type", "Content-Encoding",
        "If-Match", "If-None-Match", "If-Range", "Last-Event-ID", "Range", "Repr-Digest",
        "Upload-Complete", "Upload-Length", "Upload-Offset",
    ].joined(separator: ", ")
    private static let exposed = [
        HTTPResponse.requestIDHeader, TokenRotation.header, TokenOutlook.endHeader,
        "Accept-Ranges", "Content-Length", "Content-Range", "ETag", "Retry-After",
        "Upload-Complete", "Upload-Offset",
    ].joined(separator: ", ")
    /// How long a browser remembers what it was told beforehand.
    private static let rememberedSeconds = "600"

    init(_ origins: AllowedOrigins) { self.origins = origins }

    /// The answer to a browser that asks whether it may ask; nil for any other request. It says
    /// nothing of what is here, and no token comes with it.
    func preflight(_ request: HTTPRequest) -> Admission? {
        guard !origins.isEmpty, request.method == "OPTIONS", request.headers["Origin"] != nil,
            request.headers["Access-Control-Request-Method"] != nil
        else { return nil }
        var response = HTTPResponse(status: 204)
        response.headers.append("Cache-Control", "no-store")
        if allowedOrigin(request) != nil {
            response.headers.append("Access-Control-Allow-Methods", Self.methods)
            response.headers.append("Access-Control-Allow-Headers", Self.headers)
            response.headers.append("Access-Control-Max-Age", Self.rememberedSeconds)
        }
        return marked(.answer(response), request)
    }

    /// Whatever comes of the request, refusals too, says whether the page may read it.
    func marked(_ admission: Admission, _ request: HTTPRequest) -> Admission {
        guard !origins.isEmpty else { return admission }
        let origin = allowedOrigin(request)
        return admission.changing { Self.marked($0, origin) }
    }

    /// A refusal of the head, before anybody asks what the request is.
    func marked(_ refusal: HTTPResponse, _ request: HTTPRequest) -> HTTPResponse {
        origins.isEmpty ? refusal : Self.marked(refusal, allowedOrigin(request))
    }

    private static func marked(_ response: HTTPResponse, _ origin: String?) -> HTTPResponse {
        var response = response
        response.headers.append("Vary", "Origin")
        guard let origin else { return response }
        response.headers.append("Access-Control-Allow-Origin", origin)
        response.headers.append("Access-Control-Expose-Headers", exposed)
        return response
    }

    /// What is sent back is what was configured, never what a stranger wrote.
    private func allowedOrigin(_ request: HTTPRequest) -> String? {
        guard let origin = request.headers["Origin"] else { return nil }
        return origins.allows(origin, container: Self.container(of: request.path)) ? origin : nil
    }

    private static func container(of path: String) -> String? {
        guard case .operation(_, let target)? = try? RoutePath(path) else { return nil }
        return target.container
    }
}
