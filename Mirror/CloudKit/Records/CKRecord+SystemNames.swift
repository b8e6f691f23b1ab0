internal import Foundation
internal import Platform
internal import RecordWire

/// The name of the record of a share of a whole zone.
public let CKRecordNameZoneWideShare = Record.zoneShareName

extension CKRecord {
    /// Types of records that apps do not make.
    public enum SystemType {
        /// Of a `CKShare`.
        public static let share: RecordType = Record.shareType
        /// Of the record that each user has.
        public static let userRecord: RecordType = "Users"
    }
}

extension CKRecord.ID {
    /// A name of its own in the default zone.
    public convenience init(zoneID: CKRecordZone.ID = .default) {
        let name = Environment.system.randomness.uuid().uuidString
        self.init(recordName: name, zoneID: zoneID)
    }
}
