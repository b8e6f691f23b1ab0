/// A closure that any thread may set, exchange and call.
///
/// Not a `Lock` of a closure: of one that stands by itself in a generic type, Swift makes another
/// with each look, which calls the former one. After some hundred thousand looks a call of such a
/// chain runs out of stack. Within a struct it stays as it is.
public final class Handler<Input, Failure: Error>: Sendable {
    /// What is called, on the thread of whoever calls.
    public typealias Body = @Sendable (Input) throws(Failure) -> Void

    private struct Held {
        var body: Body?
    }

    private let held: Lock<Held>

    /// Keeps `body`; without one a call does nothing.
    public init(_ body: Body? = nil) { held = Lock(Held(body: body)) }

    /// Puts `body` in the place of the former one, which calls that are under way still have.
    public func set(_ body: Body?) {
        // What the former one holds goes outside of the lock.
        _ = held.withLock { held in
            defer { held.body = body }
            return held.body
        }
    }

    /// Calls the closure, if there is one, outside of the lock. Throws what `body` throws.
    public func callAsFunction(_ input: Input) throws(Failure) {
        try held.withLock { $0.body }?(input)
    }
}

extension Handler where Input == Void {
    /// The same for a closure that takes nothing. Throws what `body` throws.
    public func callAsFunction() throws(Failure) { try self(()) }
}
