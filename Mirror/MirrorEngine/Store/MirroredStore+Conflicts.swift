internal import ObjectModel
internal import Platform
internal import RecordWire
internal import SQLiteStore
internal import Stores

/// Which of a conflict's three values to take.
public enum ConflictSide: String, Sendable, CaseIterable {
    case base, local, remote
}

extension MirroredStore {
    /// Decides a conflict that waits, or puts back a value that a merge discarded. The object waits
    /// for export then. Throws `MirrorError` when there is no such conflict, its object or the one
    /// that a discarded link leads to is gone, another object has the value as its unique key, or
    /// the value is sealed and its key is not here.
    public func resolve(conflict id: Int64, taking side: ConflictSide) throws {
        try write { mirror in
            let isMirrored = try Ledger.exists(in: mirror.ledger.connection)
            if isMirrored { try noticeModel(mirror) }
            guard let conflict = try isMirrored ? mirror.ledger.conflict(id) : nil else {
                throw MirrorError(
                    .unknownConflict,
                    "There is no conflict \(id). 'diptych conflicts' lists those there are.")
            }
            guard let entry = try mirror.ledger.entry(named: conflict.recordName),
                let row = try mirror.store.row(entry.row)
            else {
                throw MirrorError(
                    .objectDeleted,
                    "The object of conflict \(id) is deleted, so its value cannot be put back. "
                        + "'diptych conflicts --restore' makes the object anew.")
            }
            do {
                try put(conflict, side, into: row, entry, mirror)
            } catch let violation as UniquenessViolation {
                let key = violation.constraint.joined(separator: ", ")
                throw MirrorError(
                    .keyTaken,
                    "Another \(violation.entity) has that \(key) "
                        + "already; change it there first, or take the other side.")
            }
            try mirror.ledger.decide(id, winner: side.rawValue)
            try mirror.ledger.noteDecision()
            try mirror.ledger.finish()
        }
    }

    private func put(
        _ conflict: ConflictEntry, _ side: ConflictSide, into row: Row, _ entry: RecordEntry,
        _ mirror: MirrorTransaction
    ) throws {
        let layout = try mirror.layout(of: row.id)
        let logged = try mirror.ledger.value(ofConflict: conflict.id, side)
        let local = try mirror.state(of: row, named: entry.recordName)
        var state = local
        if let slot = layout.attributeSlot(conflict.property) {
            let asked = try value(logged, of: conflict, slot, layout, mirror)
            state.attributes[slot] =
                try recounted(
                    conflict, slot, layout, from: local.attributes[slot], to: asked, mirror)
                ?? asked
            guard AssetStandIn(state.attributes[slot]) == nil else {
                throw MirrorError(
                    .unknownConflict,
                    "The value was an asset whose content is not kept; take another side.")
            }
        } else if let slot = layout.toOneSlot(conflict.property) {
            if case .string(let name)? = logged.plain {
                let present = try self.name(of: name, asTargetOf: conflict, mirror)
                state.toOnes[slot] = NamedLink(present, orderKey: state.toOnes[slot]?.orderKey)
            } else {
                state.toOnes[slot] = nil
            }
        } else if let slot = layout.toManySlot(conflict.property),
            case .string(let name)? = logged.plain
        {
            try putBack(member: name, in: ToManyChange(owner: row.id, slot: slot), mirror)
        }
        var importing = try RecordImport(mirror: mirror)
        try importing.change(row.id, from: local, to: state, layout, named: entry.recordName)
        try importing.flush()
        try mirror.enqueueUpload(row.id)
        let timed = mirror.settings.timedProperties(of: row.id.entity, among: [conflict.property])
        for property in timed {
            try mirror.noteEdit(of: row.id, property, at: settings.platform.clock.now())
        }
        if let slot = layout.toOneSlot(conflict.property) {
            try OneToOneRepair(mirror: mirror).meet(row.id, slot)
        }
    }

