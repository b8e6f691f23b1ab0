import Testing

@testable import SQLiteStore

@Suite struct OrderKeysTests {
    @Test func theFirstIs2048AndEachFurtherOne1024More() {
        #expect(OrderKeys.after(nil) == 2048)
        #expect(OrderKeys.after(2048) == 3072)
        #expect(OrderKeys.keys(for: [nil, nil, nil]) == [2048, 3072, 4096])
    }

    @Test func whatGoesBetweenTakesTheMiddle() {
        #expect(OrderKeys.keys(for: [nil, 2048]) == [1024, 2048])
        #expect(OrderKeys.keys(for: [2048, nil, 3072]) == [2048, 2560, 3072])
        #expect(OrderKeys.keys(for: [2048, nil]) == [2048, 3072])
    }

    @Test func withoutRoomAllAreNumberedAfresh() {
        #expect(OrderKeys.keys(for: [5, nil, 6]) == [2048, 3072, 4096])
        #expect(OrderKeys.keys(for: [Int64.max, nil]) == [2048, 3072])
    }

    @Test(arguments: 0..<200) func keysAlwaysGrow(seed: Int) {
        var random = SeededRandom(seed: UInt64(seed))
        let present = (0..<Int.random(in: 0...12, using: &random)).map { _ in
            Bool.random(using: &random) ? nil : Int64.random(in: -5...40, using: &random) * 7
        }
        let keys = OrderKeys.keys(for: present)
        #expect(keys.count == present.count)
        #expect(zip(keys, keys.dropFirst()).allSatisfy { $0 < $1 } && keys.allSatisfy { $0 > 0 })
    }
}

/// Random numbers that come again for the same seed.
struct SeededRandom: RandomNumberGenerator {
    private var state: UInt64
    init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 &+ 1 }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }
}
