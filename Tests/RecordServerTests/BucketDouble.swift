import Foundation
import KeyTesting
import ObjectStorage
import Platform
import RecordServer
import RecordService

/// A small S3 service in this process: it keeps objects in memory, checks each signature as AWS
/// describes it (Signature Version 4), and fails where a test wants it to.
final class BucketDouble: Sendable {
    static let accessKey = "AKIDEXAMPLE"
    static let secretKey = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
    static let region = "eu-test-1"

    struct Seen: Sendable {
        var method: String
        var path: String
        var range: String?
        var status: Int
        /// Bytes of the answer.
        var bytes: Int
    }

    /// What it does with ranges.
    enum Manner {
        case proper, knowsNoRanges, sendsAnother, saysAnotherSize, sendsLess, sendsNothing
    }

    struct State {
        var objects: [String: Data] = [:]
        /// When objects came, where that is not now.
        var dates: [String: Date] = [:]
        var manner = Manner.proper
        /// Names on a page, and pages that are given in the place of the right ones.
        var pageMax = 1_000
        var pages: [Data] = []
        var seen: [Seen] = []
        var failures: [Int] = []
        /// Answers to GET end after so many bytes, so many times.
        var cuts: (bytes: Int, times: Int) = (0, 0)
        var isDeaf = false
        /// The bucket was removed, or is called something else.
        var isGone = false
    }

    let state = Lock(State())
    private let server: HTTPServer
    private let port: UInt16

    init() throws {
        var configuration = HTTPConfiguration()
        configuration.bodyBytesMax = 64 << 20
        let answer = Lock<(@Sendable (HTTPRequest) -> HTTPResponse)?>(nil)
        server = HTTPServer(configuration: configuration, platform: .system) { request in
            answer.withLock { $0 }?(request) ?? HTTPResponse(status: 503)
        }
        port = try server.start(address: "127.0.0.1", port: 0, tls: nil)
        answer.withLock { $0 = { [weak self] in self?.answer($0) ?? HTTPResponse(status: 503) } }
    }

    deinit { server.stop() }

    func address(secret: String = BucketDouble.secretKey) throws -> S3Address {
        guard let url = URL(string: "http://127.0.0.1:\(port)") else { throw URLError(.badURL) }
        return S3Address(
            endpoint: url, region: Self.region, bucket: "shelf", prefix: "assets",
            accessKey: Self.accessKey, secretKey: secret)
    }

    // MARK: What tests see and set

    var seen: [Seen] { state.withLock { $0.seen } }
    var names: [String] { state.withLock { $0.objects.keys.sorted() } }
    func clear() { state.withLock { $0.seen = [] } }
    /// Bytes of all answers.
    var sentBytes: Int { seen.reduce(0) { $0 + $1.bytes } }
    func act(_ manner: Manner) { state.withLock { $0.manner = manner } }
    /// The next answers have these statuses; 0: the one they would have.
    func fail(_ statuses: Int...) { state.withLock { $0.failures += statuses } }
    /// The next answers with an object break off after so many bytes.
    func cut(after bytes: Int, times: Int) { state.withLock { $0.cuts = (bytes, times) } }
    func damage() {
        state.withLock { state in
            for name in state.objects.keys { state.objects[name]?[0] ^= 0xFF }
        }
    }
    func lose() { state.withLock { $0.objects = [:] } }

    // MARK: Answering

    private func answer(_ request: HTTPRequest) -> HTTPResponse {
        var response = HTTPResponse(status: 403)
        let failure = state.withLock { state in
            state.failures.isEmpty ? nil : state.failures.removeFirst()
        }
        if let failure, failure != 0 {
            response.status = failure
            response.body = Data("<Error><Code>SlowDown \(Self.secretKey)</Code></Error>".utf8)
        } else if isSigned(request) {
            response = serve(request)
        }
        let status = response.status
        let bytes =
            request.method == "HEAD" ? 0 : response.file?.range.count ?? response.body.count
        state.withLock {
            $0.seen.append(
                Seen(
                    method: request.method, path: request.path, range: request.headers["Range"],
                    status: status, bytes: bytes))
        }
        return response
    }

    private func serve(_ request: HTTPRequest) -> HTTPResponse {
        guard case .bytes(let body) = request.body else { return HTTPResponse(status: 413) }
        if state.withLock({ $0.isGone }) {
            return HTTPResponse(status: 404, body: Data("<Error>NoSuchBucket</Error>".utf8))
        }
        switch request.method {
        case "PUT":
            guard hex(SigningKey.sha256(body)) == request.headers["x-amz-content-sha256"] else {
                return HTTPResponse(status: 400)
            }
            state.withLock { $0.objects[request.path] = body }
            return HTTPResponse(status: 200)
        case "DELETE":
            state.withLock { $0.objects[request.path] = nil }
            return HTTPResponse(status: 204)
        default:
            if request.path == "/shelf" { return list(request.query) }
            guard let object = state.withLock({ $0.objects[request.path] }) else {
                return HTTPResponse(status: 404, body: Data("<Error>NoSuchKey</Error>".utf8))
            }
            return request.method == "HEAD"
                ? head(of: object) : content(of: object, request.headers["Range"])
        }
    }