    /// A counter goes by as much as the side that is asked for and the one that stood differ: what
    /// was counted since stays. nil for what is no counter.
    private func recounted(
        _ conflict: ConflictEntry, _ slot: Int, _ layout: EntityLayout, from now: AttributeValue,
        to asked: AttributeValue, _ mirror: MirrorTransaction
    ) throws -> AttributeValue? {
        guard mirror.settings.countedSlots[layout.number]?.contains(slot) == true else {
            return nil
        }
        func logged(_ side: ConflictSide) throws -> AttributeValue {
            let known = try mirror.ledger.value(ofConflict: conflict.id, side)
            return try value(known, of: conflict, slot, layout, mirror)
        }
        let stood: AttributeValue? =
            switch PropertyConflict.Winner(rawValue: conflict.winner) {
            case .merged:
                Combination.counter(
                    base: try logged(.base), local: try logged(.local),
                    remote: try logged(.remote))
            case .local, .waiting: try logged(.local)
            case .remote: try logged(.remote)
            case nil: try ConflictSide(rawValue: conflict.winner).map(logged)
            }
        let type = layout.attributes[slot].attribute.attributeType
        guard let stood,
            case .integer(let sum) = Combination.counter(
                base: stood, local: asked, remote: now),
            AttributeCoding.range(of: type)?.contains(sum) ?? true
        else { return nil }
        return .integer(sum)
    }

    /// What the target of a logged link is called now. One that was discarded is put back only
    /// where the target is not known to be deleted.
    private func name(
        of target: String, asTargetOf conflict: ConflictEntry, _ mirror: MirrorTransaction
    ) throws -> String {
        if let row = try mirror.ledger.row(named: target) {
            return try mirror.ledger.knownName(of: row) ?? target
        }
        let isGone =
            try mirror.ledger.knowsDeletion(of: target) || mirror.ledger.grave(of: target) != nil
        guard isGone, conflict.winner != PropertyConflict.Winner.waiting.rawValue else {
            return target
        }
        throw MirrorError(
            .objectDeleted,
            "The object that the value of conflict \(conflict.id) leads to is deleted, so the link "
                + "cannot be put back. Where the log has lines of it, "
                + "'diptych conflicts --restore' makes it anew.")
    }

    private func value(
        _ logged: LoggedValue, of conflict: ConflictEntry, _ slot: Int, _ layout: EntityLayout,
        _ mirror: MirrorTransaction
    ) throws -> AttributeValue {
        let open = try mirror.mapping.opened(logged, of: conflict.recordName, slot, layout)
        do {
            return try AttributeCoding.value(
                plain: open.plain, exact: open.exact,
                type: layout.attributes[slot].attribute.attributeType)
        } catch {
            throw MirrorError(
                .fieldMismatch,
                "The value is of a type or a size that the model's attribute cannot hold any more; "
                    + "take another side.",
                fields: ["entity": layout.name, "property": conflict.property])
        }
    }

    /// Gives a member of a to-many without inverse back to the owner that lost it.
    private func putBack(
        member name: String, in change: ToManyChange, _ mirror: MirrorTransaction
    ) throws {
        guard let member = try mirror.ledger.row(named: name) else {
            throw MirrorError(
                .unknownConflict,
                "The member that was lost is deleted, so it cannot be put back.")
        }
        let relationship = try mirror.layout(of: change.owner).toManys[change.slot]
        guard try mirror.layout(of: member).entity.fits(relationship) else {
            throw MirrorError(
                .unknownConflict,
                "The object that took the lost member's place is of an entity which the "
                    + "relationship cannot have, so it cannot be put back.")
        }
        var change = change
        change.added = [Link(member)]
        var changes = ChangeSet()
        changes.author = RecordNames.importAuthor
        changes.toManys = [change]
        _ = try mirror.store.apply(changes)
        try mirror.comparePairs(of: change.owner)
    }
}
