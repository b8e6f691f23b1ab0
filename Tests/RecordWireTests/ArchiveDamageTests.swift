import Foundation
import RecordWire
import Testing

@Suite struct ArchiveDamageTests {
    private func archive(_ random: inout RandomRecords) -> Data {
        RecordArchive.encode(random.record())
    }

    @Test func everyShorterArchiveIsRefused() throws {
        var random = RandomRecords(seed: 7)
        for _ in 0..<30 {
            let whole = archive(&random)
            for count in 0..<whole.count {
                #expect(throws: RecordArchiveError.self) {
                    try RecordArchive.decode(whole.prefix(count))
                }
            }
            #expect(throws: RecordArchiveError.self) { try RecordArchive.decode(whole + [0]) }
        }
    }

    @Test func damagedBytesAreReadOrRefusedButNeverTrap() throws {
        var random = RandomRecords(seed: 8)
        var refused = 0
        for _ in 0..<3000 {
            var data = archive(&random)
            for _ in 0...random.below(3) {
                data[random.below(data.count)] = UInt8(random.below(256))
            }
            do {
                _ = try RecordArchive.decode(data)
            } catch is RecordArchiveError {
                refused += 1
            }
        }
        #expect(refused > 500)
    }

    @Test func randomBytesAreRefused() throws {
        var random = RandomRecords(seed: 9)
        for _ in 0..<3000 {
            let data = Data([1]) + random.bytes(random.below(60))
            do { _ = try RecordArchive.decode(data) } catch is RecordArchiveError {}
        }
    }

    @Test func hugeCountsAreRefusedWithoutTakingMemory() throws {
        let huge: [UInt8] = [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F]
        for head: [UInt8] in [
            [1, 0], [1, 0, 1, 65, 1, 66], [1, 0, 1, 65, 1, 66, 1, 1, 67, 9, 1],
        ] {
            let error = #expect(throws: RecordArchiveError.self) {
                try RecordArchive.decode(Data(head + huge))
            }
            #expect(error?.code == .truncated)
        }
    }

    @Test func deepListsAreRefused() throws {
        let head: [UInt8] = [1, 0, 1, 65, 1, 66, 1, 1, 67]
        let nested = Array(repeating: [9, 1, 1] as [UInt8], count: 100_000).flatMap { $0 }
        let error = #expect(throws: RecordArchiveError.self) {
            try RecordArchive.decode(Data(head + nested))
        }
        #expect(error?.code == .malformed)
    }

    @Test func aNewerVersionSaysSo() throws {
        let error = #expect(throws: RecordArchiveError.self) {
            try RecordArchive.decode(Data([2, 0, 0]))
        }
        #expect(error?.code == .unknownVersion)
        #expect(error?.message.contains("Update") == true)
    }
}
