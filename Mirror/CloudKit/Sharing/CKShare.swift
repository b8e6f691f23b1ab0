public import Foundation
internal import RecordWire

/// Records that their owner shares with others. Source: Apple, CKShare.
///
/// What is changed here is told the service by `persistUpdatedShare(_:in:)`. Not thread-safe, as
/// every record.
public final class CKShare: CKRecord {
    /// What a participant may do. Raw values are Apple's.
    public enum ParticipantPermission: Int, Sendable {
        case unknown, none, readOnly, readWrite
    }

    /// As what somebody takes part. Raw values are Apple's.
    public enum ParticipantRole: Int, Sendable {
        case unknown = 0
        case owner = 1
        /// Was invited.
        case privateUser = 3
        /// Came by the address of a share that is open to all who know it.
        case publicUser = 4
    }

    /// Whether somebody has accepted. Raw values are Apple's.
    public enum ParticipantAcceptanceStatus: Int, Sendable {
        case unknown, pending, accepted, removed
    }

    /// Names of fields that every share may have.
    public enum SystemFieldKey {
        public static let title: FieldKey = "cloudkit.title"
        public static let shareType: FieldKey = "cloudkit.type"
        public static let thumbnailImageData: FieldKey = "cloudkit.thumbnailImageData"
    }

    /// One who takes part in a share.
    public final class Participant: NSObject {
        public typealias ID = String

        /// Empty for one whom the service has not heard of yet.
        public let participantID: ID
        public let userIdentity: CKUserIdentity
        public let acceptanceStatus: ParticipantAcceptanceStatus
        public var permission: ParticipantPermission
        public var role: ParticipantRole

        init(_ participant: ShareParticipant) {
            participantID = participant.participantID
            userIdentity = CKUserIdentity(participant.identity)
            acceptanceStatus = ParticipantAcceptanceStatus(participant.status)
            permission = ParticipantPermission(participant.permission)
            role = ParticipantRole(participant.kind)
        }

        public override func isEqual(_ object: Any?) -> Bool {
            guard let other = object as? Participant else { return false }
            guard participantID.isEmpty && other.participantID.isEmpty else {
                return participantID == other.participantID
            }
            return userIdentity.wire == other.userIdentity.wire
        }

        public override var hash: Int { participantID.hashValue }

        /// Whether both mean one person, also where one was looked for anew and has no ID yet.
        func means(_ other: Participant) -> Bool {
            guard participantID.isEmpty || other.participantID.isEmpty else { return self == other }
            return !names.isDisjoint(with: other.names)
        }

        /// All that the person goes by.
        private var names: Set<String> {
            let info = userIdentity.lookupInfo
            let users = [userIdentity.userRecordID, info?.userRecordID].compactMap(\.self)
            return Set(
                users.map { "user \($0.recordName)" }
                    + [info?.emailAddress?.lowercased()].compactMap(\.self).map { "mail \($0)" }
                    + [info?.phoneNumber].compactMap(\.self).map { "phone \($0)" })
        }
    }

    /// What an invitation says of a share.
    public final class Metadata: NSObject {
        public let containerIdentifier: String
        public let share: CKShare
        /// The record below which all is shared; nil where a whole zone is.
        public let hierarchicalRootRecordID: CKRecord.ID?
        public let ownerIdentity: CKUserIdentity
        public let participantStatus: ParticipantAcceptanceStatus
        public let participantPermission: ParticipantPermission
        public let participantRole: ParticipantRole
        let shortGUID: String
        let zone: ZoneID

        init(_ found: ShareMetadata, at service: URL) {
            containerIdentifier = found.container
            zone = found.zoneID
            let zoneID = CKRecordZone.ID(found.zoneID)
            share = CKShare(found.share, in: zoneID, at: service)
            hierarchicalRootRecordID = found.rootRecordName.map {
                CKRecord.ID(recordName: $0, zoneID: zoneID)
            }
            ownerIdentity = CKUserIdentity(found.owner)
            participantStatus = ParticipantAcceptanceStatus(found.participant.status)
            participantPermission = ParticipantPermission(found.participant.permission)
            participantRole = ParticipantRole(found.participant.kind)
            shortGUID = found.shortGUID
        }
    }

    /// What those may do who know the share's address. `.none`, until it is set: only those who are
    /// invited take part.
    public var publicPermission = ParticipantPermission.none
    /// The owner first; participants see those who have accepted.
    public private(set) var participants: [Participant] = []
    /// Where the invitation is; nil before the service has the share.
    public internal(set) var url: URL?
    /// The record below which all is shared; nil for the share of a whole zone.
    let rootName: String?
    private var currentParticipantID: String?

