internal import Foundation
internal import RecordWire

// Records of the wire as CloudKit's.
extension CKRecord {
    /// The record as it was last exchanged with the service.
    convenience init(_ record: Record, in zone: CKRecordZone.ID) {
        self.init(
            recordType: record.recordType, recordID: ID(recordName: record.recordName, zoneID: zone)
        )
        take(record, in: zone)
    }

    func take(_ record: Record, in zone: CKRecordZone.ID) {
        recordChangeTag = record.recordChangeTag
        creationDate = record.created.map { Self.date($0.timestamp) }
        modificationDate = record.modified.map { Self.date($0.timestamp) }
        creatorUserRecordID = record.created?.userRecordName.map { ID(recordName: $0) }
        lastModifiedUserRecordID = record.modified?.userRecordName.map { ID(recordName: $0) }
        parent = Self.reference(SharingField.parent, of: record, in: zone)
        share = Self.reference(SharingField.share, of: record, in: zone)
        for (key, value) in record.fields where !SharingField.isReserved(key) {
            read(value.flatMap { Self.value($0, in: zone) }, forKey: key)
        }
    }

    private static func reference(
        _ key: String, of record: Record, in zone: CKRecordZone.ID
    ) -> Reference? {
        record.fields[key]?.flatMap { value($0, in: zone) } as? Reference
    }

    /// A field's value; nil for locations, which the mirror does not write.
    private static func value(_ value: FieldValue, in zone: CKRecordZone.ID) -> (any Sendable)? {
        switch value {
        case .string(let text): text
        case .int64(let number): number
        case .double(let number): number
        case .timestamp(let milliseconds): date(milliseconds)
        case .bytes(let data): data
        case .reference(let reference):
            Reference(
                recordID: ID(recordName: reference.recordName, zoneID: zone),
                action: reference.action == .deleteSelf ? .deleteSelf : .none)
        case .list(_, let values): values.compactMap { Self.value($0, in: zone) }
        case .encrypted(let plain): self.value(plain, in: zone)
        case .asset: CKAsset()
        case .location: nil
        }
    }

    private static func date(_ milliseconds: Int64) -> Date {
        Date(timeIntervalSince1970: Double(milliseconds) / 1000)
    }
}
