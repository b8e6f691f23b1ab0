internal import Foundation
internal import RecordService

/// One request on its way in: what has come so far, and whether it is too much.
final class IncomingRequest: @unchecked Sendable {
    // @unchecked: belongs to the daemon thread that owns its connection, from begin to completion.
    private(set) var request: HTTPRequest
    /// Of the path and the query as they came.
    let targetBytes: Int
    let began: Date
    /// The memory its body and its answer take.
    let hold: BufferLedger.Hold
    private let limits: HTTPConfiguration
    private var admission: Admission?
    private var kept = Kept()
    private var counts = BodyBytes()
    /// Why nothing of the body is kept any more.
    private var dropped: HTTPBody?
    /// What was answered; nil before.
    var answered: Answered?
    /// What is waited for.
    var waiting: Waiting?
    /// The answer that goes on.
    var stream: EventStream?

    struct Answered {
        /// See `HTTPResponse.whenLost`.
        var whenLost: (@Sendable () -> Void)?
    }

    var isAnswered: Bool { answered != nil }

    /// How much of the body came.
    private struct BodyBytes {
        var received = 0
        /// What went elsewhere than into memory.
        var streamed = 0
    }

    /// The body so far.
    private struct Kept {
        var bytes = Data()
        /// Where somebody is to be proved by it.
        var hash: RunningSHA256?
    }

    struct Waiting {
        var wait: HTTPWait
        /// By what it is heard; nil where it is not.
        var listening: (any Sendable)?
    }

    /// How much of a body is read and dropped when its head was refused, so that the sender hears
    /// why; of a longer one nothing is read.
    private static let refusedBytesMax = 1 << 20

    /// What the connection is to do next.
    enum Step {
        case readOn
        case answer
        case drop
    }

    init(
        target: String, address: ClientAddress, began: Date, limits: HTTPConfiguration,
        hold: BufferLedger.Hold
    ) {
        targetBytes = target.utf8.count
        let target = Self.withoutAddress(target)
        let end = target.utf8.firstIndex(of: UInt8(ascii: "?")) ?? target.endIndex
        let query = HTTPQuery(target[end...].dropFirst())
        request = HTTPRequest(method: "", path: String(target[..<end]), query: query)
        request.address = address
        self.began = began
        self.limits = limits
        self.hold = hold
    }

    /// A target may be a whole address, as clients send it to a proxy. (RFC 9112 §3.2.2)
    private static func withoutAddress(_ target: String) -> Substring {
        let schemes = ["http://", "https://"]
        guard target.utf8.first != UInt8(ascii: "/"),
            let scheme = schemes.first(where: {
                target.prefix($0.count).lowercased() == $0
            })
        else { return target[...] }
        let rest = target.dropFirst(scheme.count)
        let path = rest.drop { $0 != "/" && $0 != "?" }
        return path.first == "/" ? path : "/" + path
    }

    /// Whether the method and headers are still to be taken.
    var awaitsHead: Bool { admission == nil }

    /// Takes the head and decides who may go on. A body that announces itself as too large is
    /// refused before it is sent, and so is that of a stranger.
    func takeHead(
        method: String, headers: HTTPHeaders, admit: (HTTPRequest) -> Admission
    ) -> Step {
        request.method = method
        request.headers = headers
        let admission = admit(request)
        self.admission = admission
        let announced = headers["Content-Length"].flatMap { Int($0) }
        let isChunked = headers["Transfer-Encoding"] != nil
        let waits = headers["Expect"]?.lowercased() == "100-continue"
        switch admission {
        case .answer:
            dropped = .bytes(Data())
            let length = announced ?? (isChunked ? .max : 0)
            return waits || length > Self.refusedBytesMax ? .answer : .readOn
        case .read(let user, _), .signed(let user, _):
            hold.user = user
            guard let announced, announced > limits.bodyBytesMax else { return .readOn }
            dropped = .tooLarge
            let mayRead = announced - limits.bodyBytesMax <= limits.discardedBytesMax
            return waits || !mayRead ? .answer : .readOn
        case .stream(let stream):
            hold.user = stream.user
            return .readOn
        }
    }

    /// Counts for `address` instead of the one that the connection has. Before the head is taken.
    func comes(from address: ClientAddress) {
        request.address = address
        hold.address = address
    }

    /// Whether the body goes somewhere else than into memory.
    var isStreamed: Bool { if case .stream? = admission { true } else { false } }

    /// Bytes of the body that came.
    var bodyBytes: Int { counts.received + counts.streamed }

    /// Refuses the request by its head alone.
    func refuse(_ response: HTTPResponse, method: String) {
        request.method = method
        admission = .answer(response)
    }

    /// Takes the next bytes of the body, or counts them where there are too many already.
    func takeBody(_ bytes: UnsafeRawBufferPointer) -> Step {
        if case .stream(let stream)? = admission {
            counts.streamed += bytes.count
            guard let refusal = stream.take(bytes) else { return .readOn }
            admission = .answer(refusal)
            dropped = .bytes(Data())
            return .readOn
        }
        counts.received += bytes.count
        if dropped == nil {
            if counts.received > limits.bodyBytesMax {
                drop(.tooLarge)
            } else if !hold.grow(by: bytes.count) {
                drop(.noRoom)
            } else {
                note(bytes)
                kept.bytes.append(contentsOf: bytes)
            }
        }
        let isFlood = counts.received - limits.bodyBytesMax > limits.discardedBytesMax
        return isFlood ? .drop : .readOn
    }

    /// What comes of it; called once the request is whole, or refused.
    func outcome() -> HTTPOutcome {
        switch admission {
        case .answer(let response): return .response(response)
        case .read(_, let answer): return outcome(of: answer)
        case .signed(let user, let answer):
            let bodyHash = try? kept.hash?.digest()
            // What comes of it is asked for once: a second time nothing is proved anew.
            admission = .read(user: user) { answer($0, bodyHash) }
            return outcome { answer($0, bodyHash) }
        case .stream(let stream): return .response(stream.finish())
        case nil: return .response(HTTPResponse(status: 400))
        }
    }

    private func outcome(of answer: (HTTPRequest) -> HTTPOutcome) -> HTTPOutcome {
        request.body = dropped ?? .bytes(kept.bytes)
        kept = Kept()
        let outcome = answer(request)
        request.body = .bytes(Data())
        hold.release()
        return outcome
    }

    /// Where no digest can be made, nobody is proved by it.
    private func note(_ bytes: UnsafeRawBufferPointer) {
        guard case .signed = admission else { return }
        if kept.hash == nil { kept.hash = try? RunningSHA256() }
        try? kept.hash?.update(bytes)
    }

    /// Counts an answer's bytes among those that are held; where there is no room for them, the
    /// answer that says so.
    func holding(_ response: HTTPResponse) -> HTTPResponse {
        guard case .read(_, let answer) = admission, !hold.grow(by: response.body.count) else {
            return response
        }
        request.body = .noRoom
        // A notice was taken out of its queue already, and is small: it goes on its way.
        guard case .response(let refusal) = answer(request) else { return response }
        return refusal
    }

    private func drop(_ reason: HTTPBody) {
        dropped = reason
        kept = Kept()
        hold.release()
    }
}
