import Foundation
import MirrorEngine
import MirrorTestKit
import Platform
import SQLiteDriver
import SQLiteStore
import Testing

/// Names that sort by when they were made.
@Suite struct TimeOrderedUUIDTests {
    private let clock = VirtualClock(Date(timeIntervalSince1970: 1_645_557_742))
    private var platform: Environment {
        Environment(clock: clock, randomness: SystemRandomness(), faults: NoFaults())
    }

    /// The example of RFC 9562, Appendix A.6, has this millisecond.
    @Test func theTimeStandsInFront() {
        let text = platform.timeOrderedUUID().spelled
        #expect(text.hasPrefix("017F22E2-79B0-7000-"))
        #expect("89AB".contains(Array(text)[19]))
        clock.advance(seconds: 0.0005)
        #expect(platform.timeOrderedUUID().spelled.hasPrefix("017F22E2-79B0-7800-"))
    }

    @Test func whatIsMadeLaterSortsLater() {
        let names = (0..<2_000).map { step in
            clock.advance(seconds: [0.000_001, 0.000_9, 0.3, 86_400][step % 4])
            return platform.timeOrderedUUID().spelled
        }
        #expect(names == names.sorted())
    }

    @Test func namesOfOneMomentAreAllDifferent() {
        let platform = self.platform
        #expect(Set((0..<10_000).map { _ in platform.timeOrderedUUID() }).count == 10_000)
    }

    @Test func noTimeIsOutOfRange() {
        for seconds in [-1e300, -1, 0, 1e18, 1e300, .infinity, -.infinity, .nan] {
            let clock = VirtualClock(Date(timeIntervalSince1970: seconds))
            let platform = Environment(
                clock: clock, randomness: SystemRandomness(), faults: NoFaults())
            #expect(platform.timeOrderedUUID().uuid.6 >> 4 == 7)
        }
    }

    /// At the first look at a store, and from its history; several in one transaction.
    @Test func recordsAreNamedInTheOrderInWhichTheyWereMade() throws {
        let device = try Device(1, try Device.service())
        for _ in 0..<5 {
            for _ in 0..<40 { try device.insert("Note") }
            try device.sync()
            device.clock.advance(seconds: 1)
        }
        let names = try device.store.read {
            try $0.connection.rows("SELECT ZCKRECORDNAME FROM ANSCKRECORDMETADATA ORDER BY Z_PK")
        }.compactMap { $0[0].string }
        #expect(names.count == 200)
        #expect(Set(names.map { Array($0)[14] }) == ["7", "8"])
        #expect(names.dropFirst(40).elementsEqual(names.dropFirst(40).sorted()))
        #expect(names.map { $0.prefix(13) } == names.sorted().map { $0.prefix(13) })
    }
}
