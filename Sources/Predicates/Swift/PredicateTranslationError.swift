/// A Swift predicate (`#Predicate`) that has no form in the predicate language, and why.
public struct PredicateTranslationError: Error, Sendable, CustomStringConvertible {
    /// What kind of failure it is; compare with the static members.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Kind: String { case unsupportedExpression, unnamedKeyPath }
        private let kind: Kind
        public var description: String { kind.rawValue }

        /// The predicate uses an operation that the language does not have.
        public static let unsupportedExpression = Code(kind: .unsupportedExpression)
        /// A key path leads to no property of the model.
        public static let unnamedKeyPath = Code(kind: .unnamedKeyPath)
    }

    /// What kind of failure it is.
    public var code: Code
    /// One sentence: what cannot be translated and what to do. Holds no value of the user's.
    public var message: String
    /// The Swift types concerned: expression, root, value.
    public var fields: [String: String]

    public var description: String { message }

    static func unsupported(_ expression: Any) -> PredicateTranslationError {
        let name = "\(type(of: expression))".prefix { $0 != "<" }
        return PredicateTranslationError(
            code: .unsupportedExpression,
            message: "A fetch cannot use the operation \(name) of #Predicate; say it with "
                + "NSPredicate(format:), or filter the results in Swift.",
            fields: ["expression": String(name)])
    }

    static func unnamed(_ path: AnyKeyPath) -> PredicateTranslationError {
        let root = "\(type(of: path).rootType)"
        let value = "\(type(of: path).valueType)"
        return PredicateTranslationError(
            code: .unnamedKeyPath,
            message: "A key path from \(root) to \(value) leads to no property of a loaded model. "
                + "Make the container before the predicate, and use properties of the model only.",
            fields: ["root": root, "value": value])
    }
}
