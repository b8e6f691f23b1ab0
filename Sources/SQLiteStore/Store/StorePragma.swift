internal import Stores

/// One setting of a connection that an app may choose: its name, and the values it may take.
///
/// Only what cannot hurt the file or other processes that use it is let through.
struct StorePragma {
    /// When a setting has its effect.
    enum Moment {
        /// On each connection.
        case opening
        /// On a new, empty file only; an existing one keeps what it has.
        case creation
    }

    let name: String
    let value: String
    let moment: Moment

    /// Throws `.invalidValue` with the reason for a setting that is not let through.
    init(name: String, value: String) throws {
        let key = name.lowercased()
        let given = value.trimmingWhitespace
        guard let rule = Self.rules[key] else {
            throw StoreError(
                .invalidValue,
                "The pragma cannot be set here: \(Self.refused[key] ?? Self.unknown).",
                fields: ["pragma": key])
        }
        guard rule.takes(given) else {
            throw StoreError(
                .invalidValue, "The pragma takes \(rule.description), and got something else.",
                fields: ["pragma": key])
        }
        self.name = key
        self.value = given
        moment = Self.creation.contains(key) ? .creation : .opening
    }

    var statement: String { "PRAGMA \(name) = \(value)" }

    /// The settings in the order in which they work: the journal first, the rest by name.
    static func list(_ pragmas: [String: String]) throws -> [StorePragma] {
        try pragmas.map { try StorePragma(name: $0.key, value: $0.value) }.sorted {
            ($0.name == journal ? 0 : 1, $0.name) < ($1.name == journal ? 0 : 1, $1.name)
        }
    }

    static let journal = "journal_mode"

    // MARK: Rules

    private enum Rule {
        case words(Set<String>)
        case number(ClosedRange<Int>)

        func takes(_ value: String) -> Bool {
            switch self {
            case .words(let words): words.contains(value.uppercased())
            case .number(let range): Int(value).map(range.contains) ?? false
            }
        }

        var description: String {
            switch self {
            case .words(let words): "one of \(words.sorted().joined(separator: ", "))"
            case .number(let range): "a number from \(range.lowerBound) to \(range.upperBound)"
            }
        }
    }

    private static let flag = Rule.words(["0", "1", "ON", "OFF", "TRUE", "FALSE", "YES", "NO"])
    private static let count = Rule.number(0...Int(Int32.max))

    private static let rules: [String: Rule] = [
        "synchronous": .words(["OFF", "NORMAL", "FULL", "EXTRA", "0", "1", "2", "3"]),
        // Apple's systems only; elsewhere SQLite takes them without effect.
        "fullfsync": flag, "checkpoint_fullfsync": flag,
        journal: .words(["WAL", "DELETE", "TRUNCATE", "PERSIST"]),
        "journal_size_limit": .number(-1...Int.max),
        "wal_autocheckpoint": count,
        "cache_size": .number(Int(Int32.min)...Int(Int32.max)),
        "cache_spill": .words(["0", "1", "ON", "OFF", "TRUE", "FALSE", "YES", "NO"]),
        "mmap_size": .number(0...Int.max),
        "temp_store": .words(["0", "1", "2", "DEFAULT", "FILE", "MEMORY"]),
        "busy_timeout": count,
        "threads": .number(0...64),
        "analysis_limit": count,
        "automatic_index": flag,
        "secure_delete": .words(["0", "1", "ON", "OFF", "TRUE", "FALSE", "YES", "NO", "FAST"]),
        "max_page_count": .number(1...4_294_967_294),
        "page_size": .words(["512", "1024", "2048", "4096", "8192", "16384", "32768", "65536"]),
        "auto_vacuum": .words(["0", "1", "2", "NONE", "FULL", "INCREMENTAL"]),
    ]

    private static let creation: Set<String> = ["page_size", "auto_vacuum"]

    private static let unknown =
        "it is not among those a store may choose (\(rules.keys.sorted().joined(separator: ", ")))"

    private static let refused = [
        "locking_mode": "it would shut out other processes and tools that use the store",
        "writable_schema": "it can make the file unreadable",
        "schema_version": "it can make the file unreadable",
        "user_version": "the format leaves it 0",
        "application_id": "the format leaves it 0",
        "encoding": "the format's text is UTF-8",
        "recursive_triggers": "the triggers of derived attributes are written for its being off",
        "case_sensitive_like": "predicates rely on SQLite's own rule",
        "legacy_alter_table": "migrations rely on SQLite's own rule",
        "foreign_keys": "the format declares none",
        "defer_foreign_keys": "the format declares none",
        "ignore_check_constraints": "the format declares none",
        "trusted_schema": "the store sets it by what the triggers of the format need",
        "query_only": "open the store with NSReadOnlyPersistentStoreOption instead",
        "read_uncommitted": "the store shares no cache",
        "count_changes": "it changes the results of statements",
        "empty_result_callbacks": "it changes the results of statements",
        "full_column_names": "it changes the results of statements",
        "short_column_names": "it changes the results of statements",
    ]
}

extension String {
    fileprivate var trimmingWhitespace: String {
        let start = drop(while: \.isWhitespace)
        return String(
            start.prefix(start.count - start.reversed().prefix(while: \.isWhitespace).count))
    }
}
