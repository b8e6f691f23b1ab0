internal import CMicroHTTPD
internal import Foundation
internal import Platform
internal import RecordWire

/// What libmicrohttpd's callbacks work with. No callback traps or throws: each step is total.
final class HTTPDaemon: Sendable {
    private let configuration: HTTPConfiguration
    private let platform: Environment
    private let admit: @Sendable (HTTPRequest) -> Admission
    private let log: AccessLog?
    private let counts = Lock(HTTPStatistics())
    private let running = RunningCount()
    private let connections: ConnectionTable
    private let buffers: BufferLedger
    private let held: HeldRequests
    let tls = TLSSlot()
    /// Called when a newcomer is opened.
    let whenOpened = Handler<Void, Never>()

    init(
        configuration: HTTPConfiguration, platform: Environment, log: AccessLog?,
        admit: @escaping @Sendable (HTTPRequest) -> Admission
    ) {
        self.configuration = configuration
        self.platform = platform
        self.admit = admit
        self.log = log
        connections = ConnectionTable(limits: configuration.connections, clock: platform.clock)
        buffers = BufferLedger(limits: configuration.buffers)
        held = HeldRequests(limits: configuration.held, clock: platform.clock)
    }

    private var proxies: TrustedProxies {
        TrustedProxies(networks: configuration.trustedProxies)
    }

    var statistics: HTTPStatistics { counts.withLock { $0 } }

    var heldRequests: Int { held.count }

    /// Connections that are open now.
    var openConnections: Int { connections.count }

    /// Bytes of bodies and answers that are held now.
    var heldBytes: Int { buffers.bytes }

    /// The server starts, perhaps after a stop.
    func holdRequests() { held.open() }

    /// Answers what is held back, and holds nothing back any more.
    func answerHeld() { held.close() }

    /// Waits until no request is under way, at most for `seconds`.
    func waitUntilIdle(seconds: Int) {
        running.waitUntilZero(seconds: seconds)
    }

    /// Closes what takes too long, and gives memory back. Called every second.
    func tick() {
        connections.sweep()
        held.sweep()
        if buffers.takeFreed() { diptych_give_memory_back() }
    }

    // MARK: Connections

    /// Whether the next newcomer has to wait until others are opened.
    var hasNewcomers: Bool { connections.expectsMany }

    /// Whether a newcomer finds room; it counts from now on.
    func mayAccept(_ address: UnsafePointer<sockaddr>?) -> Bool {
        connections.mayAccept(
            ClientAddress(address), isTrusted: proxies.trusts(HostAddress(address)))
    }

    /// The library did not take a newcomer.
    func turnedAway(_ address: UnsafePointer<sockaddr>?) {
        connections.turnedAway(ClientAddress(address))
    }

    func opened(_ connection: OpaquePointer) {
        tls.bind(connection)
        counts.withLock { $0.connections += 1 }
        connections.opened(
            UInt(bitPattern: connection), diptych_mhd_socket(connection),
            ClientAddress(diptych_mhd_address(connection)))
        whenOpened()
    }

    func closed(_ connection: OpaquePointer) {
        connections.closed(UInt(bitPattern: connection))
    }

    // MARK: Requests

    /// Begins a request; `completed` ends it, whatever happens in between.
    func begin(target: String, on connection: OpaquePointer) -> IncomingRequest {
        running.enter()
        connections.enter(.head, UInt(bitPattern: connection))
        let address = ClientAddress(diptych_mhd_address(connection))
        let request = IncomingRequest(
            target: target, address: address, began: platform.clock.now(), limits: configuration,
            hold: BufferLedger.Hold(buffers, address))
        // The library would fill the connection's memory with them, and then wait for ever.
        if request.request.query.count > RequestHead.readableQueryItemsMax {
            connections.cut(UInt(bitPattern: connection))
        }
        return request
    }

    func completed(
        _ incoming: IncomingRequest, on connection: OpaquePointer, wasSent: Bool
    ) {
        held.end(UInt(bitPattern: connection))
        if !wasSent { incoming.answered?.whenLost?() }
        if let stream = incoming.stream {
            note(stream.head, bytes: stream.sentBytes, to: incoming, wasHeld: true)
        }
        connections.enter(.waiting, UInt(bitPattern: connection))
        running.leave()
    }

    /// Advances a request by what has come: its head, a piece of its body, or its end.
    func advance(
        _ incoming: IncomingRequest, on connection: OpaquePointer, line: RequestLine,
        bytes: UnsafeRawBufferPointer
    ) -> MHD_Result {
        guard !incoming.isAnswered else { return .YES }
        if let wait = incoming.waiting?.wait {
            return goOn(wait, of: incoming, on: connection, wasHeld: true)
        }
        let step: IncomingRequest.Step
        if incoming.awaitsHead {
            step = takeHead(incoming, on: connection, line)
        } else if bytes.isEmpty {
            step = .answer
        } else {
            connections.received(bytes.count, UInt(bitPattern: connection))
            step = incoming.takeBody(bytes)
        }
        return switch step {
        case .readOn: .YES
        case .drop: .NO
        case .answer: reply(to: incoming, on: connection)
        }
    }

