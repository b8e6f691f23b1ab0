public import Foundation

/// The name of the signed-in user as the owner of a zone. Source: Apple, CKCurrentUserDefaultName.
public let CKCurrentUserDefaultName = "__defaultOwner__"

/// A stretch of a database that changes in one order. Source: Apple, CKRecordZone.
public final class CKRecordZone: NSObject, Sendable {
    /// Names a zone of an owner. Equal by both names.
    public final class ID: NSObject, Sendable {
        public static let defaultZoneName = "_defaultZone"
        public static let `default` = ID()

        public let zoneName: String
        public let ownerName: String

        public init(
            zoneName: String = ID.defaultZoneName, ownerName: String = CKCurrentUserDefaultName
        ) {
            self.zoneName = zoneName
            self.ownerName = ownerName
        }

        public override func isEqual(_ object: Any?) -> Bool {
            guard let other = object as? ID else { return false }
            return zoneName.utf8.elementsEqual(other.zoneName.utf8)
                && ownerName.utf8.elementsEqual(other.ownerName.utf8)
        }

        public override var hash: Int { Array(zoneName.utf8).hashValue }
        public override var description: String { "\(zoneName):\(ownerName)" }
    }

    public let zoneID: ID

    public init(zoneID: ID) { self.zoneID = zoneID }

    public convenience init(zoneName: String) { self.init(zoneID: ID(zoneName: zoneName)) }

    /// The zone that every database has.
    public static func `default`() -> CKRecordZone { CKRecordZone(zoneID: .default) }
}
