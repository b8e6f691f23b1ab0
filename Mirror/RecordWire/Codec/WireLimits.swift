internal import Foundation

/// What the codec takes in one body, whatever a service allows above it.
public enum WireLimits {
    /// Bytes of one body.
    public static let bodyBytesMax = 64 << 20
    /// Objects and arrays inside one another; the protocol needs 9.
    public static let depthMax = 32
    /// Elements of one array.
    public static let elementsMax = 20_000
    /// Values in one body, counted by their commas and colons.
    public static let valuesMax = 2_000_000
    /// Fields of one record.
    public static let fieldsMax = 1024

    /// Looks over a body once, before any of it is parsed. Cost: one pass over the bytes.
    static func check(_ body: Data) throws(RecordError) {
        guard body.count <= bodyBytesMax else {
            throw RecordError(
                .limitExceeded,
                "The body has \(body.count) bytes; at most \(bodyBytesMax) fit. "
                    + "Send less at a time."
            )
        }
        try checkUTF8(body)
        let shape = body.withUnsafeBytes { Shape(of: $0) }
        guard shape.depth <= depthMax else {
            throw RecordError(
                .badRequest, "The body nests objects and arrays deeper than \(depthMax) levels.")
        }
        guard shape.values <= valuesMax else {
            throw RecordError(
                .limitExceeded,
                "The body has more than \(valuesMax) values. Send less at a time.")
        }
    }

    /// JSON is UTF-8; elsewhere broken text would be told as a value of a wrong type.
    private static func checkUTF8(_ body: Data) throws(RecordError) {
        let place = body.withUnsafeBytes { bytes -> Int? in
            var decoder = UTF8.ForwardParser()
            var iterator = bytes.makeIterator()
            var offset = 0
            if bytes.allSatisfy({ $0 < 0x80 }) { return nil }
            while true {
                switch decoder.parseScalar(from: &iterator) {
                case .valid(let scalar): offset += scalar.count
                case .emptyInput: return nil
                case .error: return offset
                }
            }
        }
        guard let place else { return }
        throw RecordError(
            .badRequest, "The body is no UTF-8 from byte \(place) on; send JSON in UTF-8.")
    }

    /// How deep and how rich a JSON text is, without judging whether it is one.
    private struct Shape {
        var depth = 0
        var values = 0

        init(of bytes: UnsafeRawBufferPointer) {
            var level = 0
            var isText = false
            var isEscaped = false
            for byte in bytes {
                if isText {
                    if isEscaped {
                        isEscaped = false
                    } else if byte == UInt8(ascii: "\\") {
                        isEscaped = true
                    } else if byte == UInt8(ascii: "\"") {
                        isText = false
                    }
                    continue
                }
                switch byte {
                case UInt8(ascii: "\""): isText = true
                case UInt8(ascii: "{"), UInt8(ascii: "["):
                    level += 1
                    depth = max(depth, level)
                    if depth > depthMax { return }
                case UInt8(ascii: "}"), UInt8(ascii: "]"): level -= 1
                case UInt8(ascii: ","), UInt8(ascii: ":"): values += 1
                default: break
                }
            }
        }
    }
}
