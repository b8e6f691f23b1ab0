package import Platform
package import Stores

/// What stays the same as long as a store is mirrored.
package struct MirrorSettings: Sendable {
    package let mapping: RecordMapping
    package let pairs: PairCatalog
    package let policy: MergePolicy
    package let zoneName: String
    package let platform: Platform
    /// Records and bytes that one export batch may hold.
    package var batchRecordsMax = 400
    package var batchBytesMax = 1_572_864

    package init(
        layout: ModelLayout, policy: MergePolicy, zoneName: String?, platform: Platform
    ) throws {
        mapping = RecordMapping(layout: layout)
        pairs = PairCatalog(layout: layout)
        self.policy = try policy.reading(layout)
        self.zoneName = zoneName ?? RecordNames.zone
        self.platform = platform
    }
}
