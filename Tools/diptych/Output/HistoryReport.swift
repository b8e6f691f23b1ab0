internal import Foundation
internal import ObjectModel
internal import SQLiteStore
internal import Stores

/// Transactions of the history as lines, some hundreds in memory at a time.
struct HistoryReport {
    let store: SQLiteRowStore
    let filter: HistoryFilter

    private static let pageSize = 500
    /// How many changes of a transaction people are shown.
    private static let changesMax = 20

    func print(to console: Console) throws {
        let rows = try filter.object.map(row)
        let entities = try filter.entity.map(family)
        var (query, shown) = (filter.query, 0)
        query.limit = Self.pageSize
        while true {
            let page = try store.history(query)
            for transaction in page {
                guard !filter.isBeyond(transaction) else { return try finish(shown, console) }
                guard filter.wants(transaction) else { continue }
                let changes = transaction.changes.filter { change in
                    rows.map { $0 == change.id } ?? true
                        && entities?.contains(change.id.entity) ?? true
                }
                guard !changes.isEmpty || !filter.choosesChanges else { continue }
                show(transaction, changes, console)
                shown += 1
                if shown == filter.limit { return }
            }
            guard let last = page.last, page.count == Self.pageSize else { break }
            query.above = last.number
        }
        try finish(shown, console)
    }

    private func finish(_ shown: Int, _ console: Console) throws {
        guard shown == 0, !console.isJSON else { return }
        let isEmpty = try store.lastTransactionNumber() == 0
        console.line(
            isEmpty ? "The store has no history." : "No such transactions.")
    }

    // MARK: What was asked for

    /// `Entity/p3`, or an object's URI.
    private func row(_ text: String) throws -> RowID {
        guard let row = try ObjectName.row(text, store.layout, of: store.identifier, nil) else {
            throw CommandError(
                "notFound", "There is no object '\(text)' in this store's model.",
                hint: "Write it as 'diptych inspect' does, such as Book/p3, or as its whole id.",
                status: .usage)
        }
        return row
    }

    private func family(_ name: String) throws -> Set<Int32> {
        guard let entity = store.layout.entity(named: name) else {
            throw CommandError(
                "notFound", "The store's model has no entity '\(name)'.",
                hint: "`diptych inspect` lists the entities.", status: .usage)
        }
        return Set(store.layout.family(of: entity))
    }

    // MARK: One transaction

    private func show(
        _ transaction: HistoryTransaction, _ changes: [HistoryChange], _ console: Console
    ) {
        guard !console.isJSON else {
            return console.emit(json(transaction, changes))
        }
        let author = transaction.author.map { " by \($0)" } ?? ""
        let place = [transaction.contextName, transaction.processID].compactMap { $0 }
        console.title(
            "\(transaction.number)  \(Timestamp.short(transaction.date))\(author)"
                + (place.isEmpty ? "" : "  (\(place.joined(separator: ", ")))"))
        var table = TextTable(indent: 2)
        for change in changes.prefix(Self.changesMax) {
            table.add(word(change.kind), object(change.id), detail(change))
        }
        if !table.isEmpty { console.block(table.text) }
        if changes.count > Self.changesMax {
            console.aside("  … and \(Figure.count(changes.count - Self.changesMax, "change")) more")
        }
    }

    private func word(_ kind: HistoryChange.Kind) -> String {
        switch kind {
        case .insert: "insert"
        case .update: "update"
        case .delete: "delete"
        }
    }

    private func object(_ row: RowID) -> String {
        "\(store.layout.entity(row.entity)?.name ?? "?")/p\(row.key)"
    }

    private func detail(_ change: HistoryChange) -> String {
        guard change.kind == .delete else {
            return change.changedProperties.joined(separator: ", ")
        }
        return tombstone(change).map { "\($0.name) \(ValueText.short($0.value, $0.type))" }
            .joined(separator: ", ")
    }

    /// What was kept of a deleted object, by name.
    private func tombstone(
        _ change: HistoryChange
    ) -> [(name: String, value: AttributeValue, type: NSAttributeType)] {
        let entity = store.layout.entity(change.id.entity)
        return change.tombstone.sorted { $0.key < $1.key }.compactMap { name, value in
            guard let entity, let slot = entity.attributeSlot(name) else { return nil }
            return (name, value, entity.attributes[slot].attribute.attributeType)
        }
    }

    private func json(_ transaction: HistoryTransaction, _ changes: [HistoryChange]) -> JSON {
        [
            "transaction": .integer(transaction.number), "date": JSON(transaction.date),
            "author": JSON(transaction.author), "context": JSON(transaction.contextName),
            "bundle": JSON(transaction.bundleID), "process": JSON(transaction.processID),
            "changes": .array(changes.map(json)),
        ]
    }

    private func json(_ change: HistoryChange) -> JSON {
        let entity = store.layout.entity(change.id.entity)
        let id = "x-coredata://\(store.identifier)/\(object(change.id))"
        var members: [(String, JSON)] = [
            ("change", .integer(change.number)), ("kind", .string(word(change.kind))),
            ("id", .string(id)), ("entity", JSON(entity?.name)),
        ]
        switch change.kind {
        case .insert: break
        case .update:
            members.append(("properties", .array(change.changedProperties.map(JSON.string))))
        case .delete:
            let values = tombstone(change).map { ($0.name, ValueText.json($0.value, $0.type)) }
            members.append(("tombstone", .object(values)))
        }
        return .object(members)
    }
}
