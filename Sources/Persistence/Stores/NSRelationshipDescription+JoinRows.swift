internal import ObjectModel

extension NSRelationshipDescription {
    /// Whether the rows of the join table are written from this end: of the two ends of a
    /// many-to-many only one names the pairs; an ordered end always does.
    var writesJoinRows: Bool {
        guard let inverse = inverseRelationship, inverse !== self else { return true }
        if isOrdered || inverse.isOrdered { return true }
        return (entity.name ?? "", name) < (inverse.entity.name ?? "", inverse.name)
    }
}
