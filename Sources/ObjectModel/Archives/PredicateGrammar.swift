/// How the grammar of predicates spells names and texts. It stands here because archives are read
/// into texts of that grammar.
package enum PredicateGrammar {
    /// Words that the grammar keeps for itself; as names they are written with `#`.
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

    /// A text between quotation marks, as the parser reads it back.
    package static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": quoted += "\\\\"
            case "\"": quoted += "\\\""
            case "\n": quoted += "\\n"
            case "\r": quoted += "\\r"
            case "\t": quoted += "\\t"
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}
