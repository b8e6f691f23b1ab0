internal import ObjectModel
package import Platform
package import Stores

/// What stays the same as long as a store is mirrored.
package struct MirrorSettings: Sendable {
    package let mapping: RecordMapping
    package let pairs: PairCatalog
    package let exportOrder: ExportOrder
    package let policy: MergePolicy
    /// The properties under the rule `latest`, by entity.
    let timedProperties: [Int32: Set<String>]
    package let zoneName: String
    /// Tells one model from another; computed once, since each round compares it.
    let modelDigest: String
    package let platform: Environment
    /// Records and bytes that one export batch may hold.
    package var batchRecordsMax = 400
    package var batchBytesMax = 1_572_864
    /// Transactions of the history that are looked at in one go.
    package var historyTransactionsMax = 500

    package init(
        layout: ModelLayout, policy: MergePolicy, zoneName: String?, platform: Environment
    ) throws {
        mapping = RecordMapping(layout: layout)
        pairs = PairCatalog(layout: layout)
        exportOrder = ExportOrder(layout: layout)
        let policy = try policy.reading(layout)
        self.policy = policy
        timedProperties = Dictionary(
            uniqueKeysWithValues: layout.entities.map {
                ($0.number, policy.timedProperties(of: $0))
            })
        modelDigest = layout.model.versionHashesDigest
        self.zoneName = zoneName ?? RecordNames.zone
        self.platform = platform
    }

    /// The properties under the rule `latest` that are among `changed`; all for nil.
    func timedProperties(of entity: Int32, among changed: [String]?) -> Set<String> {
        let timed = timedProperties[entity] ?? []
        guard !timed.isEmpty, let changed = changed.map(Set.init) else { return timed }
        // An element of a composite changes with the composite.
        return timed.filter { property in
            changed.contains(property)
                || changed.contains(String(property.prefix { $0 != "." }))
        }
    }
}
