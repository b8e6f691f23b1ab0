internal import Foundation
internal import RecordService
internal import RecordWire

/// Requests that servers sign. (SERVICE §2)
extension Router {
    /// Who says in the head that the request is signed; nil where nobody does. A head that is wrong
    /// costs its address, not the key.
    func signedGuest(
        of operation: String, _ target: RecordTarget, _ request: HTTPRequest
    ) throws -> Authenticator.Signed? {
        guard let signed = door.signed, let shown = try RequestSignature(of: request) else {
            return nil
        }
        return try lettingIn(request) {
            let guest = try signed(shown, operation, target)
            try throttle.check(.user(guest.user))
            return guest
        }
    }

    /// Reads the body, looks who signed it, and answers. A body that is not kept proves nobody.
    func signed(
        _ operation: String, _ target: RecordTarget, _ guest: Authenticator.Signed,
        _ head: HTTPRequest, _ uuid: String
    ) -> Admission {
        .signed(user: guest.user) { request, bodyHash in
            do {
                guard case .bytes(let body) = request.body else {
                    _ = try plainBody(of: request)
                    return .response(HTTPResponse(status: 500))
                }
                guard body.isEmpty == (bodyHash == nil) else {
                    throw RecordError(.internalError, "The body could not be hashed; try again.")
                }
                let caller = try lettingIn(request) {
                    try guest.prove(bodyHash, request.signedPaths)
                }
                return outcome(of: operation, target, caller, request, uuid)
            } catch {
                return .response(finished(refusal(for: error, request, uuid), request, uuid))
            }
        }
    }
}

extension RequestSignature {
    static let keyHeader = "X-Apple-CloudKit-Request-KeyID"
    static let dateHeader = "X-Apple-CloudKit-Request-ISO8601Date"
    static let signatureHeader = "X-Apple-CloudKit-Request-SignatureV1"

    /// nil for a request that is not signed. Throws AUTHENTICATION_FAILED where part of it is
    /// missing.
    init?(of request: HTTPRequest) throws(RecordError) {
        let names = [Self.keyHeader, Self.dateHeader, Self.signatureHeader]
        let values = names.map { request.headers[$0] }
        guard values.contains(where: { $0 != nil }) else { return nil }
        for (name, value) in zip(names, values) where value == nil {
            throw RecordError(
                .authenticationFailed, "The header \(name) of a signed request is missing.")
        }
        self.init(keyID: values[0] ?? "", date: values[1] ?? "", signature: values[2] ?? "")
    }
}

extension HTTPRequest {
    /// What clients sign as the path: without the query, or with it.
    var signedPaths: [String] {
        query.text.isEmpty ? [path] : [path, "\(path)?\(query.text)"]
    }
}
