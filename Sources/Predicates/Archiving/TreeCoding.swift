internal import Foundation

/// Trees in archives of `NSKeyedArchiver`: the format as a text, with variables in the places of
/// constants that no text can hold, and those constants beside it.
enum TreeCoding {
    private static let formatKey = "format"
    private static let variableKey = "variable"
    private static let constantsKey = "constants"

    static func encode(_ node: PredicateNode, with coder: NSCoder) {
        var places = Places(text: node.description)
        let placed = node.mapExpressions { places.place($0) }
        write(placed.description, placed.hasOpaquePart ? nil : places, to: coder)
    }

    static func encode(_ node: ExpressionNode, with coder: NSCoder) {
        var places = Places(text: node.description)
        let placed = node.mapExpressions { places.place($0) }
        write(placed.description, places, to: coder)
    }

    /// Reads what `encode` wrote; fails the coder and returns nil for anything else.
    static func predicate(from coder: NSCoder) -> PredicateNode? {
        reading(coder) { try PredicateParser.predicate($0).substituting($1) }
    }

    /// See `predicate(from:)`.
    static func expression(from coder: NSCoder) -> ExpressionNode? {
        reading(coder) { try PredicateParser.expression($0).substituting($1) }
    }

    private static func write(_ format: String, _ places: Places?, to coder: NSCoder) {
        guard coder.allowsKeyedCoding, let places,
            places.constants.allSatisfy({ $0 is any NSCoding })
        else {
            return coder.failWithError(
                failure(
                    .coderInvalidValue,
                    "A predicate with a block or a constant without NSCoding has no archive."))
        }
        coder.encode(format, forKey: formatKey)
        guard !places.constants.isEmpty else { return }
        coder.encode(places.variable, forKey: variableKey)
        coder.encode(places.constants, forKey: constantsKey)
    }

    private static func reading<Tree>(
        _ coder: NSCoder, _ read: (String, [String: Any?]) throws -> Tree
    ) -> Tree? {
        guard coder.containsValue(forKey: formatKey),
            let format = coder.decodeObject(of: NSString.self, forKey: formatKey)
        else {
            coder.failWithError(
                failure(.coderValueNotFound, "The archive holds no predicate's format."))
            return nil
        }
        var variables: [String: Any?] = [:]
        if coder.containsValue(forKey: variableKey),
            let name = coder.decodeObject(of: NSString.self, forKey: variableKey)
        {
            let classes = (coder.allowedClasses ?? []) + [NSArray.self]
            let constants = coder.decodeObject(of: classes, forKey: constantsKey) as? NSArray ?? []
            for (place, constant) in constants.enumerated() {
                variables["\(name)\(place)"] = constant
            }
        }
        do {
            return try read("\(format)", variables)
        } catch {
            coder.failWithError(failure(.coderReadCorrupt, "\(error)"))
            return nil
        }
    }

    private static func failure(_ code: CocoaError.Code, _ text: String) -> CocoaError {
        CocoaError(code, userInfo: [NSDebugDescriptionErrorKey: text])
    }

    /// The constants without a literal, and the variables in their places.
    private struct Places {
        /// How the variables' names begin; no variable of the tree does.
        let variable: String
        private(set) var constants: [Any] = []

        init(text: String) {
            var name = "constant"
            while text.contains("$" + name) { name = "_" + name }
            variable = name
        }

        mutating func place(_ expression: ExpressionNode) -> ExpressionNode {
            guard case .constant(let value) = expression else { return expression }
            switch Constant(value) {
            case .other(let object):
                constants.append(object)
                return .variable("\(variable)\(constants.count - 1)")
            case .list(let elements):
                let before = constants.count
                let placed = elements.map { place(.constant($0)) }
                return constants.count == before ? expression : .aggregate(placed)
            default: return expression
            }
        }
    }
}

extension PredicateNode {
    /// Whether a part of the tree is a predicate without a tree, such as a block.
    package var hasOpaquePart: Bool {
        switch self {
        case .opaque: true
        case .constant, .comparison: false
        case .and(let parts), .or(let parts): parts.contains(where: \.hasOpaquePart)
        case .not(let part): part.hasOpaquePart
        }
    }
}
