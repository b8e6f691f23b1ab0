internal import Foundation
internal import ObjectModel
internal import RecordWire
internal import SQLiteDriver
internal import SQLiteStore
internal import Stores

/// Brings sealed values into the rows when their key has come.
struct Unlocking {
    let mirror: MirrorTransaction
    private static let pageMax = 400

    /// The keys of the last round, in the order of their file: the last one seals.
    private let known: [String]
    private let former: Set<String>

    private init(mirror: MirrorTransaction, known: [String]) {
        self.mirror = mirror
        self.known = known
        former = Set(known)
    }

    init(mirror: MirrorTransaction) throws {
        let text = try mirror.ledger.setting(.sealingKeys)?.string ?? ""
        self.init(mirror: mirror, known: text.split(separator: " ").map(String.init))
    }

    private var keys: [String] { (mirror.mapping.sealer?.keys.keys ?? []).map(\.description) }

    /// Throws `.keyMissing` where a key of the last round is here no more: the rows hold what it
    /// opened.
    func checkKeys() throws {
        guard !mirror.mapping.sealedSlots.isEmpty else { return }
        let given = Set(keys)
        let lost = known.filter { !given.contains($0) }
        guard let last = lost.last else { return }
        // Which of them a value is under is told by the value alone: all are needed.
        let names = lost.joined(separator: " and ")
        throw MirrorError(
            .keyMissing,
            lost.count == 1
                ? "Values of the store are sealed under the key \(last), which was not given. Give "
                    + "the key file that has it."
                : "Values of the store are sealed under the keys \(names), which were not given. "
                    + "Give the key file that has them.", fields: ["key": last])
    }

    /// Compares the keys with those of the last round, and brings in what new ones open. Throws
    /// as `checkKeys`.
    func run() throws {
        guard !mirror.mapping.sealedSlots.isEmpty else { return }
        let keys = keys
        guard former != Set(keys) else { return }
        try checkKeys()
        var importing = try RecordImport(mirror: mirror)
        var cursor: Int64 = 0
        while let last = try unlockLines(after: cursor, &importing) { cursor = last }
        try importing.flush()
        try mirror.ledger.connection.run(
            "DELETE FROM ADIPTYCHREFUSAL WHERE ZCODE = ?",
            [.text(RecordError.Code.keyMissing.rawValue)])
        try mirror.ledger.set(.sealingKeys, to: .text(keys.joined(separator: " ")))
    }

    private func unlockLines(
        after key: Int64, _ importing: inout RecordImport
    ) throws -> Int64? {
        let entries = try mirror.ledger.entries(
            "WHERE m.Z_PK > ? ORDER BY m.Z_PK LIMIT ?", [.integer(key), SQLiteValue(Self.pageMax)])
        for entry in entries { try unlock(entry, &importing) }
        try importing.flush()
        return entries.last?.key
    }

    private func unlock(_ entry: RecordEntry, _ importing: inout RecordImport) throws {
        guard mirror.mapping.sealedSlots[entry.row.entity] != nil,
            let known = try known(of: entry),
            // An object before it may have taken this one in.
            try mirror.ledger.entry(named: entry.recordName)?.row == entry.row
        else { return }
        guard !entry.needsCloudDelete, let row = try mirror.store.row(entry.row) else {
            return try keepUnopened(known, of: entry.row)
        }
        try open(known, entry, row, &importing)
    }

    /// An object that is deleted here comes back, if it does, as it was before the key came.
    private func keepUnopened(_ known: Record, of row: RowID) throws {
        let layout = try mirror.layout(of: row)
        var seals = CarriedSeals(known.fields).seals
        for slot in mirror.mapping.sealedSlots[row.entity] ?? [] {
            guard let (field, value) = mirror.mapping.sealedField(slot, layout, in: known),
                case .bytes(let data) = value
            else { continue }
            seals.append(.init(record: known.recordName, field: field, value: data))
        }
        try mirror.keepCarried(CarriedSeals(seals).filter { isOpened($0.value) }, for: row)
    }

    /// Brings in what a row lacks that was deleted when the key of its values came, and is back.
    static func openReturned(_ row: RowID, _ mirror: MirrorTransaction) throws {
        guard mirror.mapping.sealedSlots[row.entity] != nil else { return }
        let seals = CarriedSeals(try mirror.ledger.foreign(of: row))
            .filter { !mirror.mapping.isLocked($0.value) }
        guard !seals.isEmpty, let entry = try mirror.ledger.entry(for: row),
            let back = try mirror.store.row(row)
        else { return }
        var known = Record(recordName: entry.recordName, recordType: "")
        known.fields[RecordNames.carriedSeals] = seals.field
        var importing = try RecordImport(mirror: mirror)
        try Unlocking(mirror: mirror, known: []).open(known, entry, back, &importing)
        try importing.flush()
    }

