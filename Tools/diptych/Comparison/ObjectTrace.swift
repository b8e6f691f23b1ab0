internal import Foundation
internal import MirrorEngine
internal import Platform
internal import RecordWire
internal import SQLiteDriver
internal import SQLiteStore
internal import Stores

/// One object's life, put together from the history, the ledger, the logs of rounds and the
/// conflict log.
struct ObjectTrace {
    /// Something that happened to it.
    struct Event {
        let date: Date
        let kind: String
        let text: String
    }

    /// What the store knows of it now, name by name.
    private(set) var facts: [(name: String, text: String)] = []
    private(set) var events: [Event] = []
    let title: String
    let recordNames: [String]

    /// `word` is what `inspect` calls an object, its whole id, or the name of its record. Throws a
    /// `CommandError` where the store knows nothing by that name. Cost: the history is walked once.
    init(of word: String, in mirrored: MirroredStore) throws {
        let reading = try mirrored.store.read { try TraceReading(word, mirrored, $0) }
        title = reading.title
        recordNames = reading.names
        facts = reading.facts
        events = reading.events + (try Self.history(of: reading.row, mirrored.store))
        guard reading.isThere || !recordNames.isEmpty || !events.isEmpty else {
            throw CommandError(
                "notFound", "The store knows nothing of '\(word)'.",
                hint: "Write it as 'diptych inspect' does, such as Book/p3, as its whole id, or "
                    + "as the name of its record.")
        }
        events.sort { $0.date < $1.date }
    }

    private static func history(of row: RowID?, _ store: SQLiteRowStore) throws -> [Event] {
        guard let row else { return [] }
        var query = HistoryQuery()
        query.limit = pageSize
        var events: [Event] = []
        while true {
            let page = try store.history(query)
            for transaction in page {
                for change in transaction.changes where change.id == row {
                    events.append(event(change, of: transaction))
                }
            }
            guard let last = page.last, page.count == pageSize else { return events }
            query.above = last.number
        }
    }

    private static let pageSize = 500

    private static func event(
        _ change: HistoryChange, of transaction: HistoryTransaction
    ) -> Event {
        let by = transaction.author.map { " by \($0)" } ?? ""
        let place = "transaction \(transaction.number)\(by)"
        switch change.kind {
        case .insert: return Event(date: transaction.date, kind: "made", text: place)
        case .delete: return Event(date: transaction.date, kind: "deleted", text: place)
        case .update:
            let names = change.changedProperties.sorted().joined(separator: ", ")
            return Event(
                date: transaction.date, kind: "changed",
                text: names.isEmpty ? place : "\(names); \(place)")
        }
    }
}

/// Reads what the ledger knows, in one transaction.
private struct TraceReading {
    let title: String
    let row: RowID?
    let isThere: Bool
    private(set) var names: [String]
    private(set) var facts: [(name: String, text: String)] = []
    private(set) var events: [ObjectTrace.Event] = []
    private let connection: Connection
    private let ledger: Ledger?

    init(_ word: String, _ mirrored: MirroredStore, _ store: StoreTransaction) throws {
        connection = store.connection
        ledger =
            try Ledger.exists(in: store.connection)
            ? Ledger(connection: store.connection, platform: .system) : nil
        let titles = RecordTitles(mirrored)
        let known = try ObjectName.row(
            word, store.layout, of: mirrored.store.identifier, ledger)
        row = known
        title = known.map(titles.title) ?? word
        var names: [String] = []
        if let known, let name = try ledger?.knownName(of: known) { names = [name] }
        if names.isEmpty, try Self.isMentioned(word, connection, ledger) { names = [word] }
        self.names = names
        isThere = try known.map { try store.row($0) != nil } ?? false
        facts.append(("object", isThere ? "is here" : "is not here"))
        guard let ledger else {
            facts.append(("mirror", "never synced"))
            return
        }
        try readLedger(ledger)
        try readLogs(ledger)
        try readConflicts(ledger, titles, store)
    }

    /// Whether anything but a living object goes by a record's name.
    private static func isMentioned(
        _ name: String, _ connection: Connection, _ ledger: Ledger?
    ) throws -> Bool {
        guard let ledger else { return false }
        if try ledger.pair(named: name) != nil || ledger.alias(of: name) != nil
            || ledger.deletionTag(of: name) != nil
        {
            return true
        }
        return try connection.value(
            "SELECT 1 FROM ADIPTYCHCONFLICT WHERE ZRECORDNAME = ?", [.text(name)]) != nil
    }

