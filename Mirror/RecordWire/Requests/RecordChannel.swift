/// Carries requests to a record service and brings the answers back.
///
/// The engine speaks to a service through this alone; a transport, or a service in the same
/// process, stands behind it. Throws `RecordError` where the service refused the request as a
/// whole, and an error of the transport's own where no answer came. Every request may be sent
/// again: change tags make a repetition harmless.
public protocol RecordChannel: Sendable {
    func send(_ request: RecordRequest) async throws -> RecordResponse
}
