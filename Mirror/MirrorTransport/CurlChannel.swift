internal import Dispatch
public import Foundation
internal import Platform
public import RecordWire

/// Carries requests to a record service over HTTPS with libcurl, one after another on one
/// connection.
///
/// What the service publishes decides how it is spoken to; it is asked before the first request.
/// Certificate and host name are always verified. Throws `RecordError` where the service refused,
/// and `TransportError` where no answer came. A cancelled task is heard within about a second.
public final class CurlChannel: RecordChannel {
    private let configuration: ChannelConfiguration
    /// The service's address, without a slash at its end.
    private let base: String
    // Its own serial queue: libcurl blocks, and Swift's cooperative threads must not.
    private let queue = DispatchQueue(label: "diptych.channel")
    private let handle: QueueBound<CurlHandle>
    private let counts: Lock<ByteCount>
    /// What the service says of itself; nil until it was asked.
    private let learned: Lock<Publication?>
    private let userToken: RotatingToken
    /// Whose token it is, as the service told; nil until it was asked.
    private let user = Lock<CallerReply?>(nil)

    /// Opens no connection yet. Throws `TransportError` where the settings cannot be used.
    public init(configuration: ChannelConfiguration) throws {
        try configuration.check()
        self.configuration = configuration
        base = Self.base(configuration.serviceURL.absoluteString)
        learned = Lock(configuration.dialect.map(Publication.init(dialect:)))
        userToken =
            configuration.rotatingToken ?? RotatingToken(configuration.credentials.userToken)
        counts = Lock(ByteCount())
        handle = QueueBound(try CurlHandle(limits: configuration.limits, counts: counts))
    }

    /// What this channel has sent and received so far. Any thread.
    public var byteCount: ByteCount { counts.withLock { $0 } }

    public var bytesMoved: Int64 {
        let count = byteCount
        return count.sent + count.received
    }

    public func send(_ request: RecordRequest) async throws -> RecordResponse {
        let round = RoundIdentifier.current
        let response = try await onQueue { try self.perform(request, $0, round: round) }
        if request == .caller, case .caller(let reply) = response, userToken.value != nil {
            user.withLock { $0 = $0 ?? reply }
        }
        return response
    }

    public func dialect() async throws -> ServiceDialect {
        try await onQueue { try self.learn($0).dialect }
    }

    public func operationsMax() async throws -> Int? {
        try await onQueue { try self.learn($0).operationsMax }
    }

    /// Asked once, and again after another sign-in.
    public func caller() async throws -> CallerReply? {
        if let known = user.withLock({ $0 }) { return known }
        guard userToken.value != nil else { return nil }
        guard case .caller(let reply) = try await send(.caller) else { return nil }
        return reply
    }

