internal import Dispatch
internal import Foundation
internal import Stores

/// The rows that a fetch found, in order.
struct ReadRows {
    /// Some of them: in packs, or one by one where the store gives no packs.
    enum Part {
        case packs([RowPack])
        case rows([Row])
    }

    let store: NSPersistentStore
    var parts: [Part] = []

    var found: [FoundObjects] {
        parts.map { part in
            switch part {
            case .packs(let packs): .packs(packs, of: store)
            case .rows(let rows): .rows(FoundRows(rows, of: store))
            }
        }
    }
}

/// Reads what a fetch finds slice by slice, beside the context's queue, so that it can be followed
/// and cancelled.
struct SlicedReading {
    private let query: StoreQuery
    /// How often the context had dropped what it had read when this began.
    private let dropCount: Int

    private static let sliceCount = 1000

    /// Nil for a fetch that the context must have a part in.
    init?(_ request: any FetchRequesting, in context: NSManagedObjectContext) throws {
        let query = try context.query(for: request)
        let choice = request.choice
        guard choice.resultType == .managedObjectResultType, choice.batchSize <= 0,
            choice.flags.includesPropertyValues, context.parent == nil,
            context.pin == nil, let source = context.source as? StoreSource,
            context.isPlain(query, source, choice.flags.includesPendingChanges)
        else { return nil }
        self.query = try StoreQuery(query, source: source)
        dropCount = context.readAhead.dropCount
    }

    /// Whether the context heard of nothing newer since this began: of no save, merge or refresh.
    func isOfPresent(of context: NSManagedObjectContext) -> Bool {
        context.readAhead.dropCount == dropCount
    }

    /// Throws 3072 when the result is cancelled. Nil where the store has no rows to read apart.
    func run(for result: NSPersistentStoreAsynchronousResult) throws -> ReadRows? {
        guard let (store, ids) = try query.findRows() else { return nil }
        var read = ReadRows(store: store)
        for start in stride(from: 0, to: ids.count, by: Self.sliceCount) {
            if result.isCancelled { throw CocoaError(.userCancelled) }
            let slice = Array(ids[start..<min(start + Self.sliceCount, ids.count)])
            do {
                read.parts.append(try part(slice, of: store))
            } catch {
                throw PersistenceErrors.bridged(PersistenceErrors.translate(error))
            }
            result.report(start + slice.count, of: ids.count)
        }
        return read
    }

    private func part(_ ids: [RowID], of store: NSPersistentStore) throws -> ReadRows.Part {
        if let packs = try store.rowStore.packs(ids) {
            let keys = packs.lazy.flatMap { pack in (0..<pack.count).lazy.map(pack.key) }
            if keys.elementsEqual(ids.lazy.map(\.key)) { return .packs(packs) }
        }
        return .rows(ordered(try store.rowStore.rows(ids), as: ids))
    }

    /// Rows come in no particular order, and some may be gone.
    private func ordered(_ rows: [Row], as ids: [RowID]) -> [Row] {
        if rows.lazy.map(\.id).elementsEqual(ids) { return rows }
        let byID = Dictionary(rows.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        return ids.compactMap { byID[$0] }
    }
}

/// A fetch under way: its rows are read beside the context's queue, its objects made on it.
final class AsynchronousFetch: @unchecked Sendable {
    // @unchecked: the request and the completion are used on the context's queue only, the reading
    // on `queue` only.
    private let request: any FetchRequesting
    private let reading: SlicedReading?
    private let result: NSPersistentStoreAsynchronousResult
    private let completion: () -> Void

    private static let queue = DispatchQueue(
        label: "org.diptych.asynchronous-fetch", attributes: .concurrent)

    init(
        _ request: any FetchRequesting, _ reading: SlicedReading?,
        _ result: NSPersistentStoreAsynchronousResult, completion: @escaping () -> Void
    ) {
        self.request = request
        self.reading = reading
        self.result = result
        self.completion = completion
    }

    func begin() {
        guard reading != nil else { return finish(with: .success(nil)) }
        Self.queue.async {
            self.finish(with: Result { try self.reading.flatMap { try $0.run(for: self.result) } })
        }
    }

    private func finish(with rows: Result<ReadRows?, any Error>) {
        result.managedObjectContext.perform {
            self.result.finish(Result { try self.results(rows) })
            self.completion()
        }
    }

    /// The objects of the rows, where the context heard of nothing newer meanwhile, and nothing
    /// changed in it that takes part in the request; else the request is run as any other.
    private func results(_ rows: Result<ReadRows?, any Error>) throws -> [Any] {
        if result.isCancelled { throw CocoaError(.userCancelled) }
        let context = result.managedObjectContext
        if let read = try rows.get(), try isUndisturbed() {
            let objects = context.materialize(
                read.found, refreshing: request.choice.flags.refreshesRefetched)
            return try context.completed(objects, request.choice)
        }
        return try context.results(of: request)
    }

    /// Whether the stored rows are the whole answer.
    private func isUndisturbed() throws -> Bool {
        let context = result.managedObjectContext
        guard let source = context.source, reading?.isOfPresent(of: context) == true else {
            return false
        }
        let query = try context.query(for: request)
        return context.isPlain(query, source, request.choice.flags.includesPendingChanges)
    }
}
