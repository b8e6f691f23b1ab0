import CoreData
import Foundation
import ObjectModel
import Platform
import Stores
import Testing

/// Stores that are copied while other contexts save to them.
@Suite struct CopyBesideSavesTests {
    /// The copy asks its target for keys after it asked the source which rows it has, and before it
    /// reads them.
    @Test(arguments: StoreKind.allCases)
    func aCopyIsOneStateOfItsSource(kind: StoreKind) throws {
        let bench = try Bench(kind)
        var graph = SampleGraph(seed: 21, context: bench.context)
        try graph.fill()
        let before = try SampleGraph.image(bench.newContext())
        let saves = Lock(0)
        let type = NSPersistentStore.StoreType(rawValue: "Asking, of \(kind)")
        let coordinator = bench.coordinator
        AskingRows.register(type.rawValue) { count in
            guard count < 3 else { return }
            try Self.onAnotherThread { try Self.change(coordinator) }
            saves.withLock { $0 += 1 }
        }
        let copy = try coordinator.migratePersistentStore(
            bench.store, to: URL(fileURLWithPath: "/dev/null"), type: type)
        #expect(saves.withLock { $0 } == 3 && coordinator.persistentStores == [copy])
        #expect(try SampleGraph.image(bench.newContext()) == before)
    }

    /// A copy is no save: what rows say about when they were saved last goes with them.
    @Test(arguments: StoreKind.logging, StoreKind.logging)
    func momentsGoWithTheirRows(from kind: StoreKind, to target: StoreKind) throws {
        let note = TestModel.entity("Note")
        let modified = NSDerivedAttributeDescription()
        modified.name = "modified"
        modified.attributeType = .dateAttributeType
        modified.derivationExpressionText = "now()"
        note.properties = [TestModel.attribute("name", .stringAttributeType), modified]
        let model = NSManagedObjectModel()
        model.entities = [note]
        let bench = try Bench(kind, model: model)
        for number in 0..<30 { try bench.make("Note", "\(number)") }
        try bench.context.save()
        func moments() throws -> [Date?] {
            let all = NSFetchRequest<NSManagedObject>(entityName: "Note")
            all.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
            return try bench.newContext().fetch(all).map { $0.value(forKey: "modified") as? Date }
        }
        let before = try moments()
        #expect(before.count == 30 && !before.contains(nil))
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("CopyBesideSavesTests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        _ = try bench.coordinator.migratePersistentStore(
            bench.store, to: folder.appendingPathComponent("copy"),
            type: NSPersistentStore.StoreType(rawValue: target.type))
        #expect(try moments() == before)
        let context = bench.newContext()
        let all = NSFetchRequest<NSManagedObject>(entityName: "Note")
        let first = try #require(try context.fetch(all).first)
        first.setValue("later", forKey: "name")
        try context.save()
        #expect(try Set(moments()).subtracting(before).count == 1)
    }

    /// The copying thread itself would read what the copy reads.
    private static func onAnotherThread(_ work: @escaping @Sendable () throws -> Void) throws {
        let result = Lock<Result<Void, any Error>>(.success(()))
        let done = DispatchSemaphore(value: 0)
        DispatchQueue.global().async {
            let made = Result { try work() }
            result.withLock { $0 = made }
            done.signal()
        }
        done.wait()
        try result.withLock { $0 }.get()
    }

    /// Renames, deletes, inserts and links objects of all kinds, in one save.
    private static func change(_ coordinator: NSPersistentStoreCoordinator) throws {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        func make(_ entity: String) -> NSManagedObject {
            let made = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
            made.setValue("Late", forKey: "name")
            return made
        }
        func all(_ entity: String) throws -> [NSManagedObject] {
            try context.fetch(NSFetchRequest<NSManagedObject>(entityName: entity))
        }
        for song in try all("Song") { song.setValue("changed", forKey: "name") }
        try all("Tag").first.map(context.delete)
        let late = make("Person")
        let people = try all("Person")
        late.setValue(Set(people), forKey: "friends")
        late.setValue(make("Passport"), forKey: "passport")
        for project in try all("Project") { project.setValue(late, forKey: "owner") }
        try context.save()
    }
}

/// Rows in memory that ask the test, whenever they are to hand out keys, what to do first.
private final class AskingRows: HistorylessStore {
    typealias Question = @Sendable (Int) throws -> Void
    private let rows: MemoryRowStore
    private let ask: Question
    private let asked = Lock(0)

    /// `ask` gets the number of the question, from 0.
    static func register(_ type: String, _ ask: @escaping Question) {
        StoreRegistry.register(type) { opening in
            let layout = ModelLayout(model: opening.model, configuration: opening.configuration)
            return AskingRows(MemoryRowStore(layout: layout), ask)
        }
    }

    private init(_ rows: MemoryRowStore, _ ask: @escaping Question) {
        self.rows = rows
        self.ask = ask
    }

    func reserveKeys(entity: Int32, count: Int) throws -> [Int64] {
        let number = asked.withLock { asked in
            defer { asked += 1 }
            return asked
        }
        try ask(number)
        return try rows.reserveKeys(entity: entity, count: count)
    }

    var layout: ModelLayout { rows.layout }
    var identifier: String { rows.identifier }
    func metadata() throws -> [String: Any] { try rows.metadata() }
    func setMetadata(_ metadata: [String: Any]) throws { try rows.setMetadata(metadata) }
    func row(_ id: RowID) throws -> Row? { try rows.row(id) }
    func rows(_ ids: [RowID]) throws -> [Row] { try rows.rows(ids) }
    func rows(matching query: RowQuery) throws -> [Row] { try rows.rows(matching: query) }
    func ids(matching query: RowQuery) throws -> [RowID] { try rows.ids(matching: query) }
    func count(matching query: RowQuery) throws -> Int { try rows.count(matching: query) }
    func members(of owner: RowID, toMany slot: Int) throws -> [Link] {
        try rows.members(of: owner, toMany: slot)
    }
    func save(_ changes: ChangeSet) throws -> SaveOutcome { try rows.save(changes) }
    var historyRefusal: StoreError {
        StoreError(.unsupported, "Rows that ask keep no history; use a MemoryRowStore.")
    }
}
