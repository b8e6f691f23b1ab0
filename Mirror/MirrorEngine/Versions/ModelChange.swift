internal import Foundation
internal import ObjectModel
internal import RecordWire
internal import SQLiteDriver
internal import SQLiteStore
internal import Stores

/// Brings a ledger to the version of the model that its store was migrated to.
///
/// What was received while nobody here knew it comes into the rows; what the migration itself
/// changed waits for export, found by comparing each row with its base; all else stays as agreed.
struct ModelChange {
    let mirror: MirrorTransaction
    /// What the former version knew; nil where an older version of this library kept nothing of it.
    let former: ModelCatalog?
    private let formerEntities: [String: ModelCatalog.Entity]
    private var importing: RecordImport
    /// Properties that an app changed since the last look at the history, by row.
    private var edited: [RowID: Set<String>] = [:]
    /// Those that a handler of a staged migration changed.
    private var computed: [RowID: Set<String>] = [:]
    /// Whether that is all. Where some of the history was removed, whatever differs may be an edit.
    private var knowsEdits = true
    /// What was changed in another file, which this one was made of.
    private var editedBefore: [RowID: FormerEdit] = [:]
    private static let pageMax = 400

    init(mirror: MirrorTransaction, former: ModelCatalog?) throws {
        self.mirror = mirror
        self.former = former
        formerEntities = Dictionary(
            (former?.entities ?? []).map { ($0.key, $0) }, uniquingKeysWith: { one, _ in one })
        importing = try RecordImport(mirror: mirror)
    }

    mutating func run() throws {
        try LedgerNames(mirror: mirror, former: former).rename()
        let unseen = try UnseenHistory(mirror)
        editedBefore = unseen.former
        mirror.lists = unseen.lists
        defer { mirror.lists = nil }
        // Before anything asks for the name of an object that was made and not looked at.
        try mirror.nameInsertions(in: unseen)
        try noteUnseenEdits()
        try putOrphansAside()
        try putUnknownPairsAside()
        // A migration that makes a new file numbers members anew, and has a new history.
        if try mirror.ledger.historyToken() == nil {
            if try mirror.ledger.keepsCounts() { try mirror.ledger.forgetCountLog() }
            var places = PlaceRestoring(mirror: mirror)
            try places.run()
        }
        try noteEdits()
        var cursor: Int64 = 0
        while let last = try compareLines(after: cursor) { cursor = last }
        try importing.flush()
        try takeFromAside()
        try mirror.ledger.connection.run("DELETE FROM ADIPTYCHREFUSAL")
        try refuseUnreadable()
        try connectWaiting()
        try mirror.ledger.compareAllEnds()
        try mirror.ledger.finish()
    }

    /// Edits of which only the history of the file that the store was migrated from knew.
    private func noteUnseenEdits() throws {
        let edits = try mirror.ledger.takeUnseenEdits(without: RecordNames.importAuthor)
        for edit in edits where mirror.mapping.layout.entity(edit.row.entity) != nil {
            let timed = mirror.settings.timedProperties(
                of: edit.row.entity, among: edit.property.map { [$0] })
            guard !timed.isEmpty, try mirror.store.row(edit.row) != nil else { continue }
            for property in timed.sorted() {
                try mirror.noteEdit(of: edit.row, property, at: edit.date)
            }
        }
    }

    // MARK: What the model has no more

    /// Lines of entities that the migration removed. Their records stay with the service, and are
    /// kept for a model that has the entity again.
    private func putOrphansAside() throws {
        for entry in try mirror.ledger.orphans() where !entry.needsCloudDelete {
            if let base = entry.base, !base.deleted, base.recordChangeTag != nil {
                try mirror.ledger.keepAside(base, .unknownEntity)
            }
            try mirror.removeLine(of: entry)
        }
    }

    private func putUnknownPairsAside() throws {
        for entry in try mirror.ledger.pairs("p.ZNEEDSDELETE = 0", []) {
            let kind = mirror.pairs.kind(
                entityNames: entry.pair.entityNames,
                relationshipNames: entry.pair.relationshipNames)
            guard kind == nil else { continue }
            if let base = entry.base, !base.deleted {
                try mirror.ledger.keepAside(base, .unknownRelationship)
            }
            try mirror.ledger.removePair(entry)
        }
    }

    // MARK: Rows beside their bases

