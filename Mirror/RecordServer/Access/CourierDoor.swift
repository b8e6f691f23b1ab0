package import RecordService

/// The way to notices: who shows a courier's token waits for them.
package struct CourierDoor: Sendable {
    /// Names the user whose token it is. Throws a `RecordError` for one that is not known.
    package var user: @Sendable (_ token: String) throws -> String
    /// The next notice for a poll; nil while there is none.
    package var next: @Sendable (_ token: String, _ poll: String) throws -> TakenNotice?
    /// Hears of new notices until what is returned ends, or another poll listens.
    package var listen:
        @Sendable (_ token: String, _ poll: String, _ changed: @escaping @Sendable () -> Void)
            throws -> any Sendable

    package init(
        user: @escaping @Sendable (_ token: String) throws -> String,
        next: @escaping @Sendable (_ token: String, _ poll: String) throws -> TakenNotice?,
        listen:
            @escaping @Sendable (
                _ token: String, _ poll: String, _ changed: @escaping @Sendable () -> Void
            ) throws -> any Sendable
    ) {
        self.user = user
        self.next = next
        self.listen = listen
    }
}
