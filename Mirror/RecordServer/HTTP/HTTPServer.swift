internal import CMicroHTTPD
internal import Foundation
package import Platform

/// An HTTP/1.1 server on one address: each head goes to a closure that admits or refuses it, each
/// whole request to the one that was returned, whose answer goes back.
///
/// The closures run on the daemon's threads, several at a time; they may block, and then hold only
/// the connections of their own thread. A request that waits for something holds no thread.
package final class HTTPServer: Sendable {
    private struct Running: @unchecked Sendable {
        // @unchecked: libmicrohttpd has the threads' references; one stop takes them away.
        let threads: [Unmanaged<ServerThread>]
        let socket: ListeningSocket
        let acceptor: ConnectionAcceptor
        let ticker: Ticker
    }

    private let configuration: HTTPConfiguration
    private let daemon: HTTPDaemon
    private let running = Lock<Running?>(nil)

    package init(
        configuration: HTTPConfiguration, platform: Environment, log: AccessLog? = nil,
        admit: @escaping @Sendable (HTTPRequest) -> Admission
    ) {
        self.configuration = configuration
        daemon = HTTPDaemon(
            configuration: configuration, platform: platform, log: log, admit: admit)
    }

    /// A server that admits everybody.
    package convenience init(
        configuration: HTTPConfiguration, platform: Environment, log: AccessLog? = nil,
        answer: @escaping @Sendable (HTTPRequest) -> HTTPResponse
    ) {
        self.init(
            configuration: configuration, platform: platform, log: log,
            admit: { _ in .read(user: "", answer: { .response(answer($0)) }) })
    }

    deinit { stop() }

    package var statistics: HTTPStatistics { daemon.statistics }
    package var heldRequests: Int { daemon.heldRequests }

    /// What is held at this moment.
    var traffic: MetricsPage.Traffic {
        MetricsPage.Traffic(
            connections: daemon.openConnections, acceptedConnections: statistics.connections,
            heldRequests: heldRequests, bufferedBytes: daemon.heldBytes)
    }

    /// Listens on `address`, with TLS where an identity is given, and returns the real port.
    /// Port 0 takes a free one. Throws `ServerError`.
    package func start(address: String, port: UInt16, tls: TLSIdentity?) throws -> UInt16 {
        guard running.withLock({ $0 == nil }) else {
            throw ServerError(.cannotListen, "The server runs already; stop it first.")
        }
        if let tls { try daemon.tls.set(tls) }
        let socket = try ListeningSocket(address: address, port: port)
        daemon.holdRequests()
        guard let threads = launch(isTLS: tls != nil) else {
            socket.close()
            throw ServerError(
                .cannotListen,
                "The HTTP library cannot start; look at the limits on open files and threads.")
        }
        let acceptor = ConnectionAcceptor(
            from: socket, to: threads.map { $0.takeUnretainedValue() }, of: daemon)
        let ticker = Ticker(everySeconds: 0.5) { [daemon] in
            daemon.tick()
            acceptor.goOn()
        }
        running.withLock {
            $0 = Running(
                threads: threads, socket: socket, acceptor: acceptor, ticker: ticker)
        }
        return socket.port
    }

    /// New connections are shown `tls` from now on; those that are open stay. Only where the server
    /// was started with an identity. Throws `ServerError`, and shows the former one then.
    package func exchange(tls: TLSIdentity) throws {
        try running.withLock { running in
            guard running != nil else { return }
            try daemon.tls.set(tls)
        }
    }

    /// Takes no new connection, lets the requests under way end (at most `drainSeconds`), then
    /// closes. Blocks. Harmless when not started.
    package func stop() {
        let stopped = running.withLock { running in
            defer { running = nil }
            return running
        }
        guard let stopped else { return }
        stopped.acceptor.stop()
        stopped.socket.shutDown()
        daemon.answerHeld()
        daemon.waitUntilIdle(seconds: configuration.drainSeconds)
        stopped.ticker.stop()
        Self.end(stopped.threads)
        stopped.socket.close()
    }

    /// What a connection needs beside its head: the list of headers, a piece of the body, the head
    /// of the answer.
    private static let workingMemoryBytes = 20 << 10

    /// One daemon of the library for each thread, each with the connections that it is given: a
    /// pool of the library's would part them by the numbers of their descriptors. Nil where one
    /// cannot start.
    private func launch(isTLS: Bool) -> [Unmanaged<ServerThread>]? {
        var threads: [Unmanaged<ServerThread>] = []
        for _ in 0..<max(1, configuration.threads) {
            let thread = ServerThread(daemon)
            let retained = Unmanaged.passRetained(thread)
            threads.append(retained)
            thread.library = launchOne(isTLS: isTLS, retained.toOpaque())
            guard thread.library != nil else {
                Self.end(threads)
                return nil
            }
        }
        return threads
    }

    private static func end(_ threads: [Unmanaged<ServerThread>]) {
        for thread in threads {
            if let library = thread.takeUnretainedValue().library { MHD_stop_daemon(library) }
            thread.release()
        }
    }

    private func launchOne(isTLS: Bool, _ context: UnsafeMutableRawPointer) -> OpaquePointer? {
        var settings = diptych_mhd_settings()
        // Our own limit is the one that counts.
        let connections = configuration.connections
        settings.connection_limit = UInt32(clamping: connections.max + connections.max / 4 + 64)
        settings.idle_seconds = UInt32(clamping: connections.idleSeconds)
        settings.connection_memory =
            max(configuration.headerBytesMax, 4 << 10) + HTTPServer.workingMemoryBytes
        settings.context = context
        settings.begin = begin
        settings.access = advance
        settings.completed = completed
        settings.connection = accepted
        settings.is_tls = isTLS ? 1 : 0
        return diptych_mhd_start(&settings)
    }
}

