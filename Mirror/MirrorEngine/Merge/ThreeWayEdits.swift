/// What turns one sequence into another: replacements of stretches, in order.
struct SequenceEdits<Element: Hashable> {
    struct Edit: Equatable {
        /// The elements of the former sequence that are replaced; empty where some are inserted.
        var range: Range<Int>
        var elements: [Element]
    }

    private(set) var edits: [Edit] = []

    /// The edits from `base` to `changed`. Unchanged runs of fewer than `runMin` elements between
    /// two edits go with them, so that a rewritten word stays whole.
    /// Cost: O((n + m) · d), d the number of differences among elements that both have.
    init(from base: [Element], to changed: [Element], runMin: Int = 1) {
        let head = zip(base, changed).prefix { $0 == $1 }.count
        let tail = zip(base[head...].reversed(), changed[head...].reversed())
            .prefix { $0 == $1 }.count
        let old = Array(base[head..<(base.count - tail)])
        let new = Array(changed[head..<(changed.count - tail)])
        let (removed, inserted) = Self.differences(from: old, to: new)
        walk(old, new, removed, inserted, from: head)
        join(base, runMin)
    }

    /// The places of what is removed from one and inserted into the other. What only one of them
    /// has is told without a search.
    private static func differences(
        from old: [Element], to new: [Element]
    ) -> (removed: Set<Int>, inserted: Set<Int>) {
        let (former, later) = (Set(old), Set(new))
        let shared = old.indices.filter { later.contains(old[$0]) }
        let found = new.indices.filter { former.contains(new[$0]) }
        var removed = Set(old.indices).subtracting(shared)
        var inserted = Set(new.indices).subtracting(found)
        for change in found.map({ new[$0] }).difference(from: shared.map { old[$0] }) {
            switch change {
            case .remove(let offset, _, _): removed.insert(shared[offset])
            case .insert(let offset, _, _): inserted.insert(found[offset])
            }
        }
        return (removed, inserted)
    }

    private mutating func walk(
        _ old: [Element], _ new: [Element], _ removed: Set<Int>, _ inserted: Set<Int>,
        from start: Int
    ) {
        var (before, after) = (0, 0)
        while before < old.count || after < new.count {
            guard removed.contains(before) || inserted.contains(after) else {
                (before, after) = (before + 1, after + 1)
                continue
            }
            let first = before
            var elements: [Element] = []
            while removed.contains(before) || inserted.contains(after) {
                if removed.contains(before) { before += 1 }
                if inserted.contains(after) {
                    elements.append(new[after])
                    after += 1
                }
            }
            edits.append(Edit(range: (start + first)..<(start + before), elements: elements))
        }
    }

    private mutating func join(_ base: [Element], _ runMin: Int) {
        var joined: [Edit] = []
        for edit in edits {
            guard let last = joined.last, edit.range.lowerBound - last.range.upperBound < runMin
            else {
                joined.append(edit)
                continue
            }
            let run = base[last.range.upperBound..<edit.range.lowerBound]
            joined[joined.count - 1] = Edit(
                range: last.range.lowerBound..<edit.range.upperBound,
                elements: last.elements + run + edit.elements)
        }
        edits = joined
    }

    /// What `range` of the former sequence has become; the edits that touch it lie within it.
    func result(of range: Range<Int>, in base: [Element]) -> [Element] {
        var result: [Element] = []
        var position = range.lowerBound
        for edit in edits
        where edit.range.lowerBound >= range.lowerBound
            && edit.range.upperBound <= range.upperBound
        {
            result += base[position..<edit.range.lowerBound]
            result += edit.elements
            position = edit.range.upperBound
        }
        return result + base[position..<range.upperBound]
    }

    /// Both sides' edits upon one sequence: what either removed is gone, what either put in is
    /// there. What both put in at one place stands in the order that `precedes` gives, whichever
    /// side it is of.
    static func merged(
        _ base: [Element], _ one: Self, _ other: Self, by precedes: ([Element], [Element]) -> Bool
    ) -> [Element] {
        var removed = Array(repeating: false, count: base.count)
        var inserted: [Int: [[Element]]] = [:]
        let edits = one.edits + other.edits.filter { !one.edits.contains($0) }
        for edit in edits {
            for index in edit.range { removed[index] = true }
            if !edit.elements.isEmpty {
                inserted[edit.range.lowerBound, default: []].append(edit.elements)
            }
        }
        var result: [Element] = []
        for index in 0...base.count {
            for elements in (inserted[index] ?? []).sorted(by: precedes) { result += elements }
            if index < base.count, !removed[index] { result.append(base[index]) }
        }
        return result
    }
}
