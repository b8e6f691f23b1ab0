package import RecordService
package import RecordWire

/// The service as the routes see it: shown tokens, it lets a caller in or throws a `RecordError`.
package struct Authenticator: Sendable {
    /// What an admitted caller may do: ask.
    package typealias Asking = @Sendable (RecordRequest, RecordTarget) throws -> RecordResponse
    /// Hears of what may change the answer to a request, until what is returned ends.
    package typealias Listening =
        @Sendable (RecordRequest, RecordTarget, _ changed: @escaping @Sendable () -> Void) throws
        -> any Sendable

    /// Who was let in.
    package struct Admitted: Sendable {
        /// Names the user, for limits.
        package var user: String
        package var ask: Asking
        /// Whether only the app is known; limits count the address then.
        package var isWorld = false
        /// nil where the service tells nobody of changes: no answer is held back.
        package var listen: Listening?

        package init(user: String, ask: @escaping Asking, listen: Listening? = nil) {
            self.user = user
            self.ask = ask
            self.listen = listen
        }
    }

    /// The assets behind addresses that the service gave out.
    package struct Assets: Sendable {
        package var upload: @Sendable (_ key: String, _ announced: Int64?) throws -> AssetUpload
        package var open:
            @Sendable (_ key: String) throws -> (file: AssetFile, userRecordName: String)
    }

    package var admit: @Sendable (AccessTokens, _ container: String) throws -> Admitted
    /// nil for a service without assets.
    package var assets: Assets?

    /// nil where nobody brings notices.
    package var courier: CourierDoor?

    package init(
        assets: Assets? = nil,
        admit: @escaping @Sendable (AccessTokens, _ container: String) throws -> Admitted
    ) {
        self.assets = assets
        self.admit = admit
    }
}
