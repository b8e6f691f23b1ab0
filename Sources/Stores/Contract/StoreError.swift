/// What a store could not do, and what to do about it.
public struct StoreError: Error, Sendable, CustomStringConvertible {
    /// What kind of failure it is; compare with the static members.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Kind: String {
            case notAStore, cannotOpen, modelMismatch, readOnly, diskFull, busy, corrupt,
                unsupported
            case missingRow, invalidValue, historyExpired, snapshotExpired, failed
        }
        private let kind: Kind
        public var description: String { kind.rawValue }

        /// The file is no store of this type.
        public static let notAStore = Code(kind: .notAStore)
        public static let cannotOpen = Code(kind: .cannotOpen)
        /// The store was written with another model.
        public static let modelMismatch = Code(kind: .modelMismatch)
        public static let readOnly = Code(kind: .readOnly)
        public static let diskFull = Code(kind: .diskFull)
        /// Another process holds the store's lock.
        public static let busy = Code(kind: .busy)
        public static let corrupt = Code(kind: .corrupt)
        /// The store cannot do what was asked, such as a predicate with no SQL.
        public static let unsupported = Code(kind: .unsupported)
        public static let missingRow = Code(kind: .missingRow)
        public static let invalidValue = Code(kind: .invalidValue)
        public static let historyExpired = Code(kind: .historyExpired)
        /// The state of the store that was held for reading is not held any more.
        public static let snapshotExpired = Code(kind: .snapshotExpired)
        /// The store's library failed in a way of its own; `cause` says which.
        public static let failed = Code(kind: .failed)
    }

    public var code: Code
    /// One sentence: what failed and what to do. Holds no value of the user's.
    public var message: String
    /// Names of the things concerned: entity, key, path, SQL.
    public var fields: [String: String]
    public var cause: (any Error)?

    public init(
        _ code: Code, _ message: String, fields: [String: String] = [:], cause: (any Error)? = nil
    ) {
        self.code = code
        self.message = message
        self.fields = fields
        self.cause = cause
    }

    public var description: String { message }
}
