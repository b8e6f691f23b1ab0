public import Foundation
internal import Platform

/// A record as the service has it: a name, a type and fields. Source: Apple, CKRecord.
///
/// Not thread-safe, as at Apple. Here records are read from a mirrored store; what is set in one
/// stays in it, since the mirror, not the app, writes records.
open class CKRecord: NSObject {
    public typealias RecordType = String
    public typealias FieldKey = String

    /// Names a record in a zone. Equal by all names.
    public final class ID: NSObject, Sendable {
        public let recordName: String
        public let zoneID: CKRecordZone.ID

        public init(recordName: String, zoneID: CKRecordZone.ID = .default) {
            self.recordName = recordName
            self.zoneID = zoneID
        }

        public override func isEqual(_ object: Any?) -> Bool {
            guard let other = object as? ID else { return false }
            return recordName.utf8.elementsEqual(other.recordName.utf8) && zoneID == other.zoneID
        }

        public override var hash: Int { Array(recordName.utf8).hashValue }
        public override var description: String { "\(recordName) in \(zoneID)" }
    }

    /// What becomes of a record when the one that it points at is deleted.
    public enum ReferenceAction: UInt, Sendable {
        case none = 0
        case deleteSelf = 1
    }

    /// A pointer to another record.
    public final class Reference: NSObject, Sendable {
        public let recordID: ID
        public let action: ReferenceAction

        public init(recordID: ID, action: ReferenceAction) {
            self.recordID = recordID
            self.action = action
        }

        public override func isEqual(_ object: Any?) -> Bool {
            guard let other = object as? Reference else { return false }
            return recordID == other.recordID && action == other.action
        }

        public override var hash: Int { recordID.hash }
    }

    public let recordType: RecordType
    public let recordID: ID
    /// The version that the service counts; nil before it has the record.
    public internal(set) var recordChangeTag: String?
    public internal(set) var creationDate: Date?
    public internal(set) var modificationDate: Date?
    public internal(set) var creatorUserRecordID: ID?
    public internal(set) var lastModifiedUserRecordID: ID?
    /// The record above this one, with which it is shared; nil for none. The mirror sets it.
    public internal(set) var parent: Reference?
    /// The share of all below this record; nil where it is not shared as a root.
    public internal(set) var share: Reference?
    private var fields: [FieldKey: any Sendable] = [:]
    private var changed: Set<FieldKey> = []

    public init(recordType: RecordType, recordID: ID) {
        self.recordType = recordType
        self.recordID = recordID
    }

    /// A record with a name of its own in the default zone.
    public convenience init(recordType: RecordType) {
        let name = Environment.system.randomness.uuid().uuidString
        self.init(recordType: recordType, recordID: ID(recordName: name))
    }

    /// A record with a name of its own in a zone.
    public convenience init(recordType: RecordType, zoneID: CKRecordZone.ID) {
        let name = Environment.system.randomness.uuid().uuidString
        self.init(recordType: recordType, recordID: ID(recordName: name, zoneID: zoneID))
    }

    /// The names of the fields that have a value, sorted.
    open func allKeys() -> [FieldKey] { fields.keys.sorted() }

    /// The fields that were set since the record was read, sorted.
    open func changedKeys() -> [FieldKey] { changed.sorted() }

    /// A field's value: `String`, `NSNumber`, `Date`, `Data`, `CKRecord.Reference`, `CKAsset`, or
    /// an array of these; nil for none. A number is read as any type that has it (`as? Int`).
    open subscript(key: FieldKey) -> (any Sendable)? {
        get { fields[key] }
        set {
            fields[key] = Self.kept(newValue)
            changed.insert(key)
        }
    }

    /// A field's value as the type that is asked for; nil for none, or where it is of another.
    public final subscript<Value: CKRecordValueProtocol>(key: FieldKey) -> Value? {
        get { object(forKey: key) as? Value }
        set { setObject(newValue, forKey: key) }
    }

    open func object(forKey key: FieldKey) -> (any Sendable)? { self[key] }

    open func setObject(_ object: (any Sendable)?, forKey key: FieldKey) { self[key] = object }

    /// As `object(forKey:)`.
    open func value(forKey key: FieldKey) -> Any? { self[key] }

    /// As `setObject(_:forKey:)`.
    open func setValue(_ value: (any Sendable)?, forKey key: FieldKey) { self[key] = value }

    /// Takes a value over from the service.
    func read(_ value: (any Sendable)?, forKey key: FieldKey) { fields[key] = Self.kept(value) }
}
