import CoreData
import Foundation
import Testing

/// When a store keeps history, and who reads it.
@Suite final class HistoryTrackingTests {
    private let folder: URL
    private var url: URL { folder.appendingPathComponent("store.sqlite") }

    init() throws {
        folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("HistoryTracking-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    private struct Opened {
        let coordinator: NSPersistentStoreCoordinator
        let store: NSPersistentStore
        let context: NSManagedObjectContext

        func save(_ name: String) throws {
            let person = NSEntityDescription.insertNewObject(
                forEntityName: "Person", into: context)
            person.setValue(name, forKey: "name")
            try context.save()
        }

        func numbers() throws -> [Int64] {
            let request = NSPersistentHistoryChangeRequest.fetchHistory(
                after: nil as NSPersistentHistoryToken?)
            let result = try context.execute(request) as? NSPersistentHistoryResult
            let found = result?.result as? [NSPersistentHistoryTransaction]
            return (found ?? []).map(\.transactionNumber)
        }

        func deleteAll() throws {
            try context.execute(
                NSPersistentHistoryChangeRequest.deleteHistory(before: Date.distantFuture))
        }
    }

    /// Nil for an app that does not give the option.
    private func open(tracking: Bool? = nil) throws -> Opened {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: TestModel.make())
        let store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: url,
            options: tracking.map { [NSPersistentHistoryTrackingKey: $0] })
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return Opened(coordinator: coordinator, store: store, context: context)
    }

    @Test func historyIsOffUntilAnAppAsks() throws {
        let plain = try open()
        try plain.save("Ada")
        #expect(try plain.numbers() == [])
        #expect(plain.coordinator.currentPersistentHistoryToken(fromStores: nil) == nil)
        let asked = try open(tracking: true)
        try asked.save("Bob")
        #expect(try asked.numbers() == [1])
    }

    @Test func aFileThatHasAHistoryGoesOnWithIt() throws {
        try open(tracking: true).save("Ada")
        let later = try open()
        try later.save("Bob")
        #expect(try later.numbers() == [1, 2])
    }

    /// A save without history would be hidden from all who read it.
    @Test func historyIsNotTurnedOffWhileThereIsAny() throws {
        let first = try open(tracking: true)
        try first.save("Ada")
        let closed = try open(tracking: false)
        #expect(closed.store.isReadOnly)
        let error = #expect(throws: NSError.self) { try closed.save("Bob") }
        #expect(error?.localizedDescription.contains("NSPersistentHistoryTrackingKey") == true)
        #expect(
            try closed.context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Person"))
                == 2)
        try first.deleteAll()
        let off = try open(tracking: false)
        #expect(!off.store.isReadOnly)
        try off.save("Cyd")
        #expect(try off.numbers() == [])
    }

    @Test func whatAConsumerHasNotSeenStays() throws {
        let opened = try open(tracking: true)
        try opened.coordinator.setHistoryConsumer("widget", lastSeen: nil)
        for name in ["Ada", "Bob"] { try opened.save(name) }
        let token = opened.coordinator.currentPersistentHistoryToken(fromStores: nil)
        try opened.save("Cyd")
        #expect(
            try opened.coordinator.purgeHistory().waitingConsumers == ["widget"])
        try opened.deleteAll()
        #expect(try opened.numbers() == [1, 2, 3])
        try opened.coordinator.setHistoryConsumer("widget", lastSeen: token)
        // A mark never goes back.
        try opened.coordinator.setHistoryConsumer("widget", lastSeen: nil)
        let consumers = try opened.coordinator.historyConsumers(of: opened.store)
        #expect(consumers.map(\.name) == ["widget"])
        #expect(consumers.map(\.lastTransactionNumber) == [2])
        let purge = try opened.coordinator.purgeHistory()
        #expect(purge.transactionCount == 2 && purge.changeCount == 2)
        #expect(try opened.numbers() == [3])
        try opened.coordinator.removeHistoryConsumer("widget")
        #expect(try opened.coordinator.purgeHistory().waitingConsumers == [])
        #expect(try opened.numbers() == [])
    }

    /// Nothing is left of the history, but somebody waits for what comes.
    @Test func aReaderKeepsTheHistoryOn() throws {
        let opened = try open(tracking: true)
        try opened.save("Ada")
        let token = opened.coordinator.currentPersistentHistoryToken(fromStores: nil)
        try opened.coordinator.setHistoryConsumer("widget", lastSeen: token)
        try opened.coordinator.purgeHistory()
        #expect(try opened.numbers() == [])
        #expect(try open(tracking: false).store.isReadOnly)
        let later = try open()
        try later.save("Bob")
        #expect(try later.numbers() == [2])
    }

    /// Whoever has the file open writes history from the moment on that somebody reads it.
    @Test func aReaderTurnsHistoryOnForAllWhoHaveTheFileOpen() throws {
        let (app, refused) = (try open(), try open(tracking: false))
        try app.save("Ada")
        let reader = try open()
        try reader.coordinator.setHistoryConsumer("widget", lastSeen: nil)
        #expect(reader.coordinator.currentPersistentHistoryToken(fromStores: nil) != nil)
        try app.save("Bob")
        #expect(try reader.numbers() == [1])
        #expect(throws: NSError.self) { try refused.save("Cyd") }
        #expect(try reader.numbers() == [1])
    }
}
