import Foundation
import Platform
import RecordService
import RecordWire
import Testing

/// What records name, told apart from what a bucket has, over each backend.
@Suite struct BucketComparisonTests {
    /// A store that has what it is given, and lists as many at once as it is told.
    private final class Shelf: ObjectStore {
        private let objects: Lock<[StoredObject]>
        private let pageMax: Int
        let asked = Lock<[String]>([])

        init(_ objects: [StoredObject], pageMax: Int = 2) {
            self.objects = Lock(objects.sorted { $0.name < $1.name })
            self.pageMax = pageMax
        }

        var place: String { "a shelf" }

        func put(_ object: StoredObject, from descriptor: Int32) throws(ObjectStoreFailure) {}
        func remove(_ name: String) throws(ObjectStoreFailure) {}

        func get(
            _ object: StoredObject, _ range: Range<Int64>,
            _ take: (UnsafeRawBufferPointer) -> Bool
        ) throws(ObjectStoreFailure) -> Bool {
            try has(object)
        }

        func has(_ object: StoredObject) throws(ObjectStoreFailure) -> Bool {
            asked.withLock { $0.append(object.name) }
            return objects.withLock { $0.contains(object) }
        }

        func list(after mark: String?) throws(ObjectStoreFailure) -> ObjectPage {
            objects.withLock { objects in
                let start = mark.flatMap { Int($0) } ?? 0
                let end = min(objects.count, start + pageMax)
                var page = ObjectPage()
                page.objects = objects[start..<end].compactMap {
                    ListedObject(name: $0.name, size: $0.size, modified: Date())
                }
                page.mark = end < objects.count ? "\(end)" : nil
                return page
            }
        }
    }

    private func compare(
        _ storage: ServiceStorage, with shelf: Shelf
    ) throws -> [StoredObject] {
        var missing: [StoredObject] = []
        let report = try storage.administration().compareObjects(
            in: ObjectPlace(shelf, cache: nil), removes: false
        ) { finding in
            if case .missing(let object) = finding { missing.append(object) }
        }
        #expect(report.missing == missing.count)
        return missing
    }

    @Test(arguments: StoragePlace.present)
    func whatRecordsNameIsMissedAndNothingElse(place: StoragePlace) throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("comparison-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let storage =
            place == .sqlite
            ? ServiceStorage.file(folder.appendingPathComponent("service.sqlite").path)
            : try place.make()
        let fixture = try ServiceFixture(storage)
        for size in 1...9 {
            let asset = try fixture.upload(Data(repeating: 7, count: size))
            try fixture.save(fixture.note("r\(size)", asset))
            // Named twice, it is missed once.
            if size == 4 { try fixture.save(fixture.note("twin", asset)) }
        }
        _ = try fixture.upload(Data(repeating: 8, count: 20))
        try fixture.save(fixture.note("r9", nil))

        let all = try compare(storage, with: Shelf([]))
        try #require(all.map(\.size).sorted() == Array(1...8))
        #expect(all.map(\.name) == all.map(\.name).sorted())
        let whole = Shelf(all)
        #expect(try compare(storage, with: whole).isEmpty)
        #expect(whole.asked.withLock { $0 }.isEmpty)
        let some = Shelf([all[1], all[3], all[6]])
        #expect(try compare(storage, with: some) == [0, 2, 4, 5, 7].map { all[$0] })
    }
}
