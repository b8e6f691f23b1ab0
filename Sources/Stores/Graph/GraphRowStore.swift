public import Foundation
public import ObjectModel
public import Platform

/// A store whose whole graph lives in memory and in one file, which each save replaces.
///
/// The rows are those of a `MemoryRowStore`, so every rule of the contract holds. Queue: any
/// thread. Cost: opening reads the file, each save writes all of it. It keeps no history. After a
/// crash the file is the one before the save or the one after it.
public final class GraphRowStore<Format: GraphFormat>: HistorylessStore {
    private struct State {
        var file: GraphFile
        var metadata: GraphMetadata
        var lastKey: Int64
        /// The file as this store last read or wrote it.
        var stamp: GraphFile.Stamp?
    }

    public let layout: ModelLayout
    public let identifier: String
    private let rows: MemoryRowStore
    private let isReadOnly: Bool
    private let platform: Environment
    /// Held while the file is written, so that saves follow each other; readers need `rows` only.
    private let state: Lock<State>
    /// Where rows go on with the keys of a former store.
    private let keys: Lock<FileKeys?>

    /// Opens the store at `url`, or makes it where there is no file.
    ///
    /// Throws `StoreError`: `.notAStore`, `.cannotOpen`, `.modelMismatch`, `.readOnly`,
    /// `.diskFull`, `.corrupt`, `.unsupported` (derived attributes, names that differ in case
    /// only).
    public init(
        url: URL?, model: NSManagedObjectModel, configuration: String? = nil,
        options: GraphFileOptions = .init(), platform: Environment = .system
    ) throws {
        guard let url else {
            throw StoreError(
                .cannotOpen,
                "A \(Format.storeType) store needs a file; use an in-memory store without one.")
        }
        layout = ModelLayout(
            model: model, configuration: configuration, numbers: options.former?.numbers)
        let names = try GraphNames(layout, leavingOutDerived: options.leavesOutDerived)
        let file = GraphFile(url, access: options.access)
        let made = try Self.contents(of: file, layout, options, platform)
        let changes = try GraphLoading.changes(
            from: made.graph, layout: layout, names: names, path: file.path,
            as: options.former)
        identifier = made.graph.identifier
        rows = MemoryRowStore(
            layout: layout, platform: platform, identifier: identifier, keepsHistory: false)
        isReadOnly = options.isReadOnly
        self.platform = platform
        keys = Lock(options.former.map { FileKeys($0) })
        let highest = max(
            options.former?.lastKey ?? 0, changes.inserts.map(\.id.key).max() ?? 0,
            made.graph.objects.map(\.key).max() ?? 0)
        state = Lock(
            State(
                file: file, metadata: GraphMetadata(made.graph.metadata),
                lastKey: max(made.graph.lastKey, highest), stamp: made.stamp))
        try rows.load(changes, path: file.path)
    }

    /// Reads the file, or makes it.
    private static func contents(
        of file: GraphFile, _ layout: ModelLayout, _ options: GraphFileOptions,
        _ platform: Environment
    ) throws -> (graph: StoredGraph, stamp: GraphFile.Stamp?) {
        if !file.exists {
            guard !options.isReadOnly else {
                throw file.failure(
                    .cannotOpen, "There is no file at this path, and a read-only store is not made."
                )
            }
            var graph = StoredGraph(identifier: platform.randomness.uuid().uuidString)
            graph.metadata = GraphMetadata(for: layout, type: Format.storeType).values
            let made = try file.create(with: Format.write(graph), platform: platform)
            if let made { return (graph, made) }
        }
        let stamp = file.stamp
        let graph = try Format.read(file.read(), path: file.path)
        if !options.ignoresVersioning {
            try GraphMetadata(graph.metadata).check(against: layout, path: file.path)
        }
        return (graph, stamp)
    }

    // MARK: Writing

    public func save(_ changes: ChangeSet) throws -> SaveOutcome {
        try state.withLock { state in
            try checkWritable(state)
            let draft = try rows.draft(changes)
            name(changes.inserts, &state)
            if !changes.isEmpty { try write(draft.tables, &state) }
            rows.install(draft.tables)
            return draft.outcome
        }
    }

    public func check(_ changes: ChangeSet) throws {
        try state.withLock { state in
            try checkWritable(state)
            _ = try rows.draft(changes)
        }
    }

    public func setMetadata(_ metadata: [String: Any]) throws {
        try state.withLock { state in
            try checkWritable(state)
            var changed = state
            changed.metadata.replaceApplicationKeys(with: metadata)
            try write(rows.tables.withLock { $0 }, &changed)
            state = changed
        }
    }

