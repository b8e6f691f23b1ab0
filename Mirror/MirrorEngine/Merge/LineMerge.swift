/// A three-way merge of texts by lines.
enum LineMerge {
    /// The merged text, or nil where both sides changed the same lines differently.
    /// Cost: O(lines²) at worst; texts of more than `linesMax` lines are not merged.
    static func merge(base: String, local: String, remote: String) -> String? {
        let (base, local, remote) = (lines(base), lines(local), lines(remote))
        guard max(base.count, local.count, remote.count) <= linesMax else { return nil }
        let ours = edits(from: base, to: local)
        let theirs = edits(from: base, to: remote)
        guard let merged = combine(ours, theirs) else { return nil }
        var result: [Substring] = []
        var position = 0
        for edit in merged {
            result += base[position..<edit.range.lowerBound]
            result += edit.lines
            position = edit.range.upperBound
        }
        result += base[position...]
        return result.joined(separator: "\n")
    }

    static let linesMax = 5_000

    /// Replaces the base's lines in `range` by `lines`.
    private struct Edit: Equatable {
        var range: Range<Int>
        var lines: [Substring]

        func touches(_ other: Edit) -> Bool {
            range.lowerBound <= other.range.upperBound && other.range.lowerBound <= range.upperBound
        }
    }

    private static func lines(_ text: String) -> [Substring] {
        text.split(separator: "\n", omittingEmptySubsequences: false)
    }

    /// Both lists of edits in order, equal ones once; nil where two different ones touch.
    private static func combine(_ ours: [Edit], _ theirs: [Edit]) -> [Edit]? {
        var merged = ours
        for edit in theirs where !ours.contains(edit) {
            if ours.contains(where: { $0.touches(edit) }) { return nil }
            merged.append(edit)
        }
        return merged.sorted { $0.range.lowerBound < $1.range.lowerBound }
    }

    /// The edits that turn `base` into `changed`, from the standard library's difference.
    private static func edits(from base: [Substring], to changed: [Substring]) -> [Edit] {
        let difference = changed.difference(from: base)
        var removed = Set<Int>()
        var inserted: [Int: Substring] = [:]
        for change in difference {
            switch change {
            case .remove(let offset, _, _): removed.insert(offset)
            case .insert(let offset, let line, _): inserted[offset] = line
            }
        }
        return walk(base, changed, removed: removed, inserted: inserted)
    }

    private static func walk(
        _ base: [Substring], _ changed: [Substring], removed: Set<Int>, inserted: [Int: Substring]
    ) -> [Edit] {
        var edits: [Edit] = []
        var (old, new) = (0, 0)
        while old < base.count || new < changed.count {
            guard removed.contains(old) || inserted[new] != nil else {
                (old, new) = (old + 1, new + 1)
                continue
            }
            var edit = Edit(range: old..<old, lines: [])
            while removed.contains(old) || inserted[new] != nil {
                if removed.contains(old) { old += 1 }
                if let line = inserted[new] {
                    edit.lines.append(line)
                    new += 1
                }
            }
            edit.range = edit.range.lowerBound..<old
            edits.append(edit)
        }
        return edits
    }
}
