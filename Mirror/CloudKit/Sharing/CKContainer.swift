public import Foundation
internal import MirrorEngine
internal import MirrorTransport
internal import RecordWire

/// A container of the service by its name. Source: Apple, CKContainer.
public final class CKContainer: NSObject, Sendable {
    public let containerIdentifier: String?

    public init(identifier containerIdentifier: String) {
        self.containerIdentifier = containerIdentifier
    }

    /// What the address of a share leads to, asked of the service that
    /// `NSPersistentCloudKitContainer.recordService` names.
    /// Throws `CKError`: `.unknownItem` where there is no such share for this user.
    public func shareMetadata(for url: URL) async throws -> CKShare.Metadata {
        guard let address = NSPersistentCloudKitContainer.recordService else {
            throw CKError.noService
        }
        return try await address.shareMetadata(for: url, container: containerIdentifier ?? "")
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

extension RecordServiceAddress {
    /// What the address of a share leads to. Throws `CKError`.
    func shareMetadata(for url: URL, container: String) async throws -> CKShare.Metadata {
        do {
            let channel = try channel(container: container, deviceID: "")
            let found = try ZoneShares.metadata(
                try await channel.send(ZoneShares.resolution(of: [url.lastPathComponent])))
            guard let first = found.first else { throw CKError.unexpected }
            return CKShare.Metadata(first, at: self.url)
        } catch {
            throw CKError(error)
        }
    }
}
