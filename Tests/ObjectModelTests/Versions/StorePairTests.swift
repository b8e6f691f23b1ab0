import Foundation
import SQLiteDriver
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
            let metadata = try metadata(of: corpus.appendingPathComponent(String(pair[0])))
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

    /// The metadata dictionary in a store. The store is copied first: SQLite leaves files beside it.
    private func metadata(of store: URL) throws -> [String: Any] {
        let scratch = try Scratch()
        let copy = scratch.folder.appendingPathComponent("copy.sqlite")
        try FileManager.default.copyItem(at: store, to: copy)
        let log = URL(fileURLWithPath: store.path + "-wal")
        if FileManager.default.fileExists(atPath: log.path) {
            try FileManager.default.copyItem(
                at: log, to: scratch.folder.appendingPathComponent("copy.sqlite-wal"))
        }
        for name in try FileManager.default.contentsOfDirectory(atPath: scratch.folder.path) {
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o600],
                ofItemAtPath: scratch.folder.appendingPathComponent(name).path)
        }
        let connection = try Connection(path: copy.path, access: .readWrite)
        let bytes = try #require(try connection.value("SELECT Z_PLIST FROM Z_METADATA")?.data)
        let list = try PropertyListSerialization.propertyList(from: bytes, format: nil)
        return try #require(list as? [String: Any])
    }
}
