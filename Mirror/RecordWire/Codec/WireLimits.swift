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

    /// Looks over a body once, before any of it is parsed: JSON is UTF-8, and elsewhere broken text
    /// would be told as a value of a wrong type. Cost: one pass over the bytes.
    static func check(_ body: Data) throws(RecordError) {
        guard body.count <= bodyBytesMax else {
            throw RecordError(
                .limitExceeded,
                "The body has \(body.count) bytes; at most \(bodyBytesMax) fit. "
                    + "Send less at a time."
            )
        }
        guard let place = body.withUnsafeBytes(BrokenText.firstPlace) else { return }
        throw RecordError(
            .badRequest, "The body is no UTF-8 from byte \(place) on; send JSON in UTF-8.")
    }
}
