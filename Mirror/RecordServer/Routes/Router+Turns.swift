internal import Foundation
internal import Platform
internal import RecordService
internal import RecordWire

/// Requests that wait for their turn: writes to a database to which enough write already, and
/// reads of an asker for whom enough is read already.
extension Router {
    private static let turnSecondsMax = 60.0
    private static let busyRetrySeconds = 1.0

    /// One question with who asks it.
    private struct Asked: Sendable {
        let question: RecordRequest
        let target: RecordTarget
        var caller: Authenticator.Admitted
        let request: HTTPRequest
        let uuid: String

        /// Once more, by who showed the same tokens again.
        func again(_ caller: Authenticator.Admitted) -> Asked {
            var asked = self
            asked.caller = caller
            return asked
        }
    }

    /// The turn that a question waits for.
    private struct Place: Sendable {
        let turn: Turn
        /// Whether it stands in the line of readers.
        let isReading: Bool
        var wake: (@Sendable () -> Void)?
    }

    /// What became of a question that was tried.
    private enum Attempt {
        case answered(HTTPResponse)
        /// Its turn has not come.
        case waits(Place)
    }

    /// The answer, or a place in a line.
    func outcome(
        of question: RecordRequest, _ target: RecordTarget, _ caller: Authenticator.Admitted,
        _ request: HTTPRequest, _ uuid: String
    ) throws -> HTTPOutcome {
        let asked = Asked(
            question: question, target: target, caller: caller, request: request, uuid: uuid)
        guard let place = writing(asked) ?? reading(asked) else {
            return .response(try told(caller.ask, asked))
        }
        return switch try attempt(asked, place) {
        case .answered(let response): .response(response)
        case .waits(let place): .wait(later(asked, place))
        }
    }

    private func writing(_ asked: Asked, indexes: Bool = false) -> Place? {
        let turn = lines.writers.turn(
            for: asked.question, asked.target, asked.caller.user, indexes: indexes)
        return turn.map { Place(turn: $0, isReading: false) }
    }

    /// nil where nobody can be told from anybody: all come through a proxy that names none.
    private func reading(_ asked: Asked) -> Place? {
        if asked.caller.isWorld && !throttlesAddresses { return nil }
        let turn = lines.readers.turn(of: asker(asked.caller, asked.request))
        return Place(turn: turn, isReading: true)
    }

    private func attempt(_ asked: Asked, _ place: Place) throws -> Attempt {
        guard place.turn.begin() else { return .waits(place) }
        defer { place.turn.end() }
        return try answer(asked, isReading: place.isReading)
    }

    /// A query that has to make an index stands in the line of writers then.
    private func answer(_ asked: Asked, isReading: Bool) throws -> Attempt {
        guard isReading, let ask = asked.caller.askReading else {
            return .answered(try told(asked.caller.ask, asked))
        }
        do {
            return .answered(try told(ask, asked))
        } catch let error as RecordError where error == RecordService.wantsToWrite {
            guard let place = writing(asked, indexes: true) else {
                return .answered(try told(asked.caller.ask, asked))
            }
            return try attempt(asked, place)
        }
    }

    private func told(_ ask: Authenticator.Asking, _ asked: Asked) throws -> HTTPResponse {
        let answer = addressed(try ask(asked.question, asked.target), asked.request)
        return try told(
            answer, to: asked.question, asked.target, asked.caller, asked.request, asked.uuid)
    }

    /// The answer once it is this request's turn. Who asks is looked at again then.
    private func later(_ asked: Asked, _ first: Place) -> HTTPWait {
        let place = Lock(first)
        let user = asked.caller.user
        let busy = { @Sendable in
            place.withLock { $0.turn }.leave()
            return finished(
                refusal(for: Self.busy, asked.request, asked.uuid), asked.request, asked.uuid)
        }
        var wait = HTTPWait(
            seconds: Self.turnSecondsMax,
            listen: { wake in
                let turn = place.withLock { place in
                    place.wake = wake
                    return place.turn
                }
                turn.wait(wake)
                return place
            },
            answer: { isLast in goOn(asked, place) ?? (isLast ? busy() : nil) })
        wait.parting = busy
        // It is no listener, and takes no room of the user's listeners.
        wait.holder = first.isReading ? "reader \(user)" : "writer \(user)"
        return wait
    }

    /// nil while it is not the question's turn.
    private func goOn(_ asked: Asked, _ place: Lock<Place>) -> HTTPResponse? {
        let now = place.withLock { $0 }
        guard now.turn.begin() else { return nil }
        defer { now.turn.end() }
        do {
            return try asking(again: asked.caller, asked.target, asked.request) { caller in
                switch try answer(asked.again(caller), isReading: now.isReading) {
                case .answered(let response): return response
                case .waits(var next):
                    next.wake = now.wake
                    place.withLock { $0 = next }
                    if let wake = now.wake { next.turn.wait(wake) }
                    return nil
                }
            }
        } catch {
            let answer = refusal(for: error, asked.request, asked.uuid)
            return finished(answer, asked.request, asked.uuid)
        }
    }

    private static var busy: RecordError {
        var error = RecordError(
            .tryAgainLater,
            "Others are writing to the same database, or much is read in your name already; "
                + "try again soon.")
        error.retryAfterSeconds = busyRetrySeconds
        return error
    }
}
