import Foundation
import ObjectModel
import Persistence
import SQLiteDriver
import SQLiteStore
import Stores
import Testing

/// Several processes at one file: each exit test's body runs in a process of its own.
@Suite(.serialized) struct ProcessTests {
    private let scratch: Scratch
    private var path: String { scratch.url("shared.sqlite").path }

    init() throws { scratch = try Scratch() }

    @Test func twoProcessesWriteWhileOthersRead() async throws {
        let store = try TwoProcesses.open(path)
        async let first: Void = writes(60, as: 1)
        async let second: Void = writes(60, as: 2)
        async let third: Void = reads(until: 60)
        for number in 1...60 {
            try TwoProcesses.write(store, writer: 3, number: Int64(number))
            _ = try TwoProcesses.check(store)
        }
        _ = await (first, second, third)
        #expect(try TwoProcesses.check(store) == [1: 60, 2: 60, 3: 60])
        let history = try store.history(after: 0, limit: nil)
        #expect(history.count == 180 && history.flatMap(\.changes).count == 360)
        let keys = try store.read {
            try $0.connection.rows(
                "SELECT count(*), count(DISTINCT Z_PK), max(Z_PK) FROM ZNOTE")[0]
        }
        #expect(keys == [360, 360, 360])
        #expect(try store.read { try $0.connection.value("PRAGMA integrity_check") } == "ok")
    }

    private func writes(_ count: Int, as writer: Int) async {
        await #expect(processExitsWith: .success) {
            [path = path as String, count = count as Int, writer = writer as Int] in
            let store = try TwoProcesses.open(path)
            for number in 1...count {
                try TwoProcesses.write(store, writer: Int64(writer), number: Int64(number))
            }
        }
    }

    /// Each look sees whole saves, and never fewer than the look before.
    private func reads(until last: Int) async {
        await #expect(processExitsWith: .success) {
            [path = path as String, last = last as Int] in
            let store = try TwoProcesses.open(path)
            var seen: [Int64: Int64] = [:]
            for _ in 0..<200_000 {
                let now = try TwoProcesses.check(store)
                for (writer, number) in seen where now[writer] ?? 0 < number { exit(3) }
                seen = now
                if (1...3).allSatisfy({ now[$0] ?? 0 >= Int64(last) }) { exit(0) }
            }
            exit(4)
        }
    }

    @Test func aLockThatLastsIsToldAfterTheTimeout() async throws {
        let store = try TwoProcesses.open(path)
        try TwoProcesses.write(store, writer: 1, number: 1)
        let mark = scratch.url("locked").path
        async let holder: Void = holdsTheLock(mark)
        while !FileManager.default.fileExists(atPath: mark) {
            try await Task.sleep(for: .milliseconds(10))
        }
        let impatient = try TwoProcesses.open(path, busyMilliseconds: 200)
        let start = ContinuousClock.now
        let error = #expect(throws: StoreError.self) {
            try TwoProcesses.write(impatient, writer: 2, number: 1)
        }
        #expect(error?.code == .busy)
        #expect(error?.message.contains("lock") == true)
        let waited = ContinuousClock.now - start
        #expect(waited >= .milliseconds(150))
        #expect(try TwoProcesses.check(impatient) == [1: 1])
        try FileManager.default.removeItem(atPath: mark)
        try TwoProcesses.write(store, writer: 2, number: 1)
        _ = await holder
        #expect(try TwoProcesses.check(store) == [1: 1, 2: 1])
    }

    private func holdsTheLock(_ mark: String) async {
        await #expect(processExitsWith: .success) {
            [path = path as String, mark = mark as String] in
            try TwoProcesses.open(path).write { _ in
                _ = FileManager.default.createFile(atPath: mark, contents: nil)
                for _ in 0..<6000 where FileManager.default.fileExists(atPath: mark) {
                    usleep(20_000)
                }
            }
        }
    }

    @Test func whatAnotherProcessSavesReachesContexts() async throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: TwoProcesses.model())
        _ = try coordinator.addPersistentStore(type: .sqlite, at: URL(fileURLWithPath: path))
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        context.automaticallyMergesChangesFromParent = true
        let note = try context.performAndWait {
            let note = NSManagedObject(
                entity: try #require(coordinator.managedObjectModel.entitiesByName["Note"]),
                insertInto: context)
            note.setValue("ours", forKey: "text")
            try context.save()
            return note
        }
        #expect(try !coordinator.processForeignChanges())
        await #expect(processExitsWith: .success) { [path = path as String] in
            let store = try TwoProcesses.open(path)
            try store.write { transaction in
                guard let layout = transaction.layout.entities.first,
                    let slot = layout.attributeSlot("text")
                else { return }
                var changes = ChangeSet()
                var update = RowUpdate(id: RowID(entity: layout.number, key: 1))
                update.attributes = [(slot, .text("theirs"))]
                changes.updates = [update]
                _ = try transaction.apply(changes)
            }
        }
        let told = Told()
        let observer = NotificationCenter.default.addObserver(
            forName: .NSPersistentStoreRemoteChange, object: coordinator, queue: nil
        ) { _ in told.count() }
        defer { NotificationCenter.default.removeObserver(observer) }
        #expect(try coordinator.processForeignChanges())
        #expect(told.number == 1)
        #expect(try !coordinator.processForeignChanges())
        // Merging is queued on the context's queue, so this waits for it.
        #expect(context.performAndWait { note.value(forKey: "text") as? String } == "theirs")
    }

    // MARK: Crashes

    @Test(arguments: [
        "external.halfWritten", "external.beforeRename", "external.afterRename",
        "store.beforeCommit", "external.beforeRemoving",
    ])
    func aCrashLeavesNoHalfWrittenValueAndNoOrphan(point: String) async throws {
        let old = Data(repeating: 1, count: 150_000)
        try TwoProcesses.write(TwoProcesses.open(path), writer: 1, number: 1, bytes: old)
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [path = path as String, point = point as String] in
            let store = try TwoProcesses.open(path, faults: DeadlyFaults(point: point))
            guard let layout = store.layout.entities.first,
                let slot = layout.attributeSlot("large")
            else { return }
            var changes = ChangeSet()
            for key in 1...2 {
                var update = RowUpdate(id: RowID(entity: layout.number, key: Int64(key)))
                update.attributes = [(slot, .data(Data(repeating: 2, count: 250_000)))]
                changes.updates.append(update)
            }
            _ = try store.save(changes)
        }
        let store = try TwoProcesses.open(path)
        let wanted = point == "external.beforeRemoving" ? Data(repeating: 2, count: 250_000) : old
        let layout = try #require(store.layout.entities.first)
        let slot = try #require(layout.attributeSlot("large"))
        for key in 1...2 {
            let row = try store.row(RowID(entity: layout.number, key: Int64(key)))
            #expect(row?.attributes[slot] == .data(wanted))
        }
        let support = scratch.url(".shared_SUPPORT").path
        let files = try FileManager.default.contentsOfDirectory(
            atPath: support + "/_EXTERNAL_DATA")
        #expect(files.count == 2)
        #expect(try FileManager.default.contentsOfDirectory(atPath: support).count == 1)
        #expect(try store.read { try $0.connection.value("PRAGMA integrity_check") } == "ok")
    }
}

/// Counts notifications.
private final class Told: @unchecked Sendable {
    // @unchecked: the lock protects the number.
    private let lock = NSLock()
    private var counted = 0

    func count() { lock.withLock { counted += 1 } }
    var number: Int { lock.withLock { counted } }
}
