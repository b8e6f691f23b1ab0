public import Foundation
public import MirrorEngine
public import Persistence

/// With what a store is mirrored. Source: Apple, NSPersistentCloudKitContainerOptions.
public final class NSPersistentCloudKitContainerOptions: NSObject, NSCopying {
    public let containerIdentifier: String
    /// Only the private database is mirrored here; loading a store with another throws.
    public var databaseScope = CKDatabase.Scope.private
    /// Where the record service is; nil for `NSPersistentCloudKitContainer.recordService`. Not
    /// Apple's.
    public var recordService: RecordServiceAddress?
    /// Who wins where both sides changed a property. Not Apple's, whose rule is the last writer.
    public var mergePolicy = MergePolicy()
    /// Bytes of a string, binary or transformable value above which it travels as an asset; nil for
    /// 700,000. Not Apple's, whose containers decide alone.
    public var assetValueBytesMax: Int?

    public init(containerIdentifier: String) { self.containerIdentifier = containerIdentifier }

    public func copy(with zone: NSZone? = nil) -> Any {
        let copy = NSPersistentCloudKitContainerOptions(containerIdentifier: containerIdentifier)
        copy.databaseScope = databaseScope
        copy.recordService = recordService
        copy.mergePolicy = mergePolicy
        copy.assetValueBytesMax = assetValueBytesMax
        return copy
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
