internal import Foundation
internal import MirrorEngine
internal import SQLiteStore
internal import Stores

/// `diptych history`: the transactions of a store, who reads them, and their removal.
struct History: Verb {
    private static let object = Option("object", "OBJECT", "only changes of this object")
    private static let entity = Option("entity", "NAME", "only changes of objects of this entity")
    private static let author = Option("author", "NAME", "only transactions of this author")
    private static let since = Option("since", "DATE|NUMBER", "only what came after")
    private static let until = Option("until", "DATE|NUMBER", "nothing that came after")
    private static let limit = Option("limit", "N", "at most so many transactions")
    private static let readers = Option("readers", nil, "who reads the history, and how far")
    private static let forget = Option("forget-reader", "NAME", "wait for this reader no more")
    private static let purge = Option(
        "purge-before", "DATE", "remove what is older and was seen by all; 'now' for all of it")

    static let manual = Manual(
        name: "history", summary: "Shows what was saved, when and by whom; removes old history.",
        operands: ["STORE"],
        options: [
            object, entity, author, since, until, limit, readers, forget, purge, .model,
        ],
        notes: [
            HelpText.wrapped(
                "OBJECT is an x-coredata:// id, or what 'diptych inspect' calls it, such as "
                    + "Book/p3. DATE is ISO 8601, such as 2026-05-01 or 2026-05-01T12:00:00Z; "
                    + "NUMBER is a transaction's."),
            HelpText.wrapped(
                "Each reader of the history, the mirror among them, has a mark: the last "
                    + "transaction it has seen. A purge ends before the first that some reader "
                    + "has not seen, and says for whom. A reader that will not come back can be "
                    + "forgotten."),
        ],
        examples: [
            ("diptych history Library.sqlite --since 2026-05-01", "oldest first"),
            ("diptych history Library.sqlite --object Book/p3", "one object's life"),
            ("diptych history Library.sqlite --purge-before 2026-05-01", "what all have seen"),
        ])

    private enum Work {
        case show(HistoryFilter)
        case readers
        case forget(String)
        case purge(HistoryExtent)
    }

    private let access: StoreAccess
    private let work: Work

    init(_ arguments: Arguments) throws {
        access = StoreAccess(arguments)
        let deeds = [Self.readers, Self.forget, Self.purge].filter(arguments.has)
        let filters = [Self.object, Self.entity, Self.author, Self.since, Self.until, Self.limit]
            .filter(arguments.has)
        if let deed = deeds.first, let other = (deeds.dropFirst() + filters).first {
            throw CommandError(
                "usage", "--\(deed.name) and --\(other.name) do not go together.",
                hint: "Choose one.", status: .usage)
        }
        if let text = arguments.value(Self.purge) {
            work = .purge(try Self.extent(text))
        } else if let name = arguments.value(Self.forget) {
            work = .forget(name)
        } else if arguments.has(Self.readers) {
            work = .readers
        } else {
            work = .show(
                HistoryFilter(
                    object: arguments.value(Self.object), entity: arguments.value(Self.entity),
                    author: arguments.value(Self.author),
                    since: try arguments.value(Self.since).map { try place($0, Self.since) },
                    until: try arguments.value(Self.until).map { try place($0, Self.until) },
                    limit: try arguments.number(Self.limit, in: 1...Int.max)))
        }
        func place(_ text: String, _ option: Option) throws -> HistoryPlace {
            if let place = HistoryPlace(text) { return place }
            throw Self.noPlace(text, option)
        }
    }

    private static func extent(_ text: String) throws -> HistoryExtent {
        if text == "now" { return .all }
        guard case .date(let date)? = HistoryPlace(text) else { throw noPlace(text, purge) }
        return .before(date)
    }

    private static func noPlace(_ text: String, _ option: Option) -> CommandError {
        CommandError(
            "usage", "--\(option.name) cannot be '\(text)'.",
            hint: "Write a date such as 2026-05-01 or 2026-05-01T12:00:00Z"
                + (option.name == purge.name ? ", or 'now'." : ", or a transaction's number."),
            status: .usage)
    }

    func run(_ console: Console) async throws -> ExitStatus {
        switch work {
        case .show(let filter):
            let store = try access.open(readOnly: true)
            try HistoryReport(store: store, filter: filter).print(to: console)
        case .readers: try showReaders(console)
        case .forget(let name): try forgetReader(name, console)
        case .purge(let extent): try purgeHistory(extent, console)
        }
        return .done
    }

    private func showReaders(_ console: Console) throws {
        let store = try access.open(readOnly: true)
        let last = try store.lastTransactionNumber()
        let readers = try store.historyConsumers()
        guard !console.isJSON else {
            for reader in readers {
                console.emit([
                    "reader": .string(reader.name), "lastSeen": .integer(reader.lastSeen),
                    "behind": .integer(Self.distance(from: reader.lastSeen, to: last)),
                    "date": JSON(reader.date),
                ])
            }
            return
        }
        guard !readers.isEmpty else {
            return console.line("Nobody has said to read this history; a purge removes all of it.")
        }
        var table = TextTable(rightAligned: [1, 2])
        table.add("READER", "SEEN", "BEHIND", "WHEN")
        for reader in readers {
            table.add(
                reader.name, Figure.grouped(Int(reader.lastSeen)),
                Figure.grouped(Int(Self.distance(from: reader.lastSeen, to: last))),
                Timestamp.short(reader.date))
        }
        console.block(table.text)
    }

    /// How many transactions a reader has not seen; a file may hold any numbers.
    private static func distance(from seen: Int64, to last: Int64) -> Int64 {
        max(0, last) - min(max(0, seen), max(0, last))
    }

    private func forgetReader(_ name: String, _ console: Console) throws {
        let store = try access.open()
        guard try store.historyConsumers().contains(where: { $0.name == name }) else {
            throw CommandError(
                "notFound", "Nobody named '\(name)' reads this history.",
                hint: "`diptych history \(access.name) --readers` lists who does.")
        }
        try store.removeHistoryConsumer(name)
        console.did(
            "\(name) is forgotten; what it has not seen may be removed now.",
            ["forgotten": .string(name)])
    }

    private func purgeHistory(_ extent: HistoryExtent, _ console: Console) throws {
        let removal = try access.open().deleteHistory(extent)
        guard !console.isJSON else {
            console.emit([
                "transactions": JSON(removal.transactions), "changes": JSON(removal.changes),
                "heldBy": .array(removal.heldBy.map(JSON.string)),
            ])
            return
        }
        let transactions = Figure.count(removal.transactions, "transaction")
        console.note("Removed \(transactions) with \(Figure.count(removal.changes, "change")).")
        if !removal.heldBy.isEmpty {
            console.note(
                "The rest stays until it was seen by \(removal.heldBy.joined(separator: ", "))"
                    + (removal.heldBy.contains(MirroredStore.historyConsumer)
                        ? ", the mirror: `diptych sync` reads it." : "."))
        }
    }
}
