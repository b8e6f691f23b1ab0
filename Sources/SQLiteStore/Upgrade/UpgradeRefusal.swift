/// Why the rows of a store do not fit its new model. The store is as it was.
public struct UpgradeRefusal: Error, Sendable {
    /// What stands in the way.
    public enum Reason: Hashable, Sendable {
        /// Rows have no value for an attribute that needs one and has no default.
        case missingValue
        /// Rows have equal values where the model wants unique ones.
        case duplicate
        /// A value is to come into its row or a new store, and its file, of this name, is not
        /// there.
        case missingFile(String)
    }

    /// The rule that rows break.
    public let reason: Reason
    /// The entity, where it is known.
    public let entity: String?
    /// The attribute or the name of the unique index.
    public let subject: String

    package init(reason: Reason, entity: String?, subject: String) {
        self.reason = reason
        self.entity = entity
        self.subject = subject
    }
}
