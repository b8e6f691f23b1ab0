import Foundation
import MirrorEngine
import MirrorTransport
import Platform
import RecordWire
import Testing

@testable import CloudKit

/// Errors as apps know them from CloudKit.
@Suite struct CKErrorTests {
    @Test func codesHaveApplesNumbersAndPatterns() throws {
        let error = CKError(.quotaExceeded, userInfo: [CKErrorRetryAfterKey: 5.0])
        #expect((error as NSError).domain == CKErrorDomain && (error as NSError).code == 25)
        #expect(error.retryAfterSeconds == 5 && !error.localizedDescription.isEmpty)
        #expect(CKError.Code(rawValue: 2) == .partialFailure)
        #expect(CKError.Code(rawValue: 37) == .participantAlreadyInvited)
        do {
            throw error
        } catch CKError.zoneBusy {
            Issue.record("It is of another code.")
        } catch CKError.quotaExceeded {
        }
        let parts: [AnyHashable: any Error] = ["a": CKError(.unknownItem)]
        let partial = CKError(.partialFailure, userInfo: [CKPartialErrorsByItemIDKey: parts])
        #expect(partial.partialErrorsByItemID?["a"] != nil)
        #expect(partial.serverRecord == nil && partial.retryAfterSeconds == nil)
    }

    @Test func aTokenThatIsNoneIsNotAuthenticated() async throws {
        let service = try LocalService()
        var address = service.address
        address.credentials = Credentials(
            apiToken: address.credentials.apiToken, userToken: "none")
        let desk = try service.container("desk", of: address)
        try desk.write("one")
        let error = await #expect(throws: CKError.self) { try await desk.container.sync() }
        #expect(error?.code == .notAuthenticated)
        #expect(error?.message.contains("none") == false)
        let event = try #require(desk.events.withLock { $0.last })
        #expect((event.error as? CKError)?.code == .notAuthenticated)
    }

    @Test(
        arguments: [
            (.quotaExceeded, .quotaExceeded), (.accessDenied, .permissionFailure),
            (.conflict, .serverRecordChanged), (.tryAgainLater, .zoneBusy),
            (.throttled, .requestRateLimited), (.uniqueFieldError, .constraintViolation),
            (.authenticationRequired, .notAuthenticated), (.badRequest, .serverRejectedRequest),
        ] as [(RecordError.Code, CKError.Code)])
    func whatTheServiceAnswersIsTold(answer: RecordError.Code, code: CKError.Code) {
        var refusal = RecordError(answer, "It is so.")
        refusal.retryAfterSeconds = 7
        let wrapped = MirrorError(.serviceRefused, "The service refused.", cause: refusal)
        #expect(CKError(refusal).code == code && CKError(wrapped).code == code)
        #expect(CKError(wrapped).retryAfterSeconds == 7)
        #expect(CKError(wrapped).message == "The service refused.")
    }
}
