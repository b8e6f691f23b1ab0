/// The words that the grammar of predicates keeps for itself; as names they are written with `#`.
/// They stand here because archives are read into texts of that grammar.
package enum PredicateKeyword {
    package static let reserved: Set<String> = [
        "AND", "OR", "IN", "NOT", "ALL", "ANY", "SOME", "NONE", "LIKE", "MATCHES", "CONTAINS",
        "BEGINSWITH", "ENDSWITH", "BETWEEN", "NULL", "NIL", "SELF", "TRUE", "YES", "FALSE", "NO",
        "ANYKEY", "TRUEPREDICATE", "FALSEPREDICATE", "UTI-CONFORMS-TO", "UTI-EQUALS",
        "UNION", "INTERSECT", "MINUS",
    ]
    /// Words that are names unless an opening parenthesis or an index follows.
    package static let contextual: Set<String> = [
        "CASEINSENSITIVE", "CI", "FIRST", "LAST", "SIZE", "SUBQUERY", "FETCH", "CAST", "TERNARY",
        "FUNCTION",
    ]

    package static func needsEscape(_ name: String) -> Bool {
        let upper = name.uppercased()
        return reserved.contains(upper) || contextual.contains(upper)
    }
}
