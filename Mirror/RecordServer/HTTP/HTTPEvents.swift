package import Foundation

/// An answer that goes on: pieces are sent as there is something to tell, until its time is up, the
/// server stops or the client goes.
package struct HTTPEvents: Sendable {
    /// What comes next.
    package enum Piece: Sendable {
        case bytes(Data)
        /// Nothing, until somebody wakes the answer.
        case nothing
        /// The end, after these bytes.
        case last(Data)
    }

    /// Status and headers; its body is not looked at.
    package var head: HTTPResponse
    /// Begins to call `wake` whenever there may be something to tell, until what it returns ends.
    package var listen: @Sendable (_ wake: @escaping @Sendable () -> Void) throws -> any Sendable
    /// Asked again as soon as the piece before is on its way. One call at a time.
    package var next: @Sendable () -> Piece
    /// Sent where nothing else was for a while, so that a client that has gone is noticed.
    package var heartbeat: Data

    package init(
        head: HTTPResponse, heartbeat: Data,
        listen: @escaping @Sendable (_ wake: @escaping @Sendable () -> Void) throws -> any Sendable,
        next: @escaping @Sendable () -> Piece
    ) {
        self.head = head
        self.heartbeat = heartbeat
        self.listen = listen
        self.next = next
    }
}
