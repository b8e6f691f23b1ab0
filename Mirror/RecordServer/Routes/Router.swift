internal import Foundation
internal import Platform
internal import RecordService
internal import RecordWire

/// Turns HTTP requests into requests of the service, and its answers into HTTP. Holds no rule of
/// its own.
package struct Router: Sendable {
    let door: Authenticator
    /// nil where the service publishes nothing: it speaks the plain dialect.
    let capabilities: ServerCapabilities?
    private let bodyBytesMax: Int
    private let expandedBytesMax: Int
    let platform: Environment
    private let failureLog: FailureLog?
    let throttle: Throttle
    let throttlesAddresses: Bool
    let scheme: String
    private let signInPath: String?
    private let health: HealthAnswers
    let lines: RequestLines

    init(
        door: Authenticator, capabilities: ServerCapabilities?, configuration: ServerConfiguration,
        platform: Environment, health: HealthAnswers
    ) {
        self.health = health
        self.door = door
        lines = RequestLines(door.writerOrder, threads: configuration.http.threads)
        self.capabilities = capabilities
        bodyBytesMax = configuration.http.bodyBytesMax
        expandedBytesMax = configuration.expandedBytesMax
        failureLog = configuration.failureLog
        throttle = Throttle(
            limits: configuration.throttle ?? ThrottleLimits(), clock: platform.clock)
        throttlesAddresses = configuration.http.connections.perAddressMax != nil
        signInPath = configuration.annex?.signInPath
        scheme = if case .off = configuration.tls { "http" } else { "https" }
        self.platform = platform
    }

    /// Decides by a request's head who may go on, before a byte of the body is kept. What is
    /// refused or needs no body is answered; each answer bears the request's id.
    package func admit(_ request: HTTPRequest) -> Admission {
        var facts = RequestFacts()
        let uuid = platform.randomness.uuid().uuidString
        facts.requestID = uuid
        do {
            let route = try route(request, uuid, &facts)
            return admission(to: route, request, uuid).noting(facts)
        } catch {
            return .answer(finished(refusal(for: error, request, uuid), request, uuid))
                .noting(facts)
        }
    }

    private func admission(
        to route: Route, _ request: HTTPRequest, _ uuid: String
    ) -> Admission {
        switch route {
        case .wait(let user, let wait): return .read(user: user) { _ in .wait(wait) }
        case .answer(let body):
            return .answer(finished(HTTPResponse(status: 200, body: body), request, uuid))
        case .ask(let operation, let target, let caller):
            return .read(user: caller.user) { request in
                outcome(of: operation, target, caller, request, uuid)
            }
        case .askSigned(let operation, let target, let guest):
            return signed(operation, target, guest, request, uuid)
        case .file(var response):
            response.headers.append(HTTPResponse.requestIDHeader, uuid)
            return .answer(response)
        case .upload(let upload): return .stream(stream(upload, request, uuid))
        case .answered(let response): return .answer(finished(response, request, uuid))
        case .events(let events, let target, let caller):
            return .read(user: caller.user) { request in
                stream(events, target, request, uuid, caller)
            }
        }
    }

    /// What another part of the server admitted, within what the asker may ask for: a user has one
    /// purse for all, a stranger pays by address.
    package func limited(_ admission: Admission, _ request: HTTPRequest) -> Admission {
        guard case .read(let user, let answer) = admission,
            !user.isEmpty || throttlesAddresses
        else { return admission }
        let asker = user.isEmpty ? Throttle.Asker.address(request.address) : .user(user)
        do {
            try throttle.check(asker)
        } catch {
            let uuid = platform.randomness.uuid().uuidString
            return .answer(finished(refusal(for: error, request, uuid), request, uuid))
        }
        return .read(user: user) { request in
            let began = throttle.moment()
            defer { throttle.charge(asker, since: began) }
            return answer(request)
        }
    }

    var isPlain: Bool { capabilities == nil }

    enum Route {
        case answer(Data)
        case wait(user: String, HTTPWait)
        case ask(String, RecordTarget, Authenticator.Admitted)
        case askSigned(String, RecordTarget, Authenticator.Signed)
        case file(HTTPResponse)
        case upload(AssetUpload)
        case answered(HTTPResponse)
        case events(ChangeEvents, RecordTarget, Authenticator.Admitted)
    }

    private func route(
        _ request: HTTPRequest, _ uuid: String, _ facts: inout RequestFacts
    ) throws -> Route {
        let path = try RoutePath(request.path)
        facts.operation = path.name
        switch path {
        case .assetUpload:
            return try uploading(request, &facts)
        case .operation(let operation, var target):
            let tokens = tokens(of: request, for: target)
            target.deviceID = tokens.deviceID
            target.clientVersion = isPlain ? nil : try ClientVersion(of: request)
            target.serviceAddress = request.serviceAddress(scheme: scheme)
            if let guest = try signedGuest(of: operation, target, request) {
                (facts.user, facts.container) = (guest.user, target.container)
                try checkMethod(operation, request)
                _ = try BodyEncoding(of: request)
                return .askSigned(operation, target, guest)
            }
            let caller = try admitted(tokens, target.container, request)
            (facts.user, facts.container) = (caller.isWorld ? nil : caller.user, target.container)
            if operation == ChangeEvents.operation, !isPlain {
                guard request.method == "GET" else {
                    throw RouteRefusal.methodNotAllowed(allowed: "GET")
                }
                return .events(try ChangeEvents(request), target, caller)
            }
            try checkMethod(operation, request)
            _ = try BodyEncoding(of: request)
            return .ask(operation, target, caller)
        case .health, .liveness, .readiness, .capabilities, .openAPI, .assetFile, .courier,
            .sharePage:
            return try reading(path, request, uuid, &facts)
        }
    }

    /// What is only read, and needs no API token. A service of the plain dialect publishes nothing.
    private func reading(
        _ path: RoutePath, _ request: HTTPRequest, _ uuid: String, _ facts: inout RequestFacts
    ) throws -> Route {
        switch path {
        case .health, .liveness, .readiness, .capabilities, .openAPI:
            guard !isPlain else { throw RouteRefusal.notHere }
        case .assetFile, .courier, .sharePage, .assetUpload, .operation: break
        }
        // Some clients ask the courier by POST.
        var methods = ["GET", "HEAD"]
        if case .courier = path { methods.append("POST") }
        guard methods.contains(request.method) else {
            throw RouteRefusal.methodNotAllowed(allowed: methods.joined(separator: ", "))
        }
        switch path {
        case .health, .liveness: return .answer(HealthAnswers.alive)
        case .readiness:
            if let reason = health.readiness.reason { throw Self.unready(reason) }
            return .answer(HealthAnswers.ready)
        case .capabilities: return .answer(try capabilities?.json() ?? Data())
        case .openAPI: return .answer(try OpenAPIDocument.json())
        case .assetFile:
            let (response, user) = try file(for: request)
            facts.user = user
            return .file(response)
        case .sharePage(let shortGUID): return .file(try sharePage(shortGUID, request))
        case .courier:
            let (wait, user) = try notices(request, uuid)
            facts.user = user
            return .wait(user: user, wait)
        case .assetUpload, .operation: throw RouteRefusal.notHere
        }
    }

    // MARK: Notices

    /// Waits for the next notice of a courier's token; an empty object where none came in time, and
    /// nothing in the plain dialect: clients of Apple's look for a notice in any object.
    private func notices(
        _ request: HTTPRequest, _ uuid: String
    ) throws -> (HTTPWait, user: String) {
        guard let courier = door.courier, let token = request.query["token"] else {
            throw RouteRefusal.notHere
        }
        let user: String
        let began = throttle.moment()
        do {
            user = try courier.user(token)
        } catch {
            let stranger = Throttle.Asker.address(request.address)
            if throttlesAddresses { throttle.charge(stranger, since: began) }
            if throttlesAddresses { try throttle.check(stranger) }
            throw error
        }
        try throttle.check(.user(user))
        throttle.charge(.user(user), since: began)
        let silence = Data((isPlain ? "" : "{}").utf8)
        let nothing = { @Sendable in
            finished(HTTPResponse(status: 200, body: silence), request, uuid)
        }
        // An answer without a body brings no notice, so it takes none.
        let isRead = request.method != "HEAD"
        var wait = HTTPWait(
            seconds: isRead ? .infinity : 0, listen: { try courier.listen(token, uuid, $0) },
            answer: { isLast in
                do {
                    guard isRead, let notice = try courier.next(token, uuid) else {
                        return isLast || !isRead ? nothing() : nil
                    }
                    var response = finished(
                        HTTPResponse(status: 200, body: notice.json), request, uuid)
                    response.whenLost = notice.putBack
                    return response
                } catch {
                    return finished(refusal(for: error, request, uuid), request, uuid)
                }
            })
        wait.parting = nothing
        return (wait, user)
    }

    /// An answer that names a place of this server gets its address as the client knows it.
    func addressed(
        _ answer: RecordResponse, _ request: HTTPRequest
    ) -> RecordResponse {
        guard case .courierToken(var token) = answer, let text = token.apnsToken,
            let address = request.serviceAddress(scheme: scheme)
        else { return answer }
        token.webcourierURL = "\(address)\(RoutePath.courierPath)?token=\(text)"
        return .courierToken(token)
    }

    /// A stranger pays for what is refused, so that guessing tokens is slow; where a proxy stands
    /// in front, all have its address and nobody pays.
    private func admitted(
        _ tokens: AccessTokens, _ container: String, _ request: HTTPRequest
    ) throws -> Authenticator.Admitted {
        try lettingIn(request) {
            let caller = try door.admit(tokens, container)
            try throttle.check(asker(caller, request))
            return caller
        }
    }

    func lettingIn<Guest>(_ request: HTTPRequest, _ body: () throws -> Guest) throws
        -> Guest
    {
        let began = throttle.moment()
        do {
            return try body()
        } catch let error as RecordError where error.code != .throttled && throttlesAddresses {
            let stranger = Throttle.Asker.address(request.address)
            throttle.charge(stranger, since: began)
            try throttle.check(stranger)
            throw error
        }
    }

    private func tokens(of request: HTTPRequest, for target: RecordTarget) -> AccessTokens {
        var tokens = AccessTokens(of: request, isPlain: isPlain)
        tokens.isForWorld = target.database == RoutePath.publicDatabase
        return tokens
    }

    func asker(
        _ caller: Authenticator.Admitted, _ request: HTTPRequest
    ) -> Throttle.Asker {
        caller.isWorld ? .address(request.address) : .user(caller.user)
    }

    func refusal(
        for error: any Error, _ request: HTTPRequest, _ uuid: String
    ) -> HTTPResponse {
        switch error {
        case let refusal as RouteRefusal:
            var response = refused(refusal.error, status: refusal.status, uuid)
            refusal.headers.forEach { response.headers.append($0, $1) }
            return response
        case var error as RecordError:
            if error.code == .internalError { failureLog?(uuid, error) }
            if error.code == .authenticationRequired, error.redirectURL == nil {
                error.redirectURL = signInPage(for: request)
            }
            if isPlain, error.detail == .count { error = error.withoutExtensions }
            return refused(error, status: error.code.httpStatus, uuid)
        default:
            failureLog?(uuid, error)
            return refused(Self.failed, status: 500, uuid)
        }
    }

    /// Where the user of an app signs in; nil where it is the app's own token that is missing. In
    /// the plain dialect nil too: clients of CloudKit Web Services open such a page and wait until
    /// it hands a token back, which the console does for nobody.
    private func signInPage(for request: HTTPRequest) -> String? {
        guard !isPlain, let signInPath, AccessTokens(of: request, isPlain: isPlain).apiToken != nil,
            let address = request.serviceAddress(scheme: scheme)
        else { return nil }
        return address + signInPath
    }

    func finished(
        _ response: HTTPResponse, _ request: HTTPRequest, _ uuid: String,
        format: WireFormat = .json, outlook: TokenOutlook? = nil
    ) -> HTTPResponse {
        var response = response
        response.headers.append(HTTPResponse.requestIDHeader, uuid)
        response.headers.append(
            "Content-Type",
            format == .json ? "application/json; charset=utf-8" : format.mediaType)
        if format != .json { response.headers.append("Vary", "Accept") }
        response.headers.append("Cache-Control", "no-store")
        if isPlain, response.status == 200, let shown = request.query["ckWebAuthToken"] {
            let number = platform.randomness.next()
            response.headers.append(
                TokenRotation.header, TokenRotation.next(after: outlook?.next ?? shown, number))
        } else if let outlook {
            outlook.tell(in: &response.headers)
        }
        compress(&response, for: request)
        return response
    }

    // MARK: Questions

    func outcome(
        of operation: String, _ target: RecordTarget, _ caller: Authenticator.Admitted,
        _ request: HTTPRequest, _ uuid: String
    ) -> HTTPOutcome {
        do {
            let method = request.method == "HEAD" ? "GET" : request.method
            let began = throttle.moment()
            defer { throttle.charge(asker(caller, request), since: began) }
            let question = try WireCodec.decodeRequest(
                path: operation, method: method, body: try plainBody(of: request),
                format: isPlain ? .json : WireFormat(contentType: request.headers["Content-Type"]),
                dialect: isPlain ? .plain : .extended)
            guard question.waitSeconds > 0, !isPlain, let listen = caller.listen else {
                return try outcome(of: question, target, caller, request, uuid)
            }
            return .wait(
                HTTPWait(
                    seconds: Double(question.waitSeconds),
                    listen: { try listen(question, target, $0) },
                    answer: { isLast in
                        news(of: question, target, caller, isLast: isLast, request, uuid)
                    }))
        } catch {
            return .response(finished(refusal(for: error, request, uuid), request, uuid))
        }
    }

    /// The answer to a question that waits; nil while there is nothing to tell and time is left.
    /// Who asks is looked at again, for a token may have been revoked meanwhile.
    func news(
        of question: RecordRequest, _ target: RecordTarget, _ former: Authenticator.Admitted,
        isLast: Bool, _ request: HTTPRequest, _ uuid: String
    ) -> HTTPResponse? {
        do {
            return try asking(again: former, target, request) { caller in
                let answer = addressed(try caller.ask(question, target), request)
                guard isLast || answer.isNews else { return nil }
                return try told(answer, to: question, target, caller, request, uuid)
            }
        } catch {
            return finished(refusal(for: error, request, uuid), request, uuid)
        }
    }

    /// Looks once more who asks, and charges for what is done then.
    func asking<Result>(
        again former: Authenticator.Admitted, _ target: RecordTarget, _ request: HTTPRequest,
        _ body: (Authenticator.Admitted) throws -> Result
    ) throws -> Result {
        let began = throttle.moment()
        var caller = former
        if let stillGood = former.stillGood {
            try stillGood()
        } else {
            caller = try door.admit(tokens(of: request, for: target), target.container)
        }
        defer { throttle.charge(asker(caller, request), since: began) }
        return try body(caller)
    }

    /// A good answer in the format that the asker likes best.
    func told(
        _ answer: RecordResponse, to question: RecordRequest, _ target: RecordTarget,
        _ caller: Authenticator.Admitted, _ request: HTTPRequest, _ uuid: String
    ) throws -> HTTPResponse {
        let body: Data
        var format = WireFormat.json
        if isPlain {
            let usual = answer.usualMembers(to: caller, target)
            body = try WireCodec.encode(answer, to: question, usual: usual)
        } else {
            format = WireFormat(acceptedBy: request.headers["Accept"])
            (body, format) = try WireCodec.encode(answer, to: question, as: format)
        }
        return finished(
            HTTPResponse(status: 200, body: body), request, uuid, format: format,
            outlook: caller.outlook)
    }

    /// An answer that goes on. Who asks is looked at again with each event, as in `news`.
    private func stream(
        _ events: ChangeEvents, _ target: RecordTarget, _ request: HTTPRequest, _ uuid: String,
        _ caller: Authenticator.Admitted
    ) -> HTTPOutcome {
        let ask: @Sendable (RecordRequest) throws -> RecordResponse = { question in
            let began = throttle.moment()
            let caller = try door.admit(tokens(of: request, for: target), target.container)
            defer { throttle.charge(asker(caller, request), since: began) }
            return try caller.ask(question, target)
        }
        do {
            guard let listen = caller.listen else { throw RouteRefusal.notHere }
            try events.begin(ask)
            var head = HTTPResponse(status: 200)
            head.headers.append(HTTPResponse.requestIDHeader, uuid)
            head.headers.append("Content-Type", ChangeEvents.contentType)
            head.headers.append("Cache-Control", "no-store")
            // A proxy that collects an answer would never pass it on.
            head.headers.append("X-Accel-Buffering", "no")
            return .events(
                HTTPEvents(
                    head: head, heartbeat: ChangeEvents.heartbeat,
                    listen: { try listen(events.question, target, $0) },
                    next: { events.next(ask) }))
        } catch {
            return .response(finished(refusal(for: error, request, uuid), request, uuid))
        }
    }

    private func checkMethod(_ operation: String, _ request: HTTPRequest) throws {
        let isListing = [
            "zones/list", "subscriptions/list", "users/caller", "users/current", "users/discover",
        ].contains(operation)
        let isReading = request.method == "GET" || request.method == "HEAD"
        guard request.method == "POST" || isReading && isListing else {
            // An operation that is not there is a 404 before its method is a 405.
            do throws(RecordError) {
                _ = try WireCodec.decodeRequest(path: operation, method: "POST", body: Data())
            } catch  where error.code == .notFound {
                throw error
            } catch {}
            throw RouteRefusal.methodNotAllowed(allowed: isListing ? "GET, HEAD, POST" : "POST")
        }
    }

    private static let busyRetrySeconds = 5.0

    private static func unready(_ reason: String) -> RecordError {
        var error = RecordError(.tryAgainLater, reason)
        error.retryAfterSeconds = busyRetrySeconds
        return error
    }

    private var noRoom: RecordError {
        var error = RecordError(
            .tryAgainLater,
            "The service holds as much of requests and answers as it can; try again soon.")
        error.retryAfterSeconds = Self.busyRetrySeconds
        return error
    }

    func plainBody(of request: HTTPRequest) throws -> Data {
        switch request.body {
        case .bytes(let body):
            let encoding = try BodyEncoding(of: request)
            return try encoding?.expand(body, bytesMax: expandedBytesMax) ?? body
        case .noRoom: throw noRoom
        case .tooLarge:
            throw RecordError(
                .limitExceeded,
                "The body is larger than the \(bodyBytesMax) bytes that are taken. "
                    + "Send less at a time.")
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
        response.facts.errorCode = error.code.rawValue
        if let seconds = error.retryAfterSeconds, seconds.isFinite {
            response.headers.append("Retry-After", String(Int(min(seconds, 1e9).rounded(.up))))
        }
        return response
    }

    private func compress(_ response: inout HTTPResponse, for request: HTTPRequest) {
        guard response.body.count >= Gzip.bytesMin,
            let encoding = BodyEncoding(acceptedBy: request.headers["Accept-Encoding"]),
            let small = encoding.compress(response.body)
        else { return }
        response.body = small
        response.headers.append("Content-Encoding", encoding.rawValue)
        response.headers.append("Vary", "Accept-Encoding")
    }
}

extension RecordResponse {
    /// What is said in the plain dialect where the answer says nothing of it. Whose the zones of
    /// shares are tells who is asked to take part from who shares: nothing is said in its place.
    fileprivate func usualMembers(
        to caller: Authenticator.Admitted, _ target: RecordTarget
    ) -> UsualMembers? {
        if case .shares = self { return UsualMembers(toldTo: nil, database: "shared") }
        return UsualMembers(
            toldTo: caller.isWorld ? nil : caller.user, database: target.database)
    }
}
