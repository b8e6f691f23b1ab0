/// Why bytes are no archived record.
public struct RecordArchiveError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What kind of failure it is; compare with the static members.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Kind: String { case truncated, malformed, unknownVersion }
        private let kind: Kind
        public var description: String { kind.rawValue }

        /// The bytes end too early.
        public static let truncated = Code(kind: .truncated)
        /// A value is not one that the archive writes.
        public static let malformed = Code(kind: .malformed)
        /// A newer version of this library wrote the bytes; update it.
        public static let unknownVersion = Code(kind: .unknownVersion)
    }

    public var code: Code
    /// One sentence: what failed and what to do.
    public var message: String
    /// `offset`: where in the bytes.
    public var fields: [String: String]
    /// The archive reads bytes by itself, so nothing lies underneath.
    public var cause: (any Error)? { nil }

    init(_ code: Code, _ message: String, offset: Int) {
        self.code = code
        self.message = message
        fields = ["offset": String(offset)]
    }

    public var description: String { message }
}
