internal import Platform

/// Rings at a service when who may do what has changed, so that who waits is looked at again.
final class AccessBell: Sendable {
    private let call = Lock<(@Sendable () -> Void)?>(nil)

    func listen(_ call: @escaping @Sendable () -> Void) { self.call.withLock { $0 = call } }

    func ring() { call.withLock { $0 }?() }
}
