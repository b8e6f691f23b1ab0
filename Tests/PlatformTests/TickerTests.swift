import Foundation
import Platform
import Testing

/// Calls every so often.
@Suite struct TickerTests {
    private static let calls = 2_000

    @Test func noNumberOfTicksMakesACallDeeper() {
        let depths = Lock<[Int]>([])
        let enough = DispatchSemaphore(value: 0)
        let ticker = Ticker(everySeconds: 0.000_01) {
            let count = depths.withLock { depths in
                depths.append(StackDepth.now)
                return depths.count
            }
            if count == Self.calls { enough.signal() }
        }
        enough.wait()
        ticker.stop()
        let found = depths.withLock { $0 }
        // A queue calls from one of two places, which are some calls apart.
        let spread = (found.max() ?? .max) - (found.min() ?? 0)
        #expect(spread < 20)
    }

    @Test func afterItsEndItCallsNobodyAndHoldsNothing() {
        final class Held: Sendable {}
        let count = Lock(0)
        let called = DispatchSemaphore(value: 0)
        weak var held: Held?
        let ticker: Ticker
        do {
            let mine = Held()
            held = mine
            ticker = Ticker(everySeconds: 0.000_01) {
                _ = mine
                count.withLock { $0 += 1 }
                called.signal()
            }
        }
        called.wait()
        ticker.stop()
        let last = count.withLock { $0 }
        #expect(held == nil)
        #expect(count.withLock { $0 } == last)
    }
}
