/// A predicate format that could not be read: where, and what was expected there.
public struct PredicateFormatError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What kind of failure it is; compare with the static members.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Kind: String {
            case syntax, missingArgument, badArgument, unknownFunction, tooDeep, unsupported
        }
        private let kind: Kind
        public var description: String { kind.rawValue }

        /// Something else stands where the grammar wants a word, an operator or an end.
        public static let syntax = Code(kind: .syntax)
        /// There are more placeholders than arguments.
        public static let missingArgument = Code(kind: .missingArgument)
        /// An argument is not what its placeholder takes.
        public static let badArgument = Code(kind: .badArgument)
        /// There is no function of that name, or none with so many arguments.
        public static let unknownFunction = Code(kind: .unknownFunction)
        /// The format nests deeper than `PredicateParser` goes.
        public static let tooDeep = Code(kind: .tooDeep)
        /// Apple's grammar has it, this platform does not.
        public static let unsupported = Code(kind: .unsupported)
    }

    /// What kind of failure it is.
    public var code: Code
    /// Where it went wrong, in Unicode scalars from the start of the format.
    public var position: Int
    /// What the format should have had at that place, or what to do instead.
    public var expected: String
    /// The format itself.
    public var format: String

    /// `position` counts Unicode scalars from the start of `format`.
    public init(_ code: Code, position: Int, expected: String, format: String) {
        self.code = code
        self.position = position
        self.expected = expected
        self.format = format
    }

    public var description: String {
        "Unable to parse the format string \"\(format)\" at \(position): \(expected)"
    }
}
