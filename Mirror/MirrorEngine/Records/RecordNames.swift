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

    /// When the properties under the rule `latest` were edited: an extension.
    static let editTimes = "CD_editTimes"

    /// The last counts of the counters, by name: an extension.
    static let counts = "CD_countOperations"

    /// The IDs of the last writes, where the service tells none: an extension.
    static let writes = "CD_mirrorWrites"

    /// Sealed values that were sealed for another record: an extension.
    static let carriedSeals = "CD_carriedSeals"

    /// Of an object that stays out of shares whatever it is linked with: an extension.
    static let staysOut = "CD_staysOutOfShares"

    /// The type of the record below which the objects of a share are: an extension.
    static let shareRootType = "CDMirrorShareRoot"

    static let importAuthor = "NSCloudKitMirroringDelegate.import"
    /// The mirror among those who read the history.
    static let historyConsumer = "NSCloudKitMirroringDelegate"

    static func recordType(rootEntity: String) -> String { "CD_\(rootEntity)" }
    /// The plain name of a property's field; `FieldNames` knows where it is another.
    static func field(_ property: String) -> String {
        "CD_" + property.replacing(".", with: "_")
    }
    /// Ends the name of the field that holds what the plain one cannot: a date's microseconds, a
    /// decimal's digits. An extension.
    static let exactSuffix = "_exact"
    /// Ends the name of the field that says that an attribute with a default has no value: an
    /// absent field stands for the default. An extension.
    static let clearedSuffix = "_cleared"
    /// Ends the name of the field with a value that is an asset.
    static let assetSuffix = "_ckAsset"
    /// Ends the name of the field with a to-one link's place in the ordered to-many that leads
    /// back. An extension.
    static let orderSuffix = "_order"
}