    private func takeHead(
        _ incoming: IncomingRequest, on connection: OpaquePointer, _ line: RequestLine
    ) -> IncomingRequest.Step {
        connections.enter(.body(received: 0), UInt(bitPattern: connection))
        let (head, bytes) = RequestHead.of(
            connection, line: line, targetBytes: incoming.targetBytes)
        let method = String(cString: line.method)
        if let refusal = refusal(of: head, bytes: bytes, queryItems: incoming.request.query.count) {
            var request = incoming.request
            request.headers = head.headers
            let crossing = CrossOrigin(configuration.origins)
            incoming.refuse(crossing.marked(refusal, request), method: method)
            return .answer
        }
        let peer = HostAddress(diptych_mhd_address(connection))
        if let sender = proxies.sender(behind: peer, head.headers) {
            incoming.comes(from: sender.client)
        }
        // What stands in an address may be fetched from a slow store: no fault of the client's.
        connections.enter(.answering, UInt(bitPattern: connection))
        let step = incoming.takeHead(method: method, headers: head.headers, admit: admit)
        connections.enter(
            incoming.isStreamed ? .upload(received: 0) : .body(received: 0),
            UInt(bitPattern: connection))
        return step
    }

    /// A head that is refused before anybody looks at who sends it. What follows it on the
    /// connection cannot be trusted to be a request.
    private func refusal(of head: RequestHead, bytes: Int, queryItems: Int) -> HTTPResponse? {
        var response: HTTPResponse
        if bytes > configuration.headerBytesMax
            || head.headers.fields.count > RequestHead.headersMax
        {
            response = .badHead(431, "The headers are too large or too many.")
        } else if queryItems > RequestHead.queryItemsMax {
            response = .badHead(400, "The address has too many arguments after its question mark.")
        } else if let problem = head.problem {
            response = .badHead(400, problem)
        } else {
            return nil
        }
        response.headers.append("Connection", "close")
        return response
    }

    private func reply(to incoming: IncomingRequest, on connection: OpaquePointer) -> MHD_Result {
        connections.enter(.answering, UInt(bitPattern: connection))
        return switch incoming.outcome() {
        case .response(let response):
            send(response, to: incoming, on: connection, wasHeld: false)
        case .wait(let wait): hold(wait, incoming, on: connection)
        case .events(let events): open(events, incoming, on: connection)
        }
    }

    // MARK: Answers that go on

    private func open(
        _ events: HTTPEvents, _ incoming: IncomingRequest, on connection: OpaquePointer
    ) -> MHD_Result {
        let id = UInt(bitPattern: connection)
        let user = incoming.hold.user ?? ""
        guard
            held.begin(
                id, of: user, seconds: configuration.held.heartbeatSeconds,
                descriptor: diptych_mhd_socket(connection)),
            let stream = try? EventStream(
                events, on: connection, hold: incoming.hold, held: held, connections: connections,
                clock: platform.clock)
        else {
            held.end(id)
            return send(.tooManyStreams, to: incoming, on: connection, wasHeld: false)
        }
        incoming.answered = IncomingRequest.Answered()
        incoming.stream = stream
        counts.withLock { $0.requests += 1 }
        guard let made = stream.response() else { return .NO }
        return HTTPDaemon.queue(made, events.head, on: connection)
    }

    // MARK: Answers held back

    private func hold(
        _ wait: HTTPWait, _ incoming: IncomingRequest, on connection: OpaquePointer
    ) -> MHD_Result {
        let id = UInt(bitPattern: connection)
        var waiting = IncomingRequest.Waiting(wait: wait)
        let descriptor = diptych_mhd_socket(connection)
        if held.begin(
            id, of: wait.holder ?? incoming.hold.user ?? "", seconds: wait.seconds,
            descriptor: descriptor, isListener: wait.holder == nil)
        {
            // Who cannot listen is answered with what there is.
            waiting.listening = try? wait.listen { [held] in held.wake(id) }
            if waiting.listening == nil { held.end(id) }
        }
        incoming.waiting = waiting
        return goOn(wait, of: incoming, on: connection, wasHeld: false)
    }

