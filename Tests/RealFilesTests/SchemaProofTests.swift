import Foundation
import ObjectModel
import SQLiteDriver
import SQLiteStore
import Stores
import Testing

/// The schema made from each known model against the file Apple made from it, statement by
/// statement.
@Suite(.enabled(if: Corpus.isPresent, "set DIPTYCH_CORPUS to the corpus"))
struct SchemaProofTests {
    @Test func everySchemaIsApplesStatementByStatement() throws {
        var table = ProofTable()
        for store in Corpus.stores {
            let scratch = try Scratch()
            let url = try store.copy(to: scratch)
            for (origin, model) in try store.knownModels(copy: url) {
                table.add(try SchemaProof(store, url, origin, model))
            }
        }
        print(table.text)
        #expect(table.proofs.flatMap(\.unexplained) == [])
        #expect(!table.proofs.isEmpty)
    }
}

/// One file's statements against ours.
struct SchemaProof {
    let store: RealStore
    let origin: String
    let framework: Int
    private(set) var equal = 0
    /// Tables with the same columns in another order.
    private(set) var moved = 0
    /// How many statements differ for each known reason.
    private(set) var explained: [String: Int] = [:]
    private(set) var unexplained: [String] = []

    init(
        _ store: RealStore, _ url: URL, _ origin: String, _ model: NSManagedObjectModel
    ) throws {
        self.store = store
        self.origin = origin
        let metadata = try SQLiteRowStore.metadata(at: url)
        framework = metadata["NSPersistenceFrameworkVersion"] as? Int ?? 0
        // The rows of the file decide which entities of the model it holds.
        let rows = try SQLiteRowStore(url: url, model: model, options: Self.options)
        let (theirs, numbers) = try rows.read { transaction in
            (
                try transaction.connection.rows(
                    "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL "
                        + "AND name NOT LIKE 'sqlite_%'"
                ).compactMap { $0[0].string },
                try transaction.connection.rows("SELECT Z_NAME, Z_ENT FROM Z_PRIMARYKEY")
            )
        }
        let fresh = try Self.freshStatements(
            model, history: theirs.contains { $0.hasPrefix("CREATE TABLE ACHANGE") })
        check(numbers: numbers, fresh.numbers, metadata, model)
        compare(
            ours: fresh.statements, theirs: theirs.map(Self.plain),
            isMigrated: metadata["migrationManagerClass"] != nil)
    }

    private static var options: SQLiteStoreOptions {
        var options = SQLiteStoreOptions()
        options.isReadOnly = true
        options.tracksHistory = false
        return options
    }

    /// What a new store of the model has, read from its own file.
    private static func freshStatements(
        _ model: NSManagedObjectModel, history: Bool
    ) throws -> (statements: [String], numbers: [[SQLiteValue]]) {
        var options = SQLiteStoreOptions()
        options.tracksHistory = history
        let store = try SQLiteRowStore(url: nil, model: model, options: options)
        return try store.read { transaction in
            (
                try transaction.connection.rows(
                    "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL"
                ).compactMap { $0[0].string.map(plain) },
                try transaction.connection.rows("SELECT Z_NAME, Z_ENT FROM Z_PRIMARYKEY")
            )
        }
    }

    /// Renamed tables are quoted in `sqlite_master`.
    private static func plain(_ sql: String) -> String { sql.replacing("\"", with: "") }

    private mutating func check(
        numbers theirs: [[SQLiteValue]], _ ours: [[SQLiteValue]], _ metadata: [String: Any],
        _ model: NSManagedObjectModel
    ) {
        func table(_ rows: [[SQLiteValue]]) -> [String: Int64] {
            Dictionary(
                rows.compactMap { row in row[0].string.map { ($0, row[1].int64 ?? 0) } }
                    .filter { $0.1 < 16000 }, uniquingKeysWith: { first, _ in first })
        }
        let (theirs, ours) = (table(theirs), table(ours))
        for (name, number) in ours where theirs[name] != number {
            let former = model.entitiesByName[name]?.renamingIdentifier ?? ""
            if theirs[former] == number {
                note("entity renamed: the file has its former name")
            } else {
                unexplained.append("\(store): \(name) is \(number), there \(theirs[name] ?? 0)")
            }
        }
    }

    private mutating func note(_ reason: String, count: Int = 1) {
        explained[reason, default: 0] += count
    }

    private mutating func compare(ours: [String], theirs: [String], isMigrated: Bool) {
        let (mine, other) = (Set(ours), Set(theirs))
        equal = mine.intersection(other).count
        var missing = other.subtracting(mine).sorted()
        var extra = mine.subtracting(other).sorted()
        let movable = Dictionary(
            extra.filter { $0.hasPrefix("CREATE TABLE") }.map { (Self.columns($0), $0) },
            uniquingKeysWith: { first, _ in first })
        for text in missing {
            guard isMigrated, let twin = movable[Self.columns(text)] else { continue }
            moved += 1
            missing.removeAll { $0 == text }
            extra.removeAll { $0 == twin }
        }
        let reasons = KnownReasons(
            framework: framework, isMigrated: isMigrated, ours: mine, theirs: other)
        for text in missing { explain("theirs", text, reasons.reason(forTheirs: text)) }
        for text in extra { explain("ours", text, reasons.reason(forOurs: text)) }
    }

    private mutating func explain(_ side: String, _ text: String, _ reason: String?) {
        if let reason { note(reason) } else { unexplained.append("\(store) \(side): \(text)") }
    }

    /// The table's name and its columns, whatever their order.
    private static func columns(_ sql: String) -> Set<String> {
        Set(
            sql.split(whereSeparator: { "(),".contains($0) })
                .map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty })
    }

    var line: String {
        var parts: [String] = ["\(equal) equal"]
        if moved > 0 { parts.append("\(moved) same columns in another order, migrated in place") }
        parts += explained.sorted { $0.key < $1.key }.map { "\($0.value) different: \($0.key)" }
        if !unexplained.isEmpty { parts.append("\(unexplained.count) UNEXPLAINED") }
        return "\(store) (\(origin), FW \(framework)) · \(parts.joined(separator: "; "))"
    }
}

/// The proofs of all stores.
struct ProofTable {
    private(set) var proofs: [SchemaProof] = []

    mutating func add(_ proof: SchemaProof) { proofs.append(proof) }

    var text: String {
        let equal = proofs.reduce(0) { $0 + $1.equal }
        let moved = proofs.reduce(0) { $0 + $1.moved }
        var reasons: [String: Int] = [:]
        for proof in proofs { reasons.merge(proof.explained, uniquingKeysWith: +) }
        let listed = reasons.sorted { $0.key < $1.key }.map { "  \($0.value) \($0.key)" }
        return """
            store · statements
            \(proofs.map(\.line).joined(separator: "\n"))
            \(proofs.count) comparisons: \(equal) statements equal; \(moved) tables with the same \
            columns in another order; different with a reason:
            \(listed.joined(separator: "\n"))
            \(proofs.flatMap(\.unexplained).joined(separator: "\n"))
            """
    }
}