    /// As a GET of the whole; the server sends none of it.
    private func head(of object: Data) -> HTTPResponse {
        let isOther = state.withLock { $0.manner == .saysAnotherSize }
        return HTTPResponse(status: 200, body: object + Data(count: isOther ? 1 : 0))
    }

    private func content(of object: Data, _ range: String?) -> HTTPResponse {
        let manner = state.withLock { $0.manner }
        var range = manner == .knowsNoRanges ? nil : range
        var part = 0..<object.count
        if let ends = range?.dropFirst("bytes=".count).split(separator: "-").compactMap({ Int($0) })
        {
            guard ends.count == 2, ends[0] < object.count else { return HTTPResponse(status: 416) }
            part = ends[0]..<min(object.count, ends[1] + 1)
            // As a store may that has only so much at hand. (RFC 9110 §15.3.7)
            if manner == .sendsLess { part = part.prefix((part.count + 1) / 2) }
            let shift = manner == .sendsAnother ? 1 : 0
            let size = object.count + (manner == .saysAnotherSize ? 1 : 0)
            range = "bytes \(part.lowerBound - shift)-\(part.upperBound - 1 - shift)/\(size)"
        }
        let bytes = manner == .sendsNothing ? Data() : Data(object[part])
        let cut = state.withLock { state -> Int? in
            guard state.cuts.times > 0, bytes.count > state.cuts.bytes else { return nil }
            state.cuts.times -= 1
            return state.cuts.bytes
        }
        let status = range == nil ? 200 : 206
        var response =
            cut.map { Self.broken(bytes, after: $0, status: status) }
            ?? HTTPResponse(status: status, body: bytes)
        if let range { response.headers.append("Content-Range", range) }
        return response
    }

    /// An answer that says more bytes than come: its file is shorter by the time it is sent.
    private static func broken(_ part: Data, after bytes: Int, status: Int) -> HTTPResponse {
        let path = FileManager.default.temporaryDirectory
            .appendingPathComponent("bucket-\(UUID().uuidString)")
        guard (try? part.prefix(bytes).write(to: path)) != nil,
            let handle = try? FileHandle(forReadingFrom: path)
        else { return HTTPResponse(status: 500) }
        try? FileManager.default.removeItem(at: path)
        var response = HTTPResponse(status: status)
        response.file = HTTPFilePart(
            descriptor: handle.fileDescriptor, range: 0..<part.count, owner: KeptOpen(handle))
        return response
    }

    private final class KeptOpen: @unchecked Sendable {
        // @unchecked: nobody uses the handle but by its descriptor.
        private let handle: FileHandle
        init(_ handle: FileHandle) { self.handle = handle }
    }

    // MARK: Signatures

    /// Source: AWS, Signature Version 4 for API requests.
    private func isSigned(_ request: HTTPRequest) -> Bool {
        guard let header = request.headers["Authorization"],
            header.hasPrefix("AWS4-HMAC-SHA256 "),
            let digest = request.headers["x-amz-content-sha256"],
            let date = request.headers["x-amz-date"]
        else { return false }
        let parts = header.dropFirst("AWS4-HMAC-SHA256 ".count).split(separator: ",").reduce(
            into: [String: String]()
        ) { parts, part in
            let pair = part.trimmingCharacters(in: .whitespaces).split(
                separator: "=", maxSplits: 1)
            if pair.count == 2 { parts[String(pair[0])] = String(pair[1]) }
        }
        let scope = "\(date.prefix(8))/\(Self.region)/s3/aws4_request"
        guard let signed = parts["SignedHeaders"], let signature = parts["Signature"],
            parts["Credential"] == "\(Self.accessKey)/\(scope)",
            signed.split(separator: ";").contains("host"),
            signed.split(separator: ";").contains("x-amz-content-sha256")
        else { return false }
        let headers = signed.split(separator: ";").map { name in
            let value = request.headers[String(name)] ?? ""
            return "\(name):\(value.trimmingCharacters(in: .whitespaces))\n"
        }
        let canonical = [
            request.method, request.path, request.query.text, headers.joined(), signed, digest,
        ].joined(separator: "\n")
        let message = [
            "AWS4-HMAC-SHA256", date, scope, hex(SigningKey.sha256(Data(canonical.utf8))),
        ].joined(separator: "\n")
        var key = Data("AWS4\(Self.secretKey)".utf8)
        for part in [String(date.prefix(8)), Self.region, "s3", "aws4_request"] {
            key = Self.keyed(Data(part.utf8), key)
        }
        return hex(Self.keyed(Data(message.utf8), key)) == signature
    }

    private static func keyed(_ message: Data, _ key: Data) -> Data {
        var block = [UInt8](key.count > 64 ? SigningKey.sha256(key) : key)
        block += [UInt8](repeating: 0, count: 64 - block.count)
        let inner = SigningKey.sha256(Data(block.map { $0 ^ 0x36 }) + message)
        return SigningKey.sha256(Data(block.map { $0 ^ 0x5C }) + inner)
    }

    private func hex(_ data: Data) -> String {
        data.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }
}
