internal import CPostgres
internal import Foundation

/// One session of a PostgreSQL server, in libpq's pipeline mode. Not thread-safe.
///
/// A statement that is queued runs when others are waited for, in order; after the first that fails
/// the rest does not run.
package final class PostgresConnection {
    /// What is queued, in the order of the answers.
    private enum Waiting {
        case prepared(String)
        /// Nobody asks for the answer.
        case done(String)
        case rows(String)
        /// Somebody will ask.
        case asked(PostgresQuestion)
        case commit
        case sync
    }

    private let handle: OpaquePointer
    /// The names of prepared statements, by their texts.
    private var names: [String: String] = [:]
    private var namesGiven = 0
    private var waiting: [Waiting] = []
    private var answer: PostgresRows?
    private var answers: [PostgresQuestion: PostgresRows] = [:]
    /// The first fault since the last `rollback`.
    package private(set) var fault: PostgresFault?

    /// So many statements are queued before their answers are read.
    private static let queuedMax = 256

    /// What an address that says nothing else gets: a server that takes writes, an end of waiting
    /// for one that went away, and no look for credentials of Kerberos before each connection.
    private static let defaults = [
        ("connect_timeout", "10"), ("target_session_attrs", "read-write"),
        ("keepalives_idle", "10"), ("keepalives_interval", "5"), ("keepalives_count", "3"),
        ("tcp_user_timeout", "20000"), ("fallback_application_name", "diptych"),
        ("gssencmode", "disable"),
    ]

    /// Connects, and runs `settings` (SET statements). Throws a lost fault where no server answers.
    package init(_ address: PostgresAddress, settings: String) throws(PostgresFault) {
        let keys = Self.defaults.map(\.0) + ["dbname", "client_encoding"]
        let values = Self.defaults.map(\.1) + [address.text, "UTF8"]
        guard
            let handle = Self.withStrings(
                keys,
                { keys in
                    Self.withStrings(values) { PQconnectdbParams(keys, $0, 1) }
                })
        else { throw PostgresFault(message: "libpq has no memory.", isLost: true) }
        self.handle = handle
        diptych_pg_be_quiet(handle)
        guard PQstatus(handle) == CONNECTION_OK else {
            throw PostgresFault(message: PostgresFault.words(of: handle), isLost: true)
        }
        let result = PQexec(handle, settings)
        defer { PQclear(result) }
        guard PQresultStatus(result) == PGRES_COMMAND_OK, PQenterPipelineMode(handle) == 1 else {
            throw PostgresFault(result, handle, sql: settings)
        }
    }

    deinit { PQfinish(handle) }

    private static func withStrings<Result>(
        _ strings: [String],
        _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> Result
    ) -> Result {
        let copies = strings.map { strdup($0) }
        defer { for copy in copies { free(copy) } }
        return body(copies.map { UnsafePointer($0) } + [nil])
    }

    package var isUsable: Bool { PQstatus(handle) == CONNECTION_OK && fault?.isLost != true }

    // MARK: Statements

    /// Queues a statement. What goes wrong with it is thrown by whoever waits next.
    package func send(_ sql: String, _ values: [PostgresValue] = []) throws(PostgresFault) {
        try queue(sql, values, .done(sql))
    }

    /// Sends what is queued, so that the server begins with it; waits for no answer.
    package func begin() throws(PostgresFault) {
        if let fault { throw fault }
        guard PQflush(handle) == 0 else { throw lost(PostgresFault.words(of: handle), nil) }
    }

    /// Runs what is queued and then this statement, and gives its rows.
    package func rows(
        _ sql: String, _ values: [PostgresValue] = []
    ) throws(PostgresFault) -> PostgresRows {
        try queue(sql, values, .rows(sql))
        try settle()
        guard let answer else { throw lost("The server gave no answer.", sql) }
        self.answer = nil
        return answer
    }

    /// Runs a question and others behind it in one trip; gives the answers to those that have one.
    package func rows(
        _ question: PostgresQuestion, asking others: [PostgresQuestion]
    ) throws(PostgresFault) -> [PostgresQuestion: PostgresRows] {
        for each in [question] + others { try queue(each.sql, each.values, .asked(each)) }
        try settle()
        defer { answers = [:] }
        return answers
    }

    /// Runs what is queued.
    package func settle() throws(PostgresFault) {
        try end()
        read()
        if let fault { throw fault }
    }

    /// Ends the transaction; `sent` is called before the answer is read. A lost fault leaves it
    /// open whether the transaction happened; `settle` before, so that it is about no more.
    package func commit(sent: () throws -> Void) throws {
        try queue("COMMIT", [], .commit)
        try end()
        try sent()
        read()
        if let fault { throw fault }
    }

    /// Ends a transaction that wrote nothing; its answer is read by whoever comes next.
    package func endReading() throws(PostgresFault) {
        try queue("COMMIT", [], .done("COMMIT"))
        try end()
    }

    /// Undoes the transaction, where there is one, and forgets the fault. Throws where the session
    /// is lost.
    package func rollback() throws(PostgresFault) {
        if !waiting.isEmpty {
            if case .sync? = waiting.last {} else { try sync() }
            read()
        }
        guard isUsable else { throw fault ?? lost("The session is over.", nil) }
        fault = nil
        answer = nil
        answers = [:]
        try send("ROLLBACK")
        try settle()
    }

    // MARK: The queue

    private func queue(
        _ sql: String, _ values: [PostgresValue], _ kind: Waiting
    ) throws(PostgresFault) {
        if let fault { throw fault }
        if waiting.count >= Self.queuedMax { try settle() }
        let name = try prepared(sql)
        let parameters = PostgresParameters(values)
        let sent = parameters.bytes.withUnsafeBytes { bytes in
            let base = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
            // An empty buffer has no address, and an empty text is not null.
            let empty = Self.nothing
            let pointers = parameters.offsets.map { offset -> UnsafePointer<CChar>? in
                offset.map { offset in base.map { UnsafePointer($0 + offset) } ?? empty }
            }
            let formats = [Int32](repeating: 1, count: values.count)
            return PQsendQueryPrepared(
                handle, name, Int32(values.count), pointers, parameters.lengths, formats, 1)
        }
        guard sent == 1 else { throw lost(PostgresFault.words(of: handle), sql) }
        waiting.append(kind)
    }

    nonisolated(unsafe) private static let nothing: UnsafePointer<CChar> = {
        // Immutable, and never freed: one byte for the life of the process.
        let byte = UnsafeMutablePointer<CChar>.allocate(capacity: 1)
        byte.initialize(to: 0)
        return UnsafePointer(byte)
    }()

    private func prepared(_ sql: String) throws(PostgresFault) -> String {
        if let name = names[sql] { return name }
        namesGiven += 1
        let name = "s\(namesGiven)"
        guard PQsendPrepare(handle, name, sql, 0, nil) == 1 else {
            throw lost(PostgresFault.words(of: handle), sql)
        }
        names[sql] = name
        waiting.append(.prepared(sql))
        return name
    }

    private func end() throws(PostgresFault) {
        if let fault { throw fault }
        try sync()
    }

    /// Marks the end of what runs together, and sends it.
    private func sync() throws(PostgresFault) {
        guard PQpipelineSync(handle) == 1 else {
            throw lost(PostgresFault.words(of: handle), nil)
        }
        waiting.append(.sync)
    }

    private func lost(_ message: String, _ sql: String?) -> PostgresFault {
        let found = PostgresFault(message: message, sql: sql, isLost: true)
        fault = fault ?? found
        return found
    }

    // MARK: Answers

    /// Reads the answers to all that was sent.
    private func read() {
        let all = waiting
        waiting = []
        for item in all {
            if case .sync = item {
                readSync()
            } else {
                readAnswer(to: item)
            }
        }
    }

    private func readSync() {
        guard let result = PQgetResult(handle) else {
            _ = lost("The server ended the session.", nil)
            return
        }
        defer { PQclear(result) }
        if PQresultStatus(result) != PGRES_PIPELINE_SYNC { note(result, nil) }
    }

    private func readAnswer(to item: Waiting) {
        var isFirst = true
        while PQstatus(handle) == CONNECTION_OK || isFirst, let result = PQgetResult(handle) {
            isFirst = false
            switch (PQresultStatus(result), item) {
            case (PGRES_TUPLES_OK, .rows):
                answer = PostgresRows(result)
                continue
            case (PGRES_TUPLES_OK, .asked(let question)):
                answers[question] = PostgresRows(result)
                continue
            case (PGRES_COMMAND_OK, .commit):
                if String(cString: PQcmdStatus(result)) != "COMMIT" {
                    fault = fault ?? PostgresFault(state: "40000", message: "It was rolled back.")
                }
            case (PGRES_COMMAND_OK, .rows):
                // A statement without rows, such as LISTEN: an answer of none.
                answer = PostgresRows(result)
                continue
            case (PGRES_COMMAND_OK, _), (PGRES_TUPLES_OK, _): break
            default: note(result, item)
            }
            PQclear(result)
        }
    }

    private func note(_ result: OpaquePointer, _ item: Waiting?) {
        var sql: String?
        switch item {
        case .prepared(let text)?:
            // It was not prepared after all.
            names[text] = nil
            sql = text
        case .done(let text)?, .rows(let text)?: sql = text
        case .asked(let question)?: sql = question.sql
        case .commit?: sql = "COMMIT"
        case .sync?, nil: break
        }
        guard fault == nil, PQresultStatus(result) != PGRES_PIPELINE_ABORTED else { return }
        fault = PostgresFault(result, handle, sql: sql)
    }

    // MARK: Notices

    /// The descriptor on which notices come in.
    package var socket: Int32 { PQsocket(handle) }

    /// What other sessions told since the last call. Throws where the session is lost.
    package func notices() throws(PostgresFault) -> [PostgresNotice] {
        guard PQconsumeInput(handle) == 1 else {
            throw lost(PostgresFault.words(of: handle), nil)
        }
        var found: [PostgresNotice] = []
        while let notice = PQnotifies(handle) {
            found.append(
                PostgresNotice(
                    channel: String(cString: notice.pointee.relname),
                    text: String(cString: notice.pointee.extra)))
            PQfreemem(notice)
        }
        return found
    }
}

/// What a session told by NOTIFY.
package struct PostgresNotice {
    package let channel: String
    package let text: String
}
