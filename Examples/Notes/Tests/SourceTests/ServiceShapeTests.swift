import CoreData
import XCTest

/// Merges what other authors saved into the view context.
actor HistoryService {
    private let container: NSPersistentContainer
    private let author: String
    private var token: NSPersistentHistoryToken?

    init(_ container: NSPersistentContainer, author: String) {
        self.container = container
        self.author = author
    }

    func merge() async throws -> Int {
        let (token, author) = (token, author)
        let context = container.newBackgroundContext()
        let transactions = try await context.perform {
            let request = NSPersistentHistoryChangeRequest.fetchHistory(after: token)
            if let choice = NSPersistentHistoryTransaction.fetchRequest {
                choice.predicate = NSPredicate(format: "%K != %@", "author", author)
                request.fetchRequest = choice
            }
            let result = try context.execute(request) as? NSPersistentHistoryResult
            return result?.result as? [NSPersistentHistoryTransaction] ?? []
        }
        let view = container.viewContext
        await view.perform {
            for transaction in transactions {
                view.mergeChanges(fromContextDidSave: transaction.objectIDNotification())
            }
        }
        self.token = transactions.last?.token ?? token
        return transactions.count
    }

    func forget() async throws {
        let token = token
        let context = container.newBackgroundContext()
        try await context.perform {
            _ = try context.execute(NSPersistentHistoryChangeRequest.deleteHistory(before: token))
        }
    }
}

/// A feed that is decoded and inserted in batches.
struct Feed: Decodable {
    struct Entry: Decodable, Sendable {
        let name: String
        let age: Int16

        var dictionary: [String: Any] { ["name": name, "age": age] }
    }

    let entries: [Entry]
}

actor FeedImporter {
    private let container: NSPersistentContainer

    init(_ container: NSPersistentContainer) { self.container = container }

    func run(_ data: Data, batch size: Int) async throws -> Int {
        let feed = try JSONDecoder().decode(Feed.self, from: data)
        let context = container.newBackgroundContext()
        context.name = "importContext"
        context.transactionAuthor = "importer"
        context.mergePolicy = NSMergeByPropertyObjectTrumpMergePolicy
        var imported = 0
        for start in stride(from: 0, to: feed.entries.count, by: size) {
            let entries = Array(feed.entries[start..<min(start + size, feed.entries.count)])
            imported += try await context.perform {
                let request = Self.request(for: entries)
                request.resultType = .objectIDs
                let result = try context.execute(request) as? NSBatchInsertResult
                return (result?.result as? [NSManagedObjectID] ?? []).count
            }
        }
        return imported
    }

    private static func request(for entries: [Feed.Entry]) -> NSBatchInsertRequest {
        var index = 0
        return NSBatchInsertRequest(
            entity: Person.entity(),
            dictionaryHandler: { dictionary in
                guard index < entries.count else { return true }
                dictionary.addEntries(from: entries[index].dictionary)
                index += 1
                return false
            })
    }
}

/// Edits one object beside the view, in a context of its own.
@MainActor final class Editor {
    let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
    let person: Person

    init(_ person: Person) throws {
        context.parent = person.managedObjectContext
        guard let own = try context.existingObject(with: person.objectID) as? Person else {
            throw CocoaError(.managedObjectReferentialIntegrity)
        }
        self.person = own
    }

    func done() throws {
        guard context.hasChanges else { return }
        try context.save()
        try context.parent?.save()
    }

    func cancel() { context.rollback() }
}

final class ServiceShapeTests: XCTestCase {
    func testHistoryOfOthersIsMerged() async throws {
        let file = AppModel.temporaryFile()
        let app = try AppModel.container(file: file)
        let extension_ = try AppModel.container(file: file)
        app.viewContext.transactionAuthor = "app"
        let service = HistoryService(app, author: "app")
        let other = extension_.newBackgroundContext()
        other.transactionAuthor = "extension"
        let changed = expectation(
            forNotification: .NSManagedObjectContextObjectsDidChange, object: app.viewContext
        ) { notification in
            (notification.userInfo?[NSInsertedObjectsKey] as? Set<NSManagedObject>)?.count == 2
        }
        try await other.perform {
            for name in ["Ann", "Bob"] { _ = Person(name: name, in: other) }
            try other.save()
        }
        var merged = try await service.merge()
        XCTAssertEqual(merged, 1)
        await fulfillment(of: [changed], timeout: 600)
        merged = try await service.merge()
        XCTAssertEqual(merged, 0)
        try await service.forget()
        merged = try await service.merge()
        XCTAssertEqual(merged, 0)
    }

    func testFeedIsImportedInBatches() async throws {
        let container = try AppModel.container()
        let entries = (1...25).map { #"{"name": "P\#($0)", "age": \#($0)}"# }
        let data = Data(#"{"entries": [\#(entries.joined(separator: ","))]}"#.utf8)
        let imported = try await FeedImporter(container).run(data, batch: 10)
        XCTAssertEqual(imported, 25)
        let context = container.newBackgroundContext()
        let old = try await context.perform {
            let request = Person.fetchRequest()
            request.predicate = NSPredicate(format: "age BETWEEN {20, 30}")
            return try context.count(for: request)
        }
        XCTAssertEqual(old, 6)
    }

    @MainActor func testEditingInAChild() throws {
        let context = try AppModel.container().viewContext
        let ann = Person(name: "Ann", in: context)
        try context.save()
        let editor = try Editor(ann)
        editor.person.name = "Anna"
        XCTAssertEqual(ann.name, "Ann")
        editor.cancel()
        XCTAssertEqual(editor.person.name, "Ann")
        editor.person.name = "Anne"
        try editor.done()
        XCTAssertEqual(ann.name, "Anne")
        XCTAssertFalse(context.hasChanges)
    }

    /// An executor that runs an actor's work on its context's queue.
    func testActorOnAContextsQueue() async throws {
        let store = NameStore(try AppModel.container())
        let id = try await store.add("Ann")
        let name = try await store.name(of: id)
        XCTAssertEqual(name, "Ann")
    }
}

final class ContextExecutor: SerialExecutor, @unchecked Sendable {
    // @unchecked: the context is used on its own queue.
    let context: NSManagedObjectContext

    init(_ context: NSManagedObjectContext) { self.context = context }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let executor = asUnownedSerialExecutor()
        context.perform { job.runSynchronously(on: executor) }
    }
}

actor NameStore {
    private let executor: ContextExecutor
    private var context: NSManagedObjectContext { executor.context }
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(_ container: NSPersistentContainer) {
        executor = ContextExecutor(container.newBackgroundContext())
    }

    func add(_ name: String) throws -> NSManagedObjectID {
        let person = Person(name: name, in: context)
        try context.save()
        return person.objectID
    }

    func name(of id: NSManagedObjectID) throws -> String? {
        try context.existingObject(with: id).value(forKey: "name") as? String
    }
}