    /// Brings the values of `known` that a key opens now into the row.
    private func open(
        _ known: Record, _ entry: RecordEntry, _ row: Row, _ importing: inout RecordImport
    ) throws {
        let layout = try mirror.layout(of: entry.row)
        let local = try mirror.state(of: row, named: entry.recordName)
        let remote: ObjectState
        do {
            remote = try mirror.mapping.storedState(of: known, entity: layout)
        } catch let error as MirrorError where error.code == .sealBroken {
            let reason = RecordError(RecordImport.mismatch, error.message)
            return try mirror.ledger.keepRefusal(of: entry.recordName, reason)
        }
        let arrival = RecordImport.Arrival(
            record: known, layout: layout, state: remote, entry: entry, isNew: false)
        var merged = local
        for slot in try openedSlots(of: known, entry.row, layout, remote, &importing) {
            guard local.attributes[slot] != remote.attributes[slot] else { continue }
            if local.attributes[slot].isNull {
                merged.attributes[slot] = remote.attributes[slot]
            } else {
                // Edited here by somebody who could not see what was there.
                merged.attributes[slot] = try settle(slot, local, arrival, &importing)
                try mirror.enqueueUpload(entry.row)
            }
        }
        try importing.keepTimes(of: arrival, named: entry.recordName, merged: merged)
        try mirror.keepUnread(of: entry.row)
        guard try importing.makeRoom(for: merged, entry, layout) else { return }
        try importing.change(
            entry.row, from: local, to: merged, layout, named: entry.recordName)
    }

    /// The attributes of which the record has a value that a new key opens. What it carries besides
    /// is logged, also what an object brought along that was merged into it here unread.
    private func openedSlots(
        of known: Record, _ row: RowID, _ layout: EntityLayout, _ remote: ObjectState,
        _ importing: inout RecordImport
    ) throws -> [Int] {
        var opened: [Int] = []
        let unsent = CarriedSeals(try mirror.ledger.foreign(of: row)).seals
        for slot in mirror.mapping.sealedSlots[layout.number] ?? [] {
            let carried = mirror.mapping.carried(slot, layout, in: known)
                .filter { isOpened($0.value) }
            let own = mirror.mapping.sealedBytes(slot, layout, in: known)
            guard own.map(isOpened) ?? false || !carried.isEmpty else { continue }
            opened.append(slot)
            for seal in carried {
                try importing.logCarried(
                    seal, slot, layout, remote, of: known, isUnseen: unsent.contains(seal))
            }
        }
        return opened
    }

    /// Whether a key opens the value that was not here in the last round.
    func isOpened(_ sealed: Data) -> Bool {
        guard let id = Sealer.keyID(of: sealed) else { return false }
        return !former.contains(id.hexadecimal) && !mirror.mapping.isLocked(sealed)
    }

    /// What the service has of an object, with the sealed values that are to go out with it; nil
    /// where there is neither.
    private func known(of entry: RecordEntry) throws -> Record? {
        let foreign = try mirror.ledger.foreign(of: entry.row)
        var record: Record
        if let base = entry.base, !base.deleted {
            record = base
        } else if foreign.isEmpty {
            return nil
        } else {
            record = Record(recordName: entry.recordName, recordType: "")
        }
        let carried = CarriedSeals(record.fields).union(CarriedSeals(foreign))
        record.fields.merge(foreign) { own, _ in own }
        record.fields[RecordNames.carriedSeals] = carried.field
        return record
    }

    /// An edit that was made without seeing what is there: a rule that computes a value does so,
    /// since that keeps what either side meant, and one that asks for the times of both knows them;
    /// else the edit stays.
    private func settle(
        _ slot: Int, _ local: ObjectState, _ arrival: RecordImport.Arrival,
        _ importing: inout RecordImport
    ) throws -> AttributeValue {
        let layout = arrival.layout
        let property = PropertySlot.attribute(slot)
        let name = property.name(in: layout)
        let rule = mirror.settings.policy.rule(entity: layout.name, property: name)
        var (own, other) = (ObjectState(empty: layout), ObjectState(empty: layout))
        own.copy(property, from: local)
        other.copy(property, from: arrival.state)
        let outcome = try importing.objectMerge(of: arrival, with: arrival.entry.recordName)
            .merge(base: nil, local: own, remote: other)
        var unseen = PropertyConflict(
            slot: property, property: name, rule: "key", base: other.value(property),
            local: own.value(property), remote: other.value(property))
        unseen.take(.local)
        let conflict = outcome.conflicts.first { decides(rule, $0.winner) } ?? unseen
        try importing.log(
            conflict, layout, arrival.entry.recordName, by: arrival.entry.base?.modified)
        if case .attribute(let value) = conflict.result { return value }
        return local.attributes[slot]
    }

    /// Whether what a rule came to holds without what both values were made from. What was counted
    /// upon a value that was seen once is not told apart from it.
    private func decides(_ rule: MergeRule, _ winner: PropertyConflict.Winner) -> Bool {
        switch rule {
        case .latest: true
        case .text, .set, .max, .min: winner == .merged
        case .counter, .custom: former.isEmpty && winner == .merged
        case .local, .remote, .overwrite, .rollback, .error, .policy: false
        }
    }
}

extension MirroredStore {
    /// Throws `MirrorError` (`.keyMissing`) where keys of the last round are not given: what they
    /// opened is in the rows, and cannot be compared with what the service has.
    package func checkKeys() throws {
        try read { mirror in
            guard try Ledger.exists(in: mirror.ledger.connection) else { return }
            try Unlocking(mirror: mirror).checkKeys()
        }
    }
}
