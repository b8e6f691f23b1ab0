internal import COpenSSL
internal import Foundation

/// An upload to a service that keeps what came of one that broke off, and finds it by its content.
///
/// The digest is of the bytes as they are sent: bytes that were changed meanwhile are another
/// upload. (docs/SERVICE.md, Assets)
struct ResumedUpload {
    /// Below this, asking how far it is costs more than sending it anew.
    static let bytesMin = 1 << 20
    /// How often the service may say that it stands elsewhere.
    static let movesMax = 2

    let url: String
    private let bytes: Data
    private let digest: String
    /// What the service has.
    private(set) var offset = 0

    init(_ bytes: Data, to url: String) {
        self.bytes = bytes
        self.url = url
        var digest = [UInt8](repeating: 0, count: Int(SHA256_DIGEST_LENGTH))
        bytes.withUnsafeBytes { diptych_sha256($0.baseAddress, $0.count, &digest) }
        self.digest = "sha-256=:\(Data(digest).base64EncodedString()):"
    }

    private var identity: [(String, String)] {
        [("Repr-Digest", digest), ("Upload-Length", String(bytes.count))]
    }

    /// Asks how far it is.
    var question: CurlCall { CurlCall(method: "HEAD", url: url, headers: identity) }

    /// Takes the answer, or the refusal of an offset. What cannot be read begins anew.
    mutating func take(_ answer: CurlAnswer) {
        let told = answer.headers["upload-offset"].flatMap { Int($0) } ?? 0
        offset = (0...bytes.count).contains(told) ? told : 0
    }

    /// Sends what is not there.
    var rest: CurlCall {
        var call = CurlCall(method: offset == 0 ? "POST" : "PATCH", url: url)
        call.body = bytes.dropFirst(offset)
        call.isFresh = true
        call.headers = identity + [("Upload-Complete", "?1")]
        guard offset > 0 else { return call }
        call.headers.append(("Upload-Offset", String(offset)))
        call.headers.append(("Content-Type", "application/partial-upload"))
        return call
    }
}
