public import Foundation

/// A container of the service by its name. Source: Apple, CKContainer.
public final class CKContainer: NSObject, Sendable {
    public let containerIdentifier: String?

    public init(identifier containerIdentifier: String) {
        self.containerIdentifier = containerIdentifier
    }
}

/// A database of a container. Source: Apple, CKDatabase.
public final class CKDatabase: NSObject, Sendable {
    /// Whose records a database holds. Raw values are Apple's.
    public enum Scope: Int, Sendable {
        case `public` = 1
        case `private` = 2
        case shared = 3
    }

    public let databaseScope: Scope

    init(_ scope: Scope) { databaseScope = scope }
}
