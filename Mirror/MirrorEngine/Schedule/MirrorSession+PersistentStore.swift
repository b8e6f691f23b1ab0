internal import ObjectModel
public import Persistence
public import Platform
public import RecordWire
internal import SQLiteStore
internal import Stores

/// Where a store is mirrored: a container of a service, and a zone in it.
public struct MirrorDestination: Hashable, Sendable {
    /// The service's URL as text; with the container it names the place for good, however the URL
    /// is spelled.
    public var service: String
    public var container: String
    /// nil for the zone that NSPersistentCloudKitContainer uses.
    public var zone: String?
    /// The record name of the user whose zone it is, where that shares it: the channel then leads
    /// to the shared database. nil for a zone of the user's own.
    public var zoneOwner: String?
    /// Whether the records are those of the public database, to which the channel then leads. It
    /// has one zone, so that `zone` and `zoneOwner` say nothing.
    public var isPublic: Bool
    /// `development` or `production`, to which the channel then leads: they have no record in
    /// common, and a store is mirrored with one of them.
    public var environment: String

    public init(
        service: String, container: String, zone: String? = nil, zoneOwner: String? = nil,
        isPublic: Bool = false, environment: String = "development"
    ) {
        self.service = service
        self.container = container
        self.zone = isPublic ? ZoneID.defaultName : zone
        self.zoneOwner = isPublic ? nil : zoneOwner
        self.isPublic = isPublic
        self.environment = environment
    }

    /// What the ledger remembers of it.
    package var name: String {
        Self.spelled("\(service) \(container)") + (isPublic ? Self.publicMark : "")
    }

    /// A name that the ledger remembers, with the address as it is spelled now: earlier versions
    /// kept it as it was given.
    static func spelled(_ name: String) -> String {
        let address = name.prefix { $0 != " " }
        return ServiceAddress.spelled(String(address)) + name.dropFirst(address.count)
    }

    private static let publicMark = " public"

    /// Whether it is the public database of which the ledger remembers this name: service and
    /// container are a word each.
    static func isPublic(_ name: String) -> Bool {
        name.hasSuffix(publicMark) && name.split(separator: " ").count > 2
    }

    /// Service and container of such a name.
    static func place(_ name: String) -> String {
        spelled(isPublic(name) ? String(name.dropLast(publicMark.count)) : name)
    }

    package var database: MirrorDatabase {
        isPublic ? .public : zoneOwner == nil ? .private : .shared
    }
}

extension MirrorSession {
    /// The name under which a store's device writes records, for `RecordTarget.deviceID`. It is
    /// made up when the store is first asked, and kept in the store. Throws as the initializer
    /// does.
    public static func deviceID(
        of store: NSPersistentStore, platform: Environment = .system
    ) throws -> String {
        try MirroredStore(store: rows(of: store), platform: platform, selecting: .given(nil))
            .deviceID()
    }

    private static func rows(of store: NSPersistentStore) throws -> SQLiteRowStore {
        guard let rows = store.rowStore as? SQLiteRowStore else {
            throw MirrorError(
                .storeNotMirrorable,
                "Only SQLite stores can be mirrored; this one is of type \(store.type). "
                    + "Migrate it to NSSQLiteStoreType.", fields: ["type": store.type])
        }
        return rows
    }

    /// Mirrors a store that a coordinator has open; its contexts learn of what is imported as of
    /// any other save, and `NSPersistentStoreRemoteChange` is posted after each round that changed
    /// something.
    ///
    /// Attributes with `allowsCloudEncryption` are sealed under `keys`. Without them such values
    /// stay as they are at the service, and an object with an edited one waits.
    ///
    /// With `hidesIncompleteGraphs` an imported object is not shown before the objects that its
    /// to-ones lead to, or the end of what the service has to tell; else it is shown at once, and
    /// such a link is nil until then.
    ///
    /// `selection` says which objects are sent; nil: all.
    ///
    /// The store must be an SQLite store that keeps history. Its ledger is made by the first round.
    /// Throws `MirrorError` for a store that cannot be mirrored, or a model whose userInfo names an
    /// unknown merge rule.
    ///
    /// A string, binary or transformable value of more than `assetValueBytesMax` bytes (nil for
    /// 700,000) travels as an asset where the service keeps assets, as do the largest of those that
    /// have more than 700,000 bytes together.
    public init(
        mirroring store: NSPersistentStore, to destination: MirrorDestination,
        through channel: any RecordChannel, policy: MergePolicy = MergePolicy(),
        keys: SealingKeys? = nil, hidesIncompleteGraphs: Bool = false,
        selection: SyncSelection? = nil, assetValueBytesMax: Int? = nil,
        platform: Environment = .system,
        observe: @escaping @Sendable (SyncProgress) -> Void = { _ in }
    ) throws {
        let rows = try Self.rows(of: store)
        let mirrored = try MirroredStore(
            store: rows, policy: policy, database: destination.database,
            zoneName: destination.zone, zoneOwner: destination.zoneOwner,
            environment: destination.environment, keys: keys, platform: platform,
            selecting: .given(selection)
        ) { settings in
            settings.hidesIncompleteGraphs = hidesIncompleteGraphs
            if let bytes = assetValueBytesMax { settings.sizes.valueBytesMax = bytes }
        }
        self.init(
            mirrored: mirrored, container: destination.name, channel: channel, observe: observe,
            imported: { after in try Self.tell(store, rows, after: after) })
    }

