internal import ObjectModel
internal import Platform
internal import RecordWire
internal import SQLiteStore
internal import Stores

extension RecordImport {
    /// Why a record waits that this model cannot read.
    static let mismatch = RecordError.Code(rawValue: "FIELD_MISMATCH")
    /// What is said of a record under whose name an object of another entity is here.
    static let otherEntity = RecordError(
        mismatch, "The record is of another entity than the object here.")

    /// One record on its way into the store.
    struct Arrival {
        var record: Record
        var layout: EntityLayout
        var state: ObjectState
        var entry: RecordEntry
        var isNew: Bool

        /// Its line once the record is what the service is known to have.
        var met: RecordEntry {
            var entry = self.entry
            entry.base = record
            return entry
        }
    }

    mutating func applyObjects(_ records: [Record]) throws {
        var rows: [RowID] = []
        incomplete.reserveCapacity(records.count)
        let hasAliases = try mirror.ledger.hasAliases()
        var known = try KnownNames(mirror.ledger)
        for record in records {
            let mayBeKnown = known.mayHold(record.recordName)
            let arrival = try receive(record, mayBeKnown: mayBeKnown, hasAliases: hasAliases)
            guard let arrival else { continue }
            // Named twice in one page: the earlier one is settled before the later one is.
            if let earlier = incomplete.removeValue(forKey: arrival.entry.row) {
                try complete(earlier)
                try flush()
            } else {
                rows.append(arrival.entry.row)
            }
            incomplete[arrival.entry.row] = arrival
        }
        for row in rows {
            if let arrival = incomplete.removeValue(forKey: row) { try complete(arrival) }
        }
    }

    /// Finds or makes the object's line, so that links among the records of one batch find each
    /// other.
    private mutating func receive(
        _ record: Record, mayBeKnown: Bool, hasAliases: Bool
    ) throws -> Arrival? {
        guard let layout = mirror.mapping.entity(of: record), !layout.entity.isAbstract else {
            outcome.unknown += 1
            try forgetOutlivedDeletion(of: record)
            try keepAside(record, .unknownEntity)
            return nil
        }
        if hasAliases, let alias = try mirror.ledger.alias(of: record.recordName) {
            // What is in the log is to be had from there.
            if awaitsContent(record) {
                try waitForAssets(of: record)
                return nil
            }
            // Dropped, and alive all the same: another device kept it for an edit of its own.
            let isBack = try alias.isDropped || isKept(record, fromDeletionOf: alias.key)
            guard try isBack || release(record, layout) else {
                try logOutdone(record, layout)
                return nil
            }
            if try isDeletedAgain(record) { return nil }
            try mirror.ledger.removeAlias(of: record.recordName)
        }
        let known = try mayBeKnown ? mirror.ledger.entry(named: record.recordName) : nil
        if isOutdated(record, by: known?.base) { return nil }
        if known == nil, isLeftOut(layout) {
            try keepAside(record, .notSelected)
            return nil
        }
        guard var state = try readableState(of: record, layout) else { return nil }
        try dropAside(record.recordName)
        let isEcho = known.map { $0.base?.recordChangeTag == record.recordChangeTag } ?? false
        if isEcho && known?.base?.deleted != true { return nil }
        if let known, !known.needsCloudDelete, known.row.entity != layout.number {
            try putAside(record, .otherEntity, Self.otherEntity)
            return nil
        }
        // What is deleted here and stays so is not held up by a content that cannot be had; one
        // that can is part of what goes into the log.
        let staysDeleted =
            try known?.needsCloudDelete == true
            && (isOwnLastWrite(record)
                || mirror.settings.policy.deletion != .keepEdited && !awaitsContent(record))
        guard try fill(&state, known) || staysDeleted else {
            try waitForAssets(of: record)
            return nil
        }
        if let entry = known {
            guard !entry.needsCloudDelete else {
                return try receiveEditOfDeleted(record, entry: entry, layout: layout, state: state)
            }
            try logCarried(record, layout, state, known: entry.base)
            return Arrival(record: record, layout: layout, state: state, entry: entry, isNew: false)
        }
        if try isDeletedAgain(record) { return nil }
        try logCarried(record, layout, state, known: nil)
        return try makeArrival(record, layout: layout, state: state)
    }

