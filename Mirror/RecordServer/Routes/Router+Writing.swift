internal import Foundation
internal import RecordService
internal import RecordWire

/// Writes to a database to which enough write already.
extension Router {
    private static let turnSecondsMax = 60.0
    private static let busyRetrySeconds = 1.0

    /// The answer, or a place in the line of those who write to the same rows.
    func outcome(
        of question: RecordRequest, _ target: RecordTarget, _ caller: Authenticator.Admitted,
        _ request: HTTPRequest, _ uuid: String
    ) throws -> HTTPOutcome {
        var turn = lines.turn(for: question, target, caller.user)
        if turn == nil, let ask = caller.askReading {
            do {
                return .response(try told(ask, question, target, caller, request, uuid))
            } catch let error as RecordError where error == RecordService.wantsToWrite {
                turn = lines.turn(for: question, target, caller.user, indexes: true)
            }
        }
        if let turn, !turn.begin() {
            return .wait(later(turn, question, target, caller, request, uuid))
        }
        defer { turn?.end() }
        return .response(try told(caller.ask, question, target, caller, request, uuid))
    }

    private func told(
        _ ask: Authenticator.Asking, _ question: RecordRequest, _ target: RecordTarget,
        _ caller: Authenticator.Admitted, _ request: HTTPRequest, _ uuid: String
    ) throws -> HTTPResponse {
        let answer = addressed(try ask(question, target), request)
        return try told(answer, to: question, target, caller, request, uuid)
    }

    /// The answer once it is this request's turn. Who asks is looked at again then.
    private func later(
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
            .tryAgainLater, "Others are writing to the same database; try again soon.")
        error.retryAfterSeconds = busyRetrySeconds
        return error
    }
}
