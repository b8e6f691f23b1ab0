/// One line of the access log. Holds no query, no header and no body: no secret can stand in it.
public struct AccessLogEntry: Sendable {
    public var method: String
    /// As sent, without the query.
    public var path: String
    public var status: Int
    /// The response's body, as sent.
    public var bytes: Int
    /// From the request line to the answer.
    public var milliseconds: Double

    package init(method: String, path: String, status: Int, bytes: Int, milliseconds: Double) {
        self.method = method
        self.path = path
        self.status = status
        self.bytes = bytes
        self.milliseconds = milliseconds
    }
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
