internal import Foundation

extension PredicateNode: CustomStringConvertible {
    /// The predicate as a format that parses to an equal tree, in the form Apple prints.
    ///
    /// Blocks, and constants without a literal form such as objects, are only described.
    public var description: String {
        switch self {
        case .constant(let value): value ? "TRUEPREDICATE" : "FALSEPREDICATE"
        case .and(let parts) where parts.isEmpty: "TRUEPREDICATE"
        case .or(let parts) where parts.isEmpty: "FALSEPREDICATE"
        case .and(let parts): parts.map(\.textAsPart).joined(separator: " AND ")
        case .or(let parts): parts.map(\.textAsPart).joined(separator: " OR ")
        case .not(let part): "NOT " + part.textAsPart
        case .comparison(let comparison): comparison.description
        case .opaque(let predicate): Self.text(ofOpaque: predicate)
        }
    }

    /// Apple prints a block as its address.
    private static func text(ofOpaque predicate: NSPredicate) -> String {
        guard type(of: predicate) == NSPredicate.self else { return predicate.description }
        let address = UInt(bitPattern: ObjectIdentifier(predicate))
        return "BLOCKPREDICATE(0x\(String(address, radix: 16)))"
    }

    private var textAsPart: String {
        switch self {
        case .and(let parts) where parts.count > 1: "(\(self))"
        case .or(let parts) where parts.count > 1: "(\(self))"
        default: description
        }
    }
}

extension ComparisonNode: CustomStringConvertible {
    public var description: String {
        "\(modifier.text)\(left) \(selectorName ?? `operator`.text)\(options.text) \(right)"
    }
}

extension ComparisonNode.Modifier {
    fileprivate var text: String {
        switch self {
        case .direct: ""
        case .all: "ALL "
        case .any: "ANY "
        }
    }
}

extension ComparisonNode.Operator {
    /// The operator as Apple prints it.
    public var text: String {
        switch self {
        case .lessThan: "<"
        case .lessThanOrEqualTo: "<="
        case .greaterThan: ">"
        case .greaterThanOrEqualTo: ">="
        case .equalTo: "=="
        case .notEqualTo: "!="
        case .matches: "MATCHES"
        case .like: "LIKE"
        case .beginsWith: "BEGINSWITH"
        case .endsWith: "ENDSWITH"
        case .in: "IN"
        case .customSelector: "CUSTOM"
        case .contains: "CONTAINS"
        case .between: "BETWEEN"
        }
    }
}

extension ComparisonNode.Options {
    fileprivate var text: String {
        let letters: [(Self, String)] = [
            (.caseInsensitive, "c"), (.diacriticInsensitive, "d"), (.normalized, "n"),
            (.localeSensitive, "l"),
        ]
        let text = letters.filter { contains($0.0) }.map(\.1).joined()
        return text.isEmpty ? "" : "[\(text)]"
    }
}
