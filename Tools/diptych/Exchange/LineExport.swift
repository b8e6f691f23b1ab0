internal import Foundation
internal import ObjectModel
internal import SQLiteStore
internal import Stores

/// Prints every object of a store as a line, with memory that does not grow with the store.
final class LineExport {
    private let store: any RowStore
    private let progress: ProgressMeter
    private var output = LineOutput()
    private var total = 0
    private var done = 0
    private(set) var missing: MissingValues

    private static let batchCount = 500

    init(_ store: any RowStore, progress: ProgressMeter, missing: MissingValues) {
        self.store = store
        self.progress = progress
        self.missing = missing
    }

    /// Prints all lines. Throws `LineOutput.Closed` where nobody reads any more, and `StoreError`
    /// `.corrupt` for a file with rows of entities that the model does not have.
    func run() throws {
        guard let database = store as? SQLiteRowStore else {
            try forEachEntity { entity, line in
                let ids = try store.ids(matching: Self.query(entity))
                for start in stride(from: 0, to: ids.count, by: Self.batchCount) {
                    let part = Array(ids[start..<min(start + Self.batchCount, ids.count)])
                    let rows = try store.rows(part).sorted { $0.id < $1.id }
                    try write(rows, of: entity, line) {
                        try store.members(ofEach: $0, toMany: $1)
                    }
                }
            }
            return
        }
        try database.checkEntityNumbers()
        try database.read { transaction in
            try forEachEntity { entity, line in
                let dangling = try DanglingLinks(of: entity, in: transaction)
                try transaction.forEachBatch(of: entity.number, count: Self.batchCount) { rows in
                    try write(rows, of: entity, line, without: dangling) {
                        try transaction.members(ofEach: $0, toMany: $1)
                    }
                }
            }
        }
    }

    private static func query(_ entity: EntityLayout) -> RowQuery {
        var query = RowQuery(entity: entity.number)
        query.includesSubentities = false
        return query
    }

    private func forEachEntity(
        _ body: (EntityLayout, ObjectLine) throws -> Void
    ) throws {
        let entities = store.layout.entities.filter { !$0.entity.isAbstract }
        for entity in entities { total += try store.count(matching: Self.query(entity)) }
        for entity in entities { try body(entity, ObjectLine(entity, in: store.layout)) }
        try output.flush()
    }

    private func write(
        _ rows: [Row], of entity: EntityLayout, _ line: ObjectLine,
        without dangling: DanglingLinks? = nil,
        _ members: ([RowID], Int) throws -> [RowID: [Link]]
    ) throws {
        let ids = rows.map(\.id)
        let members = try entity.toManys.indices.map { try members(ids, $0) }
        for var row in rows {
            if !row.missing.isEmpty { missing.note(row, entity) }
            let links = dangling.map { $0.isEmpty ? [] : $0.take(from: &row) } ?? []
            missing.note(links: links, of: row.id, entity)
            try output.line { line.write(row, members, without: links, to: &$0) }
            done += 1
            if progress.isDue {
                progress.tell(
                    "exporting", done: done, of: total,
                    share: Double(done) / Double(max(total, 1)))
            }
        }
    }
}