    /// Whether nobody has written to the record since this device did, as far as the service says.
    private func isOwnLastWrite(_ record: Record) throws -> Bool {
        guard let last = record.knownWriteIDs.first else { return false }
        return try mirror.ledger.marksInFlight(record.recordName).contains(last)
    }

    /// The record's values; nil for one that this model cannot read. It is put aside with its
    /// reason, which the status shows, and does not hold up the others; a newer model reads it
    /// anew.
    private mutating func readableState(
        of record: Record, _ layout: EntityLayout
    ) throws -> ObjectState? {
        do {
            return try mirror.mapping.storedState(of: record, entity: layout)
        } catch let error as MirrorError
            where error.code == .fieldMismatch || error.code == .sealBroken
        {
            try putAside(record, .unreadableField, RecordError(Self.mismatch, error.message))
            return nil
        }
    }

    /// Keeps a record that cannot be applied, and tells why.
    private mutating func putAside(
        _ record: Record, _ reason: KeptRecord.Reason, _ error: RecordError
    ) throws {
        outcome.unknown += 1
        try forgetOutlivedDeletion(of: record)
        try mirror.ledger.keepRefusal(of: record.recordName, error)
        try keepAside(record, reason)
    }

    mutating func makeArrival(
        _ record: Record, layout: EntityLayout, state: ObjectState
    ) throws -> Arrival? {
        let store = mirror.store
        let fresh = try freshKeys[layout.number, default: FreshKeys()].take {
            try store.reserveKeys(entity: layout.number, count: $0)
        }
        guard let key = fresh else { return nil }
        let row = RowID(entity: layout.number, key: key)
        let line = try mirror.ledger.addEntry(for: row, base: record)
        let entry = RecordEntry(
            key: line, row: row, recordName: record.recordName, needsUpload: false,
            needsCloudDelete: false, pendingTransaction: 0, base: record)
        return Arrival(record: record, layout: layout, state: state, entry: entry, isNew: true)
    }

    /// The service has an edit of an object that was deleted here and not yet there.
    private mutating func receiveEditOfDeleted(
        _ record: Record, entry: RecordEntry, layout: EntityLayout, state: ObjectState
    ) throws -> Arrival? {
        if let lostTime, let tag = lostTime.lostTag(of: entry.base),
            lostTime.relation(of: record, to: tag) == .ancestor
        {
            try mirror.ledger.setBase(record, key: entry.key)
            return nil
        }
        let agreed = try mergeBase(
            of: Arrival(record: record, layout: layout, state: state, entry: entry, isNew: false),
            local: nil)
        let base = try withLinksCut(agreed, in: state, isRemote: true)
        let changed = state.edits(from: base).filter { slot in
            guard case .attribute(let index) = slot else { return true }
            // What cannot be read is no clearing.
            return !mirror.mapping.isLocked(index, layout, in: record)
        }
        let unseen = mirror.mapping.lockedEdits(in: record, since: entry.base, of: layout)
        let isEdited = !changed.isEmpty || !unseen.isEmpty
        let keeps = mirror.settings.policy.deletion == .keepEdited && isEdited
        for slot in changed {
            let conflict = deletionConflict(
                slot, layout, base: base?.value(slot), local: nil, remote: state.value(slot),
                winner: keeps ? .remote : .local)
            try log(conflict, layout, record.recordName, by: record.modified)
        }
        for edit in unseen {
            var conflict = deletionConflict(
                .attribute(edit.slot), layout, base: nil, local: nil,
                remote: .attribute(.data(edit.value)), winner: keeps ? .remote : .local)
            conflict.sealedFor = record.recordName
            try log(conflict, layout, record.recordName, by: record.modified)
        }
        guard keeps else {
            if isEdited { try bury(edited: record, state) }
            try mirror.ledger.setBase(record, key: entry.key)
            return nil
        }
        try mirror.removeLine(of: entry)
        return try makeArrival(record, layout: layout, state: state)
    }

    // MARK: Settling

