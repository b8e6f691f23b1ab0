internal import RecordWire
internal import SQLiteStore
package import Stores

/// An edit that the service refused; it has the object as it was before.
public struct RefusedEdit: Hashable, Sendable {
    /// The name of the object's record.
    public let recordName: String
    /// Its entity's name; empty where the model has no such entity any more.
    public let entityName: String
    /// The service's words, after its code.
    public let reason: String
    package let row: RowID
}

/// An object that is as the service has it again: gone, where the service has it deleted.
public struct RestoredEdit: Hashable, Sendable {
    /// The name of its record.
    public let recordName: String
    package let row: RowID
    /// Properties that could not be taken back: large values whose former content is at the service
    /// alone, and sealed ones without their key. The object's edit stays refused for them.
    public let staying: [String]
}

extension MirroredStore {
    /// The edits that the service refused, of objects that it has: of what another made in the
    /// public database, or shares for reading only, or what it will not take as it is. What waits
    /// for a key, for room or for another device's large value goes by itself, and is none. Notes
    /// what was saved since the last round first. Throws what reading the store throws. Cost: a
    /// look at the refused lines.
    public func refusedEdits() throws -> [RefusedEdit] {
        guard try read({ try Ledger.exists(in: $0.ledger.connection) }) else { return [] }
        while try analyse().moreWaiting {}
        return try read { try $0.refusedEdits() }
    }

    /// Takes an object's edit back that the service refused: values and links are as it has them,
    /// pairs too that it would not take or give up. What was edited is in the log, from which it
    /// can be put back (`resolve(conflict:taking:)`). Nothing is sent. An object that the service
    /// has deleted, and that was kept for what was edited here, goes; the log has it whole
    /// (`restore(objectOfConflict:)`).
    ///
    /// Throws `MirrorError`: `.noRefusedEdit` where there is none of that name, and `.keyTaken`
    /// where another object has its former unique key by now. Cost: one transaction.
    @discardableResult
    public func restore(refusedEditOf recordName: String) throws -> RestoredEdit {
        try write { mirror in
            if try Ledger.exists(in: mirror.ledger.connection) {
                try catchUp(mirror)
                let entry = try mirror.ledger.refusedEdits().filter {
                    $0.recordName.isExactly(recordName)
                }
                let pairs = try mirror.ledger.refusedPairs().filter {
                    $0.pair.first.isExactly(recordName) || $0.pair.second.isExactly(recordName)
                }
                let edits = try takeBack(editsOf: entry, pairs, mirror)
                if let edit = edits.first(where: { $0.recordName.isExactly(recordName) }) {
                    return edit
                }
            }
            throw MirrorError(
                .noRefusedEdit,
                "The service has refused no edit of that object. 'diptych status' lists what it "
                    + "refused; 'diptych sync' tells of what waits.",
                fields: ["record": recordName])
        }
    }

    /// Takes all edits back that the service refused, in one transaction. Returns the objects.
    /// Throws as `restore(refusedEditOf:)` does, and changes nothing then.
    @discardableResult
    public func restoreRefusedEdits() throws -> [RestoredEdit] {
        try write { mirror in
            guard try Ledger.exists(in: mirror.ledger.connection) else { return [] }
            try catchUp(mirror)
            return try takeBack(
                editsOf: mirror.ledger.refusedEdits(), mirror.ledger.refusedPairs(), mirror)
        }
    }

    /// Objects first, so that pairs find their ends. Both ends of a pair count as edited.
    private func takeBack(
        editsOf entries: [RecordEntry], _ pairs: [PairEntry], _ mirror: MirrorTransaction
    ) throws -> [RestoredEdit] {
        guard !entries.isEmpty || !pairs.isEmpty else { return [] }
        var importing = try RecordImport(mirror: mirror)
        var restored: [RestoredEdit] = []
        do {
            for entry in entries {
                let layout = mirror.mapping.layout.entity(entry.row.entity)
                let staying = try importing.takeBack(editOf: entry)
                restored.append(
                    RestoredEdit(
                        recordName: entry.recordName, row: entry.row,
                        staying: layout.map { layout in staying.map { $0.name(in: layout) } } ?? []
                    ))
            }
            // Those of an object that went are gone.
            for pair in pairs where try mirror.ledger.pair(named: pair.recordName) != nil {
                try importing.takeBack(pair: pair)
            }
            try importing.finishTakingBack()
        } catch let violation as UniquenessViolation {
            throw Self.taken(violation)
        }
        var names = Set(restored.map { ExactName($0.recordName) })
        for name in pairs.flatMap({ [$0.pair.first, $0.pair.second] }) {
            guard names.insert(ExactName(name)).inserted,
                let row = try mirror.ledger.row(named: name)
            else { continue }
            restored.append(RestoredEdit(recordName: name, row: row, staying: []))
        }
        try mirror.ledger.finish()
        return restored
    }
}

extension MirrorTransaction {
    /// What the service refused to change, with its reasons; of a pair the object that leads it.
    func refusedEdits() throws -> [RefusedEdit] {
        let reasons = try ledger.refusalReasons()
        func edit(_ row: RowID, _ name: String, refused: String) -> RefusedEdit {
            RefusedEdit(
                recordName: name, entityName: mapping.layout.entity(row.entity)?.name ?? "",
                reason: reasons[ExactName(refused)] ?? "", row: row)
        }
        var edits = try ledger.refusedEdits().map {
            edit($0.row, $0.recordName, refused: $0.recordName)
        }
        var rows = Set(edits.map(\.row))
        for pair in try ledger.refusedPairs() {
            let name = pair.pair.first
            guard let row = try ledger.row(named: name), rows.insert(row).inserted else { continue }
            edits.append(edit(row, name, refused: pair.recordName))
        }
        return edits
    }
}
