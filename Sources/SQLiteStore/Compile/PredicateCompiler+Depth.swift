internal import Predicates

// SQLite's parser remembers a hundred symbols, and each pair of parentheses takes up to three of
// them. What nests deeper is written as a list of questions instead, as long as it likes: of
// `a OR (b AND (c OR …))` the first that is answered decides. No index helps with those.
extension PredicateCompiler {
    /// Up to how many levels a condition is written as it is read.
    static let levelsMax = 20
    /// The same within a list of questions.
    private static let levelsWithinMax = 8

    /// A condition as a list of questions; false where it is open.
    ///
    /// NOT goes down to the comparisons, where it says the same; above them what is open decides as
    /// little as what is false. Of several deep parts all but the deepest become lists within the
    /// list: their depth grows with the logarithm of the predicate's size.
    func decision(
        _ node: PredicateNode, isNegated: Bool = false, _ context: Context
    ) throws -> SQLFragment {
        var (rest, isNegated) = (node, isNegated)
        var questions: SQLFragment = ""
        while rest.levels > Self.levelsWithinMax {
            if case .not(let part) = rest {
                (rest, isNegated) = (part, !isNegated)
                continue
            }
            var parts = rest.isConjunction ? rest.conjuncts : rest.disjuncts
            let needsAll = rest.isConjunction != isNegated
            let deepest = parts.indices.max { parts[$0].levels < parts[$1].levels }
            guard let deepest else { break }
            rest = parts.remove(at: deepest)
            if parts.isEmpty { continue }
            let answers = try parts.map { try answer($0, isNegated, context) }
            let question = SQLFragment.tree(answers, needsAll ? "AND" : "OR", empty: "1")
            questions =
                needsAll
                ? "\(questions)WHEN (\(question)) IS NOT TRUE THEN 0 "
                : "\(questions)WHEN \(question) THEN 1 "
        }
        let last = try answer(rest, isNegated, context)
        return questions.text.isEmpty ? last : "(CASE \(questions)ELSE \(last) END)"
    }

    private func answer(
        _ node: PredicateNode, _ isNegated: Bool, _ context: Context
    ) throws -> SQLFragment {
        guard node.levels <= Self.levelsWithinMax else {
            return try decision(node, isNegated: isNegated, context)
        }
        let plain = try asRead(node, context)
        return isNegated ? "NOT (\(plain))" : plain
    }
}

extension PredicateNode {
    /// The parts that must all hold. Chains that nest to one side are laid flat.
    var conjuncts: [PredicateNode] {
        if case .and(let parts) = self { parts.flatMap(\.conjuncts) } else { [self] }
    }

    /// The parts of which one must hold. Chains that nest to one side are laid flat.
    var disjuncts: [PredicateNode] {
        if case .or(let parts) = self { parts.flatMap(\.disjuncts) } else { [self] }
    }

    fileprivate var isConjunction: Bool { if case .and = self { true } else { false } }

    /// How many parentheses stand around its innermost comparison, where parts are joined as a
    /// balanced tree. Cost: O(parts).
    var levels: Int {
        switch self {
        case .constant, .comparison, .opaque: 0
        case .not(let part): part.levels + 1
        case .and: Self.levels(of: conjuncts)
        case .or: Self.levels(of: disjuncts)
        }
    }

    private static func levels(of parts: [PredicateNode]) -> Int {
        let joints = Int.bitWidth - max(parts.count - 1, 0).leadingZeroBitCount
        return joints + (parts.lazy.map(\.levels).max() ?? 0)
    }
}
