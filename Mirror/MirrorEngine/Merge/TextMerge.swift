internal import RecordWire

/// A three-way merge of texts that keeps what either side put in.
///
/// Lines that one side changed are taken as they are; where both changed the same lines, their
/// characters are merged, as a reader counts them, so that none is torn. The answer is the same
/// whichever side is called local.
package enum TextMerge {
    /// Texts of more lines are not merged.
    static let linesMax = 5_000
    /// Stretches of more characters, of all three together, are merged by lines alone.
    static let charactersMax = 6_000
    /// Unchanged characters between two edits of one side that go with them.
    private static let runMin = 3

    /// The merged text; nil for texts that are too long. `base` is nil where the two sides have
    /// nothing in common: then they count as made from what they begin and end with alike. How the
    /// lines end is merged by itself, where each text ends all of its own alike.
    /// Cost: O((n + m) · d) of the lines, and the same of the characters where lines collide.
    package static func merge(base: String?, local: String, remote: String) -> String? {
        guard let own = EvenText(local), let other = EvenText(remote),
            let former = EvenText(base ?? "")
        else { return mergeLines(base: base, local: local, remote: remote) }
        let ending = LineEnding.merged(
            base: former.ending, local: own.ending, remote: other.ending)
        return mergeLines(base: base.map { _ in former.text }, local: own.text, remote: other.text)
            .map { EvenText.text($0, ending) }
    }

    private static func mergeLines(base: String?, local: String, remote: String) -> String? {
        let texts = [base ?? common(local, remote), local, remote].map(lines)
        let (base, local, remote) = (texts[0], texts[1], texts[2])
        guard texts.allSatisfy({ $0.count <= linesMax }) else { return nil }
        let one = SequenceEdits(from: base, to: local)
        let other = SequenceEdits(from: base, to: remote)
        var result: [ExactName] = []
        var position = 0
        for stretch in stretches(one, other) {
            result += base[position..<stretch.lowerBound]
            result += merged(stretch, base, one, other)
            position = stretch.upperBound
        }
        result += base[position...]
        return text(result)
    }

    /// The stretches of lines that either side changed, joined where they touch.
    private static func stretches(
        _ one: SequenceEdits<ExactName>, _ other: SequenceEdits<ExactName>
    ) -> [Range<Int>] {
        let ranges = (one.edits + other.edits).map(\.range)
            .sorted { ($0.lowerBound, $0.upperBound) < ($1.lowerBound, $1.upperBound) }
        var joined: [Range<Int>] = []
        for range in ranges {
            if let last = joined.last, range.lowerBound <= last.upperBound {
                joined[joined.count - 1] =
                    last.lowerBound..<max(last.upperBound, range.upperBound)
            } else {
                joined.append(range)
            }
        }
        return joined
    }

    private static func merged(
        _ stretch: Range<Int>, _ base: [ExactName], _ one: SequenceEdits<ExactName>,
        _ other: SequenceEdits<ExactName>
    ) -> [ExactName] {
        let former = Array(base[stretch])
        let left = one.result(of: stretch, in: base)
        let right = other.result(of: stretch, in: base)
        if left == former || left == right { return right }
        if right == former { return left }
        let texts = [former, left, right].map { $0.map { characters($0.text) } }
        let size = texts.joined().reduce(0) { $0 + $1.count }
        // Lines that both put in, or too much: whole lines stay together.
        guard !former.isEmpty, !left.isEmpty, !right.isEmpty, size <= charactersMax else {
            return SequenceEdits.merged(
                former, SequenceEdits(from: former, to: left),
                SequenceEdits(from: former, to: right), by: precedes)
        }
        let blocks = [former, left, right].map { characters(text($0)) }
        let merged = SequenceEdits.merged(
            blocks[0], SequenceEdits(from: blocks[0], to: blocks[1], runMin: runMin),
            SequenceEdits(from: blocks[0], to: blocks[2], runMin: runMin), by: precedes)
        return lines(merged.map(\.text).joined())
    }

    private static func precedes(_ one: [ExactName], _ other: [ExactName]) -> Bool {
        text(one).utf8.lexicographicallyPrecedes(text(other).utf8)
    }

    /// What two texts begin and end with alike.
    private static func common(_ one: String, _ other: String) -> String {
        let (left, right) = (characters(one), characters(other))
        let head = zip(left, right).prefix { $0 == $1 }.count
        let rest = min(left.count, right.count) - head
        let tail = zip(left.reversed(), right.reversed()).prefix(rest).prefix { $0 == $1 }.count
        return (left[..<head] + left[(left.count - tail)...]).map(\.text).joined()
    }

    // MARK: Pieces

    /// Compared by their bytes: two spellings of one letter are two.
    private static func characters(_ text: String) -> [ExactName] {
        text.map { ExactName(String($0)) }
    }

    /// Where ends are mixed, a carriage return belongs to its line.
    private static func lines(_ text: String) -> [ExactName] {
        text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
            .map { ExactName(String($0)) }
    }

    private static func text(_ lines: [ExactName]) -> String {
        lines.map(\.text).joined(separator: "\n")
    }
}
