internal import ObjectModel
internal import RecordWire
internal import SQLiteStore
internal import Stores

/// What an arriving record means for a line whose base is of a time that the service lost.
extension RecordImport {
    /// The version of a lost time that a line stands on: one that waits to be sent again, or its
    /// base.
    func lostVersion(of entry: RecordEntry) throws -> (record: Record, tag: ChangeTag)? {
        guard let lostTime else { return nil }
        if let replay = try mirror.ledger.replay(of: entry.recordName),
            let tag = replay.recordChangeTag.flatMap(ChangeTag.init)
        {
            return (replay, tag)
        }
        guard let base = entry.base, let tag = lostTime.lostTag(of: base) else { return nil }
        return (base, tag)
    }

    /// Whether a service without epochs shows an older version than the one this device knows: it
    /// was put back. Its own clock tells, asked only while the zone is compared from its start.
    func isOlder(_ arrival: Arrival) throws -> Bool {
        guard lostTime == nil, let base = arrival.entry.base, !base.deleted,
            let known = base.modified?.timestamp,
            let shown = arrival.record.modified?.timestamp, shown < known
        else { return false }
        return try mirror.ledger.isPlain && mirror.ledger.isReconciling
    }

    /// Whether what the service showed is an earlier state than the one known here: another process
    /// of the store learnt that while the answer was under way. Without epochs nothing tells.
    func isOutdated(_ record: Record, by known: Record?) -> Bool {
        guard let known = known?.recordChangeTag.flatMap(ChangeTag.init) else { return false }
        return isOutdated(record, by: known)
    }

    private func isOutdated(_ record: Record, by known: ChangeTag) -> Bool {
        guard let lostTime, lostTime.line.contains(known),
            let shown = record.recordChangeTag.flatMap(ChangeTag.init)
        else { return false }
        return shown.epoch == known.epoch && shown.change < known.change
    }

    /// Settles a live record that meets a lost version. Returns the base to merge upon, or `isDone`
    /// where the service has an older state and ours will be sent again.
    mutating func meetLostVersion(
        _ arrival: Arrival
    ) throws -> (isDone: Bool, known: LostBase)? {
        guard let lostTime, let (version, tag) = try lostVersion(of: arrival.entry) else {
            return nil
        }
        let name = arrival.entry.recordName
        switch lostTime.relation(of: arrival.record, to: tag) {
        case .descends:
            try mirror.ledger.dropReplay(of: name)
            return (false, LostBase(base: version.deleted ? nil : version, version: version))
        case .ancestor:
            try keepToSendAgain(version, upon: arrival.record, arrival.entry)
            return (true, LostBase(version: version))
        case .unrelated:
            try mirror.ledger.dropReplay(of: name)
            try keepLost(version, besides: arrival.record, for: arrival.entry.row)
            return (false, LostBase(version: version))
        }
    }

    /// What a lost version says in fields that this model does not know, and the service's does
    /// not, is sent again.
    private func keepLost(_ version: Record, besides record: Record, for row: RowID) throws {
        var own = version
        own.fields = version.fields.filter { (record.fields[$0.key] ?? nil) == nil }
        try mirror.keepForeign(of: own, for: row)
    }

    /// The service has an older state, or a deletion from before: what we have is an edit upon it.
    mutating func keepToSendAgain(
        _ version: Record, upon record: Record, _ entry: RecordEntry
    ) throws {
        if !version.deleted { try mirror.ledger.keepReplay(version) }
        try mirror.ledger.setBase(record, key: entry.key)
        try mirror.ledger.setNeedsUpload(true, key: entry.key)
        outcome.sentAgain += 1
    }

