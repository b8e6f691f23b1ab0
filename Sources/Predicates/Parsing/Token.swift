/// One word, sign or literal of a format, with where it stands.
struct Token {
    enum Kind: Equatable {
        /// A name; `escaped` when written with `#`, so that it is no keyword.
        case word(String, escaped: Bool)
        /// `@count` and its like.
        case collectionOperator(String)
        case variable(String)
        case literal(Literal)
        /// The argument of `%@` or a number placeholder, by index.
        case argument(Int)
        /// The argument of `%K`, by index.
        case keyPathArgument(Int)
        case symbol(String)
        case end
    }

    enum Literal: Equatable {
        case text(String)
        case integer(UInt64)
        case real(Double)

        var isNumber: Bool {
            switch self {
            case .text: false
            case .integer, .real: true
            }
        }
    }

    var kind: Kind
    var position: Int
}
