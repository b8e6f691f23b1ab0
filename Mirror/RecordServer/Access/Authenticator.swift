package import RecordWire

/// The service as the routes see it: shown tokens, it lets a caller in or throws a `RecordError`.
package struct Authenticator: Sendable {
    /// What an admitted caller may do: ask.
    package typealias Asking = (RecordRequest, RecordTarget) throws -> RecordResponse

    package var admit: @Sendable (AccessTokens, _ container: String) throws -> Asking

    package init(admit: @escaping @Sendable (AccessTokens, _ container: String) throws -> Asking) {
        self.admit = admit
    }
}
