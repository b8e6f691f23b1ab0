internal import Foundation
internal import ObjectModel
internal import SQLiteStore
internal import Stores

/// What was saved since the last look at the history; where a migration made a new file, with what
/// was saved in the one before.
struct UnseenHistory {
    /// Rows that were made, with the transaction that made them last.
    private var inserted: [RowID: Int64] = [:]
    /// What was saved in another file, by row: the properties, and when the last of it was.
    private(set) var former: [RowID: FormerEdit] = [:]
    private(set) var lists: ListMoments

    /// Reads all of it. Cost: O(changes since the last look).
    init(_ mirror: MirrorTransaction) throws {
        lists = ListMoments(mirror)
        for row in try mirror.ledger.formerInsertions() { inserted[row] = 0 }
        for save in try mirror.ledger.unseenSaves(without: RecordNames.importAuthor) {
            lists.note(save.row, save.property, at: save.moment)
            var edit = former[save.row] ?? FormerEdit()
            if let property = save.property { edit.properties.insert(property) }
            edit.saved = save.moment
            former[save.row] = edit
        }
        // What was made before the first look at a history is named without it.
        guard let seen = try mirror.ledger.historyToken() else { return }
        // Where some was removed, every row is compared with its base.
        _ = try mirror.readHistory(after: seen) { note($0) }
    }

    private mutating func note(_ transaction: HistoryTransaction) {
        for change in transaction.changes {
            if change.kind == .insert { inserted[change.id] = transaction.number }
        }
        lists.note(transaction)
    }

    /// Gives new objects their names, as all copies of the store do, before anything else asks for
    /// them; they wait for export.
    func nameInsertions(_ mirror: MirrorTransaction) throws {
        var naming = mirror.naming
        for row in inserted.keys.sorted(by: mirror.settings.exportOrder.precedes) {
            guard let transaction = inserted[row],
                mirror.mapping.layout.entity(row.entity) != nil,
                try mirror.ledger.knownName(of: row) == nil, try mirror.store.row(row) != nil
            else { continue }
            try mirror.ledger.addEntry(
                for: row, named: naming.recordName(of: row, insertedIn: transaction),
                needsUpload: true, transaction: transaction)
        }
    }
}

extension MirrorTransaction {
    /// Hands on what was saved after a transaction, oldest first, but for what the mirror itself
    /// saved. Returns whether that is all: somebody may have removed some of it.
    func readHistory(
        after number: Int64, _ body: (HistoryTransaction) throws -> Void
    ) throws -> Bool {
        let limit = settings.historyTransactionsMax
        var last = number
        while true {
            let transactions: [HistoryTransaction]
            do {
                transactions = try store.history(after: last, limit: limit)
            } catch let error as StoreError where error.code == .historyExpired {
                return false
            }
            for transaction in transactions
            where transaction.author != RecordNames.importAuthor {
                try body(transaction)
            }
            guard let newest = transactions.last?.number, transactions.count == limit else {
                return true
            }
            last = newest
        }
    }
}

/// When the lists of pairs were edited first since the last look at the history: what came into
/// them is named after that, so that all copies of the store name it alike. A later edit in one of
/// them changes nothing of it.
struct ListMoments {
    private var moments: [RowID: [String: SavedMoment]] = [:]
    /// The relationships whose members are pairs, by entity.
    private let lists: [Int32: Set<String>]
    /// Stands for all lists of an object that was made.
    private static let all = ""

    init(_ mirror: MirrorTransaction) {
        let layout = mirror.mapping.layout
        lists = Dictionary(
            layout.entities.map { entity in
                let slots = mirror.pairs.ends(of: entity.number).map(\.slot)
                return (entity.number, Set(slots.map { entity.toManys[$0].name }))
            }, uniquingKeysWith: { first, _ in first }
        ).filter { !$0.value.isEmpty }
    }

    mutating func note(_ transaction: HistoryTransaction) {
        guard !lists.isEmpty else { return }
        let moment = SavedMoment(transaction: transaction.number, date: transaction.date)
        for change in transaction.changes {
            switch change.kind {
            case .insert: note(change.id, nil, at: moment)
            case .update: for name in change.changedProperties { note(change.id, name, at: moment) }
            case .delete: break
            }
        }
    }

    /// `property` is nil for an object that was made.
    mutating func note(_ row: RowID, _ property: String?, at moment: SavedMoment) {
        guard let names = lists[row.entity], property.map(names.contains) ?? true else { return }
        let known = moments[row, default: [:]][property ?? Self.all]
        moments[row, default: [:]][property ?? Self.all] = known ?? moment
    }

    /// When a list was edited first; nil where it was not.
    func moment(of list: String, _ row: RowID) -> SavedMoment? {
        guard let known = moments[row] else { return nil }
        return [known[list], known[Self.all]].compactMap { $0 }
            .min { $0.transaction < $1.transaction }
    }
}
