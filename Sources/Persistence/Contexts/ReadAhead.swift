/// What was read before an object asked for it: the rows of a fetch's batch, and what the
/// relationships to prefetch lead to. Each is taken once.
///
/// Rows and members are as old as the question that brought them: whatever brings newer ones into
/// the context drops them. Batches that were not read yet stay.
struct ReadAhead {
    /// Objects of one fetch whose rows are read together.
    struct Batch {
        var ids: ArraySlice<NSManagedObjectID>
        /// Relationships whose ends are read with the batch.
        var prefetching: [String]
    }

    private struct MemberKey: Hashable {
        var owner: Reference
        var slot: Int
    }

    /// The bounds of each batch of one result.
    private final class Result {
        let ids: [NSManagedObjectID]
        let size: Int
        let prefetching: [String]

        init(_ ids: [NSManagedObjectID], _ size: Int, _ prefetching: [String]) {
            (self.ids, self.size, self.prefetching) = (ids, size, prefetching)
        }

        func batch(_ number: Int) -> Batch {
            let start = number * size
            return Batch(
                ids: ids[start..<min(start + size, ids.count)], prefetching: prefetching)
        }
    }

    private var rows: [Reference: ObjectSnapshot] = [:]
    /// Rows in packs, by the spaces of their IDs.
    private var packed: [ObjectIdentifier: PackedRowTable] = [:]
    private var members: [MemberKey: [NSManagedObjectID]] = [:]
    private var places: [Reference: (result: Result, batch: Int)] = [:]
    /// With how many places those of objects that are gone are looked for next.
    private var sweepCount = Self.sweepCountMin

    /// How often something was dropped: rows that were read before the last time, wherever they
    /// are, may be older than what the context has heard of.
    private(set) var dropCount = 0

    private static let sweepCountMin = 4096

    // MARK: Rows

    mutating func keep(_ snapshot: ObjectSnapshot, of id: NSManagedObjectID) {
        rows[Reference(id)] = snapshot
    }

    mutating func takeRow(of id: NSManagedObjectID) -> ObjectSnapshot? {
        rows.isEmpty ? nil : rows.removeValue(forKey: Reference(id))
    }

    func row(of id: NSManagedObjectID) -> ObjectSnapshot? {
        rows.isEmpty ? nil : rows[Reference(id)]
    }

    /// The rows in packs of a space; made where there are none.
    mutating func table(of space: ObjectIDTable) -> PackedRowTable {
        if let known = packed[ObjectIdentifier(space)] { return known }
        let fresh = PackedRowTable()
        packed[ObjectIdentifier(space)] = fresh
        return fresh
    }

    /// The rows in packs of a space; nil where there are none.
    func knownTable(of space: ObjectIDTable) -> PackedRowTable? {
        packed.isEmpty ? nil : packed[ObjectIdentifier(space)]
    }

    /// Whether no rows were read ahead.
    var hasNoRows: Bool { rows.isEmpty && packed.isEmpty }

    // MARK: Members

    mutating func keep(_ ids: [NSManagedObjectID], of owner: NSManagedObjectID, toMany slot: Int) {
        members[MemberKey(owner: Reference(owner), slot: slot)] = ids
    }

    mutating func takeMembers(
        of owner: NSManagedObjectID, toMany slot: Int
    ) -> [NSManagedObjectID]? {
        guard !members.isEmpty else { return nil }
        return members.removeValue(forKey: MemberKey(owner: Reference(owner), slot: slot))
    }

    // MARK: Batches

    /// Lets the rows of a result be read `size` at a time, when one of them is asked for.
    ///
    /// `isWaiting` says whether anybody has the object of an ID still: of results that were let go
    /// nothing is kept longer than until as many places came again.
    mutating func plan(
        _ ids: [NSManagedObjectID], size: Int, prefetching: [String],
        isWaiting: (NSManagedObjectID) -> Bool
    ) {
        if places.count >= sweepCount {
            places = places.filter { isWaiting($0.key.id) }
            sweepCount = max(2 * places.count, Self.sweepCountMin)
        }
        let result = Result(ids, size, prefetching)
        for (index, id) in ids.enumerated() { places[Reference(id)] = (result, index / size) }
    }

    /// The batch an object belongs to, once.
    mutating func takeBatch(of id: NSManagedObjectID) -> Batch? {
        guard !places.isEmpty, let place = places[Reference(id)] else { return nil }
        let batch = place.result.batch(place.batch)
        for id in batch.ids { places[Reference(id)] = nil }
        return batch
    }

    /// How many objects are waiting for their batch.
    var waitingCount: Int { places.count }

    // MARK: Forgetting

    /// Drops what was read of one object.
    mutating func forget(_ id: NSManagedObjectID) {
        dropCount += 1
        if !rows.isEmpty { rows[Reference(id)] = nil }
        if let space = id.space { _ = knownTable(of: space)?.take(id.key) }
        if !members.isEmpty { members = members.filter { $0.key.owner.id !== id } }
    }

    /// Drops all that was read, and the batches that were to be.
    mutating func forgetAll() {
        let count = dropCount
        self = ReadAhead()
        dropCount = count + 1
    }

    /// Drops all that was read.
    mutating func forgetRows() {
        dropCount += 1
        rows = [:]
        packed = [:]
        members = [:]
    }
}
