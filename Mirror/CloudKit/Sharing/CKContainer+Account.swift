public import Foundation
internal import MirrorTransport
internal import Platform
internal import RecordWire

/// Whether somebody is signed in. Raw values are Apple's.
public enum CKAccountStatus: Int, Sendable {
    /// The service could not be asked.
    case couldNotDetermine = 0
    /// The service knows the user.
    case available = 1
    /// Never here: nobody restricts accounts.
    case restricted = 2
    /// No service is named, or it does not know the user's token.
    case noAccount = 3
    /// Never here.
    case temporarilyUnavailable = 4
}

extension Notification.Name {
    /// Posted where `CKContainer.accountStatus()` finds another user, or none any more: who the
    /// user is, the service alone knows, so that the notice comes no sooner than it is asked.
    /// Source: Apple, CKAccountChanged.
    public static let CKAccountChanged = Notification.Name("CKAccountChanged")
}

// The signed-in user, and what of the container is named beside stores.
extension CKContainer {
    /// The container that stores are mirrored with whose options name no other.
    public static func `default`() -> CKContainer {
        CKContainer(identifier: NSPersistentCloudKitContainer.defaultContainerIdentifier)
    }

    /// The database of what everybody may read.
    public var publicCloudDatabase: CKDatabase { CKDatabase(.public) }
    /// The database of the user's own.
    public var privateCloudDatabase: CKDatabase { CKDatabase(.private) }
    /// The database of what others share with the user.
    public var sharedCloudDatabase: CKDatabase { CKDatabase(.shared) }

    /// The database of a scope.
    public func database(with databaseScope: CKDatabase.Scope) -> CKDatabase {
        CKDatabase(databaseScope)
    }

    /// Whether the service that `NSPersistentCloudKitContainer.recordService` names knows the user;
    /// it is asked. Throws `CKError.operationCancelled` alone. Cost: one request.
    public func accountStatus() async throws -> CKAccountStatus {
        try await accountStatus(at: NSPersistentCloudKitContainer.recordService)
    }

    func accountStatus(at address: RecordServiceAddress?) async throws -> CKAccountStatus {
        do {
            let user = try await userRecordID(at: address)
            AccountWitness.note(user.recordName)
            return .available
        } catch let error as CKError {
            switch error.code {
            case .operationCancelled: throw error
            case .notAuthenticated:
                AccountWitness.note(nil)
                return .noAccount
            default: return .couldNotDetermine
            }
        }
    }

    /// As `accountStatus()`; the handler is called on a thread of its own. Cost: one request.
    public func accountStatus(
        completionHandler: @escaping @Sendable (CKAccountStatus, (any Error)?) -> Void
    ) {
        _ = SystemTaskRunner().run {
            do {
                completionHandler(try await self.accountStatus(), nil)
            } catch {
                completionHandler(.couldNotDetermine, error)
            }
        }
    }

    /// The name of the user's record: who the service says the user is. Throws `CKError`:
    /// `.notAuthenticated` where no service is named or it does not know the user,
    /// `.networkUnavailable` where it cannot be reached. Cost: one request.
    public func userRecordID() async throws -> CKRecord.ID {
        try await userRecordID(at: NSPersistentCloudKitContainer.recordService)
    }

    func userRecordID(at address: RecordServiceAddress?) async throws -> CKRecord.ID {
        guard let address else {
            throw CKError(.notAuthenticated, CKError.noService.localizedDescription)
        }
        let user = try await address.caller(container: containerIdentifier ?? "")
        return CKRecord.ID(recordName: user.userRecordName)
    }

    /// As `userRecordID()`; the handler is called on a thread of its own. Cost: one request.
    public func fetchUserRecordID(
        completionHandler: @escaping @Sendable (CKRecord.ID?, (any Error)?) -> Void
    ) {
        _ = SystemTaskRunner().run {
            do {
                completionHandler(try await self.userRecordID(), nil)
            } catch {
                completionHandler(nil, error)
            }
        }
    }
}

/// Whom the service last named.
private enum AccountWitness {
    /// The user's record, `.some(nil)` for nobody; nil before the service was asked.
    private static let last = Lock<String??>(nil)

    static func note(_ user: String?) {
        let isNew = last.withLock { last in
            defer { last = .some(user) }
            return last.map { $0 != user } ?? false
        }
        guard isNew else { return }
        NotificationCenter.default.post(name: .CKAccountChanged, object: nil)
    }
}

extension RecordServiceAddress {
    /// Who the service says the user is. Throws `CKError`.
    func caller(container: String) async throws -> CallerReply {
        do {
            let channel = try channel(container: container, deviceID: "")
            guard case .caller(let reply) = try await channel.send(.caller) else {
                throw CKError.unexpected
            }
            return reply
        } catch {
            throw CKError(error)
        }
    }
}
