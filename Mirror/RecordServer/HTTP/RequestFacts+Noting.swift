extension RequestFacts {
    static var ofConsole: RequestFacts {
        var facts = RequestFacts()
        facts.operation = OperationName.console
        return facts
    }
}

extension HTTPResponse {
    /// With the facts of its request; the code of a refusal stays.
    func noting(_ facts: RequestFacts) -> HTTPResponse {
        var response = self
        response.facts = facts
        response.facts.errorCode = self.facts.errorCode
        return response
    }
}

extension HTTPOutcome {
    func noting(_ facts: RequestFacts) -> HTTPOutcome {
        switch self {
        case .response(let response): return .response(response.noting(facts))
        case .wait(var wait):
            let answer = wait.answer
            wait.answer = { answer($0)?.noting(facts) }
            return .wait(wait)
        case .events(var events):
            events.head = events.head.noting(facts)
            return .events(events)
        }
    }
}

extension Admission {
    /// Whatever comes of the request bears its facts.
    func noting(_ facts: RequestFacts) -> Admission {
        switch self {
        case .answer(let response): return .answer(response.noting(facts))
        case .read(let user, let answer):
            return .read(user: user) { answer($0).noting(facts) }
        case .signed(let user, let answer):
            return .signed(user: user) { answer($0, $1).noting(facts) }
        case .stream(let stream):
            return .stream(
                HTTPStream(
                    user: stream.user, take: { stream.take($0)?.noting(facts) },
                    finish: { stream.finish().noting(facts) }))
        }
    }
}
