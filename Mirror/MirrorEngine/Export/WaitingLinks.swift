internal import ObjectModel
internal import RecordWire
internal import SQLiteStore
internal import Stores

/// Links that wait for their targets, of an object whose deletion the service has: the line that
/// they wait under goes, and where the deletion is undone the row knows nothing of them.
extension MirrorTransaction {
    /// Keeps the links of an object whose line is to go, as its record would have them.
    func keepWaitingLinks(of entry: RecordEntry) throws {
        let waiting = try ledger.pendingLinks(of: entry.recordName)
        guard !waiting.isEmpty else { return }
        let layout = try layout(of: entry.row)
        var state = ObjectState(empty: layout)
        var slots: [PropertySlot] = []
        for link in waiting {
            guard let slot = layout.toOneSlot(link.property) else { continue }
            state.toOnes[slot] = link.target
            slots.append(.toOne(slot))
        }
        let record = Record(recordName: entry.recordName, recordType: "")
        try ledger.keepForeign(mapping.fields(of: state, in: slots, upon: record), of: entry.row)
    }

    /// Lets the links that were kept of a row which is here again wait under its new name, or find
    /// what came meanwhile.
    func letReturnedLinksWait(of row: RowID) throws {
        guard try ledger.mayHold(.foreign), let layout = mapping.layout.entity(row.entity) else {
            return
        }
        var kept = Record(recordName: "", recordType: "")
        kept.fields = try ledger.foreign(of: row)
        let links = layout.toOnes.indices.compactMap { slot in
            mapping.link(slot, of: layout, in: kept).map { (slot: slot, target: $0) }
        }
        guard !links.isEmpty, let back = try store.row(row) else { return }
        let name = try ledger.recordName(for: row)
        for (slot, target) in links {
            for field in mapping.fieldNames(of: .toOne(slot), layout).own {
                kept.fields[field] = nil
            }
            guard back.toOnes[slot] == nil else { continue }
            try ledger.keepPending(
                PendingLink(
                    recordName: name, property: layout.toOnes[slot].name, target: target))
        }
        try ledger.dropForeign(of: row)
        try ledger.keepForeign(kept.fields, of: row)
        var importing = try RecordImport(mirror: self)
        for (_, target) in links { try importing.resolveLinks(to: target.recordName) }
        try importing.flush()
    }
}
