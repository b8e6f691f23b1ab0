internal import Foundation
package import Platform
internal import RecordWire

/// Turns HTTP requests into requests of the service, and its answers into HTTP. Holds no rule of
/// its own.
package struct Router: Sendable {
    private let door: Authenticator
    private let capabilities: ServerCapabilities
    private let bodyBytesMax: Int
    private let expandedBytesMax: Int
    private let platform: Environment
    private let failureLog: FailureLog?

    package init(
        door: Authenticator, capabilities: ServerCapabilities, configuration: ServerConfiguration,
        platform: Environment
    ) {
        self.door = door
        self.capabilities = capabilities
        bodyBytesMax = configuration.http.bodyBytesMax
        expandedBytesMax = configuration.expandedBytesMax
        failureLog = configuration.failureLog
        self.platform = platform
    }

    /// Answers every request, whatever happens; the answer bears the request's id.
    package func answer(_ request: HTTPRequest) -> HTTPResponse {
        let uuid = platform.randomness.uuid().uuidString
        var response: HTTPResponse
        do {
            response = HTTPResponse(status: 200, body: try body(for: request))
        } catch let refusal as RouteRefusal {
            response = refused(refusal.error, status: refusal.status, uuid)
            refusal.headers.forEach { response.headers.append($0, $1) }
        } catch let error as RecordError {
            if error.code == .internalError { failureLog?(uuid, error) }
            response = refused(error, status: error.code.httpStatus, uuid)
        } catch {
            failureLog?(uuid, error)
            response = refused(Self.failed, status: 500, uuid)
        }
        response.headers.append("X-Apple-Request-UUID", uuid)
        response.headers.append("Content-Type", "application/json; charset=utf-8")
        response.headers.append("Cache-Control", "no-store")
        compress(&response, for: request)
        return response
    }

    private func body(for request: HTTPRequest) throws -> Data {
        let isReading = request.method == "GET" || request.method == "HEAD"
        switch try RoutePath(request.path) {
        case .health:
            guard isReading else { throw RouteRefusal.methodNotAllowed(allowed: "GET, HEAD") }
            return Data(#"{"status":"ok"}"#.utf8)
        case .capabilities:
            guard isReading else { throw RouteRefusal.methodNotAllowed(allowed: "GET, HEAD") }
            return try capabilities.json()
        case .operation(let operation, let target):
            return try ask(operation, of: target, request)
        }
    }

    private func ask(
        _ operation: String, of target: RecordTarget, _ request: HTTPRequest
    ) throws -> Data {
        // Who calls is settled before a byte of the body is looked at.
        let tokens = AccessTokens(of: request)
        let ask = try door.admit(tokens, target.container)
        var target = target
        target.deviceID = tokens.deviceID
        let question = try decode(operation, request)
        return try WireCodec.encode(ask(question, target), to: question)
    }

    private func decode(_ operation: String, _ request: HTTPRequest) throws -> RecordRequest {
        let isListing = ["zones/list", "users/caller", "users/current"].contains(operation)
        let method = request.method == "HEAD" ? "GET" : request.method
        guard method == "POST" || method == "GET" && isListing else {
            // An operation that is not there is a 404 before its method is a 405.
            do throws(RecordError) {
                _ = try WireCodec.decodeRequest(path: operation, method: "POST", body: Data())
            } catch  where error.code == .notFound {
                throw error
            } catch {}
            throw RouteRefusal.methodNotAllowed(allowed: isListing ? "GET, HEAD, POST" : "POST")
        }
        return try WireCodec.decodeRequest(
            path: operation, method: method, body: try plainBody(of: request))
    }

    private func plainBody(of request: HTTPRequest) throws -> Data {
        guard case .bytes(let body) = request.body else {
            throw RecordError(
                .limitExceeded,
                "The body is larger than the \(bodyBytesMax) bytes that are taken. "
                    + "Send less at a time.")
        }
        switch request.headers["Content-Encoding"]?.lowercased() {
        case nil, "identity": return body
        case "gzip", "x-gzip": return try Gzip.expand(body, bytesMax: expandedBytesMax)
        default: throw RouteRefusal.unknownEncoding
        }
    }

    private static let failed = RecordError(
        .internalError,
        "The service failed in a way of its own; try again, and give the uuid to who runs it.")

    private func refused(_ error: RecordError, status: Int, _ uuid: String) -> HTTPResponse {
        var error = error
        error.uuid = uuid
        // An error is plain text and numbers, which JSON always spells.
        let body =
            (try? WireCodec.encode(error)) ?? Data(#"{"serverErrorCode":"INTERNAL_ERROR"}"#.utf8)
        var response = HTTPResponse(status: status, body: body)
        if let seconds = error.retryAfterSeconds, seconds.isFinite {
            response.headers.append("Retry-After", String(Int(min(seconds, 1e9).rounded(.up))))
        }
        return response
    }

    private func compress(_ response: inout HTTPResponse, for request: HTTPRequest) {
        guard AcceptEncoding.takesGzip(request.headers["Accept-Encoding"]),
            let small = Gzip.compress(response.body)
        else { return }
        response.body = small
        response.headers.append("Content-Encoding", "gzip")
        response.headers.append("Vary", "Accept-Encoding")
    }
}

/// Reads the header in which a client names the encodings it can undo.
enum AcceptEncoding {
    static func takesGzip(_ header: String?) -> Bool {
        (header ?? "").lowercased().split(separator: ",").contains { part in
            let words = part.split(separator: ";").map { word in
                word.filter { !$0.isWhitespace }
            }
            guard words.first == "gzip" || words.first == "*" else { return false }
            return !words.dropFirst().contains {
                $0.hasPrefix("q=") && Double($0.dropFirst(2)) == 0
            }
        }
    }
}