    /// Returns the key of the last line that was looked at; nil at the end.
    private mutating func compareLines(after key: Int64) throws -> Int64? {
        let entries = try mirror.ledger.entries(
            "WHERE m.Z_PK > ? ORDER BY m.Z_PK LIMIT ?", [.integer(key), SQLiteValue(Self.pageMax)])
        for entry in entries { try compare(entry) }
        try importing.flush()
        return entries.last?.key
    }

    private mutating func compare(_ known: RecordEntry) throws {
        var entry = known
        guard !entry.needsCloudDelete, let row = try mirror.store.row(entry.row),
            // An object before it may have taken this one in.
            try mirror.ledger.entry(named: entry.recordName)?.row == entry.row
        else { return }
        let layout = try mirror.layout(of: entry.row)
        let local = try mirror.state(of: row, named: entry.recordName)
        try keepFormerEdit(of: entry, local, layout)
        var (merged, version) = (local, try lastVersion(of: entry))
        if let known = try knownRecord(of: entry, version) {
            merged = try adopt(known, local: local, entry, layout)
            // Whatever becomes of the values from now on, they are the row's.
            if former != nil {
                try mirror.keepUnread(of: entry.row, besides: unopened(of: entry.row, layout))
            }
            version = try waitForAssets(of: &entry, version, layout, merged)
            guard try importing.makeRoom(for: merged, entry, layout) else { return }
            try importing.change(
                entry.row, from: local, to: merged, layout, named: entry.recordName)
        }
        let agreed = version.map {
            mirror.mapping.agreedState(of: $0, entity: layout).adopting(merged)
        }
        if merged != agreed {
            if let agreed {
                try noteComputed(merged.changes(from: agreed), entry, layout)
            }
            if !entry.needsUpload { try mirror.enqueueUpload(entry.row) }
        }
        if !mirror.pairs.ends(of: entry.row.entity).isEmpty {
            try importing.flush()
            try mirror.comparePairs(of: entry.row)
        }
    }

    /// Keeps which of an object's differences from its base wait for export without the migration,
    /// where that is not all: a copy of the store may have sent them.
    private func keepFormerEdit(
        of entry: RecordEntry, _ local: ObjectState, _ layout: EntityLayout
    ) throws {
        let base = entry.base.flatMap { $0.deleted ? nil : $0 }
        let before = editedBefore[entry.row]
        let names = (edited[entry.row] ?? []).union(before?.properties ?? [])
        let changed = local.changes(
            from: base.map { mirror.mapping.agreedState(of: $0, entity: layout).adopting(local) })
        let sent = changed.filter { slot in
            if names.contains(slot.property(in: layout)) { return true }
            return entry.needsUpload && wasSent(slot, local, upon: base, layout)
        }
        let isAll = sent.count == changed.count && base != nil && before?.saved == nil
        guard !sent.isEmpty, !isAll else { return }
        let keys = sent.map { mirror.mapping.keys.property($0.name(in: layout), of: layout.name) }
        try mirror.ledger.keepFormerEdit(
            FormerEdit(properties: Set(keys), saved: before?.saved), of: entry.recordName)
    }

    /// Whether the former version would have sent a difference: one in a property that it had, and
    /// not that a default which it may not have had is away.
    private func wasSent(
        _ slot: PropertySlot, _ local: ObjectState, upon base: Record?, _ layout: EntityLayout
    ) -> Bool {
        guard former == nil || wasKnown(slot, of: layout) else { return false }
        guard case .attribute(let index) = slot, local.attributes[index].isNull else { return true }
        return base.map { mirror.mapping.isWritten(slot, of: layout, in: $0) } ?? false
    }

    /// What was agreed on last: the base, or a version that the service lost and that is to be sent
    /// again.
    private func lastVersion(of entry: RecordEntry) throws -> Record? {
        if let lost = try mirror.ledger.replay(of: entry.recordName) { return lost }
        return entry.base.flatMap { $0.deleted ? nil : $0 }
    }

