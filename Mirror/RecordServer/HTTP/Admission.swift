/// What a server makes of a request's head, before a byte of its body is kept.
package enum Admission: Sendable {
    /// The body is read, and given to `answer` with the head. `user` is whose memory it is.
    case read(user: String, answer: @Sendable (HTTPRequest) -> HTTPResponse)
    /// The request is answered without its body.
    case answer(HTTPResponse)
}
