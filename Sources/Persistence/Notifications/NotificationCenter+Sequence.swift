public import Foundation

extension NotificationCenter {
    /// The notifications of a name from now on, one after the other: each iterator hears those that
    /// are posted after it was made, and keeps them until it is asked. Foundation has it on Apple's
    /// platforms. Queue: any.
    public func notifications(
        named name: Notification.Name, object: AnyObject? = nil
    ) -> Notifications {
        Notifications(name, of: object, in: self)
    }

    /// Notifications as they are posted. Source: Apple, NotificationCenter.Notifications. Queue:
    /// any; an iterator is one task's.
    public final class Notifications: AsyncSequence, @unchecked Sendable {
        // @unchecked: never changed; the object is only compared.
        /// As it was posted, with its object and facts.
        public typealias Element = Notification
        /// None: it ends only when the task is cancelled.
        public typealias Failure = Never

        private let name: Notification.Name
        private let object: AnyObject?
        private let center: NotificationCenter

        init(_ name: Notification.Name, of object: AnyObject?, in center: NotificationCenter) {
            self.name = name
            self.object = object
            self.center = center
        }

        /// Begins to listen; ends with the iterator, or when the task is cancelled.
        public func makeAsyncIterator() -> AsyncIterator {
            let (stream, continuation) = AsyncStream<UncheckedTransfer<Notification>>.makeStream()
            let token = center.addObserver(forName: name, object: object, queue: nil) {
                continuation.yield(UncheckedTransfer($0))
            }
            let passed = UncheckedTransfer((center: center, token: token))
            continuation.onTermination = { _ in
                passed.value.center.removeObserver(passed.value.token)
            }
            return AsyncIterator(stream.makeAsyncIterator())
        }

        /// What one task hears.
        public struct AsyncIterator: AsyncIteratorProtocol {
            private var stream: AsyncStream<UncheckedTransfer<Notification>>.Iterator

            init(_ stream: AsyncStream<UncheckedTransfer<Notification>>.Iterator) {
                self.stream = stream
            }

            /// The next notification; nil once the task is cancelled. Cost: no rows; it waits until
            /// one is posted.
            public mutating func next() async -> Notification? {
                await next(isolation: #isolation)
            }

            /// As `next()`, on the caller's actor. Cost: the same.
            public mutating func next(
                isolation actor: isolated (any Actor)?
            ) async -> Notification? {
                await stream.next(isolation: actor)?.value
            }
        }
    }
}
