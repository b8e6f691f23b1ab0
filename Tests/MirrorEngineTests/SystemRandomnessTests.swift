import Platform
import Testing

@Suite struct SystemRandomnessTests {
    /// Words of the system's generator are drawn many at a time: each goes to one asker.
    @Test func noTwoAskersDrawTheSameWord() async {
        let words = await withTaskGroup(of: [UInt64].self) { group in
            for _ in 0..<8 {
                group.addTask { (0..<5_000).map { _ in SystemRandomness().next() } }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
        #expect(Set(words).count == 40_000)
        // Twelve standard deviations to either side.
        let ones = words.reduce(0) { $0 + $1.nonzeroBitCount }
        #expect((1_270_000...1_290_000).contains(ones), "\(ones) of 2,560,000 bits")
    }
}
