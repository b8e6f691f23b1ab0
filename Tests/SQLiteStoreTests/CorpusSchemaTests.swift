import Foundation
import ObjectModel
import SQLiteDriver
import Stores
import Testing

@testable import SQLiteStore

@Suite(.enabled(if: Corpus.isPresent, "set DIPTYCH_CORPUS to the corpus"))
struct CorpusSchemaTests {
    @Test func schemaOfEveryPairEqualsApples() throws {
        var report: [String] = []
        for pair in Corpus.pairs {
            let comparison = try compare(pair)
            report.append(comparison.line)
            #expect(comparison.unexplained == [], "\(pair.store)")
        }
        print("schemas of \(report.count) stores:")
        for line in report { print("  \(line)") }
        #expect(report.count == Corpus.pairs.count && !report.isEmpty)
    }

    private func compare(_ pair: Corpus.Pair) throws -> SchemaComparison {
        let scratch = try Scratch()
        let file = StoreFile(url: try Corpus.copy(pair.store, to: scratch), options: .init())
        let connection = try file.openForReading()
        let metadata = try StoreMetadata(reading: connection, path: file.path)
        let model = try Corpus.model(pair)
        let layout = ModelLayout(model: model)
        let stored = try BookkeepingTables.numbers(in: connection)
        for entity in layout.entities {
            let former = entity.entity.renamingIdentifier ?? entity.name
            #expect(stored[entity.name] ?? stored[former] == entity.number, "\(pair.store)")
        }
        #expect(stored.count == layout.entities.count, "\(pair.store)")
        let schema = try SchemaBuilder.schema(of: layout)
        let theirs = try connection.rows("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL")
            .compactMap { $0[0].string }
        return SchemaComparison(
            store: pair.store,
            framework: metadata.values["NSPersistenceFrameworkVersion"] as? Int ?? 0,
            ours: schema.statements + BookkeepingTables.statements, theirs: theirs)
    }
}

/// The statements of a schema against those of a file, each difference with its reason.
struct SchemaComparison {
    var store: String
    var framework: Int
    var equal = 0
    var reordered = 0
    /// How many statements differ for each known reason.
    var explained: [String: Int] = [:]
    var unexplained: [String] = []

    init(store: String, framework: Int, ours: [String], theirs: [String]) {
        self.store = store
        self.framework = framework
        let mine = Set(ours.map(Self.plain))
        let other = Set(theirs.map(Self.plain))
        equal = mine.intersection(other).count
        var missing = other.subtracting(mine).sorted()
        var extra = mine.subtracting(other).sorted()
        let moved = missing.filter { text in
            extra.contains {
                Self.columnSet($0) == Self.columnSet(text) && text.hasPrefix("CREATE TABLE")
            }
        }
        reordered = moved.count
        let movedSets = Set(moved.map(Self.columnSet))
        missing.removeAll { moved.contains($0) }
        extra.removeAll { movedSets.contains(Self.columnSet($0)) }
        for text in missing.map({ "theirs: \($0)" }) + extra.map({ "ours: \($0)" }) {
            if let reason = reason(for: text) {
                explained[reason, default: 0] += 1
            } else {
                unexplained.append(text)
            }
        }
    }

    /// Renamed tables are quoted in `sqlite_master`.
    private static func plain(_ sql: String) -> String { sql.replacing("\"", with: "") }

    /// The statement as a set of words: equal for tables that differ in the order of their columns.
    private static func columnSet(_ sql: String) -> Set<String> {
        Set(
            sql.split(whereSeparator: { "(),".contains($0) })
                .map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty })
    }

    /// The differences that are known, each with its reason.
    private func reason(for text: String) -> String? {
        let isIndex = text.contains(": CREATE INDEX")
        if framework < 847 {
            if text.contains("_INDEX ON Z_") { return "no index on join tables before FW 847" }
            if isIndex { return "index names before FW 847" }
            if text.contains("CREATE UNIQUE INDEX") || text.contains("CONSTRAINT Z")
                || isUniqueTable(text)
            {
                return "uniqueness declared in the table before FW 847"
            }
        }
        if framework < 637, text.contains("Z_MODELCACHE") { return "no model cache up to FW 519" }
        if text.contains("Z_3LOCATIONS") || text.contains("Z_3SHOWS") {
            return "number that tells equal join columns apart, unknown rule"
        }
        if framework < 866, text.contains("Z_Car_maker_numberPlate") {
            return "compound index of an older source of the model"
        }
        if framework < 866, text.contains("ours:"), text.contains("Car_byMakerAndNumberPlate") {
            return "compound index of an older source of the model"
        }
        return nil
    }

    /// Our table without the CONSTRAINT clause that old frameworks wrote into it.
    private func isUniqueTable(_ text: String) -> Bool {
        text.hasPrefix("ours: CREATE TABLE") && text.contains("ZUNIQUENESSDUMMY")
    }

    var line: String {
        var parts = ["FW \(framework)", "equal \(equal)"]
        if reordered > 0 {
            parts.append("same columns in another order \(reordered) (migrated in place)")
        }
        parts += explained.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
        return "\((store as NSString).lastPathComponent): \(parts.joined(separator: ", "))"
    }
}
