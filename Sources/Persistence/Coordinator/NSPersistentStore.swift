public import Foundation
internal import ObjectModel
internal import Platform
package import Stores

/// One store of a coordinator: a file or a piece of memory that keeps rows. Source: Apple,
/// NSPersistentStore. Queue: any thread, but for classes of a program's own (`NSAtomicStore`,
/// `NSIncrementalStore`).
open class NSPersistentStore: NSObject, @unchecked Sendable {
    // @unchecked: set up before the coordinator shows it; `place`, `watching` and `spaces` have
    // locks, the row store one of its own.

    /// What changes when the store moves.
    private struct Place: Sendable {
        var rows: any RowStore
        var url: URL?
        /// Asked for since it was opened.
        var isSetReadOnly = false
    }

    private let place: Lock<Place>
    /// The rows. For the mirror and tools of this package, which work without objects.
    package internal(set) final var rowStore: any RowStore {
        get { place.withLock { $0.rows } }
        set { place.withLock { $0.rows = newValue } }
    }
    /// How it was opened.
    final var parameters: StoreParameters
    /// The coordinator that has the store open; nil once it was removed.
    public internal(set) weak var persistentStoreCoordinator: NSPersistentStoreCoordinator?
    /// Where the store is; nil or `/dev/null` for one in memory. Setting it is `setURL(_:for:)` of
    /// the store's coordinator, which tells whether it was done; a program's own store takes it.
    public var url: URL? {
        get { place.withLock { $0.url } }
        set {
            guard let newValue, filePath != nil, let coordinator = persistentStoreCoordinator else {
                return note(url: newValue)
            }
            if !coordinator.setURL(newValue, for: self) {
                MissingValueNotice.write("The store stays where it is: \(newValue) is no place.")
            }
        }
    }

    func note(url: URL?) { place.withLock { $0.url = url } }
    /// Tells what others write to the file; nil where nobody asked for it.
    private let watching = Lock<(any FileWatch)?>(nil)
    /// What the IDs of the store's rows know it by: they go over with it to a store that takes this
    /// one's place.
    final let tie: ZeroingReference<NSPersistentStore>
    /// The IDs of the rows, by entity.
    private let spaces: Lock<[Int32: ObjectIDTable]>
    /// Names rows in URIs, where the file has other keys for them.
    private let fileKeys: (any FileKeyNaming)?
    /// Is told of rows that lack values whose files are gone. Set before anyone reads.
    final var noteMissing: (@Sendable (Row) -> Void)?

    /// A store that is to take the place of `former` has its rows under the same keys; it gets
    /// their IDs with `takeOverIDs()`.
    init(
        rowStore: any RowStore, description: StoreParameters,
        coordinator: NSPersistentStoreCoordinator, inPlaceOf former: NSPersistentStore? = nil
    ) {
        tie = former?.tie ?? ZeroingReference()
        spaces = former?.spaces ?? Lock([:])
        fileKeys = former == nil ? nil : rowStore as? any FileKeyNaming
        place = Lock(Place(rows: rowStore, url: description.url))
        parameters = description
        persistentStoreCoordinator = coordinator
        super.init()
        if former == nil { tie.begin(self) }
    }

    /// Made by the coordinator for a type that a program registered a subclass for.
    public required init(
        persistentStoreCoordinator root: NSPersistentStoreCoordinator?,
        configurationName name: String?, at url: URL, options: [AnyHashable: Any]? = nil
    ) {
        let model = root?.managedObjectModel ?? NSManagedObjectModel()
        var parameters = StoreParameters(
            type: "", model: model, platform: root?.platform ?? .system)
        parameters.configuration = name
        parameters.url = url
        parameters.options = options
        self.parameters = parameters
        (tie, spaces, fileKeys) = (ZeroingReference(), Lock([:]), nil)
        let rows = UnopenedRows(layout: ModelLayout(model: model, configuration: name))
        place = Lock(Place(rows: rows, url: url))
        persistentStoreCoordinator = root
        super.init()
        tie.begin(self)
    }

