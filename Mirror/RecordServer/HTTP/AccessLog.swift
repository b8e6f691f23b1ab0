public import Foundation

/// One line of the access log. Holds no query, no header and no body: no secret can stand in it.
public struct AccessLogEntry: Sendable {
    /// When the answer was given.
    public var time: Date
    public var method: String
    /// As sent, without the query.
    public var path: String
    public var status: Int
    /// The response's body, as sent.
    public var bytes: Int
    /// The request's body, as it came.
    public var receivedBytes: Int
    /// From the request line to the answer.
    public var milliseconds: Double
    /// Whether the answer was held back until there was something to tell.
    public var wasHeld: Bool
    public var facts: RequestFacts
    /// The device's name for the sync round, where it gave one that a log can hold.
    public var round: String?

    public init(
        time: Date, method: String, path: String, status: Int, bytes: Int, receivedBytes: Int,
        milliseconds: Double, wasHeld: Bool, facts: RequestFacts, round: String? = nil
    ) {
        self.time = time
        self.method = method
        self.path = path
        self.status = status
        self.bytes = bytes
        self.receivedBytes = receivedBytes
        self.milliseconds = milliseconds
        self.wasHeld = wasHeld
        self.facts = facts
        self.round = round
    }

    /// One of which no more is known.
    package init(method: String, path: String, status: Int, bytes: Int, milliseconds: Double) {
        self.init(
            time: Date(timeIntervalSince1970: 0), method: method, path: path, status: status,
            bytes: bytes, receivedBytes: 0, milliseconds: milliseconds, wasHeld: false,
            facts: RequestFacts())
    }
}

/// What is known of a request beside its head: what was asked, by whom, and what came of it.
public struct RequestFacts: Sendable, Hashable {
    /// One of `OperationName.all`, whatever stands in the path.
    public var operation = OperationName.other
    /// The record name of who was let in; nil for strangers.
    public var user: String?
    /// The container who was let in asked; nil for strangers, who may write anything there.
    public var container: String?
    /// What the answer bears as `X-Apple-Request-UUID`.
    public var requestID: String?
    /// The code of the refusal of the whole request.
    public var errorCode: String?

    public init() {}
}

/// Receives each answered request, on the thread that answers it.
public typealias AccessLog = @Sendable (AccessLogEntry) -> Void

/// What a server has done since its start.
public struct HTTPStatistics: Sendable, Hashable {
    /// Connections accepted.
    public var connections = 0
    /// Requests answered.
    public var requests = 0

    public init(connections: Int = 0, requests: Int = 0) {
        self.connections = connections
        self.requests = requests
    }
}