    private mutating func readLedger(_ ledger: Ledger) throws {
        for name in names {
            facts.append(("record", name))
            if let entry = try ledger.entry(named: name) {
                facts.append(("tag", entry.base?.recordChangeTag ?? "none: the service lacks it"))
                if let stamp = entry.base?.modified {
                    let device = stamp.deviceID.map { " by device \($0.prefix(8))" } ?? ""
                    let date = Date(timeIntervalSince1970: Double(stamp.timestamp) / 1_000)
                    events.append(
                        .init(date: date, kind: "written", text: "at the service\(device)"))
                }
                if entry.needsUpload { facts.append(("waits", "to be sent")) }
                if entry.needsCloudDelete { facts.append(("waits", "its deletion, to be sent")) }
            }
            if let pair = try ledger.pair(named: name) {
                facts.append(
                    (
                        "pair",
                        "\(pair.pair.relationshipNames) \(pair.pair.first) and "
                            + pair.pair.second
                    ))
            }
            if let tag = try ledger.deletionTag(of: name) {
                facts.append(("deleted", "with the tag \(tag.text)"))
            }
            let pairs = try ledger.pairs(of: name).count
            if pairs > 0 { facts.append(("pairs", Figure.grouped(pairs))) }
        }
        guard let name = names.first else { return }
        for former in try aliases(of: name) { facts.append(("absorbed", former)) }
    }

    /// The names of objects that became this one.
    private func aliases(of name: String) throws -> [String] {
        try connection.rows(
            "SELECT r.ZRECORDNAME FROM ANSCKRECORDZONEMOVERECEIPT r JOIN ANSCKRECORDMETADATA m "
                + "ON m.Z_PK = r.ZRECORDMETADATA WHERE m.ZCKRECORDNAME = ? ORDER BY 1",
            [.text(name)]
        ).compactMap { $0[0].string }
    }

    // MARK: Logs

    private mutating func readLogs(_ ledger: Ledger) throws {
        for name in names {
            for sent in try ledger.underWay(name) {
                noteSent(sent.date, isDeletion: sent.isDeletion)
            }
            let rows = try connection.rows(
                "SELECT m.ZEXPORTEDAT, e.ZCHANGETYPENUM, o.ZSTATUSNUM FROM ANSCKEXPORTEDOBJECT e "
                    + "JOIN ANSCKEXPORTOPERATION o ON o.Z_PK = e.ZOPERATION "
                    + "JOIN ANSCKEXPORTMETADATA m ON m.Z_PK = o.ZEXPORTMETADATA "
                    + "WHERE e.ZCKRECORDNAME = ? ORDER BY m.ZEXPORTEDAT", [.text(name)])
            for row in rows {
                noteSent(row[0], isDeletion: row[1].int64 == 2)
            }
            let refusals = try connection.rows(
                "SELECT ZDATE, ZCODE, ZREASON FROM ADIPTYCHREFUSAL WHERE ZRECORDNAME = ?",
                [.text(name)])
            for row in refusals {
                note(row[0], "refused", "\(row[1].string ?? ""): \(row[2].string ?? "")")
            }
            let edits = try connection.rows(
                "SELECT ZMILLISECONDS, ZPROPERTY, ZDEVICE FROM ADIPTYCHEDIT WHERE ZRECORDNAME = ?",
                [.text(name)])
            for row in edits {
                let milliseconds = Double(row[0].int64 ?? 0)
                events.append(
                    .init(
                        date: Date(timeIntervalSince1970: milliseconds / 1_000), kind: "edited",
                        text: "\(row[1].string ?? "") by device "
                            + String((row[2].string ?? "").prefix(8))))
            }
        }
    }

    private mutating func noteSent(_ date: SQLiteValue, isDeletion: Bool) {
        let what = isDeletion ? "its deletion" : "its record"
        note(date, "sent", "\(what), without an answer yet")
    }

    private mutating func note(_ date: SQLiteValue, _ kind: String, _ text: String) {
        let date = Date(timeIntervalSinceReferenceDate: date.double ?? 0)
        events.append(.init(date: date, kind: kind, text: text))
    }

    private mutating func readConflicts(
        _ ledger: Ledger, _ titles: RecordTitles, _ store: StoreTransaction
    ) throws {
        for entry in try ledger.conflicts() where names.contains(entry.recordName) {
            let outcome =
                entry.winner == "waiting"
                ? "waits for a decision" : "kept \(entry.winner), by \(entry.rule)"
            let device = entry.remoteDevice.map { " of device \($0.prefix(8))" } ?? ""
            let values = [("base", entry.base), ("local", entry.local), ("remote", entry.remote)]
                .map { "\($0.0) \(FieldText.short($0.1, columns: 40))" }.joined(separator: ", ")
            events.append(
                .init(
                    date: entry.date, kind: "conflict",
                    text: "\(entry.property): \(outcome) (\(values)\(device))"))
        }
    }
}
