internal import Foundation

/// One request on its way in: what has come so far, and whether it is too much.
final class IncomingRequest: @unchecked Sendable {
    // @unchecked: belongs to the daemon thread that owns its connection, from begin to completion.
    private(set) var request: HTTPRequest
    let began: Date
    private let limits: HTTPConfiguration
    private var hasHead = false
    private var body = Data()
    private var received = 0
    private var isTooLarge = false

    /// What the connection is to do next.
    enum Step {
        case readOn
        case answer
        case drop
    }

    init(target: String, began: Date, limits: HTTPConfiguration) {
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        request = HTTPRequest(
            method: "", path: String(parts[0]), query: HTTPQuery(parts.count > 1 ? parts[1] : ""))
        self.began = began
        self.limits = limits
    }

    /// Whether the method and headers are still to be taken.
    var awaitsHead: Bool { !hasHead }

    /// Takes the head; a body that announces itself as too large is refused before it is sent.
    func takeHead(method: String, headers: HTTPHeaders) -> Step {
        hasHead = true
        request.method = method
        request.headers = headers
        let announced = headers["Content-Length"].flatMap { Int($0) } ?? 0
        guard announced > limits.bodyBytesMax else {
            body.reserveCapacity(min(announced, 1 << 20))
            return .readOn
        }
        dropBody()
        let waits = headers["Expect"]?.lowercased() == "100-continue"
        let mayRead = announced - limits.bodyBytesMax <= limits.discardedBytesMax
        return waits || !mayRead ? .answer : .readOn
    }

    /// Takes the next bytes of the body, or counts them where there are too many already.
    func takeBody(_ bytes: UnsafeRawBufferPointer, now: Date) -> Step {
        received += bytes.count
        if !isTooLarge, received <= limits.bodyBytesMax {
            body.append(contentsOf: bytes)
        } else if !isTooLarge {
            dropBody()
        }
        let isLate = now.timeIntervalSince(began) > Double(limits.requestSeconds)
        let isFlood = received - limits.bodyBytesMax > limits.discardedBytesMax
        return isLate || isFlood ? .drop : .readOn
    }

    /// The request with the body that came; called once it is whole.
    func whole() -> HTTPRequest {
        request.body = isTooLarge ? .tooLarge : .bytes(body)
        body = Data()
        return request
    }

    private func dropBody() {
        isTooLarge = true
        body = Data()
    }
}
