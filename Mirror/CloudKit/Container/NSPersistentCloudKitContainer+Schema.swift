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
    /// Checks that the models of all mirrored stores can be mirrored, and prints their record types
    /// where asked, each once.
    ///
    /// Throws `CKError` for a store that is not mirrored, and `MirrorError` for a model whose
    /// userInfo names an unknown merge rule. Difference from Apple: nothing is sent, since the
    /// record service makes fields as they come.
    public final func initializeCloudKitSchema(
        options: NSPersistentCloudKitContainerSchemaInitializationOptions = []
    ) throws {
        let types = try recordTypes()
        guard options.contains(.printSchema) else { return }
        for type in types {
            print(type.name)
            for field in type.fields { print("    \(field.name) \(field.type)") }
        }
    }

    /// Those of all mirrored stores, by name.
    final func recordTypes() throws -> [RecordType] {
        let mirrors = mirroredStores.map(\.mirror)
        guard !mirrors.isEmpty else { throw CKError.nothingMirrored }
        let types = mirrors.flatMap(\.session.store.recordSchema)
        let byName = Dictionary(types.map { ($0.name, $0) }) { first, _ in first }
        return byName.values.sorted { $0.name < $1.name }
    }
}
