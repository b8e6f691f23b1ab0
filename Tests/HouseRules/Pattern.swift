import Foundation

/// A regular expression over one line.
struct Pattern: @unchecked Sendable {
    // @unchecked: a regular expression is immutable and may be used from any thread.
    private let expression: NSRegularExpression

    /// Attributes and modifiers before a declaration, from the line's start.
    static let modifiers = #"^\s*(?:@\w+(?:\([^)]*\))?\s+)*(?:[a-z]+(?:\([a-z]+\))?\s+)*?"#

    init(_ pattern: String) throws { expression = try NSRegularExpression(pattern: pattern) }

    /// Returns the first match's text.
    func first(in line: String) -> String? { groups(in: line)?.first }

    /// Returns the first match and its groups; a group that took no part is empty.
    func groups(in line: String) -> [String]? {
        let all = NSRange(line.startIndex..., in: line)
        guard let match = expression.firstMatch(in: line, range: all) else { return nil }
        return (0..<match.numberOfRanges).map { index in
            Range(match.range(at: index), in: line).map { String(line[$0]) } ?? ""
        }
    }
}
