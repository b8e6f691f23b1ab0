import CoreData
import Foundation
import SQLiteStore
import Testing

@testable import Persistence

/// Options in other types than are meant.
@Suite struct OptionValueTests {
    private func add(
        _ options: [AnyHashable: Any], at url: URL
    ) throws -> NSPersistentStore {
        try NSPersistentStoreCoordinator(managedObjectModel: ShelfModel.make())
            .addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: options)
    }

    private func withStore(_ body: (URL) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("OptionValueTests-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let url = folder.appendingPathComponent("store")
        let store = try add([:], at: url)
        try store.persistentStoreCoordinator?.remove(store)
        try body(url)
    }

    /// Apple asks for `boolValue`, which texts have: a store that was to be read only was written.
    @Test(arguments: [
        ("YES", true), ("yes", true), ("true", true), ("1", true), (" 01", true), ("NO", false),
        ("false", false), ("0", false), ("", false),
    ])
    func textsAreReadAsTheirBooleans(_ text: String, _ isTrue: Bool) throws {
        try withStore { url in
            let store = try add([NSReadOnlyPersistentStoreOption: text], at: url)
            #expect(store.isReadOnly == isTrue)
            let description = NSPersistentStoreDescription(url: url)
            description.setOption(text as NSString, forKey: NSReadOnlyPersistentStoreOption)
            #expect(description.isReadOnly == isTrue)
            description.setOption(text as NSString, forKey: NSPersistentHistoryTrackingKey)
            let tracking = try add([NSPersistentHistoryTrackingKey: text], at: url)
            #expect((tracking.rowStore as? SQLiteRowStore)?.keepsHistory == isTrue)
        }
    }

    /// What is neither ends a program of Apple's; passed over it would be another store.
    @Test(arguments: [
        NSReadOnlyPersistentStoreOption, NSPersistentHistoryTrackingKey,
        NSMigratePersistentStoresAutomaticallyOption, NSPersistentStoreTimeoutOption,
        NSSQLitePragmasOption, NSPersistentStoreStagedMigrationManagerOptionKey,
    ])
    func whatCannotBeMeantIsRefused(_ key: String) throws {
        try withStore { url in
            let error = try cocoaError { _ = try add([key: Date()], at: url) }
            #expect(error.code == NSPersistentStoreOpenError)
            #expect(error.localizedDescription.contains(key))
            _ = try add([key: NSNull()], at: url)
        }
    }

    @Test func aTimeoutMayBeAText() throws {
        let description = NSPersistentStoreDescription()
        description.setOption("2.5" as NSString, forKey: NSPersistentStoreTimeoutOption)
        #expect(description.timeout == 2.5)
        #expect(throws: (any Error).self) {
            try add(
                [NSPersistentStoreTimeoutOption: "soon"],
                at: FileManager.default.temporaryDirectory.appendingPathComponent("never"))
        }
    }
}
