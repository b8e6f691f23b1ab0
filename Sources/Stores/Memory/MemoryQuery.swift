internal import Foundation
internal import ObjectModel
public import Predicates

/// Picks and orders rows for a `RowQuery`, by the rules of evaluation in memory.
struct MemoryQuery {
    let query: RowQuery
    let store: MemoryRowStore

    func answer(from rows: [Row]) throws -> [Row] {
        var rows = rows
        do {
            if let predicate = try condition(over: rows) {
                rows = try rows.filter { row in
                    try evaluate(predicate, with: object(row), platform: store.platform)
                }
            }
            rows = try sorted(rows)
        } catch let error as EvaluationError {
            throw StoreError(.unsupported, error.message, fields: error.fields, cause: error)
        }
        let rest = rows.dropFirst(query.offset)
        return Array(query.limit > 0 ? rest.prefix(query.limit) : rest)
    }

    /// The predicate with what its functions over all rows of the entity make of them.
    private func condition(over rows: [Row]) throws -> PredicateNode? {
        guard let predicate = query.predicate, let layout = store.layout.entity(query.entity)
        else { return query.predicate }
        let calls = AggregateCalls(of: layout.entity)
        guard calls.areIn(predicate) else { return predicate }
        return try calls.computing(
            predicate, over: rows.compactMap(object), platform: store.platform)
    }

    func object(_ row: Row) -> MemoryRowObject? {
        store.layout.entity(row.id.entity).map {
            MemoryRowObject(row: row, layout: $0, store: store, transformed: query.transformed)
        }
    }

    /// Rows that sort alike stay in the order of their keys.
    private func sorted(_ rows: [Row]) throws -> [Row] {
        guard !query.sort.isEmpty else { return rows }
        let keys = try query.sort.map { descriptor in
            guard let key = key(of: descriptor), key.comparison != .custom else {
                throw StoreError(
                    .unsupported,
                    "A store sorts by keys only; sort by comparators and Swift key paths in memory."
                )
            }
            return key
        }
        var places = rows.enumerated().map { ($0, object($1)) }
        try places.sort { first, second in
            for key in keys {
                let order = try key.order(first.1, second.1)
                if order != .orderedSame { return order == .orderedAscending }
            }
            return first.0 < second.0
        }
        return places.map { rows[$0.0] }
    }
}

extension RowID: IdentityReading {
    public var predicateIdentity: AnyHashable { AnyHashable(self) }
}

extension RowID: PlaceReading {
    /// The key, as in SQL: it is unique in a tree of entities.
    public var sortPlace: [Int64] { [key] }
}

extension MemoryRowObject: PlaceReading {
    var sortPlace: [Int64] { row.id.sortPlace }
}

/// A row that answers keys, so that predicates can look into it and along its links.
struct MemoryRowObject: KeyValueReading, IdentityReading {
    let row: Row
    let layout: EntityLayout
    let store: MemoryRowStore
    let transformed: (@Sendable (Data, NSAttributeDescription) -> Any?)?

    var predicateIdentity: AnyHashable { AnyHashable(row.id) }

    func value(forKey key: String) throws -> Any? {
        if let slot = layout.attributeSlot(key) {
            return plain(row.attributes[slot], layout.attributes[slot].attribute)
        }
        if let slot = layout.toOneSlot(key) {
            return try row.toOnes[slot].flatMap { try object($0.target) }
        }
        if let slot = layout.toManySlot(key) {
            return try store.members(of: row.id, toMany: slot).compactMap { try object($0.target) }
        }
        if key == "objectID" { return row.id }
        if key == "entity" { return RowEntity(row.id.entity) }
        let prefix = "\(key)."
        let elements = layout.attributes.indices.filter {
            layout.attributes[$0].name.hasPrefix(prefix)
        }
        guard !elements.isEmpty else { throw unknownKey(key) }
        return composite(elements, below: prefix)
    }

    /// The value of a composite: dictionaries within a dictionary, as its elements lie within each
    /// other; nil where all are empty.
    private func composite(_ slots: [Int], below prefix: String) -> [String: Any]? {
        var values: [String: Any] = [:]
        var inner: [String: [Int]] = [:]
        for slot in slots {
            let place = layout.attributes[slot]
            let path = place.name.dropFirst(prefix.count)
            guard let end = path.firstIndex(of: ".") else {
                values[String(path)] = plain(row.attributes[slot], place.attribute)
                continue
            }
            inner[String(path[..<end]), default: []].append(slot)
        }
        for (name, slots) in inner { values[name] = composite(slots, below: "\(prefix)\(name).") }
        return values.isEmpty ? nil : values
    }

    func hasOrder(forKey key: String) -> Bool {
        layout.toManySlot(key).map { layout.toManys[$0].isOrdered } ?? true
    }

    private func object(_ id: RowID) throws -> MemoryRowObject? {
        guard let row = try store.row(id), let layout = store.layout.entity(id.entity) else {
            return nil
        }
        return MemoryRowObject(row: row, layout: layout, store: store, transformed: transformed)
    }

    private func unknownKey(_ key: String) -> EvaluationError {
        EvaluationError(
            .unknownKey, "The entity has no such property; check the spelling of the key path.",
            fields: ["entity": layout.name, "key": key])
    }

    private func plain(_ value: AttributeValue, _ attribute: NSAttributeDescription) -> Any? {
        switch value {
        case .null: nil
        case .integer(let integer):
            attribute.attributeType == .booleanAttributeType ? integer != 0 : Int(integer)
        case .double(let double): double
        case .decimal(let decimal): decimal
        case .text(let text): text
        case .date(let seconds): Date(timeIntervalSinceReferenceDate: seconds)
        case .uuid(let uuid): uuid
        case .uri(let text): URL(string: text)
        case .data(let data):
            attribute.attributeType == .transformableAttributeType
                ? transformed.map { $0(data, attribute) } ?? data : data
        }
    }
}
