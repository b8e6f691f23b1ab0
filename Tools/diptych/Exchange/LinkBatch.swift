internal import ObjectModel
internal import Stores

/// Links on their way into the store that no row holds, and claims to ends that may be open.
struct LinkBatch {
    private struct Claim {
        let end: OpenEnd
        /// Whether the end may lead elsewhere all the same: one-to-ones of real files do.
        let mayDiffer: Bool
        let line: Int
    }

    private struct Slot: Hashable {
        let entity: Int32
        let slot: Int
    }

    private let layout: ModelLayout
    private var toManys: [ToManyChange] = []
    private var claims: [Slot: [Claim]] = [:]
    private(set) var count = 0

    init(_ layout: ModelLayout) { self.layout = layout }

    mutating func addOneToOnes(of row: Row, line: Int) {
        guard let entity = layout.entity(row.id.entity) else { return }
        for (slot, link) in row.toOnes.enumerated() {
            guard let target = link?.target,
                let back = entity.toOnes[slot].inverseRelationship, !back.isToMany
            else { continue }
            claim(target, back.name, for: row.id, mayDiffer: true, line)
        }
    }

    mutating func addMembers(_ members: [RowID], of owner: RowID, slot: Int, line: Int) {
        guard let relationship = layout.entity(owner.entity)?.toManys[slot] else { return }
        var change = ToManyChange(owner: owner, slot: slot)
        if let back = relationship.inverseRelationship, !back.isToMany {
            for member in members { claim(member, back.name, for: owner, mayDiffer: false, line) }
        } else {
            change.added = members.map { Link($0) }
        }
        if relationship.isOrdered { change.order = members }
        count += members.count
        if change.order != nil || !change.added.isEmpty { toManys.append(change) }
    }

    private mutating func claim(
        _ row: RowID, _ name: String, for claimant: RowID, mayDiffer: Bool, _ line: Int
    ) {
        guard let slot = layout.entity(row.entity)?.toOneSlot(name) else { return }
        let end = OpenEnd(row: row, slot: slot, claimant: claimant)
        claims[Slot(entity: row.entity, slot: slot), default: []].append(
            Claim(end: end, mayDiffer: mayDiffer, line: line))
        count += 1
    }

    /// Sets the ends that are open to the first who claims them, and empties the batch. Throws a
    /// `CommandError` for lines that contradict each other.
    mutating func write(to target: any ImportTarget) throws {
        var open: [OpenEnd] = []
        for (slot, claims) in claims {
            var ends = try target.ends(of: claims.map(\.end.row), slot: slot.slot)
            for claim in claims {
                let end = claim.end
                guard let present = ends[end.row] else {
                    ends[end.row] = end.claimant
                    open.append(end)
                    continue
                }
                guard present.key == end.claimant.key || claim.mayDiffer else {
                    throw contradiction(claim)
                }
            }
        }
        try target.link(open, toManys)
        toManys.removeAll(keepingCapacity: true)
        claims.removeAll(keepingCapacity: true)
        count = 0
    }

    private func contradiction(_ claim: Claim) -> CommandError {
        let name = layout.entity(claim.end.row.entity)?.toOnes[claim.end.slot].name ?? ""
        return LineImport.refusal(
            claim.line, "It names a member whose \(name) is another object.",
            "Let both lines name each other, or only one of them.")
    }
}
