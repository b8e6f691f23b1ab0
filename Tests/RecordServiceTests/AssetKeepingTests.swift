import Foundation
import Platform
import RecordWire
import Testing

@testable import RecordService

/// Files of assets and transactions that run again.
@Suite struct AssetKeepingTests {
    private let files = AssetFiles(in: nil, platform: .system) { _ in }

    private func incoming(_ text: String) throws -> (IncomingFile, AssetChecksum) {
        let file = try files.begin()
        try file.append(text)
        return (file, try file.finish())
    }

    /// First run                      collection
    /// the file gets its name
    /// the transaction is undone
    ///                                removes the file, which nothing names
    /// the transaction runs again
    @Test func aFileThatWentBetweenTwoRunsIsNotTakenForKept() throws {
        let (file, checksum) = try incoming("a page")
        try files.keep(file, as: checksum)
        try files.remove(checksum)
        let error = #expect(throws: RecordError.self) { try files.keep(file, as: checksum) }
        #expect(error?.code == .tryAgainLater && error?.retryAfterSeconds != nil)
        #expect(try files.open(checksum, size: file.size) == nil)

        // Who uploads it again is served.
        let (other, same) = try incoming("a page")
        #expect(same == checksum)
        try files.keep(other, as: same)
        #expect(try files.open(checksum, size: file.size) != nil)
    }

    @Test func aFileThatIsThereStillIsKeptOnce() throws {
        let (file, checksum) = try incoming("another page")
        for _ in 0..<2 { try files.keep(file, as: checksum) }
        #expect(try files.open(checksum, size: file.size) != nil)
    }
}
