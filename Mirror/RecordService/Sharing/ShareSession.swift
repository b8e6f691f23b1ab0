internal import RecordWire

/// The shares of one zone during one request that writes to it: what the rows say, and what the
/// request changes.
///
/// Who enters or leaves a share takes a place of its own in the zone's order of changes, so that
/// participants are told of it though the record itself stays as it is.
final class ShareSession {
    let zone: ZoneRow
    let key: DatabaseKey
    let limits: ServiceLimits
    let transaction: any BackendTransaction
    /// Whether the zone may have shares at all.
    let isAllowed: Bool
    private let time: Int64
    /// What operations did so far; one that is refused is undone by putting the former back.
    var state: State

    struct State {
        /// Whether the zone has shares.
        var isActive: Bool
        /// Whether all of it is shared.
        var hasZoneShare: Bool
        /// The share that records are in by what this request did.
        var places: [ExactName: String?] = [:]
        /// The parents that this request gave.
        var parents: [ExactName: String?] = [:]
        /// How many records will be in shares.
        var counts: [ExactName: Int] = [:]
        var members: [ShareMember] = []
        /// Shares of whose records something changed.
        var touched: Set<ExactName> = []
        var made: [ExactName: ShareRow] = [:]
        /// Shares that ended. One that was made again under its name has nothing of the former.
        var dissolved: Set<ExactName> = []
        var grants: [ExactName: [ShareGrant]] = [:]
    }

    var isActive: Bool { state.isActive }

    init(
        _ zone: ZoneRow, _ key: DatabaseKey, time: Int64, limits: ServiceLimits,
        _ transaction: any BackendTransaction
    ) throws {
        self.zone = zone
        self.key = key
        self.time = time
        self.limits = limits
        self.transaction = transaction
        isAllowed = !key.isPublic && zone.name != ZoneID.defaultName
        let isActive = try isAllowed && transaction.hasShares(in: zone.id)
        state = State(
            isActive: isActive,
            hasZoneShare: try isActive
                && transaction.share(named: Record.zoneShareName, in: zone.id) != nil)
    }

    /// The share that a record is in now.
    func share(of name: String) throws -> String? {
        guard isActive, !state.hasZoneShare else { return nil }
        if let place = state.places[ExactName(name)] { return place }
        let stored = try transaction.share(ofRecord: name, in: zone.id)
        return stored.flatMap { state.dissolved.contains(ExactName($0)) ? nil : $0 }
    }

    // MARK: Places

    /// What one write does to state.places in shares.
    struct Move {
        let record: String
        let from: String?
        let to: String?
        /// Records below it, which go with it.
        let below: [String]

        /// Whether it was in a share and will not be in that one.
        var leavesShare: Bool {
            guard let from else { return false }
            return to?.isExactly(from) != true
        }
    }

    /// What it means for `record` to be in `share` from now on; nil where nothing has to be noted.
    /// Throws LIMIT_EXCEEDED where too many records would move or be in the share.
    func move(
        _ record: String, to share: String?, _ links: ReferenceLinks
    ) throws -> Move? {
        guard isActive else { return nil }
        if state.hasZoneShare { state.touched.insert(ExactName(Record.zoneShareName)) }
        guard !state.hasZoneShare else { return nil }
        let from = try self.share(of: record)
        guard from.map({ ExactName($0) }) != share.map({ ExactName($0) }) else {
            return share.map { Move(record: record, from: $0, to: $0, below: []) }
        }
        let below = try descendants(of: record, links)
        if let share { try checkRoom(in: share, for: below.count + 1) }
        return Move(record: record, from: from, to: share, below: below)
    }

    /// Before the record takes its place in the order of state.
    func begin(_ move: Move?, _ counter: inout Int64) {
        guard let move, move.leavesShare, let from = move.from else { return }
        counter += 1
        note(move.record, in: from, at: counter, isGone: true)
    }

    /// After it took its place.
    func end(_ move: Move?, _ counter: inout Int64) {
        guard let move else { return }
        state.places[ExactName(move.record)] = .some(move.to)
        if let to = move.to { note(move.record, in: to, at: counter, isGone: false) }
        for record in move.below {
            if let from = move.from {
                counter += 1
                note(record, in: from, at: counter, isGone: true)
            }
            if let to = move.to {
                counter += 1
                note(record, in: to, at: counter, isGone: false)
            }
            state.places[ExactName(record)] = .some(move.to)
        }
    }

    /// A record was deleted at `change`.
    func remove(_ record: String, at change: Int64) throws {
        guard isActive else { return }
        if state.hasZoneShare { state.touched.insert(ExactName(Record.zoneShareName)) }
        if let share = try share(of: record) { note(record, in: share, at: change, isGone: true) }
        state.places[ExactName(record)] = .some(nil)
        state.parents[ExactName(record)] = .some(nil)
    }

    private func note(_ record: String, in share: String, at change: Int64, isGone: Bool) {
        state.touched.insert(ExactName(share))
        state.members.append(
            ShareMember(share: share, record: record, change: change, isGone: isGone, time: time))
    }

