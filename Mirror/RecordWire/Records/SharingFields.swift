internal import Foundation

/// What belongs to sharing, among the fields of a record: under names that begin as those of system
/// fields do, which no client may give to a field of its own. On the wire each is a member of the
/// record. (SERVICE §3, sharing)
public enum SharingField {
    /// The record above this one; it is shared with it.
    public static let parent = "___parent"
    /// Of a root: its share.
    public static let share = "___share"
    /// Names the record in addresses that are given out.
    public static let shortGUID = "___shortGUID"
    /// Asks for a short GUID; in requests.
    public static let createShortGUID = "___createShortGUID"
    /// Of a share: the record that is shared with all below it; absent where the zone is.
    public static let root = "___rootRecord"
    /// The tag that a request gives of the root.
    public static let rootTag = "___rootRecordTag"
    /// Of a share: what those may do who know its short GUID.
    public static let publicPermission = "___publicPermission"
    /// Of a share: who takes part, as JSON.
    public static let participants = "___participants"
    /// Of a share: which participant it is that asks; in answers.
    public static let currentParticipant = "___currentParticipant"

    /// All of them.
    public static let names: Set<String> = [
        parent, share, shortGUID, createShortGUID, root, rootTag, publicPermission, participants,
        currentParticipant,
    ]

    static let prefix = "___".utf8

    /// Whether no client may call a field of its own so.
    public static func isReserved(_ name: String) -> Bool {
        var bytes = name.utf8.makeIterator()
        let mark = UInt8(ascii: "_")
        return bytes.next() == mark && bytes.next() == mark && bytes.next() == mark
    }
}

extension Record {
    /// The type of shares.
    public static let shareType = "cloudkit.share"
    /// The name of the share of a whole zone.
    public static let zoneShareName = "cloudkit.zoneshare"

    public var isShare: Bool { recordType.isExactly(Self.shareType) }

    /// Whether the type is one of the protocol's own that nobody may have records of.
    package var isOfReservedType: Bool {
        !isShare && recordType.utf8.count >= Self.reservedPrefix.utf8.count
            && recordType.lowercased().hasPrefix(Self.reservedPrefix)
    }

    private static let reservedPrefix = "cloudkit."

    /// The name of the record above this one. Setting nil asks for there to be none; a request that
    /// says nothing of it leaves it as it is.
    public var parent: String? {
        get { reference(SharingField.parent) }
        set {
            fields[SharingField.parent] = .some(
                newValue.map { .reference(RecordReference(recordName: $0)) })
        }
    }

    /// The name of the share whose root this is.
    public var share: String? {
        get { reference(SharingField.share) }
        set { setReference(SharingField.share, newValue) }
    }

    public var shortGUID: String? {
        get { text(SharingField.shortGUID) }
        set { fields[SharingField.shortGUID] = newValue.map { .some(.string($0)) } }
    }

    /// Whether a request asks for a short GUID.
    public var createsShortGUID: Bool {
        get { text(SharingField.createShortGUID) != nil }
        set { fields[SharingField.createShortGUID] = newValue ? .some(.string("1")) : nil }
    }

    /// Of a share: the name of the record that is shared with all below it.
    public var sharedRoot: String? {
        get { reference(SharingField.root) }
        set { setReference(SharingField.root, newValue) }
    }

    /// The tag that a request gives of the root.
    public var sharedRootTag: String? {
        get { text(SharingField.rootTag) }
        set { fields[SharingField.rootTag] = newValue.map { .some(.string($0)) } }
    }

    /// Of a share: what those may do who know its short GUID.
    public var publicPermission: ShareParticipant.Permission? {
        get {
            text(SharingField.publicPermission).flatMap(ShareParticipant.Permission.init(rawValue:))
        }
        set {
            fields[SharingField.publicPermission] = newValue.map { .some(.string($0.rawValue)) }
        }
    }

    /// Of a share: who takes part; nil in a request that leaves them as they are.
    public var participants: [ShareParticipant]? {
        get {
            guard case .bytes(let json)?? = fields[SharingField.participants] else { return nil }
            return try? JSONDecoder().decode([ShareParticipant].self, from: json)
        }
        set {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys]
            fields[SharingField.participants] = newValue.flatMap { try? encoder.encode($0) }
                .map { .some(.bytes($0)) }
        }
    }

    /// Of a share in an answer: the participant who asks.
    public var currentParticipantID: String? {
        get { text(SharingField.currentParticipant) }
        set { fields[SharingField.currentParticipant] = newValue.map { .some(.string($0)) } }
    }

    private func text(_ name: String) -> String? {
        if case .string(let text)?? = fields[name] { text } else { nil }
    }

    private func reference(_ name: String) -> String? {
        if case .reference(let target)?? = fields[name] { target.recordName } else { nil }
    }

    private mutating func setReference(_ name: String, _ target: String?) {
        fields[name] = target.map { .some(.reference(RecordReference(recordName: $0))) }
    }
}
