internal import Platform

/// Rings at a service when who may do what has changed, so that who waits is looked at again.
final class AccessBell: Sendable {
    private let call = Handler<Void, Never>()

    func listen(_ call: @escaping @Sendable () -> Void) { self.call.set(call) }

    func ring() { call() }
}
