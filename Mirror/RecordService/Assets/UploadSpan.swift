public import Foundation

/// What a client says of an upload that may be sent in pieces: which content it is, and which piece
/// comes.
public struct UploadSpan: Hashable, Sendable {
    let content: AssetChecksum
    /// Bytes of the whole.
    public let length: Int64
    /// How many of them came before; 0 begins anew, whatever is there.
    public let offset: Int64
    /// Whether the whole is there after this piece.
    public let isLast: Bool

    /// nil for a digest that is no SHA-256, and numbers that do not fit each other.
    public init?(sha256: Data, length: Int64, offset: Int64 = 0, isLast: Bool = true) {
        guard let content = AssetChecksum(sha256), length >= 0, (0...length).contains(offset)
        else { return nil }
        self.content = content
        self.length = length
        self.offset = offset
        self.isLast = isLast
    }
}

/// An upload cannot go on where its client wants to.
public struct UploadOffsetMismatch: Error, Hashable {
    /// Where it can.
    public let offset: Int64
}