    /// Whether any object is in a store. Throws as the initializer does.
    package static func hasObjects(in store: NSPersistentStore) throws -> Bool {
        try rows(of: store).read { transaction in
            try transaction.layout.entities.contains { entity in
                guard entity.entity.superentity == nil else { return false }
                return try transaction.count(matching: RowQuery(entity: entity.number)) > 0
            }
        }
    }

    /// Deletes all objects of a store, by no rule and no validation of the model; the next round
    /// tells the service, and contexts learn of it as of an import. With a user those of which the
    /// service told that others made them stay. All are deleted or, where it throws, none. Cost:
    /// one transaction over all rows.
    package static func deleteObjects(of store: NSPersistentStore, madeBy user: String?) throws {
        let rows = try rows(of: store)
        let others =
            try user.flatMap {
                try MirroredStore.known(of: store)?.rowsMade(byOthersThan: $0)
            } ?? []
        let (deleted, updated) = try rows.write { transaction in
            var (deleted, updated): ([RowID], [RowID]) = ([], [])
            for entity in rows.layout.entities where !entity.entity.isAbstract {
                var query = RowQuery(entity: entity.number)
                query.includesSubentities = false
                let ids = try transaction.ids(matching: query).filter { !others.contains($0) }
                updated += try letGo(of: ids, by: others, transaction)
                for first in stride(from: 0, to: ids.count, by: deletionsMax) {
                    var changes = ChangeSet()
                    changes.deletes = ids[first..<min(first + deletionsMax, ids.count)]
                        .map { RowDelete(id: $0) }
                    _ = try transaction.save(changes)
                }
                deleted += ids
            }
            return (deleted, updated)
        }
        guard !deleted.isEmpty else { return }
        store.persistentStoreCoordinator?.storeDidChange(
            store, inserted: [], updated: updated, deleted: deleted)
    }

    /// Clears the links of `others` to what is to be deleted. Their makers' devices tell the
    /// service; here it is as if that had come. Returns the rows.
    private static func letGo(
        of ids: [RowID], by others: Set<RowID>, _ transaction: StoreTransaction
    ) throws -> [RowID] {
        guard !others.isEmpty else { return [] }
        var changes = ChangeSet()
        changes.author = RecordNames.importAuthor
        for id in ids {
            for (source, slot) in try transaction.referrers(of: id) where others.contains(source) {
                var update = RowUpdate(id: source)
                update.toOnes = [(slot, nil)]
                changes.updates.append(update)
            }
        }
        guard !changes.updates.isEmpty else { return [] }
        _ = try transaction.save(changes)
        return changes.updates.map(\.id)
    }

    private static let deletionsMax = 1_000

    /// Tells the store's contexts which rows the imports after a transaction changed.
    private static func tell(
        _ store: NSPersistentStore, _ rows: SQLiteRowStore, after number: Int64
    ) throws {
        var changed: [RowID: HistoryChange.Kind] = [:]
        var last = number
        // Few transactions at a time: a first import has many, and only their rows are kept.
        while true {
            let transactions = try rows.history(after: last, limit: transactionsMax)
            for transaction in transactions
            where transaction.author == RecordNames.importAuthor {
                for change in transaction.changes {
                    let wasInserted = changed[change.id] == .insert && change.kind == .update
                    changed[change.id] = wasInserted ? .insert : change.kind
                }
            }
            guard let newest = transactions.last?.number, transactions.count == transactionsMax
            else { break }
            last = newest
        }
        guard !changed.isEmpty else { return }
        func ids(_ kind: HistoryChange.Kind) -> [RowID] {
            changed.filter { $0.value == kind }.keys.sorted()
        }
        store.persistentStoreCoordinator?.storeDidChange(
            store, inserted: ids(.insert), updated: ids(.update), deleted: ids(.delete))
    }

    private static let transactionsMax = 100
}
