internal import CMicroHTTPD
internal import Foundation
internal import Platform

/// What libmicrohttpd's callbacks work with. No callback traps or throws: each step is total.
final class HTTPDaemon: Sendable {
    private let configuration: HTTPConfiguration
    private let platform: Environment
    private let answer: @Sendable (HTTPRequest) -> HTTPResponse
    private let log: AccessLog?
    private let counts = Lock(HTTPStatistics())
    private let running = RunningCount()

    init(
        configuration: HTTPConfiguration, platform: Environment, log: AccessLog?,
        answer: @escaping @Sendable (HTTPRequest) -> HTTPResponse
    ) {
        self.configuration = configuration
        self.platform = platform
        self.answer = answer
        self.log = log
    }

    var statistics: HTTPStatistics { counts.withLock { $0 } }

    /// Waits until no request is under way, at most for `seconds`.
    func waitUntilIdle(seconds: Int) {
        running.waitUntilZero(seconds: seconds)
    }

    func accepted() {
        counts.withLock { $0.connections += 1 }
    }

    /// Begins a request; `completed` ends it, whatever happens in between.
    func begin(target: String) -> IncomingRequest {
        running.enter()
        return IncomingRequest(target: target, began: platform.clock.now(), limits: configuration)
    }

    func completed() {
        running.leave()
    }

    /// Advances a request by what has come: its head, a piece of its body, or its end.
    func advance(
        _ exchange: IncomingRequest, on connection: OpaquePointer, method: UnsafePointer<CChar>,
        bytes: UnsafeRawBufferPointer
    ) -> MHD_Result {
        let step: IncomingRequest.Step =
            if exchange.awaitsHead {
                exchange.takeHead(
                    method: String(cString: method), headers: HTTPDaemon.headers(of: connection))
            } else if bytes.isEmpty {
                .answer
            } else {
                exchange.takeBody(bytes, now: platform.clock.now())
            }
        return switch step {
        case .readOn: .YES
        case .drop: .NO
        case .answer: reply(to: exchange, on: connection)
        }
    }

    private func reply(to exchange: IncomingRequest, on connection: OpaquePointer) -> MHD_Result {
        let request = exchange.whole()
        let response = answer(request)
        counts.withLock { $0.requests += 1 }
        log?(
            AccessLogEntry(
                method: request.method, path: request.path, status: response.status,
                bytes: response.body.count,
                milliseconds: platform.clock.now().timeIntervalSince(exchange.began) * 1_000))
        return HTTPDaemon.queue(response, on: connection)
    }

    private static func queue(
        _ response: HTTPResponse, on connection: OpaquePointer
    ) -> MHD_Result {
        let made = response.body.withUnsafeBytes { bytes in
            MHD_create_response_from_buffer(
                bytes.count, UnsafeMutableRawPointer(mutating: bytes.baseAddress),
                .RESPMEM_MUST_COPY)
        }
        guard let made else { return .NO }
        defer { MHD_destroy_response(made) }
        for (name, value) in response.headers.fields {
            MHD_add_response_header(made, name, value)
        }
        return MHD_queue_response(connection, UInt32(clamping: response.status), made)
    }

    private static func headers(of connection: OpaquePointer) -> HTTPHeaders {
        var headers = HTTPHeaders()
        withUnsafeMutablePointer(to: &headers) { pointer in
            _ = MHD_get_connection_values(
                connection, .HEADER_KIND,
                { context, _, name, value in
                    guard let context, let name else { return .YES }
                    let headers = context.assumingMemoryBound(to: HTTPHeaders.self)
                    let value = value.map { String(cString: $0) } ?? ""
                    headers.pointee.append(String(cString: name), value)
                    return .YES
                }, pointer)
        }
        return headers
    }
}
