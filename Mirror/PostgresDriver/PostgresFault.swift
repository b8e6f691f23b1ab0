internal import CPostgres

/// What PostgreSQL refused, or how the connection to it went.
/// <https://www.postgresql.org/docs/current/errcodes-appendix.html>
package struct PostgresFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// SQLSTATE; empty where no server spoke.
    package let state: String
    /// The server's sentence without its details, which may hold values.
    package let message: String
    /// The statement that failed, without its values.
    package let sql: String?
    /// Whether the session is over. What was sent and not answered may have happened or not.
    package let isLost: Bool

    package init(state: String = "", message: String, sql: String? = nil, isLost: Bool = false) {
        self.state = state
        self.message = message
        self.sql = sql
        self.isLost = isLost
    }

    init(_ result: OpaquePointer?, _ connection: OpaquePointer, sql: String?) {
        let state = result.flatMap(diptych_pg_state).map { String(cString: $0) } ?? ""
        let said = result.flatMap(diptych_pg_message).map { String(cString: $0) }
        self.init(
            state: state, message: said ?? Self.words(of: connection), sql: sql,
            // Without a state it is libpq that speaks: no server answers.
            isLost: PQstatus(connection) == CONNECTION_BAD || state.isEmpty
                || state.hasPrefix("08") || state.hasPrefix("57P"))
    }

    /// libpq's own words, in one line.
    static func words(of connection: OpaquePointer) -> String {
        PQerrorMessage(connection).map { String(cString: $0) }?
            .split(whereSeparator: \.isWhitespace).joined(separator: " ") ?? ""
    }

    /// Another transaction was in the way; the same one may succeed when it runs again.
    package var isTransient: Bool { state == "40001" || state == "40P01" }
    package var isUniqueViolation: Bool { state == "23505" }
    /// A lock was waited for as long as may be, or the statement took too long.
    package var isTimeout: Bool { state == "55P03" || state == "57014" || state == "25P03" }
    /// The server has become a standby under the session.
    package var isReadOnly: Bool { state == "25006" }
    package var isFull: Bool { state == "53100" }
    /// The server has no room for sessions, memory or work now.
    package var isExhausted: Bool { state.hasPrefix("53") && !isFull }
    package var isDamage: Bool { state.hasPrefix("XX00") && state != "XX000" }
    /// The server has no such function, statement or feature.
    package var isUnknownFeature: Bool {
        ["42883", "0A000", "42601", "42704"].contains(state)
    }
    /// The relation or the type is there already.
    package var isDuplicate: Bool { state == "42P07" || state == "42710" || isUniqueViolation }
    package var isUnknownTable: Bool { state == "42P01" }
    package var isForbidden: Bool { state == "42501" }

    package var description: String {
        (state.isEmpty ? "" : "PostgreSQL \(state): ") + message + (sql.map { " [\($0)]" } ?? "")
    }
}