    /// Lets the contents of assets be fetched that nobody here knew before: the base says nothing
    /// of them, and is of no state of the service, so that the record comes anew and is merged.
    /// Versions under way are as ignorant; one that the service lost cannot be sent again without
    /// them. Returns what is agreed on without them.
    private mutating func waitForAssets(
        of entry: inout RecordEntry, _ version: Record?, _ layout: EntityLayout,
        _ state: ObjectState
    ) throws -> Record? {
        guard let version, version.hasAssets else { return version }
        let known = mirror.mapping.agreedState(of: version, entity: layout).adopting(state)
        let slots = newSlots(of: layout, in: version, isWaiting: entry.needsUpload)
            .compactMap { slot -> Int? in
                guard case .attribute(let index) = slot,
                    AssetStandIn(known.attributes[index]) != nil
                else { return nil }
                return index
            }
        guard !slots.isEmpty else { return version }
        let mapping = mirror.mapping
        let forgetting = { (record: Record) in
            slots.reduce(record) { mapping.forgetting(assetOf: $1, layout, in: $0) }
        }
        try mirror.ledger.replaceInFlight(entry.recordName, forgetting)
        try mirror.ledger.dropReplay(of: entry.recordName)
        if let agreed = entry.base, !agreed.deleted {
            var base = forgetting(agreed)
            if base.fields != agreed.fields {
                base.recordChangeTag = nil
                entry.base = base
                try mirror.ledger.replaceBase(base, key: entry.key)
                try importing.waitForAssets(of: agreed)
            }
        }
        return forgetting(version)
    }

    /// All that was received of an object, whether or not this device knew it. What the service is
    /// to be sent anew has no base, and may have fields of a later model all the same.
    private func knownRecord(of entry: RecordEntry, _ version: Record?) throws -> Record? {
        let foreign = try mirror.ledger.foreign(of: entry.row)
        guard version != nil || !foreign.isEmpty else { return nil }
        var record =
            version ?? entry.base ?? Record(recordName: entry.recordName, recordType: "")
        let carried = CarriedSeals(record.fields).union(CarriedSeals(foreign))
        record.fields.merge(foreign) { own, other in own ?? other }
        if !carried.isEmpty { record.fields[RecordNames.carriedSeals] = carried.field }
        return record
    }

    /// The object with what was received of properties that are new here. What a migration made of
    /// them gives way to it; an edit made since the migration is merged with it.
    private mutating func adopt(
        _ record: Record, local: ObjectState, _ entry: RecordEntry, _ layout: EntityLayout
    ) throws -> ObjectState {
        var remote = mirror.mapping.agreedState(of: record, entity: layout).adopting(local)
        // The content of an asset is merged when it is here.
        let slots = newSlots(of: layout, in: record, isWaiting: entry.needsUpload).filter { slot in
            guard case .attribute(let index) = slot else { return true }
            return AssetStandIn(remote.attributes[index]) == nil
        }
        guard !slots.isEmpty else { return local }
        for index in local.attributes.indices
        where AssetStandIn(remote.attributes[index]) != nil {
            remote.attributes[index] = local.attributes[index]
        }
        var (base, own) = (remote, local)
        let untouched = untouchedState(layout)
        for slot in slots {
            base.copy(slot, from: untouched)
            guard !mayBeEdited(slot, of: entry.row, layout) else { continue }
            try logComputed(slot, local, remote, untouched, layout, entry.recordName)
            own.copy(slot, from: untouched)
        }
        let outcome = ObjectMerge(policy: mirror.settings.policy, entity: layout)
            .merge(base: base, local: own, remote: remote)
        for conflict in outcome.conflicts {
            try importing.log(conflict, layout, entry.recordName, by: record.modified)
        }
        return outcome.merged
    }

    /// Sealed values of properties that the former version had too, whose key came with the update:
    /// they are brought in as with any key that comes.
    private func unopened(of row: RowID, _ layout: EntityLayout) throws -> [String: Set<Data>] {
        guard let slots = mirror.mapping.sealedSlots[row.entity] else { return [:] }
        let foreign = try mirror.ledger.foreign(of: row)
        guard !foreign.isEmpty else { return [:] }
        let fields = Set(
            slots.map { PropertySlot.attribute($0) }.filter { wasKnown($0, of: layout) }
                .flatMap { mirror.mapping.fieldNames(of: $0, layout).all })
        var values: [String: Set<Data>] = [:]
        for seal in CarriedSeals(foreign).seals {
            values[seal.field, default: []].insert(seal.value)
        }
        for (field, value) in foreign {
            if case .bytes(let data)? = value { values[field, default: []].insert(data) }
        }
        let unlocking = try Unlocking(mirror: mirror)
        return values.filter { fields.contains($0.key) }
            .mapValues { $0.filter(unlocking.isOpened) }
    }

    /// A value that a mapping computed gives way to one that somebody gave: it is logged.
    private mutating func logComputed(
        _ slot: PropertySlot, _ local: ObjectState, _ remote: ObjectState,
        _ untouched: ObjectState, _ layout: EntityLayout, _ name: String
    ) throws {
        let value = local.value(slot)
        guard value != untouched.value(slot), value != remote.value(slot) else { return }
        var conflict = PropertyConflict(
            slot: slot, property: slot.name(in: layout), rule: RecordImport.migrationRule,
            base: untouched.value(slot), local: value, remote: remote.value(slot))
        conflict.take(.remote)
        try importing.log(conflict, layout, name)
    }

