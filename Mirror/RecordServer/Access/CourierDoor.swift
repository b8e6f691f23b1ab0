package import Foundation

/// The way to notices: who shows a courier's token waits for them.
package struct CourierDoor: Sendable {
    /// Names the user whose token it is. Throws a `RecordError` for one that is not known.
    package var user: @Sendable (_ token: String) throws -> String
    /// The next notice as JSON; nil while there is none.
    package var next: @Sendable (_ token: String) throws -> Data?
    /// Hears of new notices until what is returned ends.
    package var listen:
        @Sendable (_ token: String, _ changed: @escaping @Sendable () -> Void) throws
            -> any Sendable

    package init(
        user: @escaping @Sendable (_ token: String) throws -> String,
        next: @escaping @Sendable (_ token: String) throws -> Data?,
        listen:
            @escaping @Sendable (_ token: String, _ changed: @escaping @Sendable () -> Void) throws
            -> any Sendable
    ) {
        self.user = user
        self.next = next
        self.listen = listen
    }
}
