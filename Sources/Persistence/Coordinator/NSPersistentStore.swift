public import Foundation
internal import ObjectModel
internal import Platform
package import Stores

/// One store of a coordinator: a file or a piece of memory that keeps rows. Source: Apple,
/// NSPersistentStore.
open class NSPersistentStore: NSObject, @unchecked Sendable {
    // @unchecked: set up before the coordinator shows it; `ids` has a lock, the row store its own
    // lane.

    /// The rows. For the mirror and tools of this package, which work without objects.
    package internal(set) final var rowStore: any RowStore
    /// How it was opened.
    final var opening: StoreOpening
    public internal(set) weak var persistentStoreCoordinator: NSPersistentStoreCoordinator?
    /// Where the store is; nil or `/dev/null` for one in memory.
    public internal(set) var url: URL?
    /// Tells what others write to the file; nil where nobody asked for it.
    final var watch: (any FileWatch)?
    private let ids = Lock(StoreIDs())

    init(
        rowStore: any RowStore, description: StoreOpening,
        coordinator: NSPersistentStoreCoordinator
    ) {
        self.rowStore = rowStore
        opening = description
        url = description.url
        persistentStoreCoordinator = coordinator
    }

    /// Made by the coordinator for a type that a program registered a subclass for.
    public required init(
        persistentStoreCoordinator root: NSPersistentStoreCoordinator?,
        configurationName name: String?, at url: URL, options: [AnyHashable: Any]? = nil
    ) {
        let model = root?.managedObjectModel ?? NSManagedObjectModel()
        var opening = StoreOpening(type: "", model: model, platform: root?.platform ?? .system)
        opening.configuration = name
        opening.url = url
        opening.options = options
        self.opening = opening
        self.url = url
        rowStore = UnopenedRows(layout: ModelLayout(model: model, configuration: name))
        persistentStoreCoordinator = root
    }

    open var type: String { opening.type }
    public final var configurationName: String {
        opening.configuration ?? "PF_DEFAULT_CONFIGURATION_NAME"
    }
    public final var options: [AnyHashable: Any]? { opening.options }
    public final var isReadOnly: Bool { opening.isReadOnly }

    /// The store's UUID, which is part of its objects' URIs.
    open var identifier: String { rowStore.identifier }

    /// The metadata kept in the store. Setting an app's own keys takes effect at once; empty when
    /// unreadable.
    open var metadata: [String: Any] {
        get { (try? rowStore.metadata()) ?? [:] }
        set { try? rowStore.setMetadata(newValue) }
    }

