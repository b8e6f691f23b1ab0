import Foundation
import Platform
import RecordService
import RecordWire
import Testing

/// Uploads while a bucket takes nothing.
@Suite(.everyBackend) struct RefusingBucketTests {
    /// A store that takes what comes, or nothing.
    private final class Shelf: ObjectStore {
        let isAway = Lock(false)

        var place: String { "a shelf" }

        func put(_ object: StoredObject, from descriptor: Int32) throws(ObjectStoreFailure) {
            guard isAway.withLock({ $0 }) else { return }
            throw ObjectStoreFailure("it is away", isTransient: false)
        }

        func remove(_ name: String) throws(ObjectStoreFailure) {}

        func get(
            _ object: StoredObject, _ range: Range<Int64>,
            _ take: (UnsafeRawBufferPointer) -> Bool
        ) throws(ObjectStoreFailure) -> Bool {
            false
        }

        func has(_ object: StoredObject) throws(ObjectStoreFailure) -> Bool { true }

        func list(after mark: String?) throws(ObjectStoreFailure) -> ObjectPage { ObjectPage() }
    }

    private func data(_ seed: UInt8, _ count: Int) -> Data { Data(repeating: seed, count: count) }

    /// Else a user whose bucket was away would be full for three days.
    @Test func whatTheBucketDidNotTakeCountsNoLonger() throws {
        let shelf = Shelf()
        var limits = ServiceLimits()
        limits.assets.bytesPerUserMax = 8_000
        let fixture = try ServiceFixture(
            StoragePlace.current.make(), limits: limits, objects: ObjectPlace(shelf, cache: nil))
        let kept = try fixture.upload(data(1, 2_000))
        shelf.isAway.withLock { $0 = true }
        for (seed, count): (UInt8, Int) in [(1, 2_000), (2, 5_000), (3, 5_000)] {
            let code = fixture.code { _ = try fixture.upload(data(seed, count)) }
            #expect(code == .tryAgainLater)
        }
        shelf.isAway.withLock { $0 = false }
        _ = try fixture.upload(data(4, 5_000))
        #expect(fixture.code { _ = try fixture.upload(data(5, 5_000)) } == .quotaExceeded)
        // The earlier receipt for a content that failed once more is as good as before.
        try fixture.save(fixture.note("a", kept))
        #expect(try fixture.asset(of: "a").size == 2_000)
    }
}
