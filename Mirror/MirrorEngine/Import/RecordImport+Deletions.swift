internal import Platform
internal import RecordWire
internal import SQLiteStore
internal import Stores

extension RecordImport {
    /// Removes a pair that the service no longer has, unless another record stands for the same
    /// pair.
    mutating func applyPairDeletion(of record: Record) throws {
        guard let entry = try mirror.ledger.pair(named: record.recordName) else {
            return try dropAside(record.recordName)
        }
        guard !isOutdated(record, by: entry.base) else { return }
        if !entry.needsDelete, let tag = lostTime?.lostTag(of: entry.base),
            lostTime?.isBeforeLoss(record, of: tag) == true
        {
            try mirror.ledger.setPairBase(record, key: entry.key)
            try mirror.ledger.setPair(entry.key, isUploaded: false)
            outcome.sentAgain += 1
            return
        }
        try mirror.ledger.noteDeleted(record.recordName, tag: record.recordChangeTag)
        // A line on its way out was taken out of the join table already; its names may stand for
        // other objects by now.
        if !entry.needsDelete && !entry.isPending {
            let twins = try mirror.ledger.twins(of: entry, symmetric: isReflexive(entry.pair))
            if twins.isEmpty { try disconnect(entry) }
        }
        try mirror.ledger.removePair(entry)
        outcome.applied += 1
    }

    /// The service no longer has an object. Deletion wins over an edit made here, unless the policy
    /// keeps what was edited.
    mutating func applyDeletion(of record: Record) throws {
        guard let entry = try mirror.ledger.entry(named: record.recordName) else {
            try mirror.ledger.dropShare(record.recordName)
            try mirror.ledger.noteLeftAliasDropped(record.recordName)
            // A record that could not be read here is gone.
            try dropAside(record.recordName)
            return try mirror.ledger.forgetRefusal(of: record.recordName)
        }
        guard !isOutdated(record, by: entry.base) else { return }
        try dropAside(record.recordName)
        if entry.base?.deleted == true, entry.base?.recordChangeTag == record.recordChangeTag {
            return
        }
        guard !entry.needsCloudDelete, let row = try mirror.store.row(entry.row) else {
            // The answer to this device's own deletion may have been lost.
            try mirror.keepForReturn(of: entry)
            try mirror.ledger.noteDeleted(entry.recordName, tag: record.recordChangeTag)
            return try forget(entry)
        }
        let lost = try lostVersion(of: entry)
        if let lost, lostTime?.isBeforeLoss(record, of: lost.tag) == true {
            return try keepToSendAgain(lost.record, upon: record, entry)
        }
        let layout = try mirror.layout(of: row.id)
        let local = try mirror.state(of: row, named: entry.recordName)
        // Whoever deleted the object did not know of the lost version: all of it counts as edited.
        let known = try lost == nil ? lastAgreed(entry, deleted: record) : nil
        let agreed = known.map {
            mirror.mapping.agreedState(of: $0, entity: layout).adopting(local)
        }
        let base = try withLinksCut(agreed, in: local)
        let edits = local.edits(from: base)
        let keeps = mirror.settings.policy.deletion == .keepEdited && !edits.isEmpty
        for slot in edits {
            let conflict = deletionConflict(
                slot, layout, base: base?.value(slot), local: local.value(slot), remote: nil,
                winner: keeps ? .local : .remote)
            try log(conflict, layout, entry.recordName, by: record.modified)
        }
        if keeps {
            try mirror.keepForeign(of: entry.base, for: entry.row)
            try mirror.ledger.setBase(record, key: entry.key)
            if let known { try mirror.ledger.keepFormerBase(known) }
            try mirror.enqueueUpload(entry.row)
        } else {
            let losesLinks = try logLostLinks(of: entry, local, by: record.modified)
            if losesLinks || !edits.isEmpty {
                let whole = try uncut(local, upon: agreed)
                try bury(row, whole, named: entry.recordName, base: entry.base)
            }
            // Whoever deleted it may have let it become one with another whose name it took here.
            try mirror.ledger.leaveAliases(of: entry.key)
            try remove(entry)
            try mirror.ledger.noteDeleted(entry.recordName, tag: record.recordChangeTag)
            outcome.applied += 1
        }
    }

    /// What was there before a deletion, as far as this device knows: its base, or what it sent
    /// without an answer and the service says it took. A plain service tells that by the deletion
    /// alone, of what was sent once and has no base.
    private func lastAgreed(_ entry: RecordEntry, deleted record: Record) throws -> Record? {
        for id in record.knownWriteIDs {
            if let taken = try mirror.ledger.inFlight(entry.recordName, mark: id) { return taken }
        }
        if let base = entry.base { return base.deleted ? nil : base }
        guard try mirror.ledger.isPlain else { return nil }
        let marks = try mirror.ledger.marksInFlight(entry.recordName)
        guard let mark = marks.first, marks.count == 1 else { return nil }
        return try mirror.ledger.inFlight(entry.recordName, mark: mark)
    }

    /// Removes an object with its line. What pointed at it is cleared and waits for export; nothing
    /// else is deleted, since a child that was made here has no other copy.
    mutating func remove(_ entry: RecordEntry) throws {
        try letLinksWait(
            from: entry.row, to: Set(mirror.ledger.leftNames(of: entry.key).map { ExactName($0) }))
        for (source, slot) in try mirror.store.referrers(of: entry.row) where source != entry.row {
            var update = RowUpdate(id: source)
            update.toOnes = [(slot, nil)]
            changes.updates.append(update)
            try mirror.enqueueUpload(source)
        }
        changes.deletes.append(RowDelete(id: entry.row))
        try flush()
        try forget(entry)
    }

    func forget(_ entry: RecordEntry) throws {
        for pair in try mirror.ledger.pairs(of: entry.recordName) {
            try mirror.ledger.queuePairDeletion(pair)
        }
        try mirror.removeLine(of: entry)
    }

    func deletionConflict(
        _ slot: PropertySlot, _ layout: EntityLayout, base: PropertyValue?, local: PropertyValue?,
        remote: PropertyValue?, winner: PropertyConflict.Winner
    ) -> PropertyConflict {
        let nothing: PropertyValue =
            switch slot {
            case .attribute: .attribute(.null)
            case .toOne: .link(nil)
            }
        var conflict = PropertyConflict(
            slot: slot, property: slot.name(in: layout),
            rule: mirror.settings.policy.deletion.rawValue, base: base ?? nothing,
            local: local ?? nothing, remote: remote ?? nothing)
        conflict.take(winner)
        return conflict
    }
}
