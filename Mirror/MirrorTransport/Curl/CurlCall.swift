package import Foundation

/// One HTTP request as libcurl is to send it.
package struct CurlCall: Sendable {
    package var method: String
    package var url: String
    package var headers: [(String, String)]
    /// Bytes that are mapped from a file are read while they are sent.
    package var body: Data
    /// Where the body of a good answer goes that is too large for memory.
    package var output: CurlOutput?
    /// Whether it may take any time as long as it moves.
    package var isLong = false
    /// Whether it has a connection of its own. Over one that was used before, libcurl sends a
    /// request again by itself when it breaks off, from its beginning.
    package var isFresh = false

    package init(
        method: String = "GET", url: String, headers: [(String, String)] = [], body: Data = Data()
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
    }
}

/// A file that takes the body of an answer.
package struct CurlOutput: Sendable {
    /// Open for appending. A 200 begins it anew, a 206 goes on.
    package var descriptor: Int32
    /// Bytes after which the rest is not taken.
    package var bytesMax: Int64
    /// Hears the head of a 200 when the file is empty, and that of a 206, before the body comes.
    /// Returns false for an answer whose body is not to be taken.
    package var begin: @Sendable (_ status: Int, _ headers: [String: String]) -> Bool

    package init(
        descriptor: Int32, bytesMax: Int64,
        begin: @escaping @Sendable (_ status: Int, _ headers: [String: String]) -> Bool = {
            _, _ in true
        }
    ) {
        self.descriptor = descriptor
        self.bytesMax = bytesMax
        self.begin = begin
    }
}

/// The bounds of a call.
package struct CurlLimits: Sendable {
    /// PEM file of the authorities to trust, and no others; nil for those of the system.
    package var authorityFile: URL?
    package var connectSeconds = 15.0
    package var totalSeconds = 300.0
    /// A transfer that moves nothing for so long is given up.
    package var stallSeconds = 30.0
    package var bytesPerSecondMax: Int?
    /// The largest body taken, after decompression.
    package var responseBytesMax = 64 << 20

    package init() {}
}

/// What came back.
package struct CurlAnswer: Sendable {
    package var status: Int
    /// By lower-case name; the last value of each.
    package var headers: [String: String]
    package var body: Data
}

/// Bytes on the wire, head lines included, TLS's own not; counted as they are sent, that is
/// compressed.
public struct ByteCount: Sendable, Hashable {
    public var sent: Int64 = 0
    public var received: Int64 = 0
    /// Requests made, answered or not.
    public var requests: Int64 = 0
    /// Connections opened for them.
    public var connections: Int64 = 0

    public init() {}
}
