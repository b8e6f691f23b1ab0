import Foundation
import ObjectModel
import SQLiteDriver
import Stores
import Testing

@testable import SQLiteStore

/// Every row of every real store with a known model, against plain SQL.
@Suite(.enabled(if: Corpus.isPresent, "set DIPTYCH_CORPUS to the corpus"))
struct CorpusReadingTests {
    @Test(arguments: Corpus.pairs) func everyRowReadsAsPlainSQLSays(pair: Corpus.Pair) throws {
        let scratch = try Scratch()
        let url = try Corpus.copy(pair.store, to: scratch)
        try compare(try SQLiteRowStore(url: url, model: try Corpus.model(pair)))
    }

    /// The other stores are opened with the model they keep of themselves.
    @Test(arguments: Corpus.stores) func everyStoreReadsWithItsOwnModel(path: String) throws {
        let scratch = try Scratch()
        let url = try Corpus.copy(path, to: scratch)
        guard let model = try SQLiteRowStore.cachedModel(at: url) else {
            // Only the frameworks of the first years kept no model.
            let metadata = try SQLiteRowStore.metadata(at: url)
            let framework = metadata["NSPersistenceFrameworkVersion"] as? Int
            #expect(framework.map { $0 <= 519 } ?? (metadata.count == 1))
            return
        }
        try compare(try SQLiteRowStore(url: url, model: model))
    }

    private func compare(_ store: SQLiteRowStore) throws {
        var compared = 0
        for layout in store.layout.entities {
            var query = RowQuery(entity: layout.number)
            query.includesSubentities = false
            let rows = try store.rows(matching: query)
            #expect(try store.count(matching: query) == rows.count)
            compared += try compare(rows, layout, store)
            try compareMembers(rows, layout, store)
        }
        let total = try store.read { transaction in
            let tables = Set(
                store.layout.entities.compactMap {
                    transaction.schema.columns(of: $0.number)?.table
                })
            return try tables.map {
                try transaction.connection.value("SELECT count(*) FROM \($0)")?.int64 ?? 0
            }.reduce(0, +)
        }
        #expect(compared == total)
    }

    private func compare(
        _ rows: [Row], _ layout: EntityLayout, _ store: SQLiteRowStore
    ) throws -> Int {
        try store.read { transaction in
            let columns = try #require(transaction.schema.columns(of: layout.number))
            let names = columns.attributes.map(\.name) + columns.toOnes.map(\.key)
            let list = (["Z_PK", "Z_OPT"] + names).joined(separator: ", ")
            let plain = try transaction.connection.rows(
                "SELECT \(list) FROM \(columns.table) WHERE \(columns.condition ?? "1") "
                    + "ORDER BY Z_PK"
            )
            #expect(plain.count == rows.count, "\(layout.name)")
            for (row, cells) in zip(rows, plain) {
                #expect(.integer(row.id.key) == cells[0])
                #expect(row.version == cells[1].int64 ?? 0)
                for (slot, column) in columns.attributes.enumerated() {
                    let cell = cells[2 + slot]
                    #expect(
                        agrees(row.attributes[slot], cell, column.kind),
                        "\(layout.name).\(layout.attributes[slot].name)")
                }
                for slot in columns.toOnes.indices {
                    let cell = cells[2 + columns.attributes.count + slot]
                    #expect(row.toOnes[slot]?.target.key == cell.int64)
                }
            }
            return rows.count
        }
    }

    /// The value against the cell, by rules that are written down once more here.
    private func agrees(_ value: AttributeValue, _ cell: SQLiteValue, _ kind: ColumnKind) -> Bool {
        switch (value, cell) {
        case (.null, .null): true
        case (.integer(let a), .integer(let b)): a == b
        case (.double(let a), _), (.date(let a), _): cell.double == a
        case (.decimal(let a), .text("NaN")): a.isNaN
        case (.decimal(let a), _): cell.double == Double(a.description)
        case (.text(let a), .text(let b)), (.uri(let a), .text(let b)): a == b
        case (.uuid(let a), .blob(let b)): withUnsafeBytes(of: a.uuid) { Data($0) } == b
        case (.data(let a), .blob(let b)):
            kind == .binary(external: true) && b.first == 1 ? a == b.dropFirst() : a == b
        default: false
        }
    }

    /// Each to-many has exactly the members that point back.
    private func compareMembers(
        _ rows: [Row], _ layout: EntityLayout, _ store: SQLiteRowStore
    ) throws {
        for (slot, relationship) in layout.toManys.enumerated() {
            guard let inverse = relationship.inverseRelationship, !inverse.isToMany else {
                continue
            }
            for row in rows.prefix(40) {
                for link in try store.members(of: row.id, toMany: slot) {
                    let member = try #require(try store.row(link.target))
                    let place = store.layout.entity(link.target.entity)?.toOneSlot(inverse.name)
                    #expect(member.toOnes[try #require(place)]?.target == row.id)
                }
            }
        }
    }

    @Test(arguments: Corpus.pairs) func aRealStoreCanBeWrittenAndStaysWhole(pair: Corpus.Pair)
        throws
    {
        let scratch = try Scratch()
        let url = try Corpus.copy(pair.store, to: scratch)
        let model = try Corpus.model(pair)
        let store = try SQLiteRowStore(url: url, model: model)
        var changes = ChangeSet()
        var touched = 0
        for layout in store.layout.entities where !layout.entity.isAbstract {
            var query = RowQuery(entity: layout.number)
            query.includesSubentities = false
            query.limit = 3
            for row in try store.rows(matching: query) {
                var update = RowUpdate(id: row.id, expectedVersion: row.version)
                update.attributes = row.attributes.enumerated().map { ($0, $1) }
                update.toOnes = row.toOnes.enumerated().map { ($0, $1) }
                changes.updates.append(update)
                touched += 1
            }
            let key = try store.reserveKeys(entity: layout.number, count: 1)[0]
            changes.inserts.append(Row(id: RowID(entity: layout.number, key: key), layout: layout))
        }
        let before = try store.lastTransactionNumber()
        let outcome = try store.save(changes)
        #expect(outcome.versions.count == touched + changes.inserts.count)
        let history = try store.history(after: before, limit: nil)
        #expect(history.flatMap(\.changes).count == outcome.versions.count)
        for update in changes.updates {
            let row = try #require(try store.row(update.id))
            let values = update.attributes.map(\.value)
            let derived = Set(
                store.layout.entity(update.id.entity)?.attributes.indices.filter { slot in
                    store.layout.entity(update.id.entity)?.attributes[slot].attribute
                        is NSDerivedAttributeDescription
                } ?? [])
            for slot in values.indices where !derived.contains(slot) {
                if case .decimal(let decimal) = values[slot], decimal.isNaN { continue }
                #expect(row.attributes[slot] == values[slot])
            }
        }
        #expect(try store.read { try $0.connection.value("PRAGMA integrity_check") } == "ok")
        #expect(try SQLiteRowStore(url: url, model: model).lastTransactionNumber() == before + 1)
    }
}
