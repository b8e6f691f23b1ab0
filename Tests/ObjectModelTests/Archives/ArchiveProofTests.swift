import Foundation
import Predicates
import Testing

@testable import ObjectModel

/// Every compiled model and model cache of the corpus, read and written again, against what Apple
/// wrote: class by class, key by key, value by value.
@Suite(.enabled(if: Corpus.isPresent, "set DIPTYCH_CORPUS to the corpus"))
struct ArchiveProofTests {
    @Test func everyCompiledModelIsApplesKeyByKey() throws {
        var table = ArchiveTable()
        for file in Corpus.files("compiled", endingIn: ".mom") {
            let model = try NSManagedObjectModel.load(from: file)
            try table.add(
                file.lastPathComponent, theirs: Data(contentsOf: file), ours: model.compiledData())
        }
        print(table.text)
        #expect(table.unexplained.isEmpty)
        #expect(table.lines.count > 15)
    }

    @Test func everyModelCacheIsApplesKeyByKey() throws {
        var table = ArchiveTable()
        for store in Corpus.files("sqlite", endingIn: "") {
            guard !store.path.hasSuffix("-wal"), !store.hasDirectoryPath,
                let cache = try? StoredModel(store).cache
            else { continue }
            let model = try NSManagedObjectModel.load(fromArchive: cache, name: store.path)
            try table.add(store.lastPathComponent, theirs: cache, ours: model.cacheData())
        }
        print(table.text)
        #expect(table.unexplained.isEmpty)
        #expect(table.lines.count > 30)
    }
}

/// The comparisons of all files, with the reasons for what differs.
struct ArchiveTable {
    private(set) var lines: [String] = []
    private(set) var unexplained: [String: Int] = [:]
    private var reasons: [String: Int] = [:]
    private var compared = 0

    mutating func add(_ name: String, theirs: Data, ours: Data) throws {
        let comparison = ArchiveComparison(try ArchiveGraph(theirs), try ArchiveGraph(ours))
        var explained: [String: Int] = [:]
        for (difference, count) in comparison.differences {
            if let reason = ArchiveReason.reason(for: difference) {
                explained[reason, default: 0] += count
            } else {
                unexplained["\(difference)", default: 0] += count
            }
        }
        compared += comparison.compared
        reasons.merge(explained, uniquingKeysWith: +)
        let parts = explained.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
        lines.append("\(name) · \(comparison.compared) values; \(parts.joined(separator: "; "))")
    }

    var text: String {
        let listed = reasons.sorted { $0.key < $1.key }.map { "  \($0.value) \($0.key)" }
        let strange = unexplained.sorted { $0.key < $1.key }.map { "  \($0.value) × \($0.key)" }
        return """
            archive · values compared; different with a reason
            \(lines.joined(separator: "\n"))
            \(lines.count) archives, \(compared) values compared; different with a reason:
            \(listed.joined(separator: "\n"))
            different without a reason:
            \(strange.isEmpty ? "  none" : strange.joined(separator: "\n"))
            """
    }
}
