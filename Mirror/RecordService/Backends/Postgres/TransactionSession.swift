internal import Platform
internal import PostgresDriver

/// What transactions at one place read, so that the next one there asks it at once.
final class ReadingMemory: Sendable {
    private let readings = Lock<[PostgresQuestion: [PostgresQuestion]]>([:])
    private static let placesMax = 1_000
    private static let questionsMax = 32

    func questions(after place: PostgresQuestion) -> [PostgresQuestion] {
        readings.withLock { $0[place] ?? [] }
    }

    func keep(_ questions: [PostgresQuestion], after place: PostgresQuestion) {
        readings.withLock { readings in
            if readings.count >= Self.placesMax, readings[place] == nil { readings = [:] }
            readings[place] = Array(questions.prefix(Self.questionsMax))
        }
    }

    /// After a fault, which one of the questions may have met.
    func forget() { readings.withLock { $0 = [:] } }
}

/// A session in one transaction. It asks nothing twice that is as it was, and with the lock on a
/// zone it asks what the last transaction there read: a write makes five trips to the server
/// instead of twenty.
///
/// What was asked in vain costs a look at an index. Nothing is taken from one transaction to the
/// next but questions, and they run under the locks that the transaction holds.
final class TransactionSession {
    private let connection: PostgresConnection
    private let memory: ReadingMemory?
    /// Answers that still hold, by table.
    private var known: [String: [PostgresQuestion: PostgresRows]] = [:]
    /// What the first lock on a zone asks for.
    private var place: PostgresQuestion?
    /// What was read since then.
    private var used: [PostgresQuestion] = []

    /// `memory` is for transactions that write; others begin with no lock.
    init(_ connection: PostgresConnection, _ memory: ReadingMemory?) {
        self.connection = connection
        self.memory = memory
    }

    /// Queues a statement that writes.
    func send(_ sql: String, _ values: [PostgresValue] = []) throws(PostgresFault) {
        forget(writtenBy: sql)
        try connection.send(sql, values)
    }

    /// Has the server begin with what is queued, while more is made ready.
    func begin() throws(PostgresFault) { try connection.begin() }

    /// Runs a statement of any kind now.
    func rows(
        _ sql: String, _ values: [PostgresValue] = []
    ) throws(PostgresFault) -> PostgresRows {
        forget(writtenBy: sql)
        return try connection.rows(sql, values)
    }

    /// The answer to a question, which may have been given before.
    func answer(to question: PostgresQuestion) throws(PostgresFault) -> PostgresRows {
        if place != nil, !used.contains(question) { used.append(question) }
        if let rows = known[question.table]?[question] { return rows }
        let rows = try connection.rows(question.sql, question.values)
        known[question.table, default: [:]][question] = rows
        return rows
    }

    /// Locks a row by reading it.
    func lock(
        _ question: PostgresQuestion, isPlace: Bool
    ) throws(PostgresFault) -> PostgresRows {
        if let rows = known[question.table]?[question] { return rows }
        let isFirst = isPlace && place == nil
        if isFirst { place = question }
        let others = isFirst ? memory?.questions(after: question) ?? [] : []
        for (each, rows) in try connection.rows(question, asking: others) {
            known[each.table, default: [:]][each] = rows
        }
        if let rows = known[question.table]?[question] { return rows }
        return try connection.rows(question.sql, question.values)
    }

    /// What was read of a table may have been changed by others since.
    func forgetAnswers(of table: String) { known[table] = nil }

    /// The transaction was kept: the next one at its place will likely read the same.
    func remember() {
        if let place { memory?.keep(used, after: place) }
    }

    // MARK: What a statement writes

    private static let beginnings = ["INSERT INTO ", "UPDATE ", "DELETE FROM "]

    private func forget(writtenBy sql: String) {
        guard !known.isEmpty, !sql.hasPrefix("SELECT") else { return }
        guard let beginning = Self.beginnings.first(where: sql.hasPrefix) else {
            known = [:]
            return
        }
        let table = sql.dropFirst(beginning.count).prefix { $0.isLetter || $0 == "_" }
        known[String(table)] = nil
    }
}