    private func write(_ tables: MemoryTables, _ state: inout State) throws {
        var graph = StoredGraph(identifier: identifier, lastKey: state.lastKey)
        graph.metadata = state.metadata.values
        graph.objects =
            GraphDrawing<Format>(tables, layout: layout, keys: keys.withLock { $0 }).objects
        state.stamp = try state.file.replace(
            with: Format.write(graph), unlessChangedSince: state.stamp, platform: platform)
    }

    private func name(_ rows: [Row], _ state: inout State) {
        keys.withLock { keys in
            for row in rows { keys?.add(row.id, after: &state.lastKey) }
        }
    }

    private func checkWritable(_ state: State) throws {
        guard !isReadOnly else {
            throw state.file.failure(
                .readOnly, "The store was opened read-only; open it for writing to save.")
        }
        guard state.stamp == state.file.stamp else { throw state.file.changed }
    }

    /// Lets later saves write to `url`, over whatever is there then.
    public func relocate(to url: URL) {
        state.withLock { state in
            state.file = GraphFile(url)
            state.stamp = state.file.stamp
        }
    }

    public func reserveKeys(entity: Int32, count: Int) throws -> [Int64] {
        guard layout.entity(entity) != nil else { throw MemoryRowStore.unknownEntity(entity) }
        guard count > 0 else { return [] }
        return state.withLock { state in
            let first = state.lastKey + 1
            state.lastKey += Int64(count)
            return Array(first...state.lastKey)
        }
    }

    // MARK: Reading

    public func metadata() throws -> [String: Any] {
        state.withLock {
            $0.metadata.dictionary(identifier: identifier, type: Format.storeType)
        }
    }

    public func row(_ id: RowID) throws -> Row? { try rows.row(id) }
    public func rows(_ ids: [RowID]) throws -> [Row] { try rows.rows(ids) }
    public func rows(matching query: RowQuery) throws -> [Row] { try rows.rows(matching: query) }
    public func ids(matching query: RowQuery) throws -> [RowID] { try rows.ids(matching: query) }
    public func count(matching query: RowQuery) throws -> Int { try rows.count(matching: query) }
    public func values(of query: ValueQuery) throws -> [[Any?]] { try rows.values(of: query) }
    public func members(of owner: RowID, toMany slot: Int) throws -> [Link] {
        try rows.members(of: owner, toMany: slot)
    }

    public func readingOneState<Result>(
        _ body: (any RowReading) throws -> Result
    ) throws -> Result {
        try rows.readingOneState(body)
    }

    // MARK: History

    public var historyRefusal: StoreError {
        StoreError(
            .unsupported,
            "Stores of type \(Format.storeType) keep no history; migrate to a SQLite store.",
            fields: ["type": Format.storeType])
    }
}

// MARK: - Keys of a former store

extension GraphRowStore: KeyKeeping, FileKeyNaming {
    package func lastKey(entity: Int32) throws -> Int64 { state.withLock { $0.lastKey } }

    package func raiseKeys(entity: Int32, to key: Int64) throws {
        state.withLock { $0.lastKey = max($0.lastKey, key) }
    }

    package func fileKey(of row: RowID) -> Int64 {
        keys.withLock { $0?.key(of: row) ?? row.key }
    }

    package func row(fileKey: Int64, entity: Int32) -> RowID? {
        keys.withLock { keys in
            guard let keys else { return RowID(entity: entity, key: fileKey) }
            return keys.row(of: fileKey, entity: entity)
        }
    }
}

// MARK: - Files that are not open

extension GraphRowStore {
    /// The metadata of the store at `url`, which is not opened for work and not changed. Throws
    /// `StoreError` `.cannotOpen`, `.notAStore`, `.corrupt`.
    public static func metadata(at url: URL) throws -> [String: Any] {
        let file = GraphFile(url)
        let graph = try Format.readHead(file.read(), path: file.path)
        return GraphMetadata(graph.metadata).dictionary(
            identifier: graph.identifier, type: Format.storeType)
    }

    /// Replaces the application's metadata of the store at `url`, which is not open. Throws as
    /// `contents` does, and `StoreError` `.diskFull` and `.readOnly` where the file cannot be
    /// replaced. Cost: reads and writes the whole file.
    public static func setMetadata(
        _ metadata: [String: Any], at url: URL, platform: Environment = .system
    ) throws {
        let file = GraphFile(url)
        let stamp = file.stamp
        var graph = try Format.read(file.read(), path: file.path)
        var changed = GraphMetadata(graph.metadata)
        changed.replaceApplicationKeys(with: metadata)
        graph.metadata = changed.values
        _ = try file.replace(
            with: Format.write(graph), unlessChangedSince: stamp, platform: platform)
    }

    /// All that the file at `url` says; no model is needed. Throws `StoreError` `.cannotOpen`,
    /// `.notAStore`, `.corrupt`.
    public static func contents(at url: URL) throws -> StoredGraph {
        let file = GraphFile(url)
        return try Format.read(file.read(), path: file.path)
    }
}