private func thread(_ context: UnsafeMutableRawPointer?) -> ServerThread? {
    context.map { Unmanaged<ServerThread>.fromOpaque($0).takeUnretainedValue() }
}

private func daemon(_ context: UnsafeMutableRawPointer?) -> HTTPDaemon? { thread(context)?.daemon }

private let begin:
    @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<CChar>?, OpaquePointer?)
        -> UnsafeMutableRawPointer? = { context, target, connection in
            guard let daemon = daemon(context), let target, let connection else { return nil }
            return Unmanaged.passRetained(
                daemon.begin(target: String(cString: target), on: connection)
            ).toOpaque()
        }

private let advance: MHD_AccessHandlerCallback = {
    context, connection, target, method, version, bytes, count, state in
    guard let thread = thread(context), let connection, let target, let method, let version,
        let count, let incoming = state?.pointee
    else { return .NO }
    let buffer = UnsafeRawBufferPointer(start: bytes, count: count.pointee)
    count.pointee = 0
    return thread.atWork {
        thread.daemon.advance(
            Unmanaged<IncomingRequest>.fromOpaque(incoming).takeUnretainedValue(), on: connection,
            line: RequestLine(method: method, target: target, version: version), bytes: buffer)
    }
}

private let completed: MHD_RequestCompletedCallback = { context, connection, state, code in
    guard let daemon = daemon(context), let connection, let incoming = state?.pointee else {
        return
    }
    let request = Unmanaged<IncomingRequest>.fromOpaque(incoming).takeRetainedValue()
    state?.pointee = nil
    daemon.completed(
        request, on: connection, wasSent: code == .REQUEST_TERMINATED_COMPLETED_OK)
}

private let accepted: MHD_NotifyConnectionCallback = { context, connection, _, code in
    guard let daemon = daemon(context), let connection else { return }
    if code == .CONNECTION_NOTIFY_STARTED {
        daemon.opened(connection)
    } else {
        daemon.closed(connection)
    }
}
