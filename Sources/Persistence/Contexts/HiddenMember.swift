internal import ObjectModel
internal import Stores

/// A stored member that a to-many was read without: by changes that are not saved it is deleted,
/// or belongs to another owner. Where they are taken back, it is to be seen again.
struct HiddenMember: Hashable {
    let owner: NSManagedObject
    let slot: Int
    let member: NSManagedObject

    /// Whether the context's changes still keep the member away from its owner.
    var isHidden: Bool { member.isDeleted || member.isGivenAway(by: owner, slot) }
}

extension NSManagedObject {
    /// Whether this object, a stored member of a one-to-many of `owner`, points at another one by
    /// a change of its own.
    fileprivate final func isGivenAway(by owner: NSManagedObject, _ slot: Int) -> Bool {
        guard hasChanges, !isFault,
            let inverse = owner.shape.layout.toManys[slot].inverseRelationship,
            case .toOne(let own) = shape.slot(inverse.name)
        else { return false }
        // One that was read before somebody made it a member is no change.
        return toOnes[own] !== owner.identity && toOnes[own] !== snapshot?.toOnes[own]
    }
}

extension NSManagedObjectContext {
    /// Those of the stored members that are not to be seen; remembers them.
    final func hide(
        _ members: [Reference], of owner: NSManagedObject, _ slot: Int
    ) -> Set<Reference> {
        var hidden: Set<Reference> = []
        for (reference, member) in zip(members, registered(members.map(\.id))) {
            guard let member else { continue }
            let place = HiddenMember(owner: owner, slot: slot, member: member)
            guard place.isHidden else { continue }
            hidden.insert(reference)
            pending.hidden.insert(place)
        }
        return hidden
    }

    /// Shows members again that nothing keeps away any more.
    final func revealMembers() {
        guard !pending.hidden.isEmpty else { return }
        for place in pending.hidden where !place.isHidden {
            pending.hidden.remove(place)
            place.owner.reveal(place.member, in: place.slot)
        }
    }
}

extension NSManagedObject {
    fileprivate final func reveal(_ member: NSManagedObject, in slot: Int) {
        guard shelf != nil, slot < toManys.count else { return }
        toManys[slot].reveal(member.reference)
    }
}
