internal import Foundation
internal import MirrorEngine
internal import ObjectModel
internal import Platform
internal import RecordWire
internal import SQLiteStore
internal import Stores

/// Prints the conflict log with the names by which `inspect` and `export` call the objects.
struct ConflictReport {
    let entries: [ConflictEntry]
    private let rows: RowReport
    /// By record name; a record whose object is gone is not among them.
    private var objects: [String: RowID] = [:]

    init(_ mirrored: MirroredStore, waitingOnly: Bool) throws {
        entries = try mirrored.conflicts(waitingOnly: waitingOnly)
        rows = RowReport(mirrored.store)
        var names: Set<String> = []
        for entry in entries {
            names.insert(entry.recordName)
            for value in [entry.base, entry.local, entry.remote] {
                // A link is kept as the name of the record it leads to.
                if case .string(let text)? = value { names.insert(text) }
            }
        }
        objects = try Self.objects(named: names, in: mirrored)
    }

    private static func objects(
        named names: Set<String>, in mirrored: MirroredStore
    ) throws -> [String: RowID] {
        try mirrored.store.read { transaction in
            guard try Ledger.exists(in: transaction.connection) else { return [:] }
            let ledger = Ledger(connection: transaction.connection, platform: .system)
            var objects: [String: RowID] = [:]
            for name in names {
                guard let row = try ledger.entry(named: name)?.row,
                    try transaction.row(row) != nil
                else { continue }
                objects[name] = row
            }
            return objects
        }
    }

    // MARK: Names

    /// "Book/p1", as `inspect` has it; of an object that is gone, what is left of its name.
    private func name(of entry: ConflictEntry) -> String {
        guard let row = objects[entry.recordName] else {
            return "\(entry.entity) \(entry.recordName.suffix(8)) (deleted)"
        }
        return name(of: row)
    }

    private func name(of row: RowID) -> String {
        "\(rows.layout.entity(row.entity)?.name ?? "?")/p\(row.key)"
    }

    private func isLink(_ entry: ConflictEntry) -> Bool {
        guard let entity = rows.layout.entity(named: entry.entity) else { return false }
        return entity.toOneSlot(entry.property) ?? entity.toManySlot(entry.property) != nil
    }

    private func text(_ value: FieldValue?, _ entry: ConflictEntry, columns: Int?) -> String {
        if isLink(entry), case .string(let target)? = value {
            return objects[target].map(name) ?? "\(target.suffix(8)) (not here)"
        }
        if case .int64(let number)? = value, isBoolean(entry) { return number == 0 ? "no" : "yes" }
        return FieldText.short(value, columns: columns)
    }

    private func isBoolean(_ entry: ConflictEntry) -> Bool {
        guard let entity = rows.layout.entity(named: entry.entity),
            let slot = entity.attributeSlot(entry.property)
        else { return false }
        return entity.attributes[slot].attribute.attributeType == .booleanAttributeType
    }

    /// Who decided: a rule, or somebody by hand; nobody yet where it waits.
    private func judge(_ entry: ConflictEntry) -> String {
        entry.winner == "waiting" ? "–" : entry.rule
    }

    // MARK: For people

    /// One line each where they fit into `width`, or where `isWide` asks for it; else a block each.
    func text(width: Int, isWide: Bool) -> String {
        let table = table(columns: isWide ? nil : 24)
        if isWide || table.width <= width { return table.text }
        return entries.map { block($0, width: width) }.joined(separator: "\n")
    }

    private func table(columns: Int?) -> TextTable {
        var table = TextTable(rightAligned: [0])
        table.add(
            "ID", "OBJECT", "PROPERTY", "BASE", "LOCAL", "REMOTE", "KEPT", "BY", "DEVICE", "WHEN")
        for entry in entries {
            table.add(
                "\(entry.id)", name(of: entry), entry.property,
                text(entry.base, entry, columns: columns),
                text(entry.local, entry, columns: columns),
                text(entry.remote, entry, columns: columns), entry.winner, judge(entry),
                device(entry), Timestamp.short(entry.date))
        }
        return table
    }

    private func block(_ entry: ConflictEntry, width: Int) -> String {
        let outcome =
            entry.winner == "waiting"
            ? "waits for a decision" : "kept \(entry.winner), by \(judge(entry))"
        var table = TextTable(indent: 4)
        let room = max(width - 12, 20)
        table.add("base", text(entry.base, entry, columns: room))
        table.add("local", text(entry.local, entry, columns: room))
        let writer = device(entry).isEmpty ? "" : "  of device \(device(entry))"
        table.add(
            "remote",
            text(entry.remote, entry, columns: room - TextWidth.columns(of: writer)) + writer)
        let head = PlainText.line("\(entry.id)  \(name(of: entry)) \(entry.property): \(outcome)")
        let when = Timestamp.short(entry.date)
        let fits = TextWidth.columns(of: head) + when.count + 2 <= width
        if !fits { table.add("when", when) }
        return PlainText.cut(head, to: width) + (fits ? "  " + when : "") + "\n" + table.text
    }

    /// One conflict in three cells: what, who wins, and the values.
    func words(of entry: ConflictEntry) -> [String] {
        let values = [("base", entry.base), ("local", entry.local), ("remote", entry.remote)]
        return [
            "\(name(of: entry)).\(entry.property)",
            entry.winner == "waiting"
                ? "waits for a decision" : "\(entry.winner) wins, by \(judge(entry))",
            values.map { "\($0.0) \(text($0.1, entry, columns: 40))" }.joined(separator: ", "),
        ]
    }

    /// As much of the writing device's name as tells it from others.
    private func device(_ entry: ConflictEntry) -> String {
        String((entry.remoteDevice ?? "").prefix(8))
    }

    // MARK: For programs

    func json(_ entry: ConflictEntry) -> JSON {
        [
            "id": .integer(entry.id), "date": JSON(entry.date), "entity": .string(entry.entity),
            "object": JSON(objects[entry.recordName].map(rows.id)),
            "record": .string(entry.recordName), "property": .string(entry.property),
            "rule": .string(entry.rule), "winner": .string(entry.winner),
            "base": FieldText.json(entry.base), "local": FieldText.json(entry.local),
            "remote": FieldText.json(entry.remote), "device": JSON(entry.remoteDevice),
            "localDevice": JSON(entry.localDevice),
        ]
    }
}
