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
        var bitmap: ChangeBitmap?
        var tombstone: [SQLiteValue] = []
    }

    private let connection: Connection
    private let keys: KeyRegister
    private let platform: Environment
    private let origin: HistoryOrigin
    private var strings: [LiteralText: Int64] = [:]
    /// Statements of one row and of several.
    private var single: HistoryRows?
    private var several: HistoryRows?
    private static let rowsPerStatement = 40
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

    /// Writes `count` entries, each of which `entry` gives once, in order.
    func write(count: Int, transaction: Int64, entry: (Int) throws -> Entry) throws {
        let first = try keys.reserve(HistoryTables.change, count: count)
        var done = 0
        var graves: [(key: Int64, tombstone: [SQLiteValue])] = []
        while done < count {
            let rows = try rows(atMost: count - done)
            let key = first + Int64(done)
            try rows.write(from: key, transaction: transaction) { row in
                let entry = try entry(done + row)
                if !entry.tombstone.isEmpty { graves.append((key + Int64(row), entry.tombstone)) }
                return entry
            }
            done += rows.count
        }
        for grave in graves { try bury(grave.tombstone, change: grave.key) }
    }

    private func rows(atMost count: Int) throws -> HistoryRows {
        let isSingle = count < Self.rowsPerStatement
        if let known = isSingle ? single : several { return known }
        let fresh = try HistoryRows(
            count: isSingle ? 1 : Self.rowsPerStatement, connection: connection)
        if isSingle { single = fresh } else { several = fresh }
        return fresh
    }

    private func bury(_ values: [SQLiteValue], change: Int64) throws {
        let list = values.indices.map { "ZTOMBSTONE\($0) = ?" }.joined(separator: ", ")
        try connection.run(
            "UPDATE ACHANGE SET \(list) WHERE Z_PK = ?", values + [.integer(change)])
    }
}

/// Who writes: goes into each transaction of the history.
public struct HistoryOrigin: Sendable {
    /// ZBUNDLEID of each transaction; nil writes none.
    public var bundleIdentifier: String? {
        get { given.map(\.bundle) ?? Bundle.main.bundleIdentifier }
        set { given = (newValue, processName) }
    }
    /// ZPROCESSID of each transaction, which is a name, not a number; nil writes none.
    public var processName: String? {
        get { given.map(\.process) ?? ProcessInfo.processInfo.processName }
        set { given = (bundleIdentifier, newValue) }
    }
    /// Nil for the process, which is asked for its names when they are written: finding them takes
    /// as long as a part of opening a store.
    private var given: (bundle: String?, process: String?)?

    /// An origin by given names, such as a mirror's; `thisProcess` is the usual one.
    public init(bundleIdentifier: String? = nil, processName: String? = nil) {
        given = (bundleIdentifier, processName)
    }

    private init() {}

    /// What transactions of a staged migration's handlers name as their process: what they write
    /// is computed on each device that migrates, and edited by nobody.
    package static let stages = "NSStagedMigrationManager"

    /// The process this code runs in.
    public static var thisProcess: HistoryOrigin { HistoryOrigin() }
}
