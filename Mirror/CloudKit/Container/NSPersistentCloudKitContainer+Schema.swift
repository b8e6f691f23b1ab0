internal import Foundation
internal import MirrorEngine
internal import ObjectModel

/// How `initializeCloudKitSchema` goes about it. Raw values are Apple's.
public struct NSPersistentCloudKitContainerSchemaInitializationOptions: OptionSet, Sendable {
    public let rawValue: UInt

    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// Checks the model only.
    public static let dryRun = Self(rawValue: 1 << 1)
    /// Prints the record types and their fields to standard output.
    public static let printSchema = Self(rawValue: 1 << 2)
}

extension NSPersistentCloudKitContainer {
    /// Checks that the model can be mirrored, and prints its record types where asked.
    ///
    /// Throws `CKError` for a store that is not mirrored, and `MirrorError` for a model whose
    /// userInfo names an unknown merge rule. Difference from Apple: nothing is sent, since the
    /// record service makes fields as they come.
    public final func initializeCloudKitSchema(
        options: NSPersistentCloudKitContainerSchemaInitializationOptions = []
    ) throws {
        guard let (_, mirror) = mirroredStores.first else {
            throw CKError(
                .invalidArguments,
                "No store of this container is mirrored; load one with cloudKitContainerOptions.")
        }
        let schema = mirror.session.store.recordSchema
        guard options.contains(.printSchema) else { return }
        for type in schema {
            print(type.name)
            for field in type.fields { print("    \(field.name) \(field.type)") }
        }
    }
}
