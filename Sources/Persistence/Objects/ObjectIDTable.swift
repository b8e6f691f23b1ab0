internal import Foundation
internal import ObjectModel
internal import Platform
internal import Stores

/// What the IDs of one entity's rows in one store have in common, and the one ID of each row.
///
/// The IDs of new objects have a space of their entity alone, which keeps none of them.
final class ObjectIDTable: Sendable {
    let entity: NSEntityDescription
    /// The entity's number in the store; 0 for new objects.
    let number: Int32
    /// Nil for new objects.
    let store: ZeroingReference<NSPersistentStore>?
    private let table = Lock(IDTable())
    /// The identifier that the store had when it ended; nil while it is there.
    private let formerStore = Lock<String?>(nil)

    /// The identifier of the store, also of one that is gone; empty for new objects.
    var storeIdentifier: String {
        store?.target?.identifier ?? formerStore.withLock(\.self) ?? ""
    }

    /// Keeps the identifier of a store that ends, for URIs of IDs that outlive it.
    func noteEnd(ofStoreWith identifier: String) { formerStore.withLock { $0 = identifier } }

    /// The space of new objects of an entity.
    init(entity: NSEntityDescription) {
        self.entity = entity
        number = 0
        store = nil
    }

    init(entity: NSEntityDescription, number: Int32, store: ZeroingReference<NSPersistentStore>) {
        self.entity = entity
        self.number = number
        self.store = store
    }

    /// The one ID of a key.
    func id(for key: Int64) -> NSManagedObjectID {
        table.withLock { table in
            table.id(for: key, in: self, expecting: 1)
        }
    }

    /// Adds the one ID of each row, in their order. The rows are of this space.
    func add(_ rows: ArraySlice<RowID>, to ids: inout [NSManagedObjectID]) {
        table.withLock { table in
            for index in rows.indices {
                let more = rows.endIndex - index
                ids.append(table.id(for: rows[index].key, in: self, expecting: more))
            }
        }
    }

    /// Gives the first of some objects their IDs, as many as have rows of this space and no ID yet,
    /// and adds these. It must be so of one at least.
    func name(_ objects: ArraySlice<NSManagedObject>, into ids: inout [NSManagedObjectID]) {
        table.withLock { table in
            for index in objects.indices {
                let object = objects[index]
                guard object.madeID == nil, object.shelf?.space === self else { return }
                let more = objects.endIndex - index
                let id = table.id(for: object.key, in: self, expecting: more)
                object.madeID = id
                ids.append(id)
            }
        }
    }

    /// The ID of a key, where there is one: an object that was read may be there without.
    func knownID(_ key: Int64) -> NSManagedObjectID? { table.withLock { $0.knownID(key) } }

    /// Makes a temporary ID the permanent one of the key that was reserved for it. Called before
    /// the row can be seen, so that nobody finds the row and makes another ID for it.
    func publish(_ id: NSManagedObjectID) { publish([id]) }

    /// The same for several IDs of this space.
    func publish(_ ids: [NSManagedObjectID]) {
        table.withLock { table in
            table.makeRoom(for: ids.count)
            for id in ids {
                table.put(id)
                id.becomePermanent()
            }
        }
    }

    /// Makes published IDs, whose rows were not written after all, reserved ones again.
    func withdraw(_ ids: ArraySlice<NSManagedObjectID>) {
        table.withLock { table in
            table.remove(Set(ids))
            for id in ids { id.becomeReserved() }
        }
    }
}

/// IDs by their keys: open addressing with linear probing, never more than half full.
///
/// The table holds its IDs, and drops those that nobody else holds when it needs more room. Only
/// the table hands them out, under its lock, so one that is held here alone stays so.
private struct IDTable {
    /// Nil marks a free place. An ID says its key itself, so that the table stays small.
    private var places: [NSManagedObjectID?] = []
    private var count = 0

    func knownID(_ key: Int64) -> NSManagedObjectID? {
        count > 0 ? places[place(of: key)] : nil
    }

    /// The ID of a key, made where there is none. Expects to be asked for so many, this one among
    /// them.
    mutating func id(
        for key: Int64, in space: ObjectIDTable, expecting more: Int
    ) -> NSManagedObjectID {
        var place = places.isEmpty ? 0 : place(of: key)
        if !places.isEmpty, let known = places[place] { return known }
        if reserve(more) { place = self.place(of: key) }
        let fresh = NSManagedObjectID(key: key, in: space)
        places[place] = fresh
        count += 1
        return fresh
    }

    mutating func put(_ id: NSManagedObjectID) {
        reserve(1)
        let place = place(of: id.key)
        if places[place] == nil { count += 1 }
        places[place] = id
    }

    /// Forgets IDs.
    mutating func remove(_ ids: Set<NSManagedObjectID>) {
        let others = places.compactMap { $0 }.filter { !ids.contains($0) }
        fill(with: others, capacity: places.count)
    }

    /// Makes room for `more` IDs; returns whether places changed. A new table has room for as many
    /// again as are still held, so the cost of the look through all of them spreads.
    @discardableResult
    private mutating func reserve(_ more: Int) -> Bool {
        // One at least is free, whatever was expected.
        guard (count + 1) * 2 > places.count else { return false }
        grow(by: more)
        return true
    }

    /// Makes room for all of `more` IDs.
    mutating func makeRoom(for more: Int) {
        if (count + more) * 2 > places.count { grow(by: more) }
    }

    private mutating func grow(by more: Int) {
        var held: [NSManagedObjectID] = []
        for place in places.indices where places[place] != nil {
            if !isKnownUniquelyReferenced(&places[place]), let id = places[place] {
                held.append(id)
            }
        }
        var capacity = KeySpread.capacityMin
        while (held.count + max(more, held.count)) * 2 > capacity { capacity *= 2 }
        fill(with: held, capacity: capacity)
    }

    private mutating func fill(with ids: [NSManagedObjectID], capacity: Int) {
        places = Array(repeating: nil, count: capacity)
        for id in ids { places[place(of: id.key)] = id }
        count = ids.count
    }

    /// Where a key is, or would be. There must be places.
    private func place(of key: Int64) -> Int {
        var place = KeySpread.home(of: key, capacity: places.count)
        while let id = places[place], id.key != key { place = (place &+ 1) & (places.count &- 1) }
        return place
    }
}
