internal import Foundation
internal import Predicates

/// The condition of a partial index as SQL text.
///
/// An index is declared without parameters, so constants stand in the text, quoted; only
/// comparisons of columns with numbers, texts and nil, and AND, OR and NOT of such, have a
/// spelling.
struct PartialCondition {
    /// The column of a property; nil where it has none.
    let column: (String) -> String?

    /// The condition without WHERE; nil where it has no SQL.
    func text(of format: String) -> String? {
        guard let predicate = try? NSPredicate.parse(format) else { return nil }
        return text(of: node(of: predicate))
    }

    private func text(of node: PredicateNode) -> String? {
        switch node {
        case .and(let parts): list(parts, " AND ")
        case .or(let parts): list(parts, " OR ")
        case .not(let part): text(of: part).map { "NOT (\($0))" }
        case .comparison(let comparison): text(of: comparison)
        case .constant, .opaque: nil
        }
    }

    private func list(_ parts: [PredicateNode], _ word: String) -> String? {
        let texts = parts.compactMap { text(of: $0) }
        guard texts.count == parts.count, !texts.isEmpty else { return nil }
        return "(\(texts.joined(separator: word)))"
    }

    private func text(of comparison: ComparisonNode) -> String? {
        guard comparison.modifier == .direct, comparison.options.isEmpty,
            case .keyPath(let path) = comparison.left,
            let column = column(path.joined(separator: ".")),
            case .constant(let value) = comparison.right
        else { return nil }
        if plainConstant(value) == nil {
            switch comparison.operator {
            case .equalTo: return "\(column) IS NULL"
            case .notEqualTo: return "\(column) IS NOT NULL"
            default: return nil
            }
        }
        let words: [ComparisonNode.Operator: String] = [
            .equalTo: "=", .notEqualTo: "<>", .lessThan: "<", .lessThanOrEqualTo: "<=",
            .greaterThan: ">", .greaterThanOrEqualTo: ">=",
        ]
        guard let word = words[comparison.operator], let literal = Self.literal(value) else {
            return nil
        }
        return "\(column) \(word) \(literal)"
    }

    private static func literal(_ value: Any?) -> String? {
        switch plainConstant(value) {
        case let flag as Bool: flag ? "1" : "0"
        case let number as Int: "\(number)"
        case let number as Double where number.isFinite: "\(number)"
        case let text as String where !text.contains("\0"):
            "'\(text.replacing("'", with: "''"))'"
        default: nil
        }
    }
}
