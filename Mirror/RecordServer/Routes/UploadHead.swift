internal import Foundation
internal import RecordService
internal import RecordWire

/// What the head of an upload says of its going on later, in the words of the IETF's draft of
/// resumable uploads (draft-ietf-httpbis-resumable-upload) and of RFC 9530.
///
/// The content is told before it comes: what came of it is found again by it, at any address for
/// uploads of the same user.
enum UploadHead {
    static let digest = "Repr-Digest"
    static let offset = "Upload-Offset"
    static let length = "Upload-Length"
    static let isComplete = "Upload-Complete"
    static let limit = "Upload-Limit"

    /// What is there of an upload, as an answer to HEAD.
    static func answer(_ span: UploadSpan, offset: Int64, bytesMax: Int64?) -> HTTPResponse {
        var response = rest(at: offset)
        response.headers.append(Self.length, String(span.length))
        if let bytesMax { response.headers.append(limit, "max-size=\(bytesMax)") }
        return response
    }

    /// The answer to a piece that was not the last.
    static func rest(at offset: Int64) -> HTTPResponse {
        var response = HTTPResponse(status: 204)
        response.headers.append(Self.offset, String(offset))
        response.headers.append(isComplete, "?0")
        return response
    }

    /// nil for an upload that is sent in one piece and begins anew when it breaks off. Throws
    /// BAD_REQUEST for a head that contradicts itself.
    static func span(_ request: HTTPRequest) throws(RecordError) -> UploadSpan? {
        let isPiece = ["PATCH", "HEAD"].contains(request.method)
        let isLast = try flag(request, Self.isComplete) ?? true
        let mayBeWhole = !isPiece && isLast
        guard let sha256 = try sha256(request) else {
            guard mayBeWhole else { throw unnamed }
            return nil
        }
        let announced = try number(request, "Content-Length")
        let offset = try number(request, Self.offset)
        let told = try number(request, Self.length)
        guard let length = told ?? (mayBeWhole ? announced : nil) else {
            guard mayBeWhole else { throw unnamed }
            return nil
        }
        guard request.method != "PATCH" || offset != nil, isPiece || offset ?? 0 == 0,
            let span = UploadSpan(
                sha256: sha256, length: length, offset: offset ?? 0, isLast: isLast)
        else { throw contradiction }
        guard let announced, request.method != "HEAD" else { return span }
        let end = span.offset.addingReportingOverflow(announced)
        guard !end.overflow, end.partialValue <= length, !isLast || end.partialValue == length
        else { throw contradiction }
        return span
    }

    static func mismatch(_ offset: Int64) -> RouteRefusal {
        RouteRefusal(
            status: 409,
            error: RecordError(
                .badRequest, "The upload goes on at byte \(offset); send what comes from there."),
            headers: [(Self.offset, String(offset)), (isComplete, "?0")])
    }

    // MARK: Values

    /// The SHA-256 among the digests. (RFC 9530 §3, RFC 8941 §3.2)
    private static func sha256(_ request: HTTPRequest) throws(RecordError) -> Data? {
        for member in (request.headers[digest] ?? "").split(separator: ",") {
            let text = member.trimmingCharacters(in: .whitespaces)
            guard text.lowercased().hasPrefix("sha-256=") else { continue }
            let value = text.dropFirst("sha-256=".count)
            guard value.count > 1, value.hasPrefix(":"), value.hasSuffix(":"),
                let sha256 = Data(base64Encoded: String(value.dropFirst().dropLast()))
            else { throw RecordError(.badRequest, "The sha-256 of \(digest) is no base64.") }
            return sha256
        }
        return nil
    }

    private static func number(
        _ request: HTTPRequest, _ name: String
    ) throws(RecordError) -> Int64? {
        guard let text = request.headers[name] else { return nil }
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int64(text) else {
            throw RecordError(.badRequest, "\(name) is a whole number of bytes.")
        }
        return number
    }

    private static func flag(
        _ request: HTTPRequest, _ name: String
    ) throws(RecordError) -> Bool? {
        switch request.headers[name] {
        case nil: return nil
        case "?1": return true
        case "?0": return false
        default: throw RecordError(.badRequest, "\(name) is ?1 or ?0.")
        }
    }

    private static let unnamed = RecordError(
        .badRequest,
        "An upload goes on by its content: say its SHA-256 in Repr-Digest, and its size in "
            + "Upload-Length.")

    private static let contradiction = RecordError(
        .badRequest,
        "The head of the upload contradicts itself; look at Upload-Offset, Upload-Length and "
            + "Content-Length.")
}
