/// Carries requests to a record service and brings the answers back.
///
/// The engine speaks to a service through this alone; a transport, or a service in the same
/// process, stands behind it. Throws `RecordError` where the service refused the request as a
/// whole, and an error of the transport's own where no answer came. Every request may be sent
/// again: change tags make a repetition harmless.
public protocol RecordChannel: Sendable {
    func send(_ request: RecordRequest) async throws -> RecordResponse

    /// How the service speaks, as it publishes; asked before anything is sent. Throws as `send`.
    func dialect() async throws -> ServiceDialect
}

extension RecordChannel {
    /// A channel that leads to a service of this project, unless it says otherwise.
    public func dialect() async throws -> ServiceDialect { .extended }
}
