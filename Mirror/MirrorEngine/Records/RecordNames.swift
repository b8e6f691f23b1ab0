/// The names NSPersistentCloudKitContainer gives to zones, record types and fields (SERVICE §7).
enum RecordNames {
    static let zone = "com.apple.coredata.cloudkit.zone"
    static let entityName = "CD_entityName"
    /// The record type of one pair of a many-to-many relationship.
    static let pairType = "CDMR"
    static let pairEntities = "CD_entityNames"
    static let pairRecords = "CD_recordNames"
    static let pairRelationships = "CD_relationships"
    /// Places of the pair's members in ordered relationships: an extension that other clients
    /// ignore.
    static let pairFirstOrder = "CD_firstOrder"
    static let pairSecondOrder = "CD_secondOrder"

    static let importAuthor = "NSCloudKitMirroringDelegate.import"

    static func recordType(rootEntity: String) -> String { "CD_\(rootEntity)" }
    static func field(_ property: String) -> String {
        "CD_" + property.replacing(".", with: "_")
    }
    /// Holds what the plain field cannot: a date's microseconds, a decimal's digits. An extension.
    static func exactField(_ property: String) -> String { field(property) + "_exact" }
    /// A to-one link's place in the ordered to-many that leads back. An extension.
    static func orderField(_ property: String) -> String { field(property) + "_order" }
}
