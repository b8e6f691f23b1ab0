internal import Foundation
internal import RecordWire

/// What a service says of itself at `/capabilities`, as far as it concerns a channel.
struct Publication: Sendable {
    let dialect: ServiceDialect
    private var extensions: Set<String> = []
    private var limits: [String: Int64] = [:]

    /// A service that is not asked: it speaks as the settings say.
    init(dialect: ServiceDialect) { self.dialect = dialect }

    /// What the answer of a service says; nil where it is none of a service's, such as the page of
    /// a gateway. One that publishes nothing has no extensions: it knows no such address, or
    /// refuses it in its own words.
    init?(_ answer: CurlAnswer) {
        switch answer.status {
        case 200:
            guard let words = try? JSONDecoder().decode(Extensions.self, from: answer.body) else {
                return nil
            }
            let numbers = try? JSONDecoder().decode(Limits.self, from: answer.body)
            extensions = Set(words.extensions)
            limits = numbers?.limits ?? [:]
        case 404: break
        case 429: return nil
        case 400..<500:
            guard (try? WireCodec.decodeError(answer.body)) != nil else { return nil }
        default: return nil
        }
        dialect = ServiceDialect(publishing: extensions)
    }

    /// Bytes of the largest asset; nil where it keeps none. All services of the plain dialect take
    /// assets, though they do not say so.
    var assetBytesMax: Int64? {
        if dialect == .plain { return limits["assetBytes"] ?? dialect.assetBytesMax }
        guard extensions.contains("assets"), let bytes = limits["assetBytes"], bytes > 0 else {
            return nil
        }
        return bytes
    }

    /// Operations that one request may have; nil where it does not say.
    var operationsMax: Int? {
        limits["operationsPerRequest"].flatMap { Int(exactly: $0) }.map { max(1, $0) }
    }

    /// Whether it takes bodies in zstd.
    var takesZstd: Bool { extensions.contains("zstdRequests") }

    /// Whether uploads may go on after a break.
    var resumesUploads: Bool {
        dialect == .extended && extensions.contains("resumableUploads")
    }

    /// Whether records may come and go archived.
    var takesArchives: Bool {
        dialect == .extended && extensions.contains(WireFormat.publishedName)
    }

    private struct Extensions: Decodable {
        var extensions: [String]
    }

    private struct Limits: Decodable {
        var limits: [String: Int64]
    }
}
