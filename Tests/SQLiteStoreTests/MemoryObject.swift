import Foundation
import ObjectModel
import Predicates
import Stores

@testable import SQLiteStore

/// A row with its links, as predicates in memory see it.
final class MemoryObject: KeyValueReading, IdentityReading {
    let row: Row
    private let world: MemoryWorld

    init(row: Row, world: MemoryWorld) {
        self.row = row
        self.world = world
    }

    var predicateIdentity: AnyHashable { row.id }

    struct UnknownKey: Error { var key: String }

    func value(forKey key: String) throws -> Any? {
        guard let layout = world.store.layout.entity(row.id.entity) else {
            throw UnknownKey(key: key)
        }
        if let slot = layout.attributeSlot(key) { return Self.plain(row.attributes[slot]) }
        if let slot = layout.toOneSlot(key) {
            return try row.toOnes[slot].flatMap { try world.object($0.target) }
        }
        if let slot = layout.toManySlot(key) {
            return try world.store.members(of: row.id, toMany: slot).compactMap {
                try world.object($0.target)
            }
        }
        throw UnknownKey(key: key)
    }

    func hasOrder(forKey key: String) -> Bool {
        guard let layout = world.store.layout.entity(row.id.entity),
            let slot = layout.toManySlot(key)
        else { return true }
        return layout.toManys[slot].isOrdered
    }

    static func plain(_ value: AttributeValue) -> Any? {
        switch value {
        case .null: nil
        case .integer(let number): Int(number)
        case .double(let number): number
        case .decimal(let number): number
        case .text(let text): text
        case .date(let seconds): Date(timeIntervalSinceReferenceDate: seconds)
        case .uuid(let uuid): uuid
        case .uri(let text): URL(string: text)
        case .data(let data): data
        }
    }
}

/// The objects of a store, each read once.
final class MemoryWorld {
    let store: SQLiteRowStore
    private var objects: [RowID: MemoryObject] = [:]
    /// Whether predicates are read by SQL's rules instead of those of objects.
    var followsSQL = false

    init(store: SQLiteRowStore) { self.store = store }

    func object(_ id: RowID) throws -> MemoryObject? {
        if let known = objects[id] { return known }
        guard let row = try store.row(id) else { return nil }
        let object = MemoryObject(row: row, world: self)
        objects[id] = object
        return object
    }

    /// What a query finds, computed without SQL.
    func ids(matching query: RowQuery) throws -> [RowID] {
        var all = RowQuery(entity: query.entity)
        all.includesSubentities = query.includesSubentities
        let objects = try store.ids(matching: all).compactMap { try object($0) }
        let predicate = try query.predicate?.mapConstants { constant in
            try (constant as? RowID).flatMap { try object($0) } ?? constant
        }
        var found = try objects.filter { object in
            guard let predicate else { return true }
            return try followsSQL
                ? SQLLogic(object: object).truth(predicate) == true
                : evaluate(predicate, with: object)
        }
        let keys = query.sort.compactMap { key(of: $0) }
        try found.sort { left, right in
            for key in keys {
                switch try key.order(left, right) {
                case .orderedAscending: return true
                case .orderedDescending: return false
                default: continue
                }
            }
            return left.row.id.key < right.row.id.key
        }
        let rest = found.dropFirst(query.offset)
        return (query.limit > 0 ? rest.prefix(query.limit) : rest).map(\.row.id)
    }
}
