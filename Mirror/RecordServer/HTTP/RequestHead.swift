internal import CMicroHTTPD
internal import Foundation

/// The headers of a request, and what is wrong with them.
///
/// A request whose end two readers may see at different places lets a stranger hide another one in
/// its body, from a proxy in front or from the log. Such a head is refused, and the connection
/// closed.
struct RequestHead {
    private(set) var headers = HTTPHeaders()
    /// Whether bytes stand behind the end of a line as the library reads it: something after a NUL,
    /// or a header that goes on in the next line.
    private var hasHiddenBytes = false
    private var end: UnsafeRawPointer?

    static let headersMax = 100
    static let queryItemsMax = 32
    /// Past this no answer is given; the connection is closed.
    static let readableQueryItemsMax = 500

    init() {}

    /// Reads the head of a request, whose first byte is that of its method. `targetBytes`: how many
    /// its target had when it came.
    static func of(
        _ connection: OpaquePointer, line: RequestLine, targetBytes: Int
    ) -> (head: RequestHead, bytes: Int) {
        var head = RequestHead()
        head.hasHiddenBytes = line.hidesBytes(targetBytes: targetBytes)
        let size = diptych_mhd_head_size(connection)
        withUnsafeMutablePointer(to: &head) { pointer in
            _ = MHD_get_connection_values_n(
                connection, .HEADER_KIND,
                { context, _, name, nameSize, value, valueSize in
                    guard let context, let name else { return .YES }
                    context.assumingMemoryBound(to: RequestHead.self).pointee
                        .take(name, nameSize, value, valueSize)
                    return .YES
                }, pointer)
        }
        head.finish(at: UnsafeRawPointer(line.method) + size)
        return (head, size)
    }

    private mutating func take(
        _ name: UnsafePointer<CChar>, _ nameSize: Int, _ value: UnsafePointer<CChar>?,
        _ valueSize: Int
    ) {
        look(upTo: UnsafeRawPointer(name))
        let raw = UnsafeRawBufferPointer(start: value, count: value == nil ? 0 : valueSize)
        headers.append(
            String(decoding: UnsafeRawBufferPointer(start: name, count: nameSize), as: UTF8.self),
            String(decoding: raw, as: UTF8.self))
        end = value.map { UnsafeRawPointer($0) + valueSize }
    }

    /// The library ends each line with a NUL where the line break was, in place. What else stands
    /// between a value and the next line was behind a NUL of the sender's, or is the rest of a
    /// header that the library put together elsewhere.
    private mutating func look(upTo next: UnsafeRawPointer) {
        guard let end, next > end, next - end < 64 << 10 else { return }
        let gap = UnsafeRawBufferPointer(start: end, count: next - end)
        hasHiddenBytes = hasHiddenBytes || gap.count > 2 || gap.contains { $0 > 0x20 }
    }

    /// The head ends with an empty line.
    private mutating func finish(at last: UnsafeRawPointer) {
        guard let end, last > end, last - end < 64 << 10 else { return }
        let gap = UnsafeRawBufferPointer(start: end, count: last - end)
        hasHiddenBytes = hasHiddenBytes || gap.count > 4 || gap.contains { $0 > 0x20 }
    }

    // MARK: What is wrong

    /// A sentence; nil for a head that every reader reads alike.
    var problem: String? {
        if hasHiddenBytes {
            return "A header holds a NUL, or goes on in the next line; send each in one line."
        }
        for (name, value) in headers.fields {
            guard !name.isEmpty, name.utf8.allSatisfy(Self.isToken) else {
                return "The name of a header is none."
            }
            guard value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else {
                return "A header holds a control character."
            }
        }
        return hostProblem ?? lengthProblem
    }

    private var hostProblem: String? {
        headers.all("Host").count > 1 ? "The request has two Host headers." : nil
    }

    private var lengthProblem: String? {
        let lengths = headers.all("Content-Length")
        let encodings = headers.all("Transfer-Encoding")
        if lengths.count > 1 { return "The request has two Content-Length headers." }
        if encodings.count > 1 { return "The request has two Transfer-Encoding headers." }
        if !lengths.isEmpty, !encodings.isEmpty {
            return "The request has both Content-Length and Transfer-Encoding."
        }
        if let encoding = encodings.first, encoding.lowercased() != "chunked" {
            return "The only Transfer-Encoding that is taken is chunked."
        }
        guard let length = lengths.first else { return nil }
        let isNumber = !length.isEmpty && length.utf8.allSatisfy { (0x30...0x39).contains($0) }
        return isNumber && Int(length) != nil ? nil : "The Content-Length is no number."
    }

    private static func isToken(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}
