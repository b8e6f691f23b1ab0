import Testing

@testable import RecordService

/// What is known of the bytes that users' assets take.
@Suite struct AssetByteCountTests {
    private let counts = AssetByteCounts(usersMax: 2)

    @Test func whatComesInIsAddedToWhatWasCounted() {
        #expect(counts.add(5, of: "ann", at: 1_000) == nil)
        counts.keep(100, of: "ann", at: 1_000)
        #expect(counts.add(5, of: "ann", at: 1_000) == 105)
        #expect(counts.add(7, of: "ann", at: 60_999) == 112)
        #expect(counts.add(7, of: "bo", at: 2_000) == nil)
    }

    @Test(arguments: [61_000, 999]) func anOldFigureAndOneOfATimeToComeCountForNothing(time: Int64)
    {
        counts.keep(100, of: "ann", at: 1_000)
        #expect(counts.add(5, of: "ann", at: time) == nil)
    }

    @Test func itHoldsFiguresOfSoManyUsers() {
        for (index, name) in ["ann", "bo", "cy"].enumerated() {
            counts.keep(Int64(index), of: name, at: 0)
        }
        #expect(counts.add(0, of: "ann", at: 0) == nil && counts.add(0, of: "cy", at: 0) == 2)
    }
}
