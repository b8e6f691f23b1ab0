import Foundation
import Testing

@testable import ObjectModel

/// Stores of the corpus beside the sources of the models that made them.
@Suite(.enabled(if: Corpus.isPresent, "the corpus is not at hand"))
struct StorePairTests {
    @Test func everyStoreIsCompatibleWithTheSourceThatMadeIt() throws {
        let corpus = try #require(Corpus.folder)
        let table = try String(
            contentsOf: corpus.appendingPathComponent("pairs.tsv"), encoding: .utf8)
        let pairs = table.split(separator: "\n").dropFirst().map { $0.split(separator: "\t") }
        #expect(pairs.count > 20)
        for pair in pairs {
            let metadata = try StoredModel(corpus.appendingPathComponent(String(pair[0]))).metadata
            for source in pair[1...].flatMap({ $0.components(separatedBy: " | ") }) {
                let model = try NSManagedObjectModel.load(
                    from: corpus.appendingPathComponent(source))
                #expect(
                    model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata),
                    "\(source) made \(pair[0])")
                if let digest = metadata["NSStoreModelVersionHashesDigest"] as? String {
                    #expect(model.versionHashesDigest == digest)
                }
                if let checksum = metadata["NSStoreModelVersionChecksumKey"] as? String {
                    #expect(model.versionChecksum == checksum)
                }
            }
        }
    }
}
