extension RequestFacts {
    static var ofConsole: RequestFacts {
        var facts = RequestFacts()
        facts.operation = OperationName.console
        return facts
    }
}

extension HTTPResponse {
    typealias Change = @Sendable (HTTPResponse) -> HTTPResponse

    /// With the facts of its request; the code of a refusal stays.
    func noting(_ facts: RequestFacts) -> HTTPResponse {
        var response = self
        response.facts = facts
        response.facts.errorCode = self.facts.errorCode
        return response
    }
}

extension HTTPOutcome {
    fileprivate func changing(_ change: @escaping HTTPResponse.Change) -> HTTPOutcome {
        switch self {
        case .response(let response): return .response(change(response))
        case .wait(var wait):
            let answer = wait.answer
            wait.answer = { answer($0).map(change) }
            return .wait(wait)
        case .events(var events):
            events.head = change(events.head)
            return .events(events)
        }
    }
}

extension Admission {
    /// Whatever comes of the request bears its facts.
    func noting(_ facts: RequestFacts) -> Admission { changing { $0.noting(facts) } }

    /// Whatever comes of the request is changed before it is sent.
    func changing(_ change: @escaping HTTPResponse.Change) -> Admission {
        switch self {
        case .answer(let response): return .answer(change(response))
        case .read(let user, let answer):
            return .read(user: user) { answer($0).changing(change) }
        case .signed(let user, let answer):
            return .signed(user: user) { answer($0, $1).changing(change) }
        case .stream(let stream):
            return .stream(
                HTTPStream(
                    user: stream.user, take: { stream.take($0).map(change) },
                    finish: { change(stream.finish()) }))
        }
    }
}
