/// What the mirror could not do, and what to do about it.
public struct MirrorError: Error, Sendable, CustomStringConvertible {
    /// The kind of failure; compare with the static members.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Kind: String {
            case storeNotMirrorable, unknownEntity, fieldMismatch, serviceRefused, offline,
                throttled
            case otherContainer, otherUser, ledgerDamaged, unknownConflict, objectDeleted, keyTaken
            case stopped
            case keyMissing, keyRefused, keyWornOut, sealBroken, shareEnded, alreadyShared
            case selectionUnread, noRefusedDeletion, noRefusedEdit
        }
        private let kind: Kind
        public var description: String { kind.rawValue }

        /// The store keeps no history or is of a type that cannot hold the ledger.
        public static let storeNotMirrorable = Code(kind: .storeNotMirrorable)
        public static let unknownEntity = Code(kind: .unknownEntity)
        /// A record's field has a type that the model's attribute cannot hold.
        public static let fieldMismatch = Code(kind: .fieldMismatch)
        /// The service refused the request as a whole; `cause` is its answer.
        public static let serviceRefused = Code(kind: .serviceRefused)
        /// The service could not be reached.
        public static let offline = Code(kind: .offline)
        public static let throttled = Code(kind: .throttled)
        /// The store was mirrored with another container or service before.
        public static let otherContainer = Code(kind: .otherContainer)
        /// The store was mirrored for another user before.
        public static let otherUser = Code(kind: .otherUser)
        public static let ledgerDamaged = Code(kind: .ledgerDamaged)
        public static let unknownConflict = Code(kind: .unknownConflict)
        /// The object whose value is to be put back, or which is to be shared, is there no more.
        public static let objectDeleted = Code(kind: .objectDeleted)
        /// The value that a decision would put back is the unique key of another object.
        public static let keyTaken = Code(kind: .keyTaken)
        /// A value cannot be sealed or opened, because its key was not given.
        public static let keyMissing = Code(kind: .keyMissing)
        /// A key or a key file cannot be used: damaged, or the passphrase is another.
        public static let keyRefused = Code(kind: .keyRefused)
        /// So many values were sealed under a key that the next must have another.
        public static let keyWornOut = Code(kind: .keyWornOut)
        /// A sealed value was changed, or moved from another field or record.
        public static let sealBroken = Code(kind: .sealBroken)
        /// The owner closed the zone, or the user left it; its objects have left the store.
        public static let shareEnded = Code(kind: .shareEnded)
        /// An object is in another share already, and one record is in one share.
        public static let alreadyShared = Code(kind: .alreadyShared)
        /// The store's selection has a predicate that cannot be read outside of its app.
        public static let selectionUnread = Code(kind: .selectionUnread)
        /// The service has refused no deletion of the object that is to come back.
        public static let noRefusedDeletion = Code(kind: .noRefusedDeletion)
        /// The service has refused no edit of the object that is to be as it was.
        public static let noRefusedEdit = Code(kind: .noRefusedEdit)
        public static let stopped = Code(kind: .stopped)
    }

    public var code: Code
    /// What failed and what to do. Holds no value of the user's.
    public var message: String
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