    /// The kinds of stores.
    public struct StoreType: RawRepresentable, Hashable, Sendable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
        public static let sqlite = StoreType(rawValue: NSSQLiteStoreType)
        public static let xml = StoreType(rawValue: NSXMLStoreType)
        public static let binary = StoreType(rawValue: NSBinaryStoreType)
        public static let inMemory = StoreType(rawValue: NSInMemoryStoreType)
    }

    /// Reads the metadata of a program's own store, and sets `metadata`.
    open func loadMetadata() throws {}

    // MARK: Coming and going

    /// Called when the store joined a coordinator.
    open func didAdd(to coordinator: NSPersistentStoreCoordinator) {}
    /// Called before the store leaves its coordinator.
    open func willRemove(from coordinator: NSPersistentStoreCoordinator?) {}

    // MARK: Files that are not open

    /// The metadata of the store's file at `url`. A registered class gives its own.
    open class func metadataForPersistentStore(with url: URL) throws -> [String: Any] {
        try StoreFileType(recognizing: url).metadata(at: url)
    }

    /// Replaces the application's metadata of the store's file at `url`. A registered class gives
    /// its own.
    open class func setMetadata(
        _ metadata: [String: Any]?, forPersistentStoreAt url: URL
    ) throws {
        try StoreFileType(recognizing: url).setMetadata(metadata ?? [:], at: url)
    }

    /// The path of the store's file; nil for one that has none.
    final var filePath: String? {
        guard opening.type != NSInMemoryStoreType, let url, url.isFileURL,
            url.path != "/dev/null"
        else { return nil }
        return url.resolvingSymlinksInPath().path
    }

    // MARK: Rows and IDs

    /// Whether each save, of whatever process, is announced by NSPersistentStoreRemoteChange, as
    /// imports always are.
    final var announcesChanges: Bool {
        let key = NSPersistentStoreRemoteChangeNotificationPostOptionKey
        return (options?[key] as? NSNumber)?.boolValue ?? false
    }

    /// The store's layout of an entity; nil when the store's configuration does not have it.
    final func layout(of shape: EntityShape) -> EntityLayout? {
        rowStore.layout.entity(named: shape.layout.name)
    }

    /// The one ID that stands for a row.
    package final func id(for row: RowID) -> NSManagedObjectID {
        ids.withLock { $0.id(for: row, in: self) }
    }

    /// The ID of a row, where anyone holds it.
    final func knownID(_ row: RowID) -> NSManagedObjectID? {
        ids.withLock { $0.knownID(row) }
    }

    /// Makes a temporary ID the permanent one of its reserved row.
    final func publish(_ id: NSManagedObjectID) {
        ids.withLock { $0.publish(id) }
    }

    final func snapshot(_ row: Row) -> ObjectSnapshot {
        guard row.toOnes.contains(where: { $0 != nil }) else {
            return ObjectSnapshot(
                version: row.version, attributes: row.attributes,
                toOnes: Array(repeating: nil, count: row.toOnes.count))
        }
        let links = ids.withLock { ids in
            row.toOnes.map { link in link.map { ids.id(for: $0.target, in: self) } }
        }
        return ObjectSnapshot(version: row.version, attributes: row.attributes, toOnes: links)
    }

    // MARK: What programs' own stores do in their way

    /// Loads the rows of a program's own store.
    func openRows(platform: Surroundings) throws {
        throw StoreError(
            .unsupported,
            "A store's class derives from NSAtomicStore or NSIncrementalStore, not from "
                + "NSPersistentStore.", fields: ["class": "\(Swift.type(of: self))"])
    }

    /// Reserves rows for new objects, all of the layout's entity.
    func reserveRows(for objects: [NSManagedObject], _ layout: EntityLayout) throws -> [RowID] {
        try rowStore.reserveKeys(entity: layout.number, count: objects.count).map {
            RowID(entity: layout.number, key: $0)
        }
    }

    /// Writes what a context gathered.
    func write(
        _ gathered: ChangeGathering, of context: NSManagedObjectContext
    ) throws -> SaveOutcome {
        try rowStore.save(gathered.changes)
    }

    /// What a query finds; `rows` is the query in the store's terms.
    func find(_ query: ObjectQuery, rows: RowQuery) throws -> [FoundObject] {
        try rowStore.rows(matching: rows).map {
            FoundObject(id: id(for: $0.id), snapshot: snapshot($0))
        }
    }

    func findIDs(_ query: ObjectQuery, rows: RowQuery) throws -> [NSManagedObjectID] {
        try rowStore.ids(matching: rows).map(id)
    }

    /// The rows alone; nil where a store knows its objects by other means.
    func findRows(_ query: ObjectQuery, rows: RowQuery) throws -> [RowID]? {
        try rowStore.ids(matching: rows)
    }

    func count(_ query: ObjectQuery, rows: RowQuery) throws -> Int {
        try rowStore.count(matching: rows)
    }

    /// What stands for a row in a URI.
    func uriName(of row: RowID) -> String { "p\(row.key)" }

    /// The row that a URI names.
    func row(uriName: String, _ layout: EntityLayout) -> RowID? {
        guard uriName.first == "p", let key = Int64(uriName.dropFirst()) else { return nil }
        return RowID(entity: layout.number, key: key)
    }
}

/// The IDs of a store's rows that anyone holds.
///
/// The table holds them strongly and drops those nobody else holds when it has doubled: a weak
/// reference would send each retain of an ID the long way. Only the table hands them out, under its
/// lock, so one that is held here alone stays so.
private struct StoreIDs {
    private var entries: [RowID: NSManagedObjectID] = [:]
    private var sweepCount = 1024

    func knownID(_ row: RowID) -> NSManagedObjectID? { entries[row] }

    mutating func id(for row: RowID, in store: NSPersistentStore) -> NSManagedObjectID {
        if let known = entries[row] { return known }
        let entity = store.rowStore.layout.entity(row.entity)?.entity ?? NSEntityDescription()
        let fresh = NSManagedObjectID(row: row, entity: entity, store: store)
        put(fresh, row)
        return fresh
    }

    mutating func publish(_ id: NSManagedObjectID) {
        guard let row = id.reservedRow else { return }
        put(id, row)
        id.becomePermanent()
    }

    private mutating func put(_ id: NSManagedObjectID, _ row: RowID) {
        if entries.count >= sweepCount { sweep() }
        entries[row] = id
    }

    private mutating func sweep() {
        var index = entries.startIndex
        var held: [RowID: NSManagedObjectID] = [:]
        while index != entries.endIndex {
            let row = entries.keys[index]
            if !isKnownUniquelyReferenced(&entries.values[index]) {
                held[row] = entries.values[index]
            }
            index = entries.index(after: index)
        }
        entries = held
        sweepCount = max(1024, entries.count * 2)
    }
}
