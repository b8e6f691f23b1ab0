internal import Foundation
internal import RecordService

/// An asset as an answer to GET: the whole, or the range that was asked for; to HEAD without its
/// bytes. A range is one of GET alone. (RFC 9110 §9.3.2, §14.2)
enum AssetAnswer {
    /// Throws a 412 where another asset was expected, a 416 for a range that the asset does not
    /// have, and what opening it throws.
    static func response(
        with asset: AddressedAsset, to request: HTTPRequest
    ) throws -> HTTPResponse {
        let tag = "\"\(asset.checksum)\""
        if let expected = EntityTags(request.headers.all("If-Match")),
            !expected.hold(tag, weakly: false)
        {
            throw RouteRefusal.anotherAsset
        }
        if let known = EntityTags(request.headers.all("If-None-Match")),
            known.hold(tag, weakly: true)
        {
            var response = HTTPResponse(status: 304)
            response.headers.append("ETag", tag)
            response.headers.append("Cache-Control", caching)
            return response
        }
        return try content(of: asset, called: tag, to: request)
    }

    private static let caching = "private, no-store"

    private static func content(
        of asset: AddressedAsset, called tag: String, to request: HTTPRequest
    ) throws -> HTTPResponse {
        let size = Int(clamping: asset.size)
        var range = 0..<size
        var status = 200
        let isSameFile = request.headers["If-Range"].map { $0 == tag } ?? true
        if request.method == "GET", isSameFile, let header = request.headers["Range"],
            let asked = ByteRange(header, size: size)
        {
            guard case .part(let part) = asked else {
                throw RouteRefusal.rangeNotSatisfiable(size: asset.size)
            }
            range = part
            status = 206
        }
        var response = HTTPResponse(status: status)
        if request.method == "HEAD" {
            try asset.look()
            // Nobody asks for them; the head tells how many they would be.
            response.pieces = HTTPPieces(byteCount: range.count) { Data() }
        } else {
            try fill(&response, from: asset, range, isPart: status == 206)
        }
        if status == 206 {
            response.headers.append(
                "Content-Range", "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(size)")
        }
        for (name, value) in [
            ("Accept-Ranges", "bytes"), ("ETag", tag),
            ("Content-Type", "application/octet-stream"), ("Content-Disposition", "attachment"),
            ("X-Content-Type-Options", "nosniff"), ("Cache-Control", caching),
        ] {
            response.headers.append(name, value)
        }
        return response
    }

    private static func fill(
        _ response: inout HTTPResponse, from asset: AddressedAsset, _ range: Range<Int>,
        isPart: Bool
    ) throws {
        let wanted = Int64(range.lowerBound)..<Int64(range.upperBound)
        switch try asset.open(isPart ? wanted : nil) {
        case .file(let file):
            response.file = HTTPFilePart(descriptor: file.descriptor, range: range, owner: file)
        case .pieces(let pieces):
            response.pieces = HTTPPieces(byteCount: range.count) { try pieces.next() }
        }
    }
}

/// What a client expects of an asset, or has of it: tags in quotes, or any. (RFC 9110 §13.1)
struct EntityTags {
    private let tags: [Substring]

    /// nil where nothing is said.
    init?(_ headers: [String]) {
        guard !headers.isEmpty else { return nil }
        tags = headers.flatMap { $0.split(separator: ",") }
            .map { $0.drop { $0.isWhitespace } }
            .map { tag in
                let end = tag.lastIndex { !$0.isWhitespace }
                return end.map { tag[...$0] } ?? ""
            }
    }

    /// A weak tag counts where an equal content is enough.
    func hold(_ tag: String, weakly: Bool) -> Bool {
        tags.contains { $0 == "*" || $0 == tag || weakly && $0 == "W/" + tag }
    }
}

/// What a Range header asks for.
enum ByteRange: Equatable {
    case part(Range<Int>)
    case outside

    /// nil for a header that is ignored: of another unit, of several ranges, or none at all.
    init?(_ header: String, size: Int) {
        let text = header.filter { !$0.isWhitespace }
        guard text.lowercased().hasPrefix("bytes=") else { return nil }
        let ends = text.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2 else { return nil }
        switch (Self.number(ends[0]), Self.number(ends[1])) {
        case (nil, let last?) where ends[0].isEmpty:
            self = last > 0 && size > 0 ? .part(max(0, size - last)..<size) : .outside
        case (let first?, nil) where ends[1].isEmpty:
            self = first < size ? .part(first..<size) : .outside
        case (let first?, let last?):
            guard first <= last else { return nil }
            self =
                first < size ? .part(first..<min(size, last == .max ? size : last + 1)) : .outside
        default: return nil
        }
    }

    /// A number of digits alone; one past the machine's counts as its largest.
    private static func number(_ text: Substring) -> Int? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return Int(text) ?? .max
    }
}

extension HTTPRequest {
    /// The server's address as the client calls it; nil where that is not to be seen. A proxy that
    /// speaks TLS says so; who lies about it spoils the addresses of its own answers only.
    package func serviceAddress(scheme: String) -> String? {
        guard let host = headers["Host"], !host.isEmpty,
            host.utf8.allSatisfy({ byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
                default: ".-_:[]".utf8.contains(byte)
                }
            })
        else { return nil }
        let isForwarded = headers["X-Forwarded-Proto"]?.lowercased() == "https"
        return "\(isForwarded ? "https" : scheme)://\(host)"
    }
}