    /// Whether a record is alive although its deletion is known here, and the service lost that or
    /// never had the object: then it is deleted again.
    mutating func isDeletedAgain(_ record: Record) throws -> Bool {
        let name = record.recordName
        let sent = try mirror.ledger.writeIDsOfDeletedUnknown(name)
        if record.knownWriteIDs.contains(where: sent.contains) {
            return try isLateCopyDeleted(record, sent)
        }
        guard let lostTime else {
            try mirror.ledger.forgetDeletion(of: name)
            return false
        }
        guard let deletion = try mirror.ledger.deletionTag(of: name) else { return false }
        if isOutdated(record, by: deletion) { return true }
        let wasEdited = !lostTime.isBeforeLoss(record, of: deletion) && !record.isAsSentAgain
        let isKept = wasEdited && mirror.settings.policy.deletion == .keepEdited
        if isKept || lostTime.isNewer(record, than: deletion) {
            try mirror.ledger.forgetDeletion(of: name)
            return false
        }
        if wasEdited {
            guard isReadable(record) else { return false }
            try logDeletedAgain(record)
        }
        let key = try mirror.ledger.alias(of: name)?.key ?? 0
        try mirror.ledger.keepAlias(name, mergedInto: key, at: nil)
        outcome.deletedAgain += 1
        return true
    }

    /// A request that was refused, or lost, came to the service once more and brought what was
    /// deleted here since. Whoever edited it there may keep it, as any object that is deleted here.
    private mutating func isLateCopyDeleted(_ record: Record, _ sent: [String]) throws -> Bool {
        let wasEdited = record.knownWriteIDs.first.map { !sent.contains($0) } ?? true
        if wasEdited, mirror.settings.policy.deletion == .keepEdited {
            try mirror.ledger.forgetDeletion(of: record.recordName)
            return false
        }
        if wasEdited {
            guard isReadable(record) else { return false }
            try logDeletedAgain(record)
        }
        try mirror.ledger.keepAlias(record.recordName, mergedInto: 0, at: nil)
        outcome.deletedAgain += 1
        return true
    }

    /// A record that cannot be read here has come back all the same: links to it wait.
    func forgetOutlivedDeletion(of record: Record) throws {
        if let lostTime {
            guard let deletion = try mirror.ledger.deletionTag(of: record.recordName),
                lostTime.isNewer(record, than: deletion)
            else { return }
        }
        try mirror.ledger.forgetDeletion(of: record.recordName)
    }

    /// Whether the values of a record can be told. An edit that cannot be read here is decided once
    /// it can: until then it is aside, and loses nothing.
    private func isReadable(_ record: Record) -> Bool {
        guard let layout = mirror.mapping.entity(of: record) else { return true }
        return (try? mirror.mapping.state(of: record, entity: layout)) != nil
    }

    /// Whether somebody edited an object that waits here to be deleted again, of which no `line` is
    /// left, and it is kept for that. Logs what goes otherwise.
    mutating func isKept(_ record: Record, fromDeletionOf line: Int64) throws -> Bool {
        guard line == 0, try mirror.ledger.isAliasBehind(record) else { return false }
        let sent = try mirror.ledger.writeIDsOfDeletedUnknown(record.recordName)
        guard record.knownWriteIDs.first.map({ !sent.contains($0) }) ?? true else { return false }
        guard mirror.settings.policy.deletion != .keepEdited else { return true }
        if isReadable(record) { try logDeletedAgain(record) }
        return false
    }

    /// An edit that did not know of the deletion loses against it.
    private mutating func logDeletedAgain(_ record: Record) throws {
        guard let layout = mirror.mapping.entity(of: record) else { return }
        var state = try mirror.mapping.storedState(of: record, entity: layout)
        _ = try fill(&state, nil)
        for slot in state.changes(from: nil) {
            let conflict = deletionConflict(
                slot, layout, base: nil, local: nil, remote: state.value(slot), winner: .local)
            try log(conflict, layout, record.recordName, by: record.modified)
        }
        try bury(edited: record, state)
    }
}

extension Record {
    /// Whether it says what a device sent again after a loss, and nobody edited it since.
    var isAsSentAgain: Bool { replays.contains { $0.version == recordChangeTag } }
}
