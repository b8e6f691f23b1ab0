package import Foundation
package import RecordService

#if canImport(FoundationXML)
    internal import FoundationXML
#endif

/// A page of a bucket's names, as ListObjectsV2 answers it: XML by a stranger, read within limits
/// of size, depth and number.
///
/// Nothing but an XML declaration and elements is let near the parser, so no entity is declared
/// and no other file opened.
final class S3Listing: NSObject, XMLParserDelegate {
    /// A thousand names of 1,024 bytes, each byte as three, with what stands beside them.
    static let bytesMax = 4 << 20
    private static let pageMax = 1_000
    private static let depthMax = 8
    private static let markBytesMax = 4_096

    static let unreadable = ObjectStoreFailure(
        "its list of objects cannot be read; it is no S3-compatible store", isTransient: false)

    /// An entry of the page, as far as it was read.
    private struct Entry {
        var key = ""
        var size = ""
        var modified = ""
    }

    private var path: [String] = []
    private var text = ""
    private var entry = Entry()
    private var entries: [Entry] = []
    private var isTruncated = false
    private var mark = ""
    private var isURLEncoded = false
    private var isOverLimit = false

    /// Names and values in the order and the spelling in which they are signed, so that no version
    /// of libcurl has anything to put right.
    static func query(prefix: String, mark: String?) -> String {
        var items = [("encoding-type", "url"), ("list-type", "2"), ("max-keys", "\(pageMax)")]
        if let mark { items.insert(("continuation-token", mark), at: 0) }
        if !prefix.isEmpty { items.append(("prefix", prefix)) }
        return items.map { "\($0.0)=\(encoded($0.1))" }.joined(separator: "&")
    }

    /// RFC 3986's unreserved characters as they are, all other bytes as `%2F`.
    private static func encoded(_ text: String) -> String {
        text.utf8.map { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E:
                String(UnicodeScalar(byte))
            default:
                "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
        }.joined()
    }

    /// Throws `unreadable` for what is no such page.
    static func page(_ data: Data, prefix: String) throws(ObjectStoreFailure) -> ObjectPage {
        guard data.count <= bytesMax, isPlain(data) else { throw unreadable }
        let parser = XMLParser(data: data)
        parser.shouldResolveExternalEntities = false
        let listing = S3Listing()
        parser.delegate = listing
        guard parser.parse(), parser.parserError == nil, !listing.isOverLimit,
            listing.path.isEmpty, listing.isPage
        else { throw unreadable }
        return try listing.page(prefix: prefix)
    }

    /// Foundation's parser traps on bytes that are no UTF-8, and reads astray after instructions;
    /// document types are refused with everything else that begins so.
    private static func isPlain(_ data: Data) -> Bool {
        guard String(validating: data, as: UTF8.self) != nil else { return false }
        var rest = data[...]
        if rest.starts(with: [0xEF, 0xBB, 0xBF]) { rest = rest.dropFirst(3) }
        if rest.starts(with: Data("<?xml ".utf8)) {
            guard let end = rest.range(of: Data("?>".utf8)) else { return false }
            let words = String(decoding: rest[..<end.lowerBound], as: UTF8.self).lowercased()
            guard !words.contains("encoding") || words.contains("utf-8") else { return false }
            rest = rest[end.upperBound...]
        }
        return rest.range(of: Data("<?".utf8)) == nil && rest.range(of: Data("<!".utf8)) == nil
            && rest.contains(UInt8(ascii: "<"))
    }

    private var isPage = false

    private func page(prefix: String) throws(ObjectStoreFailure) -> ObjectPage {
        var page = ObjectPage()
        if isTruncated {
            guard !mark.isEmpty, mark.utf8.count <= Self.markBytesMax else {
                throw Self.unreadable
            }
            page.mark = mark
        }
        page.objects = entries.compactMap { entry in
            let key = isURLEncoded ? entry.key.removingPercentEncoding : entry.key
            guard let key, key.hasPrefix(prefix), let size = Int64(entry.size),
                let modified = Self.date(entry.modified)
            else { return nil }
            return ListedObject(
                name: String(key.dropFirst(prefix.count)), size: size, modified: modified)
        }
        return page
    }

    /// Such as 2026-11-23T18:31:44.000Z.
    private static func date(_ text: String) -> Date? {
        let whole = Date.ISO8601FormatStyle()
        let fractional = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        return (try? Date(text, strategy: fractional)) ?? (try? Date(text, strategy: whole))
    }

    // MARK: Events of the parser

    func parser(
        _ parser: XMLParser, didStartElement name: String, namespaceURI: String?,
        qualifiedName: String?, attributes: [String: String]
    ) {
        path.append(name)
        text = ""
        if path == ["ListBucketResult"] { isPage = true }
        if path == ["ListBucketResult", "Contents"] { entry = Entry() }
        guard path.count <= Self.depthMax, entries.count <= Self.pageMax else {
            isOverLimit = true
            return parser.abortParsing()
        }
    }

    func parser(_ parser: XMLParser, foundCharacters characters: String) { text += characters }

    func parser(
        _ parser: XMLParser, didEndElement name: String, namespaceURI: String?,
        qualifiedName: String?
    ) {
        switch path.dropFirst().joined(separator: "/") {
        case "Contents/Key": entry.key = text
        case "Contents/Size": entry.size = text
        case "Contents/LastModified": entry.modified = text
        case "Contents": entries.append(entry)
        case "IsTruncated": isTruncated = text == "true"
        case "NextContinuationToken": mark = text
        case "EncodingType": isURLEncoded = text == "url"
        default: break
        }
        text = ""
        if !path.isEmpty { path.removeLast() }
    }
}

extension ObjectPage {
    /// What a store of objects answers. Throws for what is no page of names.
    package init(listing data: Data, prefix: String) throws(ObjectStoreFailure) {
        self = try S3Listing.page(data, prefix: prefix)
    }
}
