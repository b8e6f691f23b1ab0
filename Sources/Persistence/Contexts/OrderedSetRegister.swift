/// The ordered sets that a context's program got of relationships, without holding them.
struct OrderedSetRegister {
    private struct Entry {
        weak var set: RelationshipOrderedSet?
    }

    private var entries: [Entry] = []
    /// Where those that ended are taken out next, so that the look through all of them spreads.
    private var countMax = 16

    mutating func add(_ set: RelationshipOrderedSet) {
        if entries.count >= countMax {
            entries.removeAll { $0.set == nil }
            countMax = max(16, 2 * entries.count)
        }
        entries.append(Entry(set: set))
    }

    var living: [RelationshipOrderedSet] { entries.compactMap(\.set) }
}

extension NSManagedObjectContext {
    /// Lets relationships follow what Foundation sorted in sets that show them.
    final func takeSortings() { for set in registry.orderedSets.living { set.takeSorting() } }
}