    private func onQueue<Value: Sendable>(
        _ body: @escaping @Sendable (CancelFlag) throws -> Value
    ) async throws -> Value {
        let flag = CancelFlag()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                queue.async { continuation.resume(with: Result { try body(flag) }) }
            }
        } onCancel: {
            flag.cancel()
        }
    }

    /// Sends and waits, for callers that have a thread of their own.
    public func sendBlocking(_ request: RecordRequest) throws -> RecordResponse {
        let round = RoundIdentifier.current
        return try queue.sync { try perform(request, CancelFlag(), round: round) }
    }

    /// A token that was refused may have been renewed by another channel or process meanwhile.
    private func perform(
        _ request: RecordRequest, _ flag: CancelFlag, round: String?
    ) throws -> RecordResponse {
        let shown = userToken.value
        do {
            return try attempt(request, flag, round: round)
        } catch let error as RecordError
            where [.authenticationRequired, .authenticationFailed].contains(error.code)
            && userToken.isOther(than: shown)
        {
            try checkUser(after: error, flag, round: round)
            return try attempt(request, flag, round: round)
        }
    }

    /// Another sign-in may have been another user's, as whom nothing is sent that was meant for the
    /// former one.
    private func checkUser(
        after refusal: RecordError, _ flag: CancelFlag, round: String?
    ) throws {
        guard let known = user.withLock({ $0 }) else { return }
        if case .caller(let reply) = try attempt(.caller, flag, round: round),
            reply.userRecordName == known.userRecordName
        {
            return
        }
        user.withLock { $0 = nil }
        throw refusal
    }

    private func attempt(
        _ request: RecordRequest, _ flag: CancelFlag, round: String?
    ) throws -> RecordResponse {
        let published = try learn(flag)
        let dialect = published.dialect
        var call = try call(for: request, published)
        if dialect == .extended, let round { call.headers.append((RoundIdentifier.header, round)) }
        let answer = try handle.value.perform(call, cancelFlag: flag)
        if let next = answer.headers[Self.rotationHeader] {
            userToken.take(next, mustGoOn: dialect == .plain)
        }
        guard answer.status == 200 else {
            if answer.status < 500 { learnAnew() }
            throw refusal(answer)
        }
        do {
            return try WireCodec.decodeResponse(
                to: request, answer.body,
                format: WireFormat(contentType: answer.headers["content-type"]))
        } catch {
            learnAnew()
            throw error
        }
    }

    /// Who answered may speak otherwise than before: the next request asks what it publishes.
    private func learnAnew() {
        learned.withLock { $0 = configuration.dialect.map(Publication.init(dialect:)) }
    }

    private static let rotationHeader = "x-apple-cloudkit-web-auth-token"

    /// Asks once what the service publishes. What somebody before it answers is not kept.
    private func learn(_ flag: CancelFlag) throws -> Publication {
        if let known = learned.withLock({ $0 }) { return known }
        let answer = try handle.value.perform(
            CurlCall(url: "\(base)/capabilities"), cancelFlag: flag)
        guard let published = Publication(answer) else { throw refusal(answer) }
        learned.withLock { $0 = published }
        return published
    }

    private func call(
        for request: RecordRequest, _ published: Publication
    ) throws -> CurlCall {
        let dialect = published.dialect
        let takesArchives = published.takesArchives && !configuration.sendsJSON
        let wanted: WireFormat = takesArchives ? .archived : .json
        let (path, method, body, format) = try WireCodec.encode(request, as: wanted)
        var call = CurlCall(
            method: method, url: url(path, dialect), headers: headers(dialect), body: body)
        guard method != "GET" else { return call }
        call.headers.append(("Content-Type", format.mediaType))
        if wanted != .json, request.asksForRecords {
            // An answer in JSON is read, too.
            call.headers.append(("Accept", "\(wanted.mediaType), application/json;q=0.5"))
        }
        guard dialect == .extended else { return call }
        let isZstd = published.takesZstd
        if let small = isZstd ? Zstandard.compress(body) : Gzip.compress(body) {
            call.body = small
            call.headers.append(("Content-Encoding", isZstd ? "zstd" : "gzip"))
        }
        return call
    }

    private static func base(_ address: String) -> String {
        var base = address
        while base.hasSuffix("/") { base.removeLast() }
        return base
    }

    private func url(_ operation: String, _ dialect: ServiceDialect) -> String {
        let target = configuration.target
        let words = ["database", "1", target.container, target.environment, target.database]
        let path = words.map(PercentEncoding.encode).joined(separator: "/")
        let query = dialect == .plain ? "?\(credentials.query)" : ""
        return "\(base)/\(path)/\(operation)\(query)"
    }

    private func headers(_ dialect: ServiceDialect) -> [(String, String)] {
        guard dialect == .extended else { return [] }
        let device = configuration.target.deviceID.map { [("X-Diptych-Device", $0)] } ?? []
        let version = configuration.target.clientVersion.map {
            [(ClientVersion.header, $0.description)]
        }
        return credentials.headers + device + (version ?? [])
    }

    private var credentials: Credentials {
        var credentials = configuration.credentials
        credentials.userToken = userToken.value
        return credentials
    }

    private func refusal(_ answer: CurlAnswer) -> any Error {
        let seconds = answer.headers["retry-after"].flatMap { Double($0) }
        if var error = try? WireCodec.decodeError(answer.body) {
            error.retryAfterSeconds = error.retryAfterSeconds ?? seconds
            error.uuid = error.uuid ?? answer.headers["x-apple-request-uuid"]
            return error
        }
        let fields = [
            "host": configuration.serviceURL.host ?? "", "status": String(answer.status),
        ]
        // A proxy before the service has bounds of its own, and says so in its own words.
        if answer.status == 413 {
            return RecordError(
                .limitExceeded, "The request is larger than what is before the service takes.")
        }
        guard ![429, 502, 503, 504].contains(answer.status) else {
            return TransportError(
                .unavailable, "The service is away or overloaded; try again later.",
                fields: fields, retryAfterSeconds: seconds)
        }
        return TransportError(
            .badResponse, "What answers is no record service; look at the address and port.",
            fields: fields)
    }
}

