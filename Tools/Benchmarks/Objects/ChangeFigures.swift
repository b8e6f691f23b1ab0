internal import Foundation
internal import ObjectModel
internal import SQLiteStore
internal import Stores

/// Times the same work through the store's own contract: rows and change sets, with history.
struct ChangeFigures {
    private let store: SQLiteRowStore
    private let samples: [Sample]
    private let entity: EntityLayout

    static func play(_ arguments: RoleArguments) throws {
        let folder = try arguments.url(0)
        let samples = Sample.many(try arguments.count(1))
        var found = Findings()
        for round in 0..<(try arguments.count(2)) {
            let url = folder.appendingPathComponent("changes\(round).sqlite")
            try ChangeFigures(at: url, samples).measure(into: &found)
        }
        found.send()
    }

    private init(at url: URL, _ samples: [Sample]) throws {
        store = try SQLiteRowStore(url: url, model: SampleModel.make())
        guard let entity = store.layout.entity(named: SampleModel.entity) else {
            throw BenchmarkError("The model lacks \(SampleModel.entity).")
        }
        self.entity = entity
        self.samples = samples
    }

    private func measure(into found: inout Findings) throws {
        func time(_ name: String, _ work: () throws -> Void) throws {
            found.note(name, seconds: try Stopwatch.processorSeconds(work))
        }
        let query = RowQuery(entity: entity.number)
        try time("insert") {
            try Self.insert(samples, of: entity, into: store)
        }
        let ids = try store.ids(matching: query)
        guard let slot = entity.attributeSlot("count") else {
            throw BenchmarkError("The model lacks the attribute 'count'.")
        }
        try time("update") {
            var changes = ChangeSet()
            changes.updates = ids.map { id in
                var update = RowUpdate(id: id, expectedVersion: 1)
                update.attributes = [(slot, .integer(7))]
                return update
            }
            _ = try store.save(changes)
        }
        try time("delete") {
            var changes = ChangeSet()
            changes.deletes = ids.map { RowDelete(id: $0, expectedVersion: 2) }
            _ = try store.save(changes)
        }
    }

    /// Writes rows in one save. `folders` are linked in turn, where the entity has the link.
    static func insert(
        _ samples: [Sample], of entity: EntityLayout, into store: SQLiteRowStore,
        folders: [RowID] = []
    ) throws {
        let keys = try store.reserveKeys(entity: entity.number, count: samples.count)
        var changes = ChangeSet()
        changes.inserts.reserveCapacity(samples.count)
        for (index, (key, sample)) in zip(keys, samples).enumerated() {
            var row = Row(id: RowID(entity: entity.number, key: key), layout: entity)
            row.attributes = sample.slots
            if !folders.isEmpty { row.toOnes[0] = Link(folders[index % folders.count]) }
            changes.inserts.append(row)
        }
        _ = try store.save(changes)
    }
}
