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
        _ nesting: PredicateNesting, isNegated: Bool = false, _ context: Context
    ) throws -> SQLFragment {
        var (rest, isNegated) = (nesting, isNegated)
        var questions: [SQLFragment] = []
        while rest.levels > Self.levelsWithinMax {
            var parts = rest.parts
            guard let deepest = parts.indices.max(by: { parts[$0].levels < parts[$1].levels })
            else { break }
            let needsAll = rest.node.isConjunction != isNegated
            if case .not = rest.node { isNegated.toggle() }
            rest = parts.remove(at: deepest)
            if parts.isEmpty { continue }
            let answers = try parts.map { try answer($0, isNegated, context) }
            let question = SQLFragment.tree(answers, needsAll ? "AND" : "OR", empty: "1")
            questions.append(
                needsAll ? "WHEN (\(question)) IS NOT TRUE THEN 0" : "WHEN \(question) THEN 1")
        }
        let last = try answer(rest, isNegated, context)
        guard !questions.isEmpty else { return last }
        return "(CASE \(SQLFragment.list(questions, " ")) ELSE \(last) END)"
    }

    private func answer(
        _ nesting: PredicateNesting, _ isNegated: Bool, _ context: Context
    ) throws -> SQLFragment {
        guard nesting.levels <= Self.levelsWithinMax else {
            return try decision(nesting, isNegated: isNegated, context)
        }
        let plain = try asRead(nesting.node, context)
        return isNegated ? "NOT (\(plain))" : plain
    }
}

/// A predicate with how deep its parts nest, found once for all of them.
struct PredicateNesting {
    let node: PredicateNode
    /// What AND and OR join, laid flat, or what NOT is said of; none of what has no parts.
    let parts: [PredicateNesting]
    /// How many parentheses stand around its innermost comparison, where parts are joined as a
    /// balanced tree.
    let levels: Int

    /// Cost: O(parts), at all depths.
    init(_ node: PredicateNode) {
        self.node = node
        switch node {
        case .constant, .comparison, .opaque: parts = []
        case .not(let part): parts = [PredicateNesting(part)]
        case .and: parts = node.conjuncts.map { PredicateNesting($0) }
        case .or: parts = node.disjuncts.map { PredicateNesting($0) }
        }
        var deepest = 0
        for part in parts { deepest = max(deepest, part.levels) }
        switch node {
        case .constant, .comparison, .opaque: levels = 0
        case .not: levels = deepest + 1
        case .and, .or:
            levels = deepest + Int.bitWidth - max(parts.count - 1, 0).leadingZeroBitCount
        }
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

    var isConjunction: Bool { if case .and = self { true } else { false } }
}
