package import Foundation

/// One request as it came, whole: the head, and the body up to the limit.
package struct HTTPRequest: Sendable {
    package var method: String
    /// As sent, percent-encoded, without the query.
    package var path: String
    package var query: HTTPQuery
    package var headers: HTTPHeaders
    package var body: HTTPBody
    package var address = ClientAddress.none

    package init(
        method: String, path: String, query: HTTPQuery = HTTPQuery(""),
        headers: HTTPHeaders = HTTPHeaders(), body: HTTPBody = .bytes(Data())
    ) {
        self.method = method
        self.path = path
        self.query = query
        self.headers = headers
        self.body = body
    }
}

/// A request's body, or the news that it was too large to keep.
package enum HTTPBody: Sendable {
    case bytes(Data)
    /// More than the server takes; what came was dropped while it was read.
    case tooLarge
    /// The server holds too much of others already, or of this user.
    case noRoom
}

/// What is sent back.
package struct HTTPResponse: Sendable {
    package var status: Int
    package var headers: HTTPHeaders
    package var body: Data
    /// A part of a file that is sent in the place of `body`.
    package var file: HTTPFilePart?
    /// What is sent in the place of both, as it comes.
    package var pieces: HTTPPieces?
    /// Called where the client went away before all of it was sent.
    package var whenLost: (@Sendable () -> Void)?
    /// For the access log; nothing of it is sent.
    package var facts = RequestFacts()

    package init(status: Int, headers: HTTPHeaders = HTTPHeaders(), body: Data = Data()) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// What each answer is called, for who asks about it.
    static let requestIDHeader = "X-Apple-Request-UUID"

    /// How many bytes are sent after the head.
    var byteCount: Int { pieces?.byteCount ?? file?.range.count ?? body.count }
}

/// A part of an open file, as an answer's body: it is read while it is sent.
package struct HTTPFilePart: Sendable {
    package var descriptor: Int32
    package var range: Range<Int>
    /// Keeps the descriptor open until the answer is given to the library.
    package var owner: any Sendable

    package init(descriptor: Int32, range: Range<Int>, owner: any Sendable) {
        self.descriptor = descriptor
        self.range = range
        self.owner = owner
    }
}

/// An answer's body that is not here yet, of a known length.
package struct HTTPPieces: Sendable {
    package var byteCount: Int
    /// The bytes that follow, called on the connection's thread, which may wait there. One that
    /// throws, and one that comes short, cuts the connection: the client sees that more was to
    /// come.
    package var next: @Sendable () throws -> Data

    package init(byteCount: Int, next: @escaping @Sendable () throws -> Data) {
        self.byteCount = byteCount
        self.next = next
    }
}

/// Header fields in order; names compare without regard to case.
package struct HTTPHeaders: Sendable {
    package private(set) var fields: [(name: String, value: String)] = []

    package init() {}

    /// The first value under `name`.
    package subscript(name: String) -> String? {
        fields.first { Self.isSame($0.name, name) }?.value
    }

    /// All values under `name`.
    func all(_ name: String) -> [String] {
        fields.filter { Self.isSame($0.name, name) }.map(\.value)
    }

    /// Names are ASCII.
    private static func isSame(_ one: String, _ other: String) -> Bool {
        one.utf8.count == other.utf8.count
            && zip(one.utf8, other.utf8).allSatisfy { lowercase($0) == lowercase($1) }
    }

    private static func lowercase(_ byte: UInt8) -> UInt8 {
        byte &- UInt8(ascii: "A") < 26 ? byte | 0x20 : byte
    }

    package mutating func append(_ name: String, _ value: String) {
        fields.append((name, value))
    }
}

/// The part of a target after `?`: names and values, percent-decoded.
///
/// A plus sign stays a plus sign: base64 tokens hold it more often than forms hold spaces.
package struct HTTPQuery: Sendable {
    /// As sent, percent-encoded.
    package let text: String
    private var items: [(name: String, value: String)] = []
    /// How many parts there are, also those that cannot be read.
    package private(set) var count = 0

    private static let itemsMax = 100

    package init(_ text: some StringProtocol) {
        self.text = String(text)
        for part in self.text.utf8.split(
            separator: UInt8(ascii: "&"), omittingEmptySubsequences: false)
        {
            count += 1
            guard !part.isEmpty, count <= Self.itemsMax else { continue }
            let pair = part.split(
                separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = Self.decoded(pair[0]),
                let value = pair.count > 1 ? Self.decoded(pair[1]) : ""
            else { continue }
            items.append((name, value))
        }
    }

    private static func decoded(_ bytes: Substring.UTF8View) -> String? {
        let text = String(Substring(bytes))
        return bytes.contains(UInt8(ascii: "%")) ? text.removingPercentEncoding : text
    }

    /// The first value under `name`.
    package subscript(name: String) -> String? {
        items.first { $0.name == name }?.value
    }
}
