internal import Foundation
internal import ObjectModel
internal import Platform
internal import SQLiteDriver
internal import Stores

/// Writes the history of a change set, and removes old history. Used under the store's lock.
final class HistoryLog {
    /// What is written about one row.
    struct Entry {
        var kind: HistoryChange.Kind
        var id: RowID
        var bitmap: Data?
        var tombstone: [SQLiteValue] = []
    }

    private let connection: Connection
    private let keys: KeyRegister
    private let platform: Environment
    private let origin: HistoryOrigin
    private var strings: [LiteralText: Int64] = [:]
    private var insertion: Statement?
    /// What this connection wrote itself.
    var own = OwnTransactions()

    init(connection: Connection, keys: KeyRegister, platform: Environment, origin: HistoryOrigin) {
        self.connection = connection
        self.keys = keys
        self.platform = platform
        self.origin = origin
    }

    /// Forgets what was only seen inside a transaction that was rolled back.
    func forget() {
        strings.removeAll()
        own.undo()
    }

    /// The transaction that a change set goes on with, or a new one.
    func transaction(of changes: ChangeSet) throws -> Int64 {
        guard let number = changes.continuedTransaction else {
            return try begin(author: changes.author, contextName: changes.contextName)
        }
        own.note(number)
        return number
    }

    /// Starts a transaction of the history and returns its number.
    func begin(author: String?, contextName: String?) throws -> Int64 {
        let number = try keys.reserve(HistoryTables.transaction, count: 1)
        let texts = [author, origin.bundleIdentifier, contextName, origin.processName]
        let references = try texts.map { try $0.map(reference) }
        try connection.run(
            "INSERT INTO ATRANSACTION (Z_PK, Z_ENT, ZTIMESTAMP, "
                + "\(HistoryTables.stringColumns.joined(separator: ", "))) "
                + "VALUES (?, ?, ?, ?, ?, ?, ?)",
            [
                .integer(number), .integer(HistoryTables.transaction),
                SQLiteValue(platform.clock.now()),
            ] + references.map { SQLiteValue($0) })
        own.note(number)
        return number
    }

    /// The key of a string, which is written when it is new.
    private func reference(_ text: String) throws -> Int64 {
        if let known = strings[LiteralText(text)] { return known }
        let stored = try connection.value(
            "SELECT Z_PK FROM ATRANSACTIONSTRING WHERE ZNAME = ?", [.text(text)])
        if let key = stored?.int64 {
            strings[LiteralText(text)] = key
            return key
        }
        let key = try keys.reserve(HistoryTables.string, count: 1)
        try connection.run(
            "INSERT INTO ATRANSACTIONSTRING (Z_PK, Z_ENT, ZNAME) VALUES (?, ?, ?)",
            [.integer(key), .integer(HistoryTables.string), .text(text)])
        strings[LiteralText(text)] = key
        return key
    }

    /// Writes `count` entries, which `next` gives one after the other.
    func write(count: Int, transaction: Int64, next: () throws -> Entry?) throws {
        var key = try keys.reserve(HistoryTables.change, count: count)
        let statement = try insertionStatement()
        try statement.bind(.integer(transaction), at: 5)
        while let entry = try next() {
            try statement.bind(.integer(key), at: 1)
            try statement.bind(.integer(entry.kind.rawValue), at: 2)
            try statement.bind(.integer(Int64(entry.id.entity)), at: 3)
            try statement.bind(.integer(entry.id.key), at: 4)
            try statement.bind(SQLiteValue(entry.bitmap), at: 6)
            try statement.perform()
            if !entry.tombstone.isEmpty { try bury(entry.tombstone, change: key) }
            key += 1
        }
    }

    private func insertionStatement() throws -> Statement {
        if let insertion { return insertion }
        let statement = try connection.compile(
            "INSERT INTO ACHANGE (Z_PK, Z_ENT, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID, "
                + "ZCOLUMNS) VALUES (?, \(HistoryTables.change), ?, ?, ?, ?, ?)")
        insertion = statement
        return statement
    }

    private func bury(_ values: [SQLiteValue], change: Int64) throws {
        let list = values.indices.map { "ZTOMBSTONE\($0) = ?" }.joined(separator: ", ")
        try connection.run(
            "UPDATE ACHANGE SET \(list) WHERE Z_PK = ?", values + [.integer(change)])
    }

    /// Removes the transactions up to `number` and their changes. Numbers are never given again.
    func delete(upTo number: Int64) throws {
        try connection.run("DELETE FROM ACHANGE WHERE ZTRANSACTIONID <= ?", [.integer(number)])
        try connection.run("DELETE FROM ATRANSACTION WHERE Z_PK <= ?", [.integer(number)])
    }
}

/// Who writes: goes into each transaction of the history.
public struct HistoryOrigin: Sendable {
    public var bundleIdentifier: String?
    public var processName: String?

    public init(bundleIdentifier: String? = nil, processName: String? = nil) {
        self.bundleIdentifier = bundleIdentifier
        self.processName = processName
    }

    /// The process this code runs in.
    public static var thisProcess: HistoryOrigin {
        HistoryOrigin(
            bundleIdentifier: Bundle.main.bundleIdentifier,
            processName: ProcessInfo.processInfo.processName)
    }
}
