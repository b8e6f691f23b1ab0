public import Foundation
public import MirrorEngine
public import Persistence

/// With what a store is mirrored. Source: Apple, NSPersistentCloudKitContainerOptions.
///
/// Apple's are the identifier and the scope; the rest is not, and left alone changes nothing.
public final class NSPersistentCloudKitContainerOptions: NSObject, NSCopying {
    public let containerIdentifier: String
    /// Whose records the store has: the user's own, those of another's zone that is shared with
    /// the user, or those of the public database, which everybody reads and each changes what they
    /// made. A store holds one such zone; what further owners share comes into further stores
    /// beside it. At Apple a store of the public database is told of no deletions; here it is.
    public var databaseScope = CKDatabase.Scope.private
    /// Where the record service is; nil for `NSPersistentCloudKitContainer.recordService`.
    public var recordService: RecordServiceAddress?
    /// The zone of the store's records; nil for Apple's own. Each store of a container needs one
    /// of its own where several are mirrored with one container identifier. The public database has
    /// one zone.
    public var zoneName: String?
    /// In the shared database: the record name of the user whose zone `zoneName` is. With nil the
    /// store takes the first zone that is shared with the user and in no other store, and the
    /// container adds further stores for the others.
    public var zoneOwnerName: String?
    /// Who wins where both sides changed a property: rules, by entity and property where asked,
    /// with closures and `NSMergePolicy` among them. At Apple the last writer wins.
    public var mergePolicy = MergePolicy()
    /// The keys of attributes with `allowsCloudEncryption`; nil: such values are not shown, and
    /// edits of them wait. At Apple the account has them.
    public var sealingKeys: SealingKeys?
    /// Whether an imported object is shown only with those its to-ones lead to.
    public var hidesIncompleteGraphs = false
    /// Which objects are sent to the service; nil: all. At Apple a configuration of the model says
    /// it, which counts here too. Another selection may be set at any load: what it lets in is sent
    /// then.
    public var selection: SyncSelection?
    /// When rounds run by themselves, and what they may take of the network.
    public var schedule = SchedulePlan()
    /// Bytes of a string, binary or transformable value above which it travels as an asset; nil for
    /// 700,000. Not Apple's, whose containers decide alone.
    public var assetValueBytesMax: Int?

    public init(containerIdentifier: String) { self.containerIdentifier = containerIdentifier }

    public func copy(with zone: NSZone? = nil) -> Any {
        let copy = NSPersistentCloudKitContainerOptions(containerIdentifier: containerIdentifier)
        copy.databaseScope = databaseScope
        copy.recordService = recordService
        copy.zoneName = zoneName
        copy.zoneOwnerName = zoneOwnerName
        copy.mergePolicy = mergePolicy
        copy.sealingKeys = sealingKeys
        copy.hidesIncompleteGraphs = hidesIncompleteGraphs
        copy.schedule = schedule
        copy.selection = selection
        copy.assetValueBytesMax = assetValueBytesMax
        return copy
    }

    /// Takes the sealing keys of a key file, as `diptych key` makes them. Throws `MirrorError`
    /// (`.keyRefused`) for a damaged file or another passphrase, and what reading the file throws.
    /// Cost: scrypt, about a tenth of a second and 32 MB.
    public func openSealingKeys(in file: URL, passphrase: String) throws {
        sealingKeys = try KeyFile(Data(contentsOf: file)).open(passphrase: passphrase)
    }
}

extension NSPersistentStoreDescription {
    private static let cloudKitKey = "NSPersistentStoreDescription.cloudKitContainerOptions"

    /// With what the store is mirrored; nil for a store that stays on this machine.
    public var cloudKitContainerOptions: NSPersistentCloudKitContainerOptions? {
        get { options[Self.cloudKitKey] as? NSPersistentCloudKitContainerOptions }
        set { setOption(newValue, forKey: Self.cloudKitKey) }
    }
}