    /// A share of all records of a zone, now and later; `share(_:to:)` makes it where it is given.
    public init(recordZoneID: CKRecordZone.ID) {
        rootName = nil
        super.init(
            recordType: Record.shareType,
            recordID: ID(recordName: Record.zoneShareName, zoneID: recordZoneID))
    }

    /// A share of a record and all below it.
    public init(rootRecord: CKRecord, shareID: CKRecord.ID) {
        rootName = rootRecord.recordID.recordName
        super.init(recordType: Record.shareType, recordID: shareID)
    }

    public convenience init(rootRecord: CKRecord) {
        self.init(
            rootRecord: rootRecord,
            shareID: ID(
                recordName: "Share-\(rootRecord.recordID.recordName)",
                zoneID: rootRecord.recordID.zoneID))
    }

    /// A share as the service told it.
    init(_ record: Record, in zone: CKRecordZone.ID, at service: URL) {
        rootName = record.sharedRoot
        super.init(
            recordType: record.recordType, recordID: ID(recordName: record.recordName, zoneID: zone)
        )
        var plain = record
        plain.fields = record.fields.filter { !SharingField.isReserved($0.key) }
        take(plain, in: zone)
        publicPermission = ParticipantPermission(record.publicPermission ?? .none)
        participants = (record.participants ?? []).map(Participant.init)
        currentParticipantID = record.currentParticipantID
        url = record.shortGUID.map { service.appendingPathComponent("share/\($0)") }
    }

    /// Who shares. Of a share that the service has not yet, the signed-in user, whose record it
    /// has not named.
    public var owner: Participant {
        participants.first { $0.role == .owner }
            ?? Participant(
                ShareParticipant(
                    identity: UserIdentity(userRecordName: CKCurrentUserDefaultName),
                    permission: .readWrite, status: .accepted, kind: .owner))
    }

    /// The signed-in user as a participant.
    public var currentUserParticipant: Participant? {
        participants.first { $0.participantID == currentParticipantID }
    }

    /// Invites somebody. Who takes part already, or is invited, gets the permission of
    /// `participant` instead; the owner's stays.
    public func addParticipant(_ participant: Participant) {
        guard let known = participants.first(where: { $0.means(participant) }) else {
            return participants.append(participant)
        }
        if known.role != .owner { known.permission = participant.permission }
    }

    /// Who is removed has no access once the share is persisted.
    public func removeParticipant(_ participant: Participant) {
        participants.removeAll { $0.means(participant) }
    }

    /// As it is sent: `replacing` what the service has under that tag.
    var wire: Record {
        var record = Record(
            recordName: recordID.recordName, recordType: Record.shareType,
            recordChangeTag: recordChangeTag)
        if recordChangeTag == nil { record.sharedRoot = rootName }
        record.publicPermission = publicPermission.wire
        record.participants = participants.filter { $0.role != .owner }.map { participant in
            ShareParticipant(
                participantID: participant.participantID, identity: participant.userIdentity.wire,
                permission: participant.permission.wire)
        }
        for key in changedKeys() {
            switch self[key] {
            case let text as String: record.fields[key] = .string(text)
            case let data as Data: record.fields[key] = .bytes(data)
            default: record.fields.updateValue(nil, forKey: key)
            }
        }
        return record
    }
}

extension CKRecordZone.ID {
    convenience init(_ zone: ZoneID) {
        self.init(
            zoneName: zone.zoneName, ownerName: zone.ownerRecordName ?? CKCurrentUserDefaultName)
    }
}

extension CKShare.ParticipantPermission {
    init(_ permission: ShareParticipant.Permission) {
        switch permission {
        case .unknown: self = .unknown
        case .none: self = .none
        case .readOnly: self = .readOnly
        case .readWrite: self = .readWrite
        }
    }

    var wire: ShareParticipant.Permission {
        switch self {
        case .unknown, .none: .none
        case .readOnly: .readOnly
        case .readWrite: .readWrite
        }
    }
}

extension CKShare.ParticipantRole {
    init(_ kind: ShareParticipant.Kind) {
        switch kind {
        case .owner: self = .owner
        case .user, .administrator: self = .privateUser
        case .publicUser: self = .publicUser
        case .unknown: self = .unknown
        }
    }
}

extension CKShare.ParticipantAcceptanceStatus {
    init(_ status: ShareParticipant.Status) {
        switch status {
        case .unknown: self = .unknown
        case .invited: self = .pending
        case .accepted: self = .accepted
        case .removed: self = .removed
        }
    }
}
