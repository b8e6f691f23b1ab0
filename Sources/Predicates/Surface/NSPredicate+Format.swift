public import Foundation

/// Gives Foundation's `NSPredicate` the initializers that corelibs marks unavailable.
///
/// An initializer of a protocol extension may assign `self`, and wins overload resolution against
/// an unavailable one; so unchanged sources compile.
public protocol PredicateFormatParsing {}

extension NSPredicate: PredicateFormatParsing {}

extension PredicateFormatParsing where Self: NSPredicate {
    /// Reads `format`, with `arguments` in the places of its placeholders.
    ///
    /// A bad format ends the program with its position and what was expected, as Apple's exception
    /// does. Use `NSPredicate.parse` for formats that are not written in the source.
    public init(format: String, _ arguments: Any?...) {
        self = trapping(format, arguments)
    }

    /// See `init(format:_:)`.
    public init(format: String, argumentArray arguments: [Any]?) {
        self = trapping(format, arguments ?? [])
    }

    /// Reads `format`, with the arguments of a C function in the places of its placeholders, as
    /// `withVaList` gives them; they are read as C reads them, so `%d` takes an `Int32`, and `%ld`
    /// an `Int`. A bad format ends the program, see `init(format:_:)`.
    public init(format: String, arguments list: CVaListPointer) {
        self = parsedOrTrapped {
            trapping(
                format,
                Placeholder.values(of: try Lexer.placeholders(of: format), from: list))
        }
    }

    /// Returns the predicate with constants in place of the variables that `variables` names.
    public func withSubstitutionVariables(_ variables: [String: Any]) -> Self {
        let made = node(of: self).substituting(variables.mapValues { $0 }).predicate
        return made as? Self ?? self
    }
}

extension NSPredicate {
    /// Reads `format`, with `arguments` in the places of its placeholders. Throws
    /// `PredicateFormatError`.
    public static func parse(_ format: String, arguments: [Any?] = []) throws -> NSPredicate {
        try PredicateParser.predicate(format, arguments: arguments).predicate
    }
}

private func trapping<Made: NSPredicate>(_ format: String, _ arguments: [Any?]) -> Made {
    parsedOrTrapped {
        let made = try PredicateParser.predicate(format, arguments: arguments).predicate
        guard let made = made as? Made else {
            throw PredicateFormatError(
                .unsupported, position: 0, expected: "a format that makes a \(Made.self)",
                format: format)
        }
        return made
    }
}

/// Runs a parse whose failure has nobody to report to.
///
/// `NSPredicate(format:)` can neither throw nor return nil, and Apple raises there: the one place
/// in which this package ends the program, since a wrong predicate would find the wrong rows.
func parsedOrTrapped<Result>(_ parse: () throws -> Result) -> Result {
    do {
        return try parse()
    } catch {
        fatalError("\(error). NSPredicate.parse(_:arguments:) throws instead.")
    }
}