    mutating func complete(_ arrival: Arrival) throws {
        if arrival.isNew {
            guard try !settleTwin(arrival) else { return }
            return try insert(arrival)
        }
        guard mergedNames.areNew else { return try merge(arrival) }
        let name = arrival.record.recordName
        guard let entry = try mirror.ledger.entry(named: name), entry.row == arrival.entry.row
        else { return try logOutdone(arrival.record, arrival.layout) }
        var renewed = arrival
        renewed.entry = entry
        try merge(renewed)
    }

    mutating func insert(_ arrival: Arrival) throws {
        var row = Row(id: arrival.entry.row, layout: arrival.layout)
        row.attributes = arrival.state.attributes
        for slot in row.toOnes.indices {
            row.toOnes[slot] = try resolve(
                arrival.state.toOnes[slot], slot, arrival.layout, of: arrival.record.recordName)
            if let target = row.toOnes[slot]?.target {
                noteList(of: row.id, slot: slot, target: target)
            }
        }
        changes.inserts.append(row)
        if arrival.layout.hasUniquenessConstraints { try flush() }
        arrived.append(arrival.record.recordName)
        outcome.applied += 1
        if mirror.settings.timedProperties[arrival.layout.number]?.isEmpty == false {
            try keepTimes(of: arrival, named: arrival.record.recordName, merged: arrival.state)
        }
    }

    /// Where the object called `name` now has the service's value, it has the time of that edit
    /// too.
    func keepTimes(of arrival: Arrival, named name: String, merged: ObjectState) throws {
        let times = self.times(of: arrival)
        guard !times.times.isEmpty else { return }
        try mirror.ledger.witness(times)
        let keys = mirror.mapping.keys
        let kept = Set(
            merged.changes(from: arrival.state).map {
                keys.property($0.name(in: arrival.layout), of: arrival.layout.name)
            })
        for (property, time) in times.times where !kept.contains(property) {
            try mirror.ledger.setEditTime(time, of: name, property)
        }
    }

    /// When the service's side was edited, where that is asked for.
    private func times(of arrival: Arrival) -> EditTimes {
        let timed = mirror.settings.timedProperties[arrival.layout.number] ?? []
        return timed.isEmpty ? EditTimes() : EditTimes(arrival.record)
    }

    /// The merge of a record that arrived with the object called `name` here.
    func objectMerge(of arrival: Arrival, with name: String) throws -> ObjectMerge {
        let timed = mirror.settings.timedProperties[arrival.layout.number] ?? []
        let local = timed.isEmpty ? EditTimes() : try mirror.ledger.editTimes(of: name)
        let keys = mirror.mapping.keys
        return ObjectMerge(
            policy: mirror.settings.policy, entity: arrival.layout,
            localTimes: local.named { keys.propertyName($0, of: arrival.layout.name) },
            remoteTimes: times(of: arrival).named {
                keys.propertyName($0, of: arrival.layout.name)
            })
    }

    private mutating func merge(_ arrival: Arrival) throws {
        guard let row = try mirror.store.row(arrival.entry.row) else {
            // Deleted here by a save that was not analysed yet: the deletion will meet this record
            // then.
            return try mirror.ledger.setBase(arrival.record, key: arrival.entry.key)
        }
        if try isOlder(arrival), let base = arrival.entry.base {
            return try keepToSendAgain(base, upon: arrival.record, arrival.entry)
        }
        let lost = try meetLostVersion(arrival)
        if lost?.isDone == true { return }
        try heedPlace(of: arrival)
        let local = try mirror.state(of: row, named: arrival.entry.recordName)
            .adopting(arrival.state)
        let agreed =
            try lost.map {
                $0.known.base.map {
                    mirror.mapping.agreedState(of: $0, entity: arrival.layout)
                        .adopting(local, arrival.state)
                }
            } ?? mergeBase(of: arrival, local: local)
        let followed = try withDerivedEnds(
            withLinksFollowed(agreed, local, arrival.state), local, arrival)
        let base = try counted(followed, arrival, local: local, lost: lost?.known)
        let parting = try parting(upon: base, agreed: agreed, local, arrival)
        var result = try objectMerge(of: arrival, with: arrival.entry.recordName).merge(
            base: parting.base, local: withoutComputed(local, base: parting.base, arrival),
            remote: arrival.state, unclear: parting.unclear)
        try keepWaiting(&result, local: local, arrival)
        keepUnseen(&result, local: local, base: base, arrival)
        noteMovedEnds(arrival, from: agreed, to: result.merged)
        if result.merged != local || result.merged != arrival.state {
            if base.map({ !local.changes(from: $0).isEmpty }) ?? true { outcome.merged += 1 }
        }
        for conflict in result.conflicts {
            try log(
                conflict, arrival.layout, arrival.record.recordName, by: arrival.record.modified)
        }
        try keepTimes(
            of: arrival, named: arrival.record.recordName, merged: result.merged)
        try write(result.merged, over: row, local: local, arrival)
    }

