import CoreData
import Foundation
import Testing

/// A copy of a store that is not wanted any more stops, and leaves nothing of itself.
@Suite struct CancelledCopyTests {
    @Test(arguments: StoreKind.allCases.filter { $0 != .memory })
    func aCancelledTaskMovesNoStore(_ kind: StoreKind) async throws {
        let task = Task {
            let model = VersionDraft.model { $0.entity("Person", [text("name")]) }
            let bench = try MigrationBench()
            try bench.fill(model) { _ = $0.make("Person", ["name": "Ada"]) }
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            let store = try coordinator.addPersistentStore(
                ofType: bench.kind.type, configurationName: nil, at: bench.url, options: nil)
            withUnsafeCurrentTask { $0?.cancel() }
            #expect(throws: (any Error).self) {
                try coordinator.migratePersistentStore(
                    store, to: bench.folder.appendingPathComponent("other"), options: nil,
                    withType: kind.type)
            }
            #expect(bench.names == ["store.sqlite"])
            #expect(coordinator.persistentStores == [store])
        }
        try await task.value
    }
}
