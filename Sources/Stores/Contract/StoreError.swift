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
        /// There is no file, or it may not be read.
        public static let cannotOpen = Code(kind: .cannotOpen)
        /// The store was written with another model.
        public static let modelMismatch = Code(kind: .modelMismatch)
        /// The store was opened for reading only, or its file or folder allows no writing.
        public static let readOnly = Code(kind: .readOnly)
        /// The disk is full; nothing was written.
        public static let diskFull = Code(kind: .diskFull)
        /// Another process holds the store's lock.
        public static let busy = Code(kind: .busy)
        /// The file contradicts itself: it is damaged, or encrypted.
        public static let corrupt = Code(kind: .corrupt)
        /// The store cannot do what was asked, such as a predicate with no SQL.
        public static let unsupported = Code(kind: .unsupported)
        /// A row that was named is not in the store.
        public static let missingRow = Code(kind: .missingRow)
        /// A value is not of its attribute's type, or the file has no form for it.
        public static let invalidValue = Code(kind: .invalidValue)
        /// Transactions after the one that was asked for were removed; fetch everything instead.
        public static let historyExpired = Code(kind: .historyExpired)
        /// The state of the store that was held for reading is not held any more.
        public static let snapshotExpired = Code(kind: .snapshotExpired)
        /// The store's library failed in a way of its own; `cause` says which.
        public static let failed = Code(kind: .failed)
    }

    /// By it Persistence chooses Apple's code.
    public var code: Code
    /// One sentence: what failed and what to do. Holds no value of the user's.
    public var message: String
    /// Names of the things concerned: entity, key, path, SQL.
    public var fields: [String: String]
    /// What the layer below threw, such as a `SQLiteFault`; nil where the store found it itself.
    public var cause: (any Error)?

    /// `message` is a sentence without values of the user's; what it is about goes into `fields`.
    public init(
        _ code: Code, _ message: String, fields: [String: String] = [:], cause: (any Error)? = nil
    ) {
        self.code = code
        self.message = message
        self.fields = fields
        self.cause = cause
    }

    /// `.busy`: another program changed the store's file while it was worked with.
    package init(changedMeanwhile message: String, path: String) {
        self.init(.busy, message, fields: ["path": path, "changed": "meanwhile"])
    }

    /// Whether another try, from the beginning, may succeed at once.
    package var isOfChangeMeanwhile: Bool { code == .busy && fields["changed"] == "meanwhile" }

    public var description: String { message }
}