    /// The state both sides agreed on. Where the service's side moved a link, that is as what
    /// befell its former target left it here: a link that was cleared with its target, or goes by
    /// its target's new name, is no edit that could stand against the move.
    func withLinksFollowed(
        _ base: ObjectState?, _ local: ObjectState, _ remote: ObjectState
    ) throws -> ObjectState? {
        guard var base else { return nil }
        for (slot, link) in base.toOnes.enumerated() {
            guard let link, link != local.toOnes[slot],
                remote.toOnes[slot]?.leads(to: link.recordName) != true
            else { continue }
            let place = try mirror.ledger.place(named: link.recordName)
            if let here = local.toOnes[slot] {
                guard let place, place.isRenamed,
                    try mirror.ledger.row(named: here.recordName) == place.row
                else { continue }
                base.toOnes[slot] = NamedLink(here.recordName, orderKey: link.orderKey)
            } else if try place == nil && mirror.ledger.knowsDeletion(of: link.recordName) {
                base.toOnes[slot] = nil
            }
        }
        return base
    }

    /// Keeps the record as the new base, and writes the merged state over the row. Where that has
    /// the unique key of another object here, one of the two takes the other in.
    private mutating func write(
        _ merged: ObjectState, over row: Row, local: ObjectState, _ arrival: Arrival
    ) throws {
        try mirror.ledger.setBase(arrival.record, key: arrival.entry.key)
        guard try makeRoom(for: merged, arrival.met, arrival.layout) else { return }
        try change(row.id, from: local, to: merged, arrival.layout, named: arrival.entry.recordName)
        try mirror.ledger.confirm(CountOperations(arrival.record), of: arrival.record.recordName)
        let hasMore =
            try !mirror.ledger.foreign(of: row.id).isEmpty
            || mirror.ledger.assignedParent(of: arrival.entry.recordName) != nil
        try mirror.ledger.setNeedsUpload(
            hasMore || merged != arrival.state, key: arrival.entry.key)
    }

    /// Adds what turns a row from one state into another.
    mutating func change(
        _ row: RowID, from local: ObjectState, to merged: ObjectState, _ layout: EntityLayout,
        named name: String
    ) throws {
        var update = RowUpdate(id: row)
        for slot in merged.changes(from: local) {
            switch slot {
            case .attribute(let index):
                // A content that is not here leaves what is.
                guard AssetStandIn(merged.attributes[index]) == nil else { continue }
                update.attributes.append((index, merged.attributes[index]))
            case .toOne(let index):
                let link = try resolve(merged.toOnes[index], index, layout, of: name)
                update.toOnes.append((index, link))
                if let link { noteList(of: row, slot: index, target: link.target) }
            }
        }
        guard !update.isEmpty else { return }
        changes.updates.append(update)
        outcome.applied += 1
        guard layout.hasUniquenessConstraints else { return }
        try flush()
        try mirror.noteKeyChange(of: name, from: local, to: merged, layout)
    }

