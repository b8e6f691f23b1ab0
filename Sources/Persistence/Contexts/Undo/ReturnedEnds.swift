internal import ObjectModel
internal import Stores

// Objects whose saved deletion is taken back. Their rows may have had other links by then than this
// context knew: they come back with these, and the ends of them know nothing of it, while others
// lead here by links that were gone.
extension NSManagedObjectContext {
    /// Lets both ends of the links of returned objects say the same, and those that lead to `kept`
    /// ones, whose deletion a merge policy has given up. What the objects themselves say is newer;
    /// where an end has no room by now, the link is let go of.
    final func letEndsAgree(
        of returned: [NSManagedObject], or kept: [NSManagedObject],
        beside changed: [NSManagedObject]
    ) {
        let back = returned.filter { $0.context === self }
        guard !back.isEmpty || !kept.isEmpty else { return }
        for object in back { object.tellEnds() }
        let references = Set((back + kept).map(\.reference))
        for other in changed
        where other.context === self && !references.contains(other.reference) {
            other.letGo(ofUnwilling: references)
        }
    }
}

extension NSManagedObject {
    fileprivate final func tellEnds() {
        for (slot, relationship) in shape.layout.toOnes.enumerated() {
            guard let inverse = relationship.inverseRelationship, let id = toOnes[slot],
                !takes(Reference(id), by: inverse)
            else { continue }
            altering(relationship.name) { toOnes[slot] = nil }
        }
        for (slot, relationship) in shape.layout.toManys.enumerated()
        where toManys[slot].isLoaded {
            guard let inverse = relationship.inverseRelationship else { continue }
            let lost = toManys[slot].all.filter { !takes($0, by: inverse) }
            guard !lost.isEmpty else { continue }
            altering(relationship.name) { for member in lost { toManys[slot].remove(member) } }
        }
    }

    /// Whether the other end leads here, or does so from now on.
    private func takes(_ end: Reference, by inverse: NSRelationshipDescription) -> Bool {
        guard let other = related(end.id) else { return false }
        if other.isFault { other.fire() }
        // A deletion that goes on lets go of its links by its rules.
        guard !other.isDeleted else { return !other.state.contains(.foundGone) }
        switch other.shape.slot(inverse.name) {
        case .toOne(let slot):
            if let there = other.toOnes[slot] { return there === identity }
        case .toMany(let slot):
            if other.toManys[slot].contains(reference)
                ?? other.toManys[slot].added.contains(reference)
            {
                return true
            }
        default: return true
        }
        other.link(self, into: inverse.name)
        return true
    }

    /// Lets go of those of some objects that do not lead here.
    fileprivate final func letGo(ofUnwilling others: Set<Reference>) {
        guard !isFault else { return }
        for (slot, relationship) in shape.layout.toOnes.enumerated() {
            guard let id = toOnes[slot], others.contains(Reference(id)),
                isUnwilling(Reference(id), relationship.inverseRelationship)
            else { continue }
            altering(relationship.name) { toOnes[slot] = nil }
        }
        for (slot, relationship) in shape.layout.toManys.enumerated() {
            let members = toManys[slot].touched(by: others).filter {
                !toManys[slot].removed.contains($0)
                    && isUnwilling($0, relationship.inverseRelationship)
            }
            guard !members.isEmpty else { continue }
            altering(relationship.name) { for member in members { toManys[slot].remove(member) } }
        }
    }

    private func isUnwilling(_ end: Reference, _ inverse: NSRelationshipDescription?) -> Bool {
        guard let inverse, let other = related(end.id) else { return false }
        if other.isFault { other.fire() }
        guard !other.isFault else { return false }
        switch other.shape.slot(inverse.name) {
        case .toOne(let slot): return other.toOnes[slot] !== identity
        case .toMany(let slot): return other.toManys[slot].contains(reference) == false
        default: return false
        }
    }

    private func altering(_ key: String, _ work: () -> Void) {
        willChangeValue(forKey: key)
        work()
        didChangeValue(forKey: key)
    }
}
