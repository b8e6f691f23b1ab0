import Foundation
import ObjectModel
import Platform
import SQLiteDriver
import Stores

@testable import SQLiteStore

/// A store in memory, and words to fill it with.
struct StoreFixture {
    let store: SQLiteRowStore
    let clock = StillClock()

    init(
        _ model: NSManagedObjectModel, url: URL? = nil, options: SQLiteStoreOptions = .init(),
        faults: any FaultPoints = NoFaults()
    ) throws {
        var platform = Environment.system
        platform.faults = faults
        platform.clock = clock
        store = try SQLiteRowStore(url: url, model: model, options: options, platform: platform)
    }

    func layout(_ entity: String) throws -> EntityLayout {
        guard let layout = store.layout.entity(named: entity) else { throw NoSuch(name: entity) }
        return layout
    }

    struct NoSuch: Error { var name: String }

    func id(_ entity: String) throws -> RowID {
        let number = try layout(entity).number
        return RowID(entity: number, key: try store.reserveKeys(entity: number, count: 1)[0])
    }

    /// A row that is not in the store yet.
    func row(
        _ entity: String, _ values: [String: AttributeValue] = [:], _ links: [String: RowID] = [:]
    ) throws -> Row {
        let layout = try layout(entity)
        var row = Row(id: try id(entity), layout: layout)
        for (name, value) in values {
            guard let slot = layout.attributeSlot(name) else { throw NoSuch(name: name) }
            row.attributes[slot] = value
        }
        for (name, target) in links {
            guard let slot = layout.toOneSlot(name) else { throw NoSuch(name: name) }
            row.toOnes[slot] = Link(target)
        }
        return row
    }

    /// Writes a row and returns its id.
    @discardableResult
    func insert(
        _ entity: String, _ values: [String: AttributeValue] = [:], _ links: [String: RowID] = [:]
    ) throws -> RowID {
        let row = try row(entity, values, links)
        var changes = ChangeSet()
        changes.inserts = [row]
        _ = try store.save(changes)
        return row.id
    }

    func update(
        _ id: RowID, expecting version: Int64? = nil, _ values: [String: AttributeValue] = [:],
        _ links: [String: RowID?] = [:]
    ) throws -> RowUpdate {
        guard let layout = store.layout.entity(id.entity) else {
            throw NoSuch(name: "\(id.entity)")
        }
        var update = RowUpdate(id: id, expectedVersion: version)
        for (name, value) in values {
            guard let slot = layout.attributeSlot(name) else { throw NoSuch(name: name) }
            update.attributes.append((slot, value))
        }
        for (name, target) in links {
            guard let slot = layout.toOneSlot(name) else { throw NoSuch(name: name) }
            update.toOnes.append((slot, target.map { Link($0) }))
        }
        return update
    }

    func save(_ change: (inout ChangeSet) throws -> Void) throws -> SaveOutcome {
        var changes = ChangeSet()
        try change(&changes)
        return try store.save(changes)
    }

    func toMany(
        _ owner: RowID, _ name: String, add: [RowID] = [], remove: [RowID] = [],
        order: [RowID]? = nil
    ) throws -> ToManyChange {
        guard let slot = store.layout.entity(owner.entity)?.toManySlot(name) else {
            throw NoSuch(name: name)
        }
        var change = ToManyChange(owner: owner, slot: slot)
        change.added = add.map { Link($0) }
        change.removed = remove
        change.order = order
        return change
    }

    func members(_ owner: RowID, _ name: String) throws -> [RowID] {
        guard let slot = store.layout.entity(owner.entity)?.toManySlot(name) else {
            throw NoSuch(name: name)
        }
        return try store.members(of: owner, toMany: slot).map(\.target)
    }

    func value(_ id: RowID, _ name: String) throws -> AttributeValue? {
        guard let slot = store.layout.entity(id.entity)?.attributeSlot(name) else {
            throw NoSuch(name: name)
        }
        return try store.row(id)?.attributes[slot]
    }

    /// The rows of a statement of plain SQL.
    func sql(_ text: String) throws -> [[SQLiteValue]] {
        try store.read { try $0.connection.rows(text) }
    }

    /// The answer of SQLite's own check of the file.
    func integrity() throws -> String? { try sql("PRAGMA integrity_check").first?[0].string }
}

/// A clock that stands still, so that times in tests are known.
struct StillClock: Clock {
    func now() -> Date { Date(timeIntervalSinceReferenceDate: 800_000_000.25) }
}
