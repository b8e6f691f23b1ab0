internal import ObjectModel
package import Platform
package import RecordWire
package import Stores

/// What stays the same as long as a store is mirrored.
package struct MirrorSettings: Sendable {
    package let mapping: RecordMapping
    package let pairs: PairCatalog
    package let exportOrder: ExportOrder
    package let policy: MergePolicy
    private let ruled: RuledProperties
    /// Where the store's records are; with an owner it is a zone of another user's.
    package let zoneID: ZoneID
    /// Tells one model from another; computed once, since each round compares it.
    package let modelDigest: String
    package let platform: Environment
    /// Records that one export batch may hold, where the service takes as many.
    package var batchRecordsMax = 2_000
    /// New objects are held back while others are to come that they lead to.
    package var hidesIncompleteGraphs: Bool {
        get { scope.hidesIncompleteGraphs }
        set { scope.hidesIncompleteGraphs = newValue }
    }
    package var scope = MirrorScope()
    package var sizes = TravelSizes()
    /// Transactions of the history that are looked at in one go.
    package var historyTransactionsMax = 500

    package var zoneName: String { zoneID.zoneName }
    /// Whether the zone is another user's, who shares it.
    package var isShared: Bool { zoneID.ownerRecordName != nil }
    /// The database that the zone is in.
    package var database: MirrorDatabase {
        scope.isPublic ? .public : isShared ? .shared : .private
    }
    /// The properties under the rule `latest`, by entity.
    var timedProperties: [Int32: Set<String>] { ruled.timed }
    /// The integers under the rule `counter`, by entity; without entities that have none.
    var countedSlots: [Int32: [Int]] { ruled.counted }

    package init(
        layout: ModelLayout, policy: MergePolicy, zoneID: ZoneID?, keys: SealingKeys? = nil,
        platform: Environment
    ) throws {
        let sealer = keys.map { Sealer(keys: $0, randomness: platform.randomness) }
        mapping = RecordMapping(layout: layout, sealer: sealer)
        pairs = PairCatalog(layout: layout)
        exportOrder = ExportOrder(layout: layout)
        let policy = try policy.reading(layout)
        self.policy = policy
        ruled = RuledProperties(layout: layout, policy: policy)
        modelDigest = ModelDigest(layout).text
        self.zoneID = zoneID ?? ZoneID(zoneName: RecordNames.zone)
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

/// What of the store is shown and sent, and to whom.
package struct MirrorScope: Sendable {
    /// The zone is that of the public database.
    package var isPublic = false
    /// `development` or `production`.
    package var environment = MirroredStore.standardEnvironment
    package var hidesIncompleteGraphs = false
    /// nil: all objects are sent.
    package var selection: SyncSelection?
    /// Nobody gave a selection: the one that the store keeps counts.
    var isRemembered = false
    /// The store keeps a selection whose predicates can be read by nobody but its app.
    var hasUnreadSelection = false
}

/// The properties of which the ledger keeps more than their values, by their rules.
private struct RuledProperties: Sendable {
    let timed: [Int32: Set<String>]
    let counted: [Int32: [Int]]

    init(layout: ModelLayout, policy: MergePolicy) {
        timed = Dictionary(
            uniqueKeysWithValues: layout.entities.map {
                ($0.number, policy.timedProperties(of: $0))
            })
        let counters = layout.entities.map { ($0.number, policy.countedSlots(of: $0)) }
        counted = Dictionary(uniqueKeysWithValues: counters).filter { !$0.value.isEmpty }
    }
}
