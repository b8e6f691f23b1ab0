/// A predicate that could not be evaluated, and why.
public struct EvaluationError: Error, Sendable, CustomStringConvertible {
    /// What kind of failure it is; compare with the static members.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Kind: String {
            case unknownKey, unboundVariable, typeMismatch, badPattern, badFunction, notACollection
            case unsupported
        }
        private let kind: Kind
        public var description: String { kind.rawValue }

        /// An object has no property of that name.
        public static let unknownKey = Code(kind: .unknownKey)
        /// A `$variable` for which no value was given.
        public static let unboundVariable = Code(kind: .unboundVariable)
        /// An operator or function met a value it cannot take.
        public static let typeMismatch = Code(kind: .typeMismatch)
        /// MATCHES met a text that is no regular expression.
        public static let badPattern = Code(kind: .badPattern)
        /// A function that does not exist, or with arguments it does not take.
        public static let badFunction = Code(kind: .badFunction)
        /// ANY, ALL or SUBQUERY met a single value.
        public static let notACollection = Code(kind: .notACollection)
        /// What was asked works in a store only, or on Apple's platforms only.
        public static let unsupported = Code(kind: .unsupported)
    }

    /// What kind of failure it is.
    public var code: Code
    /// One sentence: what failed and what to do. Holds no value of the user's.
    public var message: String
    /// Names of the things concerned: key, variable, function, operator.
    public var fields: [String: String]

    /// `message` is a sentence without values of the user's; what it is about goes into `fields`.
    public init(_ code: Code, _ message: String, fields: [String: String] = [:]) {
        self.code = code
        self.message = message
        self.fields = fields
    }

    public var description: String { message }
}