// MARK: Assets

extension CurlChannel {
    public func assetBytesMax() async throws -> Int64? {
        try await onQueue { try self.learn($0).assetBytesMax }
    }

    public func upload(_ bytes: Data, to address: String) async throws -> RecordAsset {
        let round = RoundIdentifier.current
        return try await onQueue { flag in
            let url = try self.assetURL(address)
            let answer = try self.send(bytes, to: url, round, flag)
            guard answer.status == 200 else { throw self.refusal(answer) }
            return try WireCodec.decodeUploaded(answer.body)
        }
    }

    /// Sends what the service has not, where it keeps what came of an upload that broke off.
    private func send(
        _ bytes: Data, to url: String, _ round: String?, _ flag: CancelFlag
    ) throws -> CurlAnswer {
        guard bytes.count >= ResumedUpload.bytesMin, url.hasPrefix(base + "/"),
            try learn(flag).resumesUploads
        else {
            return try send(CurlCall(method: "POST", url: url, body: bytes), round, flag)
        }
        var upload = ResumedUpload(bytes, to: url)
        var question = upload.question
        question.headers += roundHeader(round, to: url)
        let told = try handle.value.perform(question, cancelFlag: flag)
        // Who is busy is asked again later; other refusals are told in words to what follows.
        guard told.status < 500, told.status != 429 else { throw refusal(told) }
        upload.take(told)
        for _ in 0..<ResumedUpload.movesMax {
            let answer = try send(upload.rest, round, flag)
            guard answer.status == 409 else { return answer }
            upload.take(answer)
        }
        return try send(upload.rest, round, flag)
    }

    private func send(
        _ call: CurlCall, _ round: String?, _ flag: CancelFlag
    ) throws -> CurlAnswer {
        var call = call
        if !call.headers.contains(where: { $0.0 == "Content-Type" }) {
            call.headers.append(("Content-Type", "application/octet-stream"))
        }
        // Without it libcurl waits for a word that not every service says.
        call.headers.append(("Expect", ""))
        call.headers += roundHeader(round, to: call.url)
        call.isLong = true
        return try handle.value.perform(call, cancelFlag: flag)
    }

    public func download(_ asset: RecordAsset, to file: URL) async throws {
        let round = RoundIdentifier.current
        try await onQueue { flag in
            guard let address = asset.downloadURL else {
                throw RecordError(.assetNotFound, "The asset has no address to be had from.")
            }
            let part = try AssetPart(file, of: asset, in: try self.learn(flag).dialect)
            var call = CurlCall(
                url: try self.assetURL(address.replacing(Self.fileNamePlace, with: "asset")),
                headers: part.headers)
            call.headers += self.roundHeader(round, to: call.url)
            call.output = part.output
            call.isLong = true
            let answer = try self.handle.value.perform(call, cancelFlag: flag)
            guard answer.status == 200 || answer.status == 206 else {
                if answer.status == 416 { part.discard() }
                throw self.refusal(answer)
            }
            try part.finish()
        }
    }

    /// Where CloudKit's addresses have the name that a browser is to give the file.
    private static let fileNamePlace = "${f}"

    /// The name of the round, told to the service itself and to no other host that keeps its files.
    private func roundHeader(_ round: String?, to url: String) -> [(String, String)] {
        guard let round, url.hasPrefix(base + "/"),
            learned.withLock({ $0 })?.dialect == .extended
        else { return [] }
        return [(RoundIdentifier.header, round)]
    }

    /// An address of an asset lets in whoever has it: no token goes along, and it does not travel
    /// in the clear where the rest does not.
    private func assetURL(_ address: String) throws -> String {
        if address.hasPrefix("/") { return base + address }
        let scheme = URL(string: address)?.scheme?.lowercased()
        guard scheme == "https" || scheme == configuration.serviceURL.scheme?.lowercased() else {
            throw TransportError(
                .badResponse,
                "The service gave an address of an asset that does not begin with "
                    + "https.")
        }
        return address
    }
}

/// A value that only one serial queue touches.
private struct QueueBound<Value>: @unchecked Sendable {
    // @unchecked: read inside the channel's serial queue only.
    let value: Value

    init(_ value: Value) { self.value = value }
}
