public import Foundation

/// Records that their owner shares with others. Source: Apple, CKShare.
///
/// The mirror shares no objects yet: every call that would make or need one throws
/// `CKError.Code.serverRejectedRequest`, and there are none to be found.
public final class CKShare: CKRecord {
    /// What an invitation says of a share.
    public final class Metadata: NSObject, Sendable {
        public let containerIdentifier: String
        public let hierarchicalRootRecordID: CKRecord.ID?

        init(containerIdentifier: String, hierarchicalRootRecordID: CKRecord.ID?) {
            self.containerIdentifier = containerIdentifier
            self.hierarchicalRootRecordID = hierarchicalRootRecordID
        }
    }

    /// One who takes part in a share.
    public final class Participant: NSObject, Sendable {
        public let participantID: String

        init(participantID: String) { self.participantID = participantID }
    }

    /// A share of the records below `rootRecord`, which no service here takes yet.
    public init(rootRecord: CKRecord) {
        super.init(
            recordType: "cloudkit.share",
            recordID: ID(
                recordName: "Share-\(rootRecord.recordID.recordName)",
                zoneID: rootRecord.recordID.zoneID))
    }
}

/// Whom a service knows. Source: Apple, CKUserIdentity.
public final class CKUserIdentity: NSObject, Sendable {
    /// How somebody is looked for.
    public final class LookupInfo: NSObject, Sendable {
        public let emailAddress: String?
        public let phoneNumber: String?
        public let userRecordID: CKRecord.ID?

        public init(emailAddress: String) {
            self.emailAddress = emailAddress
            phoneNumber = nil
            userRecordID = nil
        }

        public init(phoneNumber: String) {
            emailAddress = nil
            self.phoneNumber = phoneNumber
            userRecordID = nil
        }

        public init(userRecordID: CKRecord.ID) {
            emailAddress = nil
            phoneNumber = nil
            self.userRecordID = userRecordID
        }
    }

    public let userRecordID: CKRecord.ID?

    init(userRecordID: CKRecord.ID?) { self.userRecordID = userRecordID }
}

extension CKError {
    /// Why a call about shares cannot be answered.
    static let noShares = CKError(
        .serverRejectedRequest,
        "The mirror shares no objects yet. Give the other user an account of the same container, "
            + "or mirror a second store with a container of its own.")
}
