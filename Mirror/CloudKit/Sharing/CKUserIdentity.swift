public import Foundation
internal import RecordWire

/// Whom a service knows. Source: Apple, CKUserIdentity.
public final class CKUserIdentity: NSObject, Sendable {
    /// How somebody is looked for.
    public final class LookupInfo: NSObject, Sendable {
        public let emailAddress: String?
        public let phoneNumber: String?
        public let userRecordID: CKRecord.ID?

        public convenience init(emailAddress: String) {
            self.init(emailAddress: emailAddress, phoneNumber: nil, userRecordID: nil)
        }

        public convenience init(phoneNumber: String) {
            self.init(emailAddress: nil, phoneNumber: phoneNumber, userRecordID: nil)
        }

        public convenience init(userRecordID: CKRecord.ID) {
            self.init(emailAddress: nil, phoneNumber: nil, userRecordID: userRecordID)
        }

        init(emailAddress: String?, phoneNumber: String?, userRecordID: CKRecord.ID?) {
            self.emailAddress = emailAddress
            self.phoneNumber = phoneNumber
            self.userRecordID = userRecordID
        }

        /// One for each address, in order.
        public class func lookupInfos(withEmails emails: [String]) -> [LookupInfo] {
            emails.map { LookupInfo(emailAddress: $0) }
        }

        /// One for each number, in order.
        public class func lookupInfos(withPhoneNumbers phoneNumbers: [String]) -> [LookupInfo] {
            phoneNumbers.map { LookupInfo(phoneNumber: $0) }
        }

        /// One for each name, in order.
        public class func lookupInfos(with recordIDs: [CKRecord.ID]) -> [LookupInfo] {
            recordIDs.map { LookupInfo(userRecordID: $0) }
        }
    }

    public let userRecordID: CKRecord.ID?
    /// By what somebody was looked for or invited; told to the owner of a share alone.
    public let lookupInfo: LookupInfo?
    /// The name, where the user lets others see it.
    public let nameComponents: PersonNameComponents?
    /// Whether the service knows the user.
    public var hasiCloudAccount: Bool { userRecordID != nil }

    init(_ identity: UserIdentity) {
        userRecordID = identity.userRecordName.map { CKRecord.ID(recordName: $0) }
        lookupInfo = identity.lookupInfo.map(LookupInfo.init)
        nameComponents = identity.nameComponents.map { parts in
            var components = PersonNameComponents()
            components.givenName = parts.givenName
            components.familyName = parts.familyName
            return components
        }
    }

    /// As it travels in the list of a share.
    var wire: UserIdentity {
        UserIdentity(
            userRecordName: userRecordID?.recordName, lookupInfo: lookupInfo.map(\.wire))
    }
}

extension CKUserIdentity.LookupInfo {
    convenience init(_ info: UserLookupInfo) {
        self.init(
            emailAddress: info.emailAddress, phoneNumber: info.phoneNumber,
            userRecordID: info.userRecordName.map { CKRecord.ID(recordName: $0) })
    }

    var wire: UserLookupInfo {
        UserLookupInfo(
            emailAddress: emailAddress, phoneNumber: phoneNumber,
            userRecordName: userRecordID?.recordName)
    }
}
