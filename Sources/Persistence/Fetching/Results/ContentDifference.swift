internal import Foundation

/// What leads from one content to the next, in the fewest steps: sections and items that leave are
/// named by their former places, those that come by their new ones.
///
/// Items that did not change never move: where order changed, the changed ones moved around them.
struct ContentDifference {
    typealias Step = (old: Int, new: Int)

    let sections: SectionMatching
    /// Former places of items that left.
    private(set) var deleted: [Int] = []
    /// Places of items that came.
    private(set) var inserted: [Int] = []
    /// Items that stand elsewhere; their values may have changed, too.
    private(set) var moved: [Step] = []
    /// Changed items that stand where they stood.
    private(set) var updated: [Step] = []

    var isEmpty: Bool {
        deleted.isEmpty && inserted.isEmpty && moved.isEmpty && updated.isEmpty
            && sections.deleted.isEmpty && sections.inserted.isEmpty
    }

    /// `changed` names the items whose values may have changed. Cost: O(items), with a few
    /// instructions for each that is not among them.
    init(from old: ResultContent, to new: ResultContent, changed: Set<ObjectIdentifier>) {
        sections = SectionMatching(old.sections, new.sections)
        var free = changed
        if !Self.agree(old.items, new.items, but: free) {
            free.formUnion(Self.strays(old.items, new.items, but: free))
        }
        let former = Self.formerPlaces(old.items, new.items, free: free)
        let staying = staying(former, old, new, free: free)
        note(former, staying, old, new, changed: changed)
    }

    /// Whether all items but some are the same in the same order.
    private static func agree(
        _ old: [NSObject], _ new: [NSObject], but free: Set<ObjectIdentifier>
    ) -> Bool {
        var before = 0
        var after = 0
        while true {
            while before < old.count, free.contains(ObjectIdentifier(old[before])) { before += 1 }
            while after < new.count, free.contains(ObjectIdentifier(new[after])) { after += 1 }
            guard before < old.count, after < new.count else {
                return before == old.count && after == new.count
            }
            guard old[before] === new[after] else { return false }
            before += 1
            after += 1
        }
    }

    /// Items that came, left or changed places though they are not known to have changed: a new
    /// fetch finds such.
    private static func strays(
        _ old: [NSObject], _ new: [NSObject], but free: Set<ObjectIdentifier>
    ) -> Set<ObjectIdentifier> {
        var places: [ObjectIdentifier: Int] = [:]
        for (place, item) in new.enumerated() { places[ObjectIdentifier(item)] = place }
        var common: [(id: ObjectIdentifier, new: Int)] = []
        var strays = Set<ObjectIdentifier>()
        for item in old where !free.contains(ObjectIdentifier(item)) {
            let id = ObjectIdentifier(item)
            if let place = places.removeValue(forKey: id) {
                common.append((id, place))
            } else {
                strays.insert(id)
            }
        }
        strays.formUnion(places.keys.filter { !free.contains($0) })
        let steady = Set(longestRise(common.map(\.new)))
        for (index, item) in common.enumerated() where !steady.contains(index) {
            strays.insert(item.id)
        }
        return strays
    }

    /// For each item where it stood; -1 for those that came.
    private static func formerPlaces(
        _ old: [NSObject], _ new: [NSObject], free: Set<ObjectIdentifier>
    ) -> [Int] {
        var freePlaces: [ObjectIdentifier: Int] = [:]
        var fixed: [Int] = []
        for (place, item) in old.enumerated() {
            let id = ObjectIdentifier(item)
            if free.contains(id) { freePlaces[id] = place } else { fixed.append(place) }
        }
        var next = fixed.makeIterator()
        return new.map { item in
            let id = ObjectIdentifier(item)
            return free.contains(id) ? freePlaces[id] ?? -1 : next.next() ?? -1
        }
    }

    /// Which items stay: those that did not change, as long as their sections do; and as many
    /// others between them as stand in their former order.
    private func staying(
        _ former: [Int], _ old: ResultContent, _ new: ResultContent, free: Set<ObjectIdentifier>
    ) -> [Bool] {
        var staying = Array(repeating: false, count: former.count)
        var open: [Int] = []
        var floor = -1
        func close(below ceiling: Int) {
            let fitting = open.filter { former[$0] > floor && former[$0] < ceiling }
            for index in longestRise(fitting.map { former[$0] }) { staying[fitting[index]] = true }
            open.removeAll(keepingCapacity: true)
        }
        for (place, formerPlace) in former.enumerated() where formerPlace >= 0 {
            guard sections.present[old.section(at: formerPlace)] == new.section(at: place) else {
                continue
            }
            if free.contains(ObjectIdentifier(new.items[place])) {
                open.append(place)
                continue
            }
            close(below: formerPlace)
            staying[place] = true
            floor = formerPlace
        }
        close(below: .max)
        return staying
    }

    private mutating func note(
        _ former: [Int], _ staying: [Bool], _ old: ResultContent, _ new: ResultContent,
        changed: Set<ObjectIdentifier>
    ) {
        var isHere = Array(repeating: false, count: old.items.count)
        for (place, formerPlace) in former.enumerated() {
            guard formerPlace >= 0 else {
                inserted.append(place)
                continue
            }
            isHere[formerPlace] = true
            if !staying[place] {
                moved.append((formerPlace, place))
            } else if changed.contains(ObjectIdentifier(new.items[place])) {
                updated.append((formerPlace, place))
            }
        }
        deleted = isHere.indices.filter { !isHere[$0] }
    }
}
