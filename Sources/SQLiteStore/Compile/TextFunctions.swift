internal import Foundation
internal import Predicates
internal import SQLiteDriver

/// The SQL functions and collations by which texts compare as predicates do in memory.
enum TextFunctions {
    static let upper = "diptych_upper"
    static let lower = "diptych_lower"
    static let canonical = "diptych_canonical"
    static let length = "diptych_length"
    static let fold = "diptych_fold"
    static let order = "diptych_order"

    /// The function for an operator on texts: text, part, options.
    static func name(of comparison: ComparisonNode.Operator) -> String? {
        switch comparison {
        case .beginsWith: "diptych_begins"
        case .endsWith: "diptych_ends"
        case .contains: "diptych_contains"
        case .like: "diptych_like"
        case .matches: "diptych_matches"
        case .lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo, .equalTo,
            .notEqualTo, .in, .customSelector, .between:
            nil
        }
    }

    static func register(with connection: Connection) throws {
        try registerValues(connection)
        try registerTests(connection)
        try CastFunction.register(with: connection)
        try NumberFunctions.register(with: connection)
        for comparison in SortCollation.all {
            try connection.register(collation: comparison.collation) { comparison.order($0, $1) }
        }
    }

    private static func registerValues(_ connection: Connection) throws {
        func value(_ name: String, _ body: @escaping (String) -> SQLiteValue) throws {
            try connection.register(function: name, arguments: 1) { arguments in
                arguments.first?.string.map(body) ?? .null
            }
        }
        try value(upper) { .text($0.uppercased()) }
        try value(lower) { .text($0.lowercased()) }
        try value(canonical) {
            .text(TextRules.folded($0, [.caseInsensitive, .diacriticInsensitive]))
        }
        try value(length) { SQLiteValue($0.utf16.count) }
        try connection.register(function: fold, arguments: 2) { arguments in
            guard let text = arguments[0].string else { return .null }
            return .text(TextRules.folded(text, options(arguments[1])))
        }
    }

    private static func registerTests(_ connection: Connection) throws {
        typealias Test = (String, String, ComparisonNode.Options) throws -> SQLiteValue
        func test(_ name: String, _ body: @escaping Test) throws {
            try connection.register(function: name, arguments: 3) { arguments in
                guard let text = arguments[0].string, let part = arguments[1].string else {
                    return .null
                }
                return try body(text, part, options(arguments[2]))
            }
        }
        try test("diptych_begins") { SQLiteValue(TextRules.begins($0, with: $1, $2)) }
        try test("diptych_ends") { SQLiteValue(TextRules.ends($0, with: $1, $2)) }
        try test("diptych_contains") { SQLiteValue(TextRules.contains($0, $1, $2)) }
        try test("diptych_like") { SQLiteValue(TextRules.like($0, $1, $2)) }
        try test("diptych_matches") { SQLiteValue(try TextRules.matches($0, $1, $2)) }
        try test(order) { SQLiteValue(TextRules.order($0, $1, $2).rawValue) }
    }

    private static func options(_ value: SQLiteValue) -> ComparisonNode.Options {
        ComparisonNode.Options(rawValue: UInt(value.int64 ?? 0))
    }
}

/// The collations of sorting.
enum SortCollation {
    static let all: [SortComparison] = [
        .caseInsensitive, .localized, .localizedCaseInsensitive, .localizedStandard,
    ]
}

extension SortComparison {
    /// The collation's name in SQL; plain comparison is SQLite's own.
    var collation: String {
        switch self {
        case .compare, .custom: "BINARY"
        case .caseInsensitive: "diptych_nocase"
        case .localized: "diptych_localized"
        case .localizedCaseInsensitive: "diptych_localized_nocase"
        case .localizedStandard: "diptych_standard"
        }
    }
}
