import Foundation
import ObjectModel
import Persistence
import Platform
import SQLiteStore
import Stores
import Testing

/// NSPersistentStoreRemoteChange, posted by itself when another process saved.
@Suite(.serialized) struct RemoteChangeTests {
    private let scratch: Scratch
    private var path: String { scratch.url("shared.sqlite").path }

    init() throws { scratch = try Scratch() }

    private func open(
        _ options: [AnyHashable: Any] = [
            NSPersistentStoreRemoteChangeNotificationPostOptionKey: true,
            NSPersistentHistoryTrackingKey: true,
        ]
    ) throws -> OpenedStore {
        try OpenedStore(URL(fileURLWithPath: path), TwoProcesses.model(), options: options)
    }

    private func childWrites(_ number: Int) async {
        await #expect(processExitsWith: .success) {
            [path = path as String, number = number as Int] in
            try TwoProcesses.write(TwoProcesses.open(path), writer: 7, number: Int64(number))
        }
    }

    @Test func aSaveOfAnotherProcessIsToldAndMerged() async throws {
        let opened = try open()
        let context = opened.context
        context.automaticallyMergesChangesFromParent = true
        let note = try context.performAndWait {
            let entity = try #require(opened.rows.layout.entity(named: "Note")).entity
            let note = NSManagedObject(entity: entity, insertInto: context)
            note.setValue("ours", forKey: "text")
            try context.save()
            return note
        }
        let told = Notices(of: opened.coordinator)
        await #expect(processExitsWith: .success) { [path = path as String] in
            let store = try TwoProcesses.open(path)
            guard let layout = store.layout.entities.first,
                let slot = layout.attributeSlot("text")
            else { return }
            var changes = ChangeSet()
            var update = RowUpdate(id: RowID(entity: layout.number, key: 1))
            update.attributes = [(slot, .text("theirs"))]
            changes.updates = [update]
            _ = try store.save(changes)
        }
        #expect(await eventually { !told.all.isEmpty })
        let arrival = try #require(told.all.first)
        #expect(told.all.count == 1)
        #expect(arrival.uuid == opened.store.identifier)
        #expect(arrival.url == URL(fileURLWithPath: path))
        let numbers = try #require(arrival.token?.numbers)
        #expect(numbers.count == 1 && numbers[opened.store.identifier] == 2)
        let text = context.performAndWait { note.value(forKey: "text") as? String }
        #expect(text == "theirs")
    }

    @Test func aWriterKilledInItsSaveIsNotToldAndTheNextOneIs() async throws {
        let opened = try open()
        let told = Notices(of: opened.coordinator)
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
            let store = try TwoProcesses.open(
                path, faults: DeadlyFaults(point: "external.afterRename"))
            try TwoProcesses.write(
                store, writer: 1, number: 1, bytes: Data(repeating: 1, count: 200_000))
        }
        try await Task.sleep(for: .milliseconds(500))
        #expect(told.all.isEmpty)
        await childWrites(2)
        #expect(await eventually { told.all.count == 1 })
        #expect(try opened.objects("Note").count == 2)
    }

    @Test func everySaveOfManyIsSeenInTheEnd() async throws {
        let opened = try open()
        let told = Notices(of: opened.coordinator)
        async let child: Void = childWritesFiftyTimes()
        for number in 1...20 {
            try TwoProcesses.write(opened.rows, writer: 2, number: Int64(number))
        }
        _ = await child
        let last = try opened.rows.lastTransactionNumber()
        #expect(last == 70)
        #expect(
            await eventually { told.all.last?.token?.numbers == [opened.store.identifier: last] })
        #expect(told.all.count <= 50)
    }

    private func childWritesFiftyTimes() async {
        await #expect(processExitsWith: .success) { [path = path as String] in
            let store = try TwoProcesses.open(path)
            for number in 1...50 {
                try TwoProcesses.write(store, writer: 1, number: Int64(number))
                usleep(3_000)
            }
        }
    }

    @Test func savesOfThisProcessAreToldOncePerSave() async throws {
        let (mine, other) = (try open(), try open())
        let told = (Notices(of: mine.coordinator), Notices(of: other.coordinator))
        let entity = try #require(mine.rows.layout.entity(named: "Note")).entity
        for _ in 0..<3 {
            _ = NSManagedObject(entity: entity, insertInto: mine.context)
            try mine.context.save()
            let count = told.0.all.count
            #expect(await eventually { told.1.all.count >= count })
        }
        try await Task.sleep(for: .milliseconds(400))
        #expect(told.0.all.count == 3)
        #expect(told.1.all.count == 3)
    }

    @Test func aSimulatedWatcherDecidesWhenToLook() throws {
        let watcher = HandWatcher()
        var platform = Environment.system
        platform.watcher = watcher
        let coordinator = NSPersistentStoreCoordinator(
            model: TwoProcesses.model(), platform: platform)
        let url = URL(fileURLWithPath: path)
        let store = try coordinator.addPersistentStore(
            type: .sqlite, at: url,
            options: [NSPersistentStoreRemoteChangeNotificationPostOptionKey: true])
        let told = Notices(of: coordinator)
        let look = try #require(watcher.looks.first)
        #expect(!look())
        try TwoProcesses.write(TwoProcesses.open(path), writer: 1, number: 1)
        #expect(told.all.isEmpty)
        #expect(look() && told.all.count == 1)
        #expect(!look() && told.all.count == 1)
        try coordinator.remove(store)
        #expect(watcher.ended == 1)
        try TwoProcesses.write(TwoProcesses.open(path), writer: 1, number: 2)
        #expect(look() && told.all.count == 1, "there is nothing to look for any more")
    }

    @Test func batchDeletionsAndReplacementsAreToldToo() async throws {
        let (mine, other) = (try open(), try open())
        let told = (Notices(of: mine.coordinator), Notices(of: other.coordinator))
        try TwoProcesses.write(other.rows, writer: 1, number: 1)
        try TwoProcesses.write(other.rows, writer: 1, number: 2)
        #expect(await eventually { told.0.last == 2 })
        let before = told.1.all.count
        let notes = try other.objects("Note")
        try other.context.execute(NSBatchDeleteRequest(objectIDs: [notes[0].objectID]))
        #expect(told.1.all.count == before + 1)
        #expect(await eventually { told.0.last == 3 })
        let toldOfRows = told.0.all.count
        let fresh = scratch.url("fresh.sqlite")
        do { try TwoProcesses.write(TwoProcesses.open(fresh.path), writer: 5, number: 1) }
        mine.context.automaticallyMergesChangesFromParent = true
        let kept = try #require(try mine.objects("Note").last)
        _ = kept.value(forKey: "writer")
        try NSPersistentStoreCoordinator(managedObjectModel: TwoProcesses.model())
            .replacePersistentStore(
                at: URL(fileURLWithPath: path), withPersistentStoreFrom: fresh, type: .sqlite)
        #expect(await eventually { told.0.all.count == toldOfRows + 1 })
        // What stands there now is another store's.
        let error = #expect(throws: (any Error).self) { try mine.objects("Note") }
        #expect((error as NSError?)?.code == NSPersistentStoreOpenError)
    }

    @Test func veryManyChangesAreToldWithoutNamingThem() async throws {
        let (mine, other) = (try open(), try TwoProcesses.open(path))
        let layout = try #require(other.layout.entities.first)
        mine.context.automaticallyMergesChangesFromParent = true
        let told = Notices(of: mine.coordinator)
        try TwoProcesses.write(other, writer: 1, number: 1)
        #expect(await eventually { told.last == 1 })
        let before = told.all.count
        let note = try #require(try mine.objects("Note").first)
        #expect(note.value(forKey: "number") as? Int == 1)
        var changes = ChangeSet()
        for key in try other.reserveKeys(entity: layout.number, count: 60_000) {
            changes.inserts.append(Row(id: RowID(entity: layout.number, key: key), layout: layout))
        }
        var update = RowUpdate(id: RowID(entity: layout.number, key: note.key))
        let slot = try #require(layout.attributeSlot("number"))
        update.attributes = [(slot, .integer(2))]
        changes.updates = [update]
        _ = try other.save(changes)
        #expect(await eventually { told.all.count == before + 1 })
        #expect(mine.context.performAndWait { note.value(forKey: "number") as? Int } == 2)
        #expect(try mine.rows.foreignTransactions() == nil)
    }

    @Test func withoutTheOptionNothingIsTold() async throws {
        let opened = try open([:])
        let told = Notices(of: opened.coordinator)
        await childWrites(1)
        try await Task.sleep(for: .milliseconds(300))
        #expect(told.all.isEmpty)
        #expect(try opened.coordinator.processForeignChanges())
        #expect(told.all.count == 1)
    }

    @Test func reservedKeysAndMetadataAreNoNews() async throws {
        let opened = try open()
        let told = Notices(of: opened.coordinator)
        await #expect(processExitsWith: .success) { [path = path as String] in
            let store = try TwoProcesses.open(path)
            _ = try store.reserveKeys(entity: 1, count: 10)
            try store.setMetadata(["a": "b"])
        }
        try await Task.sleep(for: .milliseconds(300))
        #expect(told.all.isEmpty)
    }

    @Test func withoutHistoryContextsReadAllAnew() async throws {
        let options: [AnyHashable: Any] = [
            NSPersistentStoreRemoteChangeNotificationPostOptionKey: true,
            NSPersistentHistoryTrackingKey: false,
        ]
        let (mine, other) = (try open(options), try open(options))
        let entity = try #require(mine.rows.layout.entity(named: "Note")).entity
        let note = NSManagedObject(entity: entity, insertInto: other.context)
        note.setValue("first", forKey: "text")
        try other.context.save()
        let context = mine.context
        context.automaticallyMergesChangesFromParent = true
        let seen = try #require(try mine.objects("Note").first)
        #expect(seen.value(forKey: "text") as? String == "first")
        note.setValue("second", forKey: "text")
        try other.context.save()
        #expect(
            await eventually {
                context.performAndWait { seen.value(forKey: "text") as? String } == "second"
            })
    }

    @Test func storesThatCloseLeaveNoDescriptorAndHearNothing() async throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: TwoProcesses.model())
        let url = URL(fileURLWithPath: path)
        let options: [AnyHashable: Any] = [
            NSPersistentStoreRemoteChangeNotificationPostOptionKey: true
        ]
        func cycle() throws {
            let store = try coordinator.addPersistentStore(
                type: .sqlite, at: url, options: options)
            try coordinator.remove(store)
        }
        let folder = scratch.folder.path
        func ours() -> Int { Descriptors.links.count { $0.hasPrefix(folder) } }
        for _ in 0..<200 { try cycle() }
        #expect(await eventually { ours() == 0 })
        let told = Notices(of: coordinator)
        try TwoProcesses.write(TwoProcesses.open(path), writer: 1, number: 1)
        try await Task.sleep(for: .milliseconds(200))
        #expect(told.all.isEmpty)
    }
}

