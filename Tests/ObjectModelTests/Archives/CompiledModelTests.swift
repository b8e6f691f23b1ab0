import Foundation
import Testing

@testable import ObjectModel

/// Compiled models and model caches that Apple's tools and frameworks wrote.
@Suite(.enabled(if: Corpus.isPresent, "the corpus is not at hand"))
struct CompiledModelTests {
    @Test func everyCompiledModelIsRead() throws {
        let files = Corpus.files("compiled", endingIn: ".mom")
        #expect(files.count > 15)
        for file in files {
            let model = try NSManagedObjectModel.load(from: file)
            #expect(!model.entities.isEmpty)
            #expect(throws: Never.self, "\(file.path)") { try model.checkConsistency() }
        }
    }

    @Test func hashesAgreeWithTheBundlesVersionInfo() throws {
        var compared = 0
        for list in Corpus.files("compiled", endingIn: "VersionInfo.plist") {
            let data = try Data(contentsOf: list)
            let info = try #require(
                try PropertyListSerialization.propertyList(from: data, format: nil)
                    as? [String: Any])
            let versions = info["NSManagedObjectModel_VersionHashes"] as? [String: [String: Data]]
            let checksums = info["NSManagedObjectModel_VersionChecksums"] as? [String: String]
            for (version, hashes) in versions ?? [:] {
                let file = list.deletingLastPathComponent().appendingPathComponent("\(version).mom")
                guard FileManager.default.fileExists(atPath: file.path) else { continue }
                let model = try NSManagedObjectModel.load(from: file)
                #expect(model.entityVersionHashesByName == hashes, "\(file.path)")
                if let checksum = checksums?[version] { #expect(model.versionChecksum == checksum) }
                compared += 1
            }
        }
        #expect(compared >= 6)
    }

    @Test func aCompiledBundleOpensItsCurrentVersion() throws {
        let info = try #require(
            Corpus.files("compiled", endingIn: "SampleModel3.momd/VersionInfo.plist").last {
                FileManager.default.fileExists(
                    atPath: $0.deletingLastPathComponent().appendingPathComponent(
                        "SampleModel3_v3.mom"
                    )
                    .path)
            })
        let bundle = info.deletingLastPathComponent()
        let current = try NSManagedObjectModel.load(from: bundle)
        let named = try NSManagedObjectModel.load(from: bundle, version: "SampleModel3_v3")
        #expect(Set(current.entitiesByName.keys).isSubset(of: ["Pet", "User"]))
        #expect(
            named.entitiesByName["Pet"]?.relationshipsByName["owner"]?.destinationEntity?.name
                == "User")
    }

    @Test func everyModelCacheGivesTheHashesOfItsStore() throws {
        var compared = 0
        for store in Corpus.files("sqlite", endingIn: "") {
            guard !store.path.hasSuffix("-wal"), !store.hasDirectoryPath,
                let stored = try? StoredModel(store), let cache = stored.cache,
                let hashes = stored.metadata["NSStoreModelVersionHashes"] as? [String: Data]
            else { continue }
            let model = try NSManagedObjectModel.load(fromArchive: cache, name: store.path)
            let wrong = model.entityVersionHashesByName.filter { hashes[$0.key] != $0.value }
            #expect(wrong.isEmpty, "\(store.path): \(wrong.keys.sorted())")
            compared += 1
        }
        #expect(compared > 30)
    }

    /// A store's cached model against the source it was made from. Apple's compiler resolves class
    /// names and adds indexes of its own, so those are left out; three facts are known to differ.
    @Test func sourceAndModelCacheTellTheSame() throws {
        let corpus = try #require(Corpus.folder)
        let table = try String(
            contentsOf: corpus.appendingPathComponent("pairs.tsv"), encoding: .utf8)
        let known = ["PumpEvent.duration", "Car.color", "identifiers "]
        var compared = 0
        for pair in table.split(separator: "\n").dropFirst().map({ $0.split(separator: "\t") }) {
            let store = corpus.appendingPathComponent(String(pair[0]))
            guard let cache = try StoredModel(store).cache else { continue }
            let cached = Self.propertyLines(try .load(fromArchive: cache))
            for source in pair[1...].flatMap({ $0.components(separatedBy: " | ") }) {
                let model = try NSManagedObjectModel.load(
                    from: corpus.appendingPathComponent(source))
                let lines = Self.propertyLines(model)
                let strange = lines.symmetricDifference(cached).filter { line in
                    !known.contains { line.contains($0) }
                }
                #expect(strange.isEmpty, "\(source)")
                compared += lines.count
            }
        }
        #expect(compared > 100)
    }

    private static func propertyLines(_ model: NSManagedObjectModel) -> Set<String> {
        let lines = ModelFacts.lines(of: model).filter { line in
            !line.hasPrefix("  index") && !line.hasPrefix("entity")
        }
        return Set(lines.map { $0.replacingOccurrences(of: "indexed true", with: "indexed false") })
    }

    @Test func optimizedModelsAreRefusedWithAdvice() throws {
        let files = Corpus.files("compiled", endingIn: ".omo")
        #expect(!files.isEmpty)
        for file in files {
            let error = #expect(throws: ModelFileError.self) {
                try NSManagedObjectModel.load(from: file)
            }
            #expect(error?.code == .unsupportedFormat)
        }
    }
}
