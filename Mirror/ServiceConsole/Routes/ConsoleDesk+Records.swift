internal import Foundation
internal import RecordServer
internal import RecordService
internal import RecordWire

/// Records, in the words of the protocol.
extension ConsoleDesk {
    func records(
        _ operation: String, _ target: RecordTarget, _ session: ConsoleSession,
        _ request: HTTPRequest
    ) throws -> HTTPOutcome {
        let caller = Caller(
            userRecordName: try owner(for: session, request),
            tokenID: session.isAdministrator ? nil : session.bearer.tokenID)
        guard case .bytes(let body) = request.body else {
            throw RecordError(.limitExceeded, "The request is larger than what is taken.")
        }
        let question = try WireCodec.decodeRequest(path: operation, method: "POST", body: body)
        guard question.waitSeconds > 0, service.dialect == .extended else {
            let answer = try answer(to: question, target, caller)
            if session.isAdministrator {
                try accounts(of: session).noteAct(
                    question, operation, in: target, of: caller.userRecordName,
                    by: session.bearer.label)
            }
            return .response(session.tell(in: answer))
        }
        return .wait(
            HTTPWait(
                seconds: Double(question.waitSeconds),
                listen: {
                    try service.listen(
                        for: question, target: target, caller: caller, changed: $0)
                },
                answer: { isLast in news(of: question, target, caller, request, isLast) }))
    }

    private func answer(
        to question: RecordRequest, _ target: RecordTarget, _ caller: Caller
    ) throws -> HTTPResponse {
        let answer = try service.handle(question, target: target, caller: caller)
        return .json(try WireCodec.encode(answer, to: question))
    }

    /// nil while there is nothing to tell and time is left. Who signed out meanwhile hears nothing.
    private func news(
        of question: RecordRequest, _ target: RecordTarget, _ caller: Caller,
        _ request: HTTPRequest, _ isLast: Bool
    ) -> HTTPResponse? {
        do {
            let session = try sessions.session(of: request)
            let answer = try service.handle(question, target: target, caller: caller)
            guard isLast || answer.isNews else { return nil }
            return session.tell(in: .json(try WireCodec.encode(answer, to: question)))
        } catch {
            return .refusal(error)
        }
    }
}
