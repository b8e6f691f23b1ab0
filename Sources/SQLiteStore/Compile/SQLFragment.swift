internal import SQLiteDriver

/// A piece of SQL with the values of its parameters, left to right.
///
/// Written as an interpolated string: a fragment is put in with its values, `value:` becomes a
/// parameter, and `name:` takes a name of the schema. There is no way to put in other text.
struct SQLFragment: ExpressibleByStringInterpolation {
    private(set) var text: String
    private(set) var values: [SQLiteValue]
    /// Whether it is a number that has fractions, or a date: where such a value is a whole number
    /// SQLite keeps it as one, and divides it so.
    var isFraction = false

    init(stringLiteral text: String) {
        self.text = text
        values = []
    }

    init(stringInterpolation parts: Parts) {
        text = parts.text
        values = parts.values
    }

    struct Parts: StringInterpolationProtocol {
        var text = ""
        var values: [SQLiteValue] = []

        init(literalCapacity: Int, interpolationCount: Int) {
            text.reserveCapacity(literalCapacity * 2)
        }

        mutating func appendLiteral(_ literal: String) { text += literal }

        mutating func appendInterpolation(_ fragment: SQLFragment) {
            text += fragment.text
            values += fragment.values
        }

        mutating func appendInterpolation(value: SQLiteValue) {
            text += "?"
            values.append(value)
        }

        mutating func appendInterpolation(name: String) { text += name }
        mutating func appendInterpolation(number: Int) { text += String(number) }
    }

    /// The same, as a number that has fractions where `isFraction` says so.
    func fraction(_ isFraction: Bool) -> SQLFragment {
        var fragment = self
        fragment.isFraction = isFraction
        return fragment
    }

    /// The fragments with `separator` between them.
    static func list(_ fragments: [SQLFragment], _ separator: String = ", ") -> SQLFragment {
        var result: SQLFragment = ""
        result.text = fragments.map(\.text).joined(separator: separator)
        result.values = fragments.flatMap(\.values)
        return result
    }

    /// The fragments joined by AND or OR as a balanced tree, since SQLite limits how deep an
    /// expression is.
    static func tree(_ fragments: [SQLFragment], _ word: String, empty: SQLFragment) -> SQLFragment
    {
        guard fragments.count > 1 else { return fragments.first ?? empty }
        let middle = fragments.count / 2
        let left = tree(Array(fragments[..<middle]), word, empty: empty)
        let right = tree(Array(fragments[middle...]), word, empty: empty)
        return "(\(left) \(name: word) \(right))"
    }
}
