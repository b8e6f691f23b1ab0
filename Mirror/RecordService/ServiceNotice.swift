/// What whoever runs a service should know. Goes to the service's log, never to clients.
public struct ServiceNotice: Sendable, Hashable, CustomStringConvertible {
    /// What happened and what to do, in words.
    public var message: String
    /// Names of the things concerned, such as `file`, `zone`, `recordName`, `cause`.
    public var fields: [String: String]

    public init(_ message: String, fields: [String: String] = [:]) {
        self.message = message
        self.fields = fields
    }

    public var description: String {
        let details = fields.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
        return details.isEmpty ? message : "\(message) (\(details.joined(separator: ", ")))"
    }
}

/// Receives notices, on the thread where they arise.
public typealias ServiceLog = @Sendable (ServiceNotice) -> Void
