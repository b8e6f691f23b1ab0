package import Foundation

/// What a server makes of a request's head, before a byte of its body is kept.
package enum Admission: Sendable {
    /// The body is read, and given to `answer` with the head. `user` is whose memory it is.
    case read(user: String, answer: @Sendable (HTTPRequest) -> HTTPOutcome)
    /// The body is read in the memory of a user who is still to be proved, by its SHA-256 among
    /// others, which is made while it comes; nil for an empty body.
    case signed(user: String, answer: @Sendable (HTTPRequest, _ bodyHash: Data?) -> HTTPOutcome)
    /// The body is taken piece by piece, and nothing of it is held.
    case stream(HTTPStream)
    /// The request is answered without its body.
    case answer(HTTPResponse)
}

/// Where a body goes that is too large to be held in memory.
package struct HTTPStream: Sendable {
    package var user: String
    /// Takes the next piece. Returns the answer where no more is wanted.
    package var take: @Sendable (UnsafeRawBufferPointer) -> HTTPResponse?
    /// The answer once the body is whole.
    package var finish: @Sendable () -> HTTPResponse

    package init(
        user: String, take: @escaping @Sendable (UnsafeRawBufferPointer) -> HTTPResponse?,
        finish: @escaping @Sendable () -> HTTPResponse
    ) {
        self.user = user
        self.take = take
        self.finish = finish
    }
}

/// What comes of a whole request.
package enum HTTPOutcome: Sendable {
    case response(HTTPResponse)
    /// The answer is held back until there is something to tell.
    case wait(HTTPWait)
    /// The answer goes on.
    case events(HTTPEvents)
}

/// A request whose answer is held back.
package struct HTTPWait: Sendable {
    /// The longest time.
    package var seconds: Double
    /// Begins to call `wake` whenever there may be something to tell, until what it returns ends.
    /// May fail; the request is answered then as if its time were up.
    package var listen: @Sendable (_ wake: @escaping @Sendable () -> Void) throws -> any Sendable
    /// The answer; nil while there is nothing to tell, but never where it `isLast`.
    package var answer: @Sendable (_ isLast: Bool) -> HTTPResponse?
    /// What is sent in the place of an answer where the client closed its side meanwhile, and
    /// probably hears nothing; nil: the last answer.
    package var parting: (@Sendable () -> HTTPResponse)?
    /// Among whose requests it counts, where it waits for no news; nil: the user's listeners.
    package var holder: String?

    package init(
        seconds: Double,
        listen: @escaping @Sendable (_ wake: @escaping @Sendable () -> Void) throws -> any Sendable,
        answer: @escaping @Sendable (_ isLast: Bool) -> HTTPResponse?
    ) {
        self.seconds = seconds
        self.listen = listen
        self.answer = answer
    }
}