    /// Answers where there is something to tell or the time is up; lets the connection sleep where
    /// not, and is called again when it wakes.
    private func goOn(
        _ wait: HTTPWait, of incoming: IncomingRequest, on connection: OpaquePointer,
        wasHeld: Bool
    ) -> MHD_Result {
        let id = UInt(bitPattern: connection)
        while true {
            connections.enter(.answering, id)
            let isGone = wasHeld && HeldRequests.isClosedByPeer(diptych_mhd_socket(connection))
            let isLast = held.isLast(id) || isGone
            if let response = (isGone ? wait.parting?() : nil) ?? wait.answer(isLast)
                ?? (isLast ? HTTPResponse(status: 500) : nil)
            {
                held.end(id)
                incoming.waiting = nil
                return send(response, to: incoming, on: connection, wasHeld: wasHeld)
            }
            connections.enter(.held, id)
            if held.suspend(connection) { return .YES }
        }
    }

    private func send(
        _ response: HTTPResponse, to incoming: IncomingRequest, on connection: OpaquePointer,
        wasHeld: Bool
    ) -> MHD_Result {
        let id = UInt(bitPattern: connection)
        incoming.answered = IncomingRequest.Answered(whenLost: response.whenLost)
        let response = named(incoming.holding(response))
        counts.withLock { $0.requests += 1 }
        note(response, bytes: response.byteCount, to: incoming, wasHeld: wasHeld)
        connections.enter(.sending(bytes: response.byteCount), id)
        return HTTPDaemon.queue(response, on: connection)
    }

    /// Gives an answer an id where whoever made it gave none.
    private func named(_ response: HTTPResponse) -> HTTPResponse {
        guard response.headers[HTTPResponse.requestIDHeader] == nil else { return response }
        var response = response
        let id = response.facts.requestID ?? platform.randomness.uuid().uuidString
        response.headers.append(HTTPResponse.requestIDHeader, id)
        response.facts.requestID = id
        return response
    }

    private func note(
        _ response: HTTPResponse, bytes: Int, to incoming: IncomingRequest, wasHeld: Bool
    ) {
        guard let log else { return }
        let now = platform.clock.now()
        log(
            AccessLogEntry(
                time: now, method: incoming.request.method, path: incoming.request.path,
                status: response.status, bytes: bytes,
                receivedBytes: incoming.bodyBytes,
                milliseconds: now.timeIntervalSince(incoming.began) * 1_000,
                wasHeld: wasHeld, facts: response.facts,
                round: RoundIdentifier.taken(
                    from: incoming.request.headers[RoundIdentifier.header])))
    }

    private static func queue(
        _ response: HTTPResponse, on connection: OpaquePointer
    ) -> MHD_Result {
        let made =
            if let pieces = response.pieces {
                PieceStream(pieces).response()
            } else {
                response.file.map(make) ?? make(response.body)
            }
        guard let made else { return .NO }
        return queue(made, response, on: connection)
    }

    /// Gives the library a body with the status and the headers of `response`.
    private static func queue(
        _ made: OpaquePointer, _ response: HTTPResponse, on connection: OpaquePointer
    ) -> MHD_Result {
        defer { MHD_destroy_response(made) }
        for (name, value) in response.headers.fields {
            MHD_add_response_header(made, name, value)
        }
        return MHD_queue_response(connection, UInt32(clamping: response.status), made)
    }

    private static func make(_ body: Data) -> OpaquePointer? {
        body.withUnsafeBytes { bytes in
            MHD_create_response_from_buffer(
                bytes.count, UnsafeMutableRawPointer(mutating: bytes.baseAddress),
                .RESPMEM_MUST_COPY)
        }
    }

    /// The library reads the file while it sends, and closes the descriptor it was given.
    private static func make(_ part: HTTPFilePart) -> OpaquePointer? {
        let descriptor = fcntl(part.descriptor, F_DUPFD_CLOEXEC, 0)
        guard descriptor >= 0 else { return nil }
        let made = MHD_create_response_from_fd_at_offset64(
            UInt64(part.range.count), descriptor, UInt64(part.range.lowerBound))
        if made == nil { close(descriptor) }
        return made
    }
}

extension HTTPResponse {
    /// As many answers go on already as there is room for, in all or of one user.
    fileprivate static var tooManyStreams: HTTPResponse {
        let text =
            #"{"serverErrorCode":"TRY_AGAIN_LATER","reason":"Too many requests wait for changes "#
            + #"already; end some of them, or ask for changes now and then.","retryAfter":5}"#
        var response = HTTPResponse(status: 503, body: Data(text.utf8))
        response.headers.append("Content-Type", "application/json; charset=utf-8")
        response.headers.append("Retry-After", "5")
        return response
    }

    /// An answer to what is no proper request, in the form of the protocol's errors.
    fileprivate static func badHead(_ status: Int, _ reason: String) -> HTTPResponse {
        let text = #"{"serverErrorCode":"BAD_REQUEST","reason":"\#(reason)"}"#
        var response = HTTPResponse(status: status, body: Data(text.utf8))
        response.headers.append("Content-Type", "application/json; charset=utf-8")
        return response
    }
}
