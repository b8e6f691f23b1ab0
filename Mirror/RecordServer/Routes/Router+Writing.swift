internal import Foundation
internal import RecordService
internal import RecordWire

/// Writes to a database to which enough write already.
extension Router {
    private static let turnSecondsMax = 60.0
    private static let busyRetrySeconds = 1.0

    /// The answer once it is this request's turn. Who asks is looked at again then.
    func later(
        _ turn: WriterTurn, _ question: RecordRequest, _ target: RecordTarget,
        _ caller: Authenticator.Admitted, _ request: HTTPRequest, _ uuid: String
    ) -> HTTPWait {
        let busy = { @Sendable in
            turn.leave()
            return finished(refusal(for: Self.busy, request, uuid), request, uuid)
        }
        var wait = HTTPWait(
            seconds: Self.turnSecondsMax,
            listen: { wake in
                turn.wait(wake)
                return turn
            },
            answer: { isLast in
                guard turn.begin() else { return isLast ? busy() : nil }
                defer { turn.end() }
                return news(of: question, target, caller, isLast: true, request, uuid)
            })
        wait.parting = busy
        // It is no listener, and takes no room of the user's listeners.
        wait.holder = "writer \(caller.user)"
        return wait
    }

    private static var busy: RecordError {
        var error = RecordError(
            .tryAgainLater, "Others are writing to this database; try again soon.")
        error.retryAfterSeconds = busyRetrySeconds
        return error
    }
}