    deinit {
        tie.end(of: self)
        let tables = spaces.withLock { Array($0.values) }
        guard !tables.isEmpty, let name = identifier else { return }
        for table in tables { table.noteEnd(ofStoreWith: name) }
    }

    /// Makes all IDs of the store that this one was made in place of its own: objects of contexts,
    /// faults and links lead here from now on.
    final func takeOverIDs() { tie.begin(self) }

    /// `NSSQLiteStoreType`, another of the four, or a registered type.
    open var type: String { parameters.type }
    /// The configuration it was opened with; for none Apple's word,
    /// `PF_DEFAULT_CONFIGURATION_NAME`.
    public final var configurationName: String {
        parameters.configuration ?? "PF_DEFAULT_CONFIGURATION_NAME"
    }
    /// As they were given to the coordinator.
    public final var options: [AnyHashable: Any]? { parameters.options }
    /// Whether nothing can be saved: asked for by `NSReadOnlyPersistentStoreOption`; or, as with
    /// Apple, `NSPersistentHistoryTrackingKey` is false and the file has a history. Saves of its
    /// objects throw 134030. With true nothing is saved from now on; false takes that back, and
    /// makes nothing writable that was opened otherwise.
    public final var isReadOnly: Bool {
        get {
            parameters.isReadOnly || rowStore.isClosedToWriting
                || place.withLock { $0.isSetReadOnly }
        }
        set { place.withLock { $0.isSetReadOnly = newValue } }
    }

    /// The store's UUID, which is part of its objects' URIs. Never nil. Only a program's own store
    /// can be given another; for others that is told on standard error.
    // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
    open var identifier: String! {
        get { rowStore.identifier }
        set {
            guard newValue != identifier else { return }
            MissingValueNotice.write(
                "The store keeps its identifier, by which its objects are found; a copy made with "
                    + "migratePersistentStore has one of its own.")
        }
    }

    /// The metadata kept in the store, numbers as `NSNumber`. Setting an app's own keys takes
    /// effect at once; what no property list can hold is left out, and told on standard error.
    /// Empty when unreadable, never nil.
    // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
    open var metadata: [String: Any]! {
        get { MetadataValues.shown((try? rowStore.metadata()) ?? [:]) }
        set { MetadataValues.set(newValue ?? [:], in: rowStore) }
    }

