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

    /// Compares the keys with those of the last round. Throws `.keyMissing` where one is here no
    /// more: the rows hold what it opened.
    func run() throws {
        guard !mirror.mapping.sealedSlots.isEmpty else { return }
        let known = try mirror.ledger.setting(.sealingKeys)?.string ?? ""
        let keys = (mirror.mapping.sealer?.keys.keys ?? []).map(\.description)
        let former = Set(known.split(separator: " ").map(String.init))
        guard former != Set(keys) else { return }
        if let lost = former.subtracting(keys).min() {
            throw MirrorError(
                .keyMissing,
                "Values of the store are sealed under the key \(lost), which was not given. "
                    + "Give the key file that has it.", fields: ["key": lost])
        }
        var importing = try RecordImport(mirror: mirror)
        var cursor: Int64 = 0
        while let last = try unlockLines(after: cursor, former, &importing) { cursor = last }
        try importing.flush()
        try mirror.ledger.connection.run(
            "DELETE FROM ADIPTYCHREFUSAL WHERE ZCODE = ?",
            [.text(RecordError.Code.keyMissing.rawValue)])
        try mirror.ledger.set(.sealingKeys, to: .text(keys.joined(separator: " ")))
    }

    private func unlockLines(
        after key: Int64, _ former: Set<String>, _ importing: inout RecordImport
    ) throws -> Int64? {
        let entries = try mirror.ledger.entries(
            "WHERE m.Z_PK > ? ORDER BY m.Z_PK LIMIT ?", [.integer(key), SQLiteValue(Self.pageMax)])
        for entry in entries { try unlock(entry, former, &importing) }
        try importing.flush()
        return entries.last?.key
    }

    private func unlock(
        _ entry: RecordEntry, _ former: Set<String>, _ importing: inout RecordImport
    ) throws {
        guard let slots = mirror.mapping.sealedSlots[entry.row.entity], !entry.needsCloudDelete,
            let base = entry.base, !base.deleted, let row = try mirror.store.row(entry.row)
        else { return }
        let layout = try mirror.layout(of: entry.row)
        let local = try mirror.state(of: row, named: entry.recordName)
        let remote: ObjectState
        do {
            remote = try mirror.mapping.state(of: base, entity: layout)
        } catch let error as MirrorError where error.code == .sealBroken {
            let reason = RecordError(RecordImport.mismatch, error.message)
            return try mirror.ledger.keepRefusal(of: entry.recordName, reason)
        }
        var merged = local
        for slot in slots {
            guard let id = mirror.mapping.sealingKeyID(slot, layout, in: base),
                !former.contains(id), local.attributes[slot] != remote.attributes[slot]
            else { continue }
            if local.attributes[slot].isNull {
                merged.attributes[slot] = remote.attributes[slot]
            } else {
                // Edited here by somebody who could not see what was there.
                try log(.attribute(slot), local, remote, layout, entry, &importing)
                try mirror.enqueueUpload(entry.row)
            }
        }
        guard try importing.makeRoom(for: merged, entry, layout) else { return }
        try importing.change(
            entry.row, from: local, to: merged, layout, named: entry.recordName)
    }

    private func log(
        _ slot: PropertySlot, _ local: ObjectState, _ remote: ObjectState, _ layout: EntityLayout,
        _ entry: RecordEntry, _ importing: inout RecordImport
    ) throws {
        var conflict = PropertyConflict(
            slot: slot, property: slot.name(in: layout), rule: "key",
            base: remote.value(slot), local: local.value(slot), remote: remote.value(slot))
        conflict.take(.local)
        try importing.log(conflict, layout, entry.recordName, by: entry.base?.modified)
    }
}
