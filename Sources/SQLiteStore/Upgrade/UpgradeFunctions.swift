internal import Foundation
internal import SQLiteDriver
internal import Stores

/// The SQL functions by which an upgrade converts values.
enum UpgradeFunctions {
    /// The value behind the marker of a column whose values may have files: of the plain value.
    static let marked = "diptych_marked_value"
    /// A derived text: of the function's name and the text.
    static let text = "diptych_derived_text"
    /// The moment of the upgrade, as dates are stored.
    static let now = "diptych_upgrade_moment"

    static func register(with connection: Connection, now moment: Date) throws {
        try connection.register(function: marked, arguments: 1) { arguments in
            guard let data = arguments[0].data else { return .null }
            return .blob(Data([ValueCoding.inlineMarker]) + data)
        }
        try connection.register(function: text, arguments: 2) { arguments in
            guard let name = arguments[0].string, let text = arguments[1].string,
                let function = Derivation.TextFunction(rawValue: name)
            else { return .null }
            return .text(function.applied(to: text))
        }
        try connection.register(function: now, arguments: 0) { _ in SQLiteValue(moment) }
    }
}