/// What a coordinator posts.
private final class Notices: @unchecked Sendable {
    // @unchecked: the lock protects the list.
    struct Notice {
        var date: Date
        var uuid: String?
        var url: URL?
        var token: NSPersistentHistoryToken?
    }

    private let lock = NSLock()
    private var listed: [Notice] = []
    private var observer: (any NSObjectProtocol)?

    init(of coordinator: NSPersistentStoreCoordinator) {
        observer = NotificationCenter.default.addObserver(
            forName: .NSPersistentStoreRemoteChange, object: coordinator, queue: nil
        ) { [weak self] notice in
            let info = notice.userInfo ?? [:]
            let told = Notice(
                date: Date(), uuid: info[NSStoreUUIDKey] as? String,
                url: info[NSPersistentStoreURLKey] as? URL,
                token: info[NSPersistentHistoryTokenKey] as? NSPersistentHistoryToken)
            self?.lock.withLock { self?.listed.append(told) }
        }
    }

    deinit {
        if let observer { NotificationCenter.default.removeObserver(observer) }
    }

    var all: [Notice] { lock.withLock { listed } }

    /// The number of the last transaction that was told of. Notices of what was written before
    /// they were listened for may come late, so that to count them tells little.
    var last: Int64? { all.last?.token?.numbers.values.max() }
}

/// Keeps what it is to call, for the test to call.
private final class HandWatcher: FileWatcher, @unchecked Sendable {
    // @unchecked: used by one test on one thread.
    private(set) var looks: [@Sendable () -> Bool] = []
    private(set) var ended = 0

    func watch(_ paths: [String], _ look: @escaping @Sendable () -> Bool) -> any FileWatch {
        looks.append(look)
        return Watch(self)
    }

    private final class Watch: FileWatch, @unchecked Sendable {
        // @unchecked: never changed once made.
        private let watcher: HandWatcher
        init(_ watcher: HandWatcher) { self.watcher = watcher }
        func end() { watcher.ended += 1 }
    }
}