    /// The state both sides last agreed on. What this device sent and got no answer for is agreed
    /// on too, once the service says that it took it: it is our own write, not another's.
    /// `local` is nil for an object that was deleted here.
    func mergeBase(of arrival: Arrival, local: ObjectState?) throws -> ObjectState? {
        let known = arrival.entry.base.flatMap { $0.deleted ? nil : $0 }
        let base = known.map {
            mirror.mapping.agreedState(of: $0, entity: arrival.layout)
                .adopting(local, arrival.state)
        }
        let name = arrival.record.recordName
        let writes = arrival.record.knownWriteIDs
        if let taken = try taken(of: arrival) {
            return mirror.mapping.agreedState(of: taken, entity: arrival.layout)
                .adopting(local, arrival.state)
        }
        // A store that was copied, or restored from an older copy, may hold an edit that another
        // copy has sent.
        if let local, !writes.isEmpty, let sent = try sentByACopy(arrival, local, upon: base) {
            return sent
        }
        guard try goesByValues(arrival), let latest = try mirror.ledger.lastInFlight(name) else {
            return base
        }
        let own = mirror.mapping.agreedState(of: latest, entity: arrival.layout)
            .adopting(local, arrival.state)
        let former = base ?? mirror.mapping.untouched(by: latest, entity: arrival.layout)
        return recognise(own, in: arrival.state, base: former)
    }

    /// What this device sent without an answer, and the service says it took: the newest of it.
    func taken(of arrival: Arrival) throws -> Record? {
        for id in arrival.record.knownWriteIDs {
            let name = arrival.record.recordName
            if let taken = try mirror.ledger.inFlight(name, mark: id) { return taken }
        }
        return nil
    }

    /// The state that a copy of this store has sent, where the edit that waits here would be sent
    /// under an ID that the service knows. Where the store was migrated since, what the migration
    /// made is no part of it.
    private func sentByACopy(
        _ arrival: Arrival, _ local: ObjectState, upon base: ObjectState?
    ) throws -> ObjectState? {
        guard arrival.entry.needsUpload else { return nil }
        let writes = arrival.record.knownWriteIDs
        var builder = BatchBuilder(mirror: mirror, recordsMax: 1, assets: .upTo(.max))
        if let id = try builder.writeID(of: arrival.entry), writes.contains(id) { return local }
        guard let former = try mirror.ledger.formerEdit(of: arrival.record.recordName) else {
            return nil
        }
        builder = BatchBuilder(mirror: mirror, recordsMax: 1, assets: .upTo(.max))
        guard let id = try builder.writeID(of: arrival.entry, former: former),
            writes.contains(id)
        else { return nil }
        var sent = base ?? arrival.state
        for slot in local.changes(from: sent) where mirror.has(slot, former, arrival.layout) {
            sent.copy(slot, from: local)
        }
        return sent
    }

    /// Whether no ID tells what the service took of this device's writes: it tells none, or lost
    /// what it took, and another device sent that again.
    private func goesByValues(_ arrival: Arrival) throws -> Bool {
        let record = arrival.record
        if record.isAsSentAgain || !record.replays.isEmpty && arrival.entry.base == nil {
            return true
        }
        return try record.knownWriteIDs.isEmpty && mirror.ledger.setting(.echoesWriteIDs) == nil
    }

    /// A property that stands there as it was sent is ours.
    private func recognise(
        _ own: ObjectState, in remote: ObjectState, base: ObjectState
    ) -> ObjectState {
        var recognised = base
        for slot in own.changes(from: base) where own.value(slot) == remote.value(slot) {
            recognised.copy(slot, from: own)
        }
        return recognised
    }

    /// A property that waits for a decision keeps its local value, whatever else arrives.
    private func keepWaiting(
        _ result: inout ObjectMerge.Outcome, local: ObjectState, _ arrival: Arrival
    ) throws {
        let waiting = try mirror.ledger.waitingProperties(of: arrival.record.recordName)
        guard !waiting.isEmpty else { return }
        for index in local.attributes.indices
        where waiting.contains(arrival.layout.attributes[index].name) {
            result.merged.attributes[index] = local.attributes[index]
        }
        for index in local.toOnes.indices where waiting.contains(arrival.layout.toOnes[index].name)
        {
            result.merged.toOnes[index] = local.toOnes[index]
        }
    }

    mutating func log(
        _ conflict: PropertyConflict, _ layout: EntityLayout, _ name: String,
        by modified: RecordStamp? = nil
    ) throws {
        outcome.conflicts += 1
        try mirror.ledger.log(conflict, entity: layout.name, recordName: name, by: modified)
    }
}
