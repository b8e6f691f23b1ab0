internal import MirrorEngine
internal import ObjectModel
internal import Stores

/// Links rows that are still to be written, as a context would save them: both ends of a
/// one-to-one, the to-one end of a one-to-many, pairs of all else.
struct GraphLinker {
    let randomness: SeededRandomness
    let layout: ModelLayout
    private let catalog: PairCatalog
    private(set) var rows: [RowID: Row] = [:]
    private let order: [RowID]
    /// The rows of an entity and its subentities.
    private var families: [Int32: [RowID]] = [:]
    private(set) var toManys: [ToManyChange] = []
    private(set) var links = 0
    /// Members of to-manys without inverse have one owner at most.
    private var owned: Set<Membership> = []
    /// A pair of a relationship that is its own inverse is made once, from either end.
    private var reflexive: [ObjectIdentifier: Set<Set<RowID>>] = [:]

    private struct Membership: Hashable {
        var relationship: ObjectIdentifier
        var member: RowID
    }

    init(_ rows: [Row], layout: ModelLayout, randomness: SeededRandomness) {
        self.layout = layout
        self.randomness = randomness
        catalog = PairCatalog(layout: layout)
        order = rows.map(\.id)
        self.rows = Dictionary(rows.map { ($0.id, $0) }, uniquingKeysWith: { one, _ in one })
        for id in order {
            var entity = layout.entity(id.entity)?.entity
            while let current = entity {
                if let number = layout.entity(named: current.name ?? "")?.number {
                    families[number, default: []].append(id)
                }
                entity = current.superentity
            }
        }
    }

    /// The rows in the order in which they were given, with their links.
    var linkedRows: [Row] { order.compactMap { rows[$0] } }
    var pairCount: Int { toManys.reduce(0) { $0 + $1.added.count } }

    mutating func linkAll() {
        for id in order {
            guard let entity = layout.entity(id.entity) else { continue }
            for slot in entity.toOnes.indices { link(id, slot, entity.toOnes[slot]) }
            for end in catalog.ends(of: id.entity) where end.isFirst { pair(id, end) }
        }
    }

    /// Lets go of a to-one, at both ends.
    mutating func unlink(_ id: RowID, _ slot: Int) {
        guard let entity = layout.entity(id.entity), let target = rows[id]?.toOnes[slot]?.target
        else { return }
        rows[id]?.toOnes[slot] = nil
        links -= 1
        guard let inverse = entity.toOnes[slot].inverseRelationship, !inverse.isToMany,
            let position = layout.entity(target.entity)?.toOneSlot(inverse.name)
        else { return }
        rows[target]?.toOnes[position] = nil
    }

    // MARK: To-one

    private mutating func link(_ id: RowID, _ slot: Int, _ relationship: NSRelationshipDescription)
    {
        guard rows[id]?.toOnes[slot] == nil, let candidates = candidates(for: relationship),
            !(relationship.isOptional && randomness.chance(percent: 15))
        else { return }
        guard let inverse = relationship.inverseRelationship, !inverse.isToMany else {
            guard let target = randomness.pick(candidates) else { return }
            rows[id]?.toOnes[slot] = Link(target)
            links += 1
            return
        }
        for _ in 0..<Self.tries {
            guard let target = randomness.pick(candidates), target != id,
                let position = layout.entity(target.entity)?.toOneSlot(inverse.name),
                rows[target]?.toOnes[position] == nil
            else { continue }
            rows[id]?.toOnes[slot] = Link(target)
            rows[target]?.toOnes[position] = Link(id)
            links += 1
            return
        }
    }

    private func candidates(for relationship: NSRelationshipDescription) -> [RowID]? {
        relationship.destinationEntity?.name.flatMap { layout.entity(named: $0) }
            .flatMap { families[$0.number] }
    }

    // MARK: Pairs

    private mutating func pair(_ id: RowID, _ end: PairCatalog.End) {
        let relationship = end.kind.first
        guard let candidates = candidates(for: relationship) else { return }
        var members: [RowID] = []
        for _ in 0..<(1 + randomness.below(Self.membersMax)) {
            guard let member = randomness.pick(candidates), !members.contains(member) else {
                continue
            }
            if end.kind.second == nil {
                let place = Membership(relationship: ObjectIdentifier(relationship), member: member)
                guard owned.insert(place).inserted else { continue }
            }
            if end.kind.isReflexive {
                let ends = Set([id, member])
                guard reflexive[ObjectIdentifier(relationship), default: []].insert(ends).inserted
                else { continue }
            }
            members.append(member)
        }
        guard !members.isEmpty else { return }
        var change = ToManyChange(owner: id, slot: end.slot)
        change.added = members.map { Link($0) }
        toManys.append(change)
    }

    private static let tries = 8
    private static let membersMax = 3
}