    private func descendants(of record: String, _ links: ReferenceLinks) throws -> [String] {
        var found: [String] = []
        var seen: Set = [ExactName(record)]
        var waiting = [record]
        let most = limits.work.sharing.recordsPerShareMax
        while let parent = waiting.popLast() {
            for child in try links.sources(of: parent, .parent, limit: most + 1)
            where seen.insert(ExactName(child)).inserted {
                found.append(child)
                waiting.append(child)
                guard found.count <= most else { throw tooManyRecords }
            }
        }
        return found
    }

    /// Refuses a root with too much below it. Throws LIMIT_EXCEEDED.
    func checkRoot(_ root: String, _ links: ReferenceLinks) throws {
        let count = try descendants(of: root, links).count + Self.rootAndShare
        guard count <= limits.work.sharing.recordsPerShareMax else { throw tooManyRecords }
    }

    private static let rootAndShare = 2

    private func checkRoom(in share: String, for count: Int) throws {
        let name = ExactName(share)
        let known = try state.counts[name] ?? countStored(in: share)
        guard known + count <= limits.work.sharing.recordsPerShareMax else {
            throw tooManyRecords
        }
        state.counts[name] = known + count
    }

    private func countStored(in share: String) throws -> Int {
        guard !state.dissolved.contains(ExactName(share)) else { return 0 }
        return try transaction.countMembers(of: share, in: zone.id)
    }

    private var tooManyRecords: RecordError {
        RecordError(
            .limitExceeded,
            "A share holds at most \(limits.work.sharing.recordsPerShareMax) records; share the "
                + "whole zone instead.")
    }

    // MARK: Parents

    func noteParent(_ parent: String?, of record: String) {
        state.parents[ExactName(record)] = .some(parent)
    }

    /// Refuses a parent that is below the record. Throws BAD_REQUEST, or LIMIT_EXCEEDED for too
    /// deep a hierarchy.
    func checkParent(_ parent: String, of record: String) throws {
        var above: String? = parent
        for _ in 0..<limits.work.sharing.depthMax {
            guard let name = above else { return }
            guard !name.isExactly(record) else {
                throw RecordError(
                    .badRequest, "The record would be above itself; name another parent.")
            }
            above = try self.parent(of: name)
        }
        throw RecordError(
            .limitExceeded,
            "A hierarchy has at most \(limits.work.sharing.depthMax) records above one another.")
    }

    /// Each is read once in a request.
    private func parent(of record: String) throws -> String? {
        if let given = state.parents[ExactName(record)] { return given }
        guard let row = try transaction.record(named: record, in: zone.id), !row.isDeleted else {
            return nil
        }
        var archived = Record(recordName: record, recordType: row.type)
        archived.fields = try RecordArchive.decodeFields(row.fields, named: [SharingField.parent])
        noteParent(archived.parent, of: record)
        return archived.parent
    }

    // MARK: Shares

    /// Refuses another share in the zone. Throws BAD_REQUEST or LIMIT_EXCEEDED.
    func checkNewShare(_ name: String) throws {
        guard !state.hasZoneShare else {
            throw RecordError(
                .badRequest, "The whole zone is shared; delete that share before sharing parts.")
        }
        let count =
            try transaction.countShares(in: zone.id) + state.made.count - state.dissolved.count
        guard count == 0 || name != Record.zoneShareName else {
            throw RecordError(
                .badRequest,
                "Parts of the zone are shared; delete those shares before sharing all of it.")
        }
        guard count < limits.work.sharing.sharesPerZoneMax else {
            throw RecordError(
                .limitExceeded,
                "The zone has \(count) shares, the most there may be; delete one first.")
        }
    }

    func make(_ share: ShareRow) {
        state.isActive = true
        if share.root == nil { state.hasZoneShare = true }
        state.made[ExactName(share.name)] = share
    }

    func open(_ share: String, to grants: [ShareGrant]) {
        state.grants[ExactName(share)] = grants
    }

    /// The share is gone; its records stay.
    func dissolve(_ share: String) {
        let name = ExactName(share)
        if share.isExactly(Record.zoneShareName) { state.hasZoneShare = false }
        state.dissolved.insert(name)
        state.made[name] = nil
        state.grants[name] = []
        state.counts[name] = nil
        state.members.removeAll { $0.share.isExactly(share) }
        for (record, place) in state.places where place?.isExactly(share) == true {
            state.places[record] = .some(nil)
        }
    }

    /// Writes what has changed. Returns the users whose shared databases did.
    func save(_ draw: @escaping () -> UInt64) throws -> Set<String> {
        guard !state.touched.isEmpty || !state.grants.isEmpty else { return [] }
        let views = SharedViews(
            key: key, zone: zone, limits: limits, transaction: transaction, draw: draw)
        var told: Set<String> = []
        for (share, grants) in state.grants.sorted(by: { $0.key.text < $1.key.text }) {
            told.formUnion(try views.setGrants(grants, of: share.text))
        }
        // One that was made again is open to nobody yet.
        for share in state.dissolved {
            try transaction.removeShare(named: share.text, in: zone.id)
        }
        // A root that is shared anew gives its short GUID to another share.
        for share in state.made.values { try transaction.save(share) }
        try transaction.save(state.members, in: zone.id)
        let open = try transaction.grants(in: zone.id)
        let others = Set(
            open.filter { state.touched.contains(ExactName($0.share)) }.map(\.user))
        for user in others.subtracting(told).sorted() { try views.touch(user) }
        return told.union(others)
    }
}
