import Foundation
import ObjectModel
import Persistence
import SQLiteDriver
import SQLiteStore
import Stores
import Testing

/// Apple's options, as they reach a file through a coordinator.
@Suite struct OptionTests {
    private let scratch: Scratch
    private var url: URL { scratch.url("store.sqlite") }

    init() throws { scratch = try Scratch() }

    private func open(_ options: [AnyHashable: Any]?) throws -> OpenedStore {
        try OpenedStore(url, TwoProcesses.model(), options: options)
    }

    private func pragma(_ name: String, of opened: OpenedStore) throws -> SQLiteValue {
        try opened.sql("PRAGMA \(name)")[0][0]
    }

    @Test func pragmasReachTheConnection() throws {
        let opened = try open([
            NSSQLitePragmasOption: [
                "journal_mode": "DELETE", "synchronous": "FULL", "cache_size": 500,
                "fullfsync": "1",
            ] as [String: Any]
        ])
        #expect(try pragma("journal_mode", of: opened) == "delete")
        #expect(try pragma("synchronous", of: opened) == 2)
        #expect(try pragma("cache_size", of: opened) == 500)
    }

    @Test func aPragmaThatCanHurtIsRefusedWithItsReason() throws {
        let error =
            try #require(
                throws: (any Error).self
            ) {
                _ = try open([NSSQLitePragmasOption: ["writable_schema": "ON"]])
            } as NSError
        #expect(error.domain == NSCocoaErrorDomain)
        #expect(error.localizedDescription.contains("make the file unreadable"))
        #expect(!FileManager.default.fileExists(atPath: url.path))
    }

    @Test func aReadOnlyStoreReadsAndCannotBeSaved() throws {
        do { try TwoProcesses.write(open(nil).rows, writer: 1, number: 1) }
        let opened = try open([NSReadOnlyPersistentStoreOption: true])
        #expect(opened.store.isReadOnly)
        let notes = try opened.objects("Note")
        #expect(notes.count == 2)
        notes[0].setValue("x", forKey: "text")
        #expect(throws: (any Error).self) { try opened.context.save() }
        #expect(try open(nil).objects("Note")[0].value(forKey: "text") == nil)
    }

    @Test func versionsAreIgnoredOnRequestAsLongAsTheColumnsAreThere() throws {
        do { try TwoProcesses.write(open(nil).rows, writer: 1, number: 1) }
        let other = TwoProcesses.model()
        other.entitiesByName["Note"]?.versionHashModifier = "2"
        let error = #expect(throws: (any Error).self) { try OpenedStore(url, other) }
        #expect((error as NSError?)?.code == NSPersistentStoreIncompatibleVersionHashError)
        let opened = try OpenedStore(
            url, other, options: [NSIgnorePersistentStoreVersioningOption: true])
        #expect(try opened.objects("Note").count == 2)
    }

    @Test func analysisAndVacuumRunWhenTheStoreIsAdded() throws {
        do {
            let store = try open(nil).rows
            for number in 1...40 {
                try TwoProcesses.write(
                    store, writer: 1, number: Int64(number),
                    bytes: Data(repeating: 3, count: 3_000))
            }
            try store.write { _ = try $0.connection.run("DELETE FROM ZNOTE WHERE Z_PK > 4") }
        }
        let opened = try open([NSSQLiteAnalyzeOption: true, NSSQLiteManualVacuumOption: true])
        #expect(try pragma("freelist_count", of: opened) == 0)
        #expect(try !opened.sql("SELECT tbl FROM sqlite_stat1").isEmpty)
        #expect(try opened.objects("Note").count == 4)
    }

    @Test func destroyingAStoreTakesItsLargeValuesAlong() throws {
        let support = scratch.url(".store_SUPPORT").path
        let coordinator = try {
            let opened = try open(nil)
            try TwoProcesses.write(
                opened.rows, writer: 1, number: 1, bytes: Data(repeating: 5, count: 200_000))
            #expect(FileManager.default.fileExists(atPath: support))
            try opened.coordinator.remove(opened.store)
            return opened.coordinator
        }()
        try coordinator.destroyPersistentStore(at: url, type: .sqlite)
        let left = try FileManager.default.contentsOfDirectory(atPath: scratch.folder.path)
        #expect(left == [url.lastPathComponent] && SQLiteRowStore.isFree(url))
    }

    @Test func aLargeValueIsReadBackThroughAContext() throws {
        let large = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        do {
            let opened = try open(nil)
            let entity = try #require(opened.rows.layout.entity(named: "Note")).entity
            let note = NSManagedObject(entity: entity, insertInto: opened.context)
            note.setValue(large, forKey: "large")
            try opened.context.save()
        }
        let opened = try open(nil)
        let note = try #require(try opened.objects("Note").first)
        #expect(note.value(forKey: "large") as? Data == large)
        note.setValue("new", forKey: "text")
        try opened.context.save()
        #expect(note.value(forKey: "large") as? Data == large)
        opened.context.delete(note)
        try opened.context.save()
        let folder = scratch.url(".store_SUPPORT/_EXTERNAL_DATA").path
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == [])
    }
}
