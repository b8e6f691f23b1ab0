package import RecordWire

/// The service as the routes see it: shown tokens, it lets a caller in or throws a `RecordError`.
package struct Authenticator: Sendable {
    /// What an admitted caller may do: ask.
    package typealias Asking = @Sendable (RecordRequest, RecordTarget) throws -> RecordResponse

    /// Who was let in.
    package struct Admitted: Sendable {
        /// Names the user, for limits.
        package var user: String
        package var ask: Asking

        package init(user: String, ask: @escaping Asking) {
            self.user = user
            self.ask = ask
        }
    }

    package var admit: @Sendable (AccessTokens, _ container: String) throws -> Admitted

    package init(
        admit: @escaping @Sendable (AccessTokens, _ container: String) throws -> Admitted
    ) {
        self.admit = admit
    }
}
