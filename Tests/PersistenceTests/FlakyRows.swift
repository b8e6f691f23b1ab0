import Foundation
import ObjectModel
import Persistence
import Platform
import Stores
import Synchronization

/// Rows in memory that cannot be read, or not be written, while the test says so.
final class FlakyRows: RowStore {
    private let rows: MemoryRowStore
    private let failsReading = Atomic(false)
    private let failsMembers = Atomic(false)
    private let failsSaving = Atomic(false)
    private let failsCommitting = Atomic(false)
    private let readings = Atomic(0)

    static let type = "Flaky"

    static func register() {
        StoreRegistry.register(type) { opening in
            FlakyRows(
                ModelLayout(model: opening.model, configuration: opening.configuration))
        }
    }

    private init(_ layout: ModelLayout) { rows = MemoryRowStore(layout: layout) }

    /// How often rows were asked for.
    var readingCount: Int { readings.load(ordering: .sequentiallyConsistent) }

    @discardableResult
    func whileUnreadable<Value>(_ work: () throws -> Value) rethrows -> Value {
        failsReading.store(true, ordering: .sequentiallyConsistent)
        failsMembers.store(true, ordering: .sequentiallyConsistent)
        defer {
            failsReading.store(false, ordering: .sequentiallyConsistent)
            failsMembers.store(false, ordering: .sequentiallyConsistent)
        }
        return try work()
    }

    @discardableResult
    func whileMembersAreUnreadable<Value>(_ work: () throws -> Value) rethrows -> Value {
        failsMembers.store(true, ordering: .sequentiallyConsistent)
        defer { failsMembers.store(false, ordering: .sequentiallyConsistent) }
        return try work()
    }

    @discardableResult
    func whileUnwritable<Value>(_ work: () throws -> Value) rethrows -> Value {
        failsSaving.store(true, ordering: .sequentiallyConsistent)
        defer { failsSaving.store(false, ordering: .sequentiallyConsistent) }
        return try work()
    }

    /// Transactions fail at their end, when all is written.
    @discardableResult
    func whileUncommittable<Value>(_ work: () throws -> Value) rethrows -> Value {
        failsCommitting.store(true, ordering: .sequentiallyConsistent)
        defer { failsCommitting.store(false, ordering: .sequentiallyConsistent) }
        return try work()
    }

    /// Deletes what a transaction left that failed so: memory has nothing to roll back.
    func forgetRows() throws {
        var changes = ChangeSet()
        for entity in layout.entities {
            var query = RowQuery(entity: entity.number)
            query.includesSubentities = false
            changes.deletes += try rows.ids(matching: query).map { RowDelete(id: $0) }
        }
        _ = try rows.save(changes)
    }

    func writing<Result>(_ body: (any RowWriting) throws -> Result) throws -> Result {
        let result = try body(self)
        try check(failsCommitting)
        return result
    }

    private func check(_ fails: borrowing Atomic<Bool>) throws {
        guard fails.load(ordering: .sequentiallyConsistent) else { return }
        throw StoreError(.failed, "The disk does not answer; try again.")
    }

    // MARK: RowStore

    var layout: ModelLayout { rows.layout }
    var identifier: String { rows.identifier }
    var keepsHistory: Bool { rows.keepsHistory }
    func metadata() throws -> [String: Any] { try rows.metadata() }
    func setMetadata(_ metadata: [String: Any]) throws { try rows.setMetadata(metadata) }
    func reserveKeys(entity: Int32, count: Int) throws -> [Int64] {
        try rows.reserveKeys(entity: entity, count: count)
    }
    func row(_ id: RowID) throws -> Row? {
        readings.add(1, ordering: .sequentiallyConsistent)
        try check(failsReading)
        return try rows.row(id)
    }
    func rows(_ ids: [RowID]) throws -> [Row] {
        readings.add(1, ordering: .sequentiallyConsistent)
        try check(failsReading)
        return try rows.rows(ids)
    }
    func rows(matching query: RowQuery) throws -> [Row] {
        try check(failsReading)
        return try rows.rows(matching: query)
    }
    func ids(matching query: RowQuery) throws -> [RowID] {
        try check(failsReading)
        return try rows.ids(matching: query)
    }
    func count(matching query: RowQuery) throws -> Int {
        try check(failsReading)
        return try rows.count(matching: query)
    }
    func members(of owner: RowID, toMany slot: Int) throws -> [Link] {
        try check(failsMembers)
        return try rows.members(of: owner, toMany: slot)
    }
    func save(_ changes: ChangeSet) throws -> SaveOutcome {
        try check(failsSaving)
        return try rows.save(changes)
    }
    func history(_ query: HistoryQuery) throws -> [HistoryTransaction] { try rows.history(query) }
    @discardableResult
    func deleteHistory(_ extent: HistoryExtent) throws -> HistoryRemoval {
        try rows.deleteHistory(extent)
    }
    func historyConsumers() throws -> [HistoryConsumer] { try rows.historyConsumers() }
    func setHistoryConsumer(_ name: String, lastSeen number: Int64) throws {
        try rows.setHistoryConsumer(name, lastSeen: number)
    }
    func removeHistoryConsumer(_ name: String) throws { try rows.removeHistoryConsumer(name) }
    func lastTransactionNumber() throws -> Int64 { try rows.lastTransactionNumber() }
}

/// A coordinator over a store that can be made to fail.
final class FlakyBench {
    let coordinator: NSPersistentStoreCoordinator
    let rows: FlakyRows
    let context: NSManagedObjectContext
    private var others: [NSManagedObjectContext] = []

    struct NoFlakyRows: Error {}

    init() throws {
        FlakyRows.register()
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: TestModel.make())
        let store = try coordinator.addPersistentStore(
            ofType: FlakyRows.type, configurationName: nil, at: nil)
        guard let rows = store.rowStore as? FlakyRows else { throw NoFlakyRows() }
        self.rows = rows
        context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
    }

    func newContext(parent: NSManagedObjectContext? = nil) -> NSManagedObjectContext {
        let context = NSManagedObjectContext(.privateQueue)
        if let parent {
            context.parent = parent
        } else {
            context.persistentStoreCoordinator = coordinator
        }
        others.append(context)
        return context
    }

    func make(
        _ entity: String, _ name: String, in other: NSManagedObjectContext? = nil
    ) -> NSManagedObject {
        let object = NSEntityDescription.insertNewObject(
            forEntityName: entity, into: other ?? context)
        object.setValue(name, forKey: "name")
        return object
    }
}