    private func untouchedState(_ layout: EntityLayout) -> ObjectState {
        mirror.mapping.untouched(by: Record(recordName: "", recordType: ""), entity: layout)
    }

    /// The properties that the former version had not, and of which the record says something.
    /// Where nobody knows what it had, those that have nothing here and wait for nothing.
    private func newSlots(
        of layout: EntityLayout, in record: Record, isWaiting: Bool
    ) -> [PropertySlot] {
        let all =
            layout.attributes.indices.map { PropertySlot.attribute($0) }
            + layout.toOnes.indices.map { PropertySlot.toOne($0) }
        return all.filter { slot in
            guard mirror.mapping.isReadable(slot, of: layout, in: record) else { return false }
            if former == nil { return !isWaiting }
            return !wasKnown(slot, of: layout)
        }
    }

    private func wasKnown(_ slot: PropertySlot, of layout: EntityLayout) -> Bool {
        let field = mirror.mapping.fieldNames(of: slot, layout).plain
        let type: String
        switch slot {
        case .attribute(let index):
            type = FieldNames.wireType(of: layout.attributes[index].attribute)
        case .toOne: type = "LINK"
        }
        let entity = formerEntities[mirror.mapping.keys.entity(layout.name)]
        return entity?.properties.contains { $0.field == field && $0.type == type } ?? false
    }

    // MARK: Edits since the migration

    /// What differs from what was agreed on, and no app has changed, the migration computed. Where
    /// edits waited already, that is known of what a handler changed alone.
    private func noteComputed(
        _ slots: [PropertySlot], _ entry: RecordEntry, _ layout: EntityLayout
    ) throws {
        for slot in slots where !mayBeEdited(slot, of: entry.row, layout) {
            let property = slot.property(in: layout)
            guard editedBefore[entry.row]?.properties.contains(property) != true,
                !entry.needsUpload || computed[entry.row]?.contains(property) == true
            else { continue }
            try mirror.ledger.noteComputed(
                mirror.mapping.keys.property(slot.name(in: layout), of: layout.name),
                of: entry.recordName)
        }
    }

    private func mayBeEdited(_ slot: PropertySlot, of row: RowID, _ layout: EntityLayout) -> Bool {
        !knowsEdits || edited[row]?.contains(slot.property(in: layout)) == true
    }

    private mutating func noteEdits() throws {
        let seen = try mirror.ledger.historyToken() ?? 0
        knowsEdits = try mirror.readHistory(after: seen) { transaction in
            for change in transaction.changes where change.kind == .update {
                if transaction.isComputed {
                    computed[change.id, default: []].formUnion(change.changedProperties)
                } else {
                    edited[change.id, default: []].formUnion(change.changedProperties)
                }
            }
        }
    }

    // MARK: Records that waited for this model

    private mutating func takeFromAside() throws {
        var name = ""
        while true {
            let records = try mirror.ledger.aside(after: name, limit: Self.pageMax)
            guard let last = records.last else { return }
            name = last.recordName
            try importing.apply(records)
        }
    }

    /// What still cannot be read is told again.
    private func refuseUnreadable() throws {
        let unreadable = RecordError(
            RecordImport.mismatch, "A field has a type or a size that no attribute can hold.")
        for kept in try mirror.ledger.keptRecords() {
            switch kept.reason {
            case .unreadableField:
                try mirror.ledger.keepRefusal(of: kept.recordName, unreadable)
            case .otherEntity:
                try mirror.ledger.keepRefusal(of: kept.recordName, RecordImport.otherEntity)
            case .missingAsset:
                try mirror.ledger.keepRefusal(of: kept.recordName, RecordImport.missingAsset)
            case .unknownEntity, .unknownRelationship, .incompleteGraph, .notSelected: break
            }
        }
    }

    /// Ends of links and pairs may be of other entities now. Pairs that still do not fit are told
    /// again.
    private mutating func connectWaiting() throws {
        var resolved: Set<ExactName> = []
        for link in try mirror.ledger.links("1", [])
        where resolved.insert(ExactName(link.target.recordName)).inserted {
            try importing.resolveLinks(to: link.target.recordName)
        }
        for entry in try mirror.ledger.pairs("p.ZISPENDING = 1 AND p.ZNEEDSDELETE = 0", []) {
            try importing.connect(entry)
        }
        try importing.flush()
    }
}