    /// The kinds of stores.
    public struct StoreType: RawRepresentable, Hashable, Sendable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
        /// A file that is written row by row, and that contexts can read as it was.
        public static let sqlite = StoreType(rawValue: NSSQLiteStoreType)
        /// An XML file that is read and written as a whole.
        public static let xml = StoreType(rawValue: NSXMLStoreType)
        /// A binary file that is read and written as a whole. Its form is Diptych's own, not
        /// Apple's.
        public static let binary = StoreType(rawValue: NSBinaryStoreType)
        /// Rows that end with the store.
        public static let inMemory = StoreType(rawValue: NSInMemoryStoreType)
    }

    /// Reads the metadata of a program's own store, and sets `metadata`. Called once, when the
    /// store is opened. Throws what `addPersistentStore` is to throw, best with a code of
    /// `CocoaError`. Cost: none here; stores of the four types read theirs as they open.
    open func loadMetadata() throws {}

    // MARK: Coming and going

    /// Called when the store joined a coordinator.
    open func didAdd(to coordinator: NSPersistentStoreCoordinator) {}
    /// Called before the store leaves its coordinator.
    open func willRemove(from coordinator: NSPersistentStoreCoordinator?) {}

    // MARK: Files that are not open

    /// The class of the managers that migrate stores of this class.
    open class func migrationManagerClass() -> AnyClass { NSMigrationManager.self }

    /// The metadata of the store's file at `url`. A registered class gives its own. Throws 260 for
    /// no file, 259 for one that is damaged or no store. Cost: a few rows of SQLite; other files
    /// are read, and parsed as far as their metadata.
    open class func metadataForPersistentStore(with url: URL) throws -> [String: Any] {
        try StoreFileType(recognizing: url).metadata(at: url)
    }

    /// Replaces the application's metadata of the store's file at `url`. A registered class gives
    /// its own. Throws 259, 260, 134030 where it may not be written, 134070 for values that are no
    /// property list. Cost: one row of SQLite; other files are read and written whole.
    open class func setMetadata(
        _ metadata: [String: Any]?, forPersistentStoreAt url: URL
    ) throws {
        try StoreFileType(recognizing: url).setMetadata(metadata ?? [:], at: url)
    }

    /// The path of the store's file; nil for one that has none.
    final var filePath: String? {
        guard parameters.type != NSInMemoryStoreType, let url, url.isFileURL, !url.isNullDevice
        else { return nil }
        return url.resolvingSymlinksInPath().path
    }

    /// Whether the store ends where `coordinator` destroys what `other` describes: the same file,
    /// or, where there is none, a store of this type in the memory of that coordinator.
    final func isDestroyed(
        with other: StoreParameters, by coordinator: NSPersistentStoreCoordinator
    ) -> Bool {
        if let filePath {
            return other.type != NSInMemoryStoreType && other.file?.isFileURL == true
                && other.file?.resolvingSymlinksInPath().path == filePath
        }
        guard persistentStoreCoordinator === coordinator, type == other.type else { return false }
        return url == other.url || (other.url?.isNullDevice == true && (url?.isNullDevice ?? true))
    }

    /// Lets go of the file, so that nothing is read or written there any more.
    final func close() { rowStore = UnopenedRows(after: rowStore) }

    /// Goes on in another file, or, without `rows`, at another place.
    final func move(to url: URL, _ rows: (any RowStore)?) {
        let former = place.withLock { place in
            defer { place = Place(rows: rows ?? place.rows, url: url) }
            return place.rows
        }
        // States of the former file are none of the new one.
        if rows != nil { former.endSnapshots() }
    }

    /// Takes a watch over, and ends the former one.
    final func watch(with watch: (any FileWatch)?) {
        let former = watching.withLock { watching in
            defer { watching = watch }
            return watching
        }
        former?.end()
    }

    // MARK: Rows and IDs

    /// Whether each save, of whatever process, is announced by NSPersistentStoreRemoteChange, as
    /// imports always are.
    final var announcesChanges: Bool {
        let key = NSPersistentStoreRemoteChangeNotificationPostOptionKey
        return parameters.flag(key) ?? false
    }

    /// The store's layout of an entity; nil when the store's configuration does not have it.
    final func layout(of shape: ObjectLayout) -> EntityLayout? {
        rowStore.layout.entity(named: shape.layout.name)
    }

    /// The IDs of an entity's rows.
    final func space(_ entity: Int32) -> ObjectIDTable {
        if let known = spaces.withLock({ $0[entity] }) { return known }
        let description = rowStore.layout.entity(entity)?.entity ?? NSEntityDescription()
        let fresh = ObjectIDTable(entity: description, number: entity, store: tie)
        return spaces.withLock { spaces in
            if let known = spaces[entity] { return known }
            spaces[entity] = fresh
            return fresh
        }
    }

    /// The one ID that stands for a row.
    package final func id(for row: RowID) -> NSManagedObjectID {
        space(row.entity).id(for: row.key)
    }

    /// The IDs that stand for rows, in their order.
    final func ids(of rows: [RowID]) -> [NSManagedObjectID] {
        var ids: [NSManagedObjectID] = []
        ids.reserveCapacity(rows.count)
        var begin = 0
        while begin < rows.count {
            let entity = rows[begin].entity
            let end = rows[begin...].firstIndex { $0.entity != entity } ?? rows.count
            space(entity).add(rows[begin..<end], to: &ids)
            begin = end
        }
        return ids
    }

    /// Makes a temporary ID the permanent one of its reserved row.
    final func publish(_ id: NSManagedObjectID) { id.reservedSpace?.publish(id) }

    final func snapshot(_ row: Row) -> ObjectSnapshot {
        if !row.missing.isEmpty { tellMissing(row) }
        return ObjectSnapshot(
            version: row.version, attributes: row.attributes, toOnes: targets(of: row.toOnes))
    }

    final func snapshot(_ row: PackedRow) -> ObjectSnapshot {
        ObjectSnapshot(row) { id(for: $0) }
    }

    /// The snapshot of a row that is not needed any more: its values pass over.
    final func snapshot(consuming row: inout Row) -> ObjectSnapshot {
        if !row.missing.isEmpty { tellMissing(row) }
        var attributes: [AttributeValue] = []
        swap(&attributes, &row.attributes)
        return ObjectSnapshot(
            version: row.version, attributes: attributes, toOnes: targets(of: row.toOnes))
    }

    private func tellMissing(_ row: Row) {
        MissingValueNotice.tell(row, in: rowStore.layout)
        noteMissing?(row)
    }

    private func targets(of links: [Link?]) -> [NSManagedObjectID?] {
        links.isEmpty ? [] : links.map { link in link.map { id(for: $0.target) } }
    }

    // MARK: What programs' own stores do in their way

    /// Loads the rows of a program's own store.
    func openRows(platform: Environment) throws {
        throw StoreError(
            .unsupported,
            "A store's class derives from NSAtomicStore or NSIncrementalStore, not from "
                + "NSPersistentStore.", fields: ["class": "\(Swift.type(of: self))"])
    }

    /// Whether the program's store chooses rows, which stay chosen when a save fails.
    var namesRowsItself: Bool { false }

    /// Reserves rows for new objects, all of the layout's entity.
    func reserveRows(for objects: [NSManagedObject], _ layout: EntityLayout) throws -> [RowID] {
        try rowStore.reserveKeys(entity: layout.number, count: objects.count).map {
            RowID(entity: layout.number, key: $0)
        }
    }

    /// Writes what a context gathered.
    func write(
        _ gathered: ChangeSetBuilder, of context: NSManagedObjectContext, by writer: any RowWriting
    ) throws -> SaveOutcome {
        try writer.save(gathered.changes)
    }

    /// Whether the version that the store has of a row is the one that a context read or wrote.
    func isExpected(_ expected: Int64?, of row: RowID, found: Int64?) -> Bool {
        expected == found
    }

    /// What a query finds; `rows` is the query in the store's terms, `reader` the store as it is or
    /// as it was.
    func find(
        _ query: ObjectQuery, rows: RowQuery, in reader: any RowReading
    ) throws -> FoundObjects {
        if let packs = try reader.packs(matching: rows) { return .packs(packs, of: self) }
        return .rows(FoundRows(try reader.rows(matching: rows), of: self))
    }

    func findIDs(
        _ query: ObjectQuery, rows: RowQuery, in reader: any RowReading
    ) throws -> [NSManagedObjectID] {
        ids(of: try reader.ids(matching: rows))
    }

    /// The rows alone; nil where a store knows its objects by other means.
    func findRows(
        _ query: ObjectQuery, rows: RowQuery, in reader: any RowReading
    ) throws -> [RowID]? {
        try reader.ids(matching: rows)
    }

    func count(_ query: ObjectQuery, rows: RowQuery, in reader: any RowReading) throws -> Int {
        try reader.count(matching: rows)
    }

    /// Values of rows or of groups of rows; nil where a store knows its objects by other means.
    func values(of query: ValueQuery, in reader: any RowReading) throws -> [[Any?]]? {
        try reader.values(of: query)
    }

    /// What stands for a row in a URI.
    func uriName(of row: RowID) -> String { "p\(fileKeys?.fileKey(of: row) ?? row.key)" }

    /// The row that a URI names.
    func row(uriName: String, _ layout: EntityLayout) -> RowID? {
        guard uriName.first == "p", let key = Int64(uriName.dropFirst()) else { return nil }
        if let fileKeys { return fileKeys.row(fileKey: key, entity: layout.number) }
        return RowID(entity: layout.number, key: key)
    }

    /// The highest key of an entity's tree that a row, or an object that is still to be saved, has.
    func lastKey(_ entity: EntityLayout) throws -> Int64 {
        try (rowStore as? any KeyKeeping)?.lastKey(entity: entity.number) ?? 0
    }
}
