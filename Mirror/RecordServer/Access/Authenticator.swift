package import Foundation
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
        /// As `ask`, but throws `RecordService.wantsToWrite` for a query that writes first; nil
        /// where none does.
        package var askReading: Asking?
        /// Whether only the app is known; limits count the address then.
        package var isWorld = false
        /// When the user's token ends; nil for one that does not.
        package var outlook: TokenOutlook?
        /// nil where the service tells nobody of changes: no answer is held back.
        package var listen: Listening?
        /// Throws where the caller is not let in any more; nil for who shows tokens, which are
        /// looked at again.
        package var stillGood: (@Sendable () throws -> Void)?

        package init(user: String, ask: @escaping Asking, listen: Listening? = nil) {
            self.user = user
            self.ask = ask
            self.listen = listen
        }
    }

    /// The assets behind addresses that the service gave out.
    package struct Assets: Sendable {
        package var upload: @Sendable (_ key: String, _ announced: Int64?) throws -> AssetUpload
        package var find: @Sendable (_ key: String) throws -> AddressedAsset
        /// An upload that may go on later; nil where none does.
        package var goesOn: (@Sendable (_ key: String, UploadSpan) throws -> AssetUpload)?
        /// How much is there of it.
        package var uploaded:
            (
                @Sendable (_ key: String, UploadSpan) throws -> (
                    bytes: Int64, userRecordName: String
                )
            )?
    }

    /// A server that signed its request; who it is is proved once the body came.
    package struct Signed: Sendable {
        /// In whose name it asks, for limits.
        package var user: String
        /// Lets it in by the SHA-256 of the body (nil: an empty one) and the paths it may have
        /// signed, of which one is enough.
        package var prove: @Sendable (_ bodyHash: Data?, _ paths: [String]) throws -> Admitted

        package init(
            user: String,
            prove: @escaping @Sendable (_ bodyHash: Data?, _ paths: [String]) throws -> Admitted
        ) {
            self.user = user
            self.prove = prove
        }
    }

    package var admit: @Sendable (AccessTokens, _ container: String) throws -> Admitted
    /// nil where no keys are taken.
    package var signed:
        (@Sendable (RequestSignature, _ operation: String, RecordTarget) throws -> Signed)?
    /// nil for a service without assets.
    package var assets: Assets?

    /// What anybody may know of the share behind a short GUID; nil where there are no shares.
    package var publicShare: (@Sendable (_ shortGUID: String) throws -> PublicShare?)?

    /// Whom those who write wait for, each on a thread of the server.
    package var writerOrder = WriterOrder.ofContainers

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
