/// A zone's name and owner. The default owner is the caller. (SERVICE §3, zoneID)
public struct ZoneID: Hashable, Sendable, Codable {
    public var zoneName: String
    /// nil stands for the caller.
    public var ownerRecordName: String?

    public init(zoneName: String = ZoneID.defaultName, ownerRecordName: String? = nil) {
        self.zoneName = zoneName
        self.ownerRecordName = ownerRecordName
    }

    public static let defaultName = "_defaultZone"

    /// Names are compared by their bytes.
    public static func == (one: ZoneID, other: ZoneID) -> Bool {
        one.zoneName.isExactly(other.zoneName)
            && one.owner == other.owner
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(ExactName(zoneName))
        hasher.combine(owner)
    }

    private var owner: ExactName? { ownerRecordName.map { ExactName($0) } }
}

/// One record: a name, a type, named fields, and the tag that every write changes. (SERVICE §4)
public struct Record: Hashable, Sendable {
    public var recordName: String
    public var recordType: String
    /// Opaque; compare for equality only. nil on a record the service has not seen.
    public var recordChangeTag: String?
    /// The writing client's own name of a write (our extension). Equal IDs stand for equal writes.
    public var writeID: String?
    /// The IDs of the last writes that this version contains, newest first; in answers to clients
    /// that ask. By them a client knows which of its writes was taken when the reply was lost.
    public var recentWriteIDs: [String] = []
    /// Versions of a lost time that this one contains.
    public var replays: [Replay] = []
    /// A field set to nil in a request clears it.
    public var fields: RecordFields
    public var created: RecordStamp?
    public var modified: RecordStamp?
    public var deleted: Bool
    public var zoneID: ZoneID?

    public init(
        recordName: String, recordType: String, recordChangeTag: String? = nil,
        fields: RecordFields = [:]
    ) {
        self.recordName = recordName
        self.recordType = recordType
        self.recordChangeTag = recordChangeTag
        self.fields = fields
        deleted = false
    }
}

/// When and by whom a record was made or changed.
public struct RecordStamp: Hashable, Sendable, Codable {
    /// Milliseconds since 1970.
    public var timestamp: Int64
    public var userRecordName: String?
    public var deviceID: String?

    public init(timestamp: Int64, userRecordName: String? = nil, deviceID: String? = nil) {
        self.timestamp = timestamp
        self.userRecordName = userRecordName
        self.deviceID = deviceID
    }

    /// Whether both are spelled by the same bytes.
    func isExactly(_ other: RecordStamp) -> Bool {
        timestamp == other.timestamp
            && userRecordName.map { ExactName($0) } == other.userRecordName.map { ExactName($0) }
            && deviceID.map { ExactName($0) } == other.deviceID.map { ExactName($0) }
    }
}
