internal import Foundation
internal import RecordWire

/// What came of decompressing a stranger's body.
enum Expansion {
    case whole(Data)
    case tooMuch
    case broken
}

/// How a body may travel, beside plain.
enum BodyEncoding: String {
    case zstd, gzip

    /// What `Content-Encoding` says; nil for a body that came plain. Throws for what is not known.
    init?(of request: HTTPRequest) throws(RouteRefusal) {
        switch request.headers["Content-Encoding"]?.lowercased() {
        case nil, "identity": return nil
        case "gzip", "x-gzip": self = .gzip
        case "zstd": self = .zstd
        default: throw RouteRefusal.unknownEncoding
        }
    }

    /// What a client that sent this `Accept-Encoding` likes best, `zstd` before `gzip` where it
    /// likes both as much; nil where it takes neither.
    init?(acceptedBy header: String?) {
        var (best, weight): (BodyEncoding?, Double) = (nil, 0)
        for (name, own) in QualityValues(header ?? "").choices {
            // Who takes anything is given what everybody knows.
            guard let encoding = BodyEncoding(rawValue: name == "*" ? "gzip" : String(name))
            else { continue }
            if own > weight || own == weight && own > 0 && encoding == .zstd {
                (best, weight) = (encoding, own)
            }
        }
        guard let best else { return nil }
        self = best
    }

    /// The body compressed; nil where it is short or would not shrink.
    func compress(_ body: Data) -> Data? {
        switch self {
        case .zstd: Zstandard.compress(body)
        case .gzip: Gzip.compress(body)
        }
    }

    /// The body decompressed. Stops as soon as it grows past `bytesMax` or swells beyond belief:
    /// LIMIT_EXCEEDED; BAD_REQUEST where it is not whole.
    func expand(_ body: Data, bytesMax: Int) throws(RecordError) -> Data {
        let growthMax = Gzip.growthMax(of: body, bytesMax: bytesMax)
        let expansion =
            switch self {
            case .zstd: try Zstandard.expand(body, growthMax: growthMax)
            case .gzip: try Gzip.expand(body, growthMax: growthMax)
            }
        switch expansion {
        case .whole(let data): return data
        case .tooMuch:
            throw RecordError(
                .limitExceeded,
                "The body grows too large when decompressed; at most \(bytesMax) bytes are taken. "
                    + "Send less at a time.")
        case .broken:
            throw RecordError(.badRequest, "The body is not whole \(rawValue) data; send it again.")
        }
    }
}
