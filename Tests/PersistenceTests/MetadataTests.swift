import CoreData
import Foundation
import Testing

/// What programs keep in a store's metadata, and how they read it.
@Suite struct MetadataTests {
    private static var values: [String: Any] {
        [
            "wide": Int64(5), "narrow": Int16(6), "unsigned": UInt32(7), "single": Float(0.5),
            "exact": Decimal(8), "flag": true, "place": CGFloat(1.5), "text": "x",
            "nested": ["a": Int64(9), "list": [Int32(10), "y"] as [Any]] as [String: Any],
        ]
    }

    private func check(_ found: [String: Any], _ kind: StoreKind) {
        #expect(found["wide"] as? Int64 == 5 && found["wide"] as? Int == 5)
        #expect(found["wide"] as? Int32 == 5 && found["wide"] as? Double == 5)
        #expect(found["narrow"] as? Int == 6 && found["unsigned"] as? UInt32 == 7)
        #expect(found["single"] as? Float == 0.5 && found["single"] as? Double == 0.5)
        #expect(found["exact"] as? Int == 8 && found["place"] as? Double == 1.5)
        #expect(found["flag"] as? Bool == true && found["text"] as? String == "x")
        let nested = found["nested"] as? [String: Any]
        #expect(nested?["a"] as? Int64 == 9)
        #expect((nested?["list"] as? [Any])?.first as? Int64 == 10)
    }

    @Test(arguments: StoreKind.allCases)
    func numbersAreReadAsAnyType(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        bench.coordinator.setMetadata(Self.values, for: bench.store)
        check(bench.coordinator.metadata(for: bench.store), kind)
        guard kind != .memory, let url = bench.store.url else { return }
        let type = NSPersistentStore.StoreType(rawValue: kind.type)
        check(
            try NSPersistentStoreCoordinator.metadataForPersistentStore(type: type, at: url), kind)
    }

    @Test(arguments: [StoreKind.sqlite, .xml, .binary])
    func metadataOfFilesAreSetWithNumbersOfAnyType(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        try bench.context.save()
        let url = try #require(bench.store.url)
        try bench.coordinator.remove(bench.store)
        let type = NSPersistentStore.StoreType(rawValue: kind.type)
        try NSPersistentStoreCoordinator.setMetadata(Self.values, type: type, at: url)
        check(
            try NSPersistentStoreCoordinator.metadataForPersistentStore(type: type, at: url), kind)
        #expect(throws: NSError.self) {
            try NSPersistentStoreCoordinator.setMetadata(["id": UUID()], type: type, at: url)
        }
    }

    @Test(arguments: [StoreKind.sqlite, .xml, .binary])
    func oneValueThatCannotBeKeptLosesNoOther(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        bench.store.metadata = ["id": UUID(), "other": "x", "list": [URL(fileURLWithPath: "/")]]
        #expect(bench.store.metadata["other"] as? String == "x")
        #expect(bench.store.metadata["id"] == nil && bench.store.metadata["list"] == nil)
    }

    @Test(arguments: StoreKind.allCases)
    func aCounterCounts(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        for _ in 0..<3 {
            let count = bench.store.metadata["count"] as? Int64 ?? 0
            bench.store.metadata["count"] = count + 1
        }
        #expect(bench.store.metadata["count"] as? Int64 == 3)
    }
}
