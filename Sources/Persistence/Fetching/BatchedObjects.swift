internal import Stores

/// The objects of a fetch, made batch by batch as they are asked for.
///
/// A result of a million objects holds their keys (16 bytes each) and one batch; earlier objects go
/// as soon as the program lets go of them. Which objects belong to the result was decided when it
/// was made; one that was deleted since is a fault without a row. Use it on its context's queue.
public struct BatchedObjects<Element: NSManagedObject>: RandomAccessCollection {
    private let batches: ObjectBatches

    init(_ batches: ObjectBatches) { self.batches = batches }

    public var startIndex: Int { 0 }
    public var endIndex: Int { batches.count }

    /// The object at a place. Cost: one question to the store where it begins another batch. A
    /// failure to read is told by the next save, as with faults.
    public subscript(position: Int) -> Element {
        guard let object = batches.object(at: position) as? Element else {
            ProgrammingMistake.mistypedResult(batches.object(at: position), wanted: Element.self)
        }
        return object
    }
}

/// The keys of a result, and the batch that was asked for last.
final class ObjectBatches {
    /// A result's objects, by what takes least room.
    enum Keys {
        case rows([RowID], in: NSPersistentStore)
        case ids([NSManagedObjectID])
    }

    private let context: NSManagedObjectContext
    private let keys: Keys
    private let size: Int
    private let prefetching: [String]
    private var current: (start: Int, objects: [NSManagedObject]) = (0, [])

    init(_ keys: Keys, size: Int, prefetching: [String], in context: NSManagedObjectContext) {
        self.keys = keys
        self.size = size
        self.prefetching = prefetching
        self.context = context
    }

    var count: Int {
        switch keys {
        case .rows(let rows, _): rows.count
        case .ids(let ids): ids.count
        }
    }

    func object(at position: Int) -> NSManagedObject {
        let place = position - current.start
        if current.objects.indices.contains(place) { return current.objects[place] }
        let start = position - position % size
        // What the former batch prefetched and nobody asked for.
        if !prefetching.isEmpty { context.readAhead.forgetRows() }
        // The former objects make room for these.
        current = (0, [])
        current = (start, objects(in: start..<min(start + size, count)))
        return current.objects[position - start]
    }

    private func objects(in range: Range<Int>) -> [NSManagedObject] {
        switch keys {
        case .rows(let rows, let store):
            context.read(Array(rows[range]), of: store, prefetching: prefetching)
        case .ids(let ids): context.read(Array(ids[range]), prefetching: prefetching)
        }
    }
}

extension NSManagedObjectContext {
    /// The objects of a request, `fetchBatchSize` (else 1,000) of them at a time.
    ///
    /// Memory does not grow with the result but for its keys, so a store of any size can be walked
    /// through. Cost: one query for the keys. Throws as `fetch` does.
    public final func batchedObjects<Element: NSManagedObject>(
        for request: NSFetchRequest<Element>
    ) throws -> BatchedObjects<Element> {
        KnownClasses.note(Element.self)
        let choice = request.choice
        let size = choice.batchSize > 0 ? choice.batchSize : 1000
        let keys = try keys(
            matching: query(for: request), includingPending: choice.flags.includesPendingChanges)
        return BatchedObjects(
            ObjectBatches(keys, size: size, prefetching: choice.prefetching ?? [], in: self))
    }

    private func keys(
        matching query: ObjectQuery, includingPending: Bool
    ) throws -> ObjectBatches.Keys {
        guard let source = source as? StoreSource, isPlain(query, source, includingPending),
            let (store, rows) = try StoreQuery(query, source: source).findRows()
        else { return .ids(try ids(matching: query, includingPending: includingPending)) }
        return .rows(rows, in: store)
    }

    /// The objects of some rows; one that is gone is a fault.
    fileprivate func read(
        _ rows: [RowID], of store: NSPersistentStore, prefetching: [String]
    ) -> [NSManagedObject] {
        guard let objects = try? packedObjects(rows, of: store) ?? objects(rows, of: store) else {
            return read(store.ids(of: rows), prefetching: prefetching)
        }
        do { try prefetch(prefetching, of: objects) } catch { pending.failure = error }
        return objects
    }

    /// The objects of rows that the store gives in packs; nil where it gives none, or one is gone.
    private func packedObjects(
        _ rows: [RowID], of store: NSPersistentStore
    ) throws -> [NSManagedObject]? {
        let keys = rows.map(\.key)
        guard let packs = try (source as? StoreSource)?.packs(rows, of: store) else { return nil }
        let found = packs.flatMap { pack in (0..<pack.count).map(pack.key) }
        guard found.count == keys.count else { return nil }
        let objects = materialize([.packs(packs, of: store)], refreshing: false)
        if found == keys { return objects }
        let places = Dictionary(zip(found, objects), uniquingKeysWith: { $1 })
        return keys.compactMap { places[$0] }
    }

    /// The objects of rows; nil where one is gone.
    private func objects(
        _ rows: [RowID], of store: NSPersistentStore
    ) throws -> [NSManagedObject]? {
        try (source as? StoreSource)?.rows(rows, of: store).map {
            materialize([.rows(FoundRows($0, of: store))], refreshing: false)
        }
    }

    /// The objects of some IDs, with their rows.
    fileprivate func read(
        _ ids: [NSManagedObjectID], prefetching: [String]
    ) -> [NSManagedObject] {
        let objects = materialize(ids)
        do {
            try readRows(of: objects)
            try prefetch(prefetching, of: objects)
        } catch {
            pending.failure = error
        }
        return objects
    }
}
