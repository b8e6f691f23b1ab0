internal import ObjectModel
internal import RecordWire
internal import SQLiteStore
internal import Stores

/// Objects come back whose deletion the service refused: they never went there, so they are here
/// again as it has them, under their keys and names, and nothing is sent.
extension RecordImport {
    /// Takes deletions back, and lets what led from and to the objects find them again. Returns the
    /// lines of those that have to wait for contents that only the service has; the next round
    /// fetches them. Throws `UniquenessViolation` where another object has a unique key of theirs.
    mutating func takeBack(_ entries: [RecordEntry]) throws -> [RecordEntry] {
        let names = Set(entries.map { ExactName($0.recordName) })
        for entry in entries { try takeBackPairs(of: entry.recordName) }
        let referrers = try keepLinks(to: names)
        var waiting: [RecordEntry] = []
        var arrivals: [Arrival] = []
        for entry in entries {
            if let arrival = try arrival(of: entry) {
                arrivals.append(arrival)
            } else {
                waiting.append(entry)
            }
        }
        for arrival in arrivals { try insert(arrival) }
        try flush()
        try finishTakingBack()
        for entry in referrers { try settle(entry) }
        return waiting
    }

    /// Lets links, places and pairs find what is there again.
    mutating func finishTakingBack() throws {
        try resolveArrivals()
        try repairOrder()
        try flush()
        try OneToOneRepair(mirror: mirror).run()
    }

    /// The pairs that went with the object, as far as the service has them still.
    func takeBackPairs(of name: String) throws {
        for pair in try mirror.ledger.pairs(of: name) where pair.needsDelete && pair.base != nil {
            try mirror.ledger.setPair(
                pair.key, isPending: true, isUploaded: true, needsDelete: false)
            try mirror.ledger.forgetRefusal(of: pair.recordName)
        }
    }

    /// Lets the to-one links that were cleared with the objects, and that the service has still,
    /// wait for them. Returns the lines that have such links.
    private func keepLinks(to names: Set<ExactName>) throws -> [RecordEntry] {
        try mirror.ledger.editedEntries().filter { entry in
            guard let base = entry.base, let row = try mirror.store.row(entry.row) else {
                return false
            }
            let layout = try mirror.layout(of: row.id)
            var isAny = false
            for slot in row.toOnes.indices where row.toOnes[slot] == nil {
                guard let link = mirror.mapping.link(slot, of: layout, in: base),
                    names.contains(ExactName(link.recordName))
                else { continue }
                let property = layout.toOnes[slot].name
                try mirror.ledger.keepPending(
                    PendingLink(recordName: entry.recordName, property: property, target: link))
                isAny = true
            }
            return isAny
        }
    }

    /// The object on its way back, no longer deleted; nil, and without a line, where a content of
    /// it is at the service alone.
    private mutating func arrival(of entry: RecordEntry) throws -> Arrival? {
        guard let base = entry.base, !base.deleted, let layout = mirror.mapping.entity(of: base),
            !layout.entity.isAbstract
        else {
            throw MirrorError(
                .unknownEntity,
                "Nothing that this model reads is kept of the object. Sync with a model that has "
                    + "its entity, and restore it then.")
        }
        try mirror.ledger.unqueueDeletion(key: entry.key)
        try mirror.ledger.forgetRefusal(of: entry.recordName)
        var state = try mirror.mapping.storedState(of: base, entity: layout)
        guard try fill(&state, nil) else {
            try mirror.removeLine(of: entry)
            try waitForAssets(of: base)
            return nil
        }
        guard layout.number == entry.row.entity else {
            // Somebody made it one of another entity meanwhile: it comes as that, in a row of its
            // own.
            try mirror.removeLine(of: entry)
            return try makeArrival(base, layout: layout, state: state)
        }
        return Arrival(record: base, layout: layout, state: state, entry: entry, isNew: true)
    }

    /// A line that differs in nothing any more from what the service has waits no longer.
    func settle(_ entry: RecordEntry) throws {
        guard let base = entry.base, let row = try mirror.store.row(entry.row),
            try mirror.ledger.assignedParent(of: entry.recordName) == nil,
            try mirror.ledger.foreign(of: row.id).isEmpty
        else { return }
        let layout = try mirror.layout(of: row.id)
        let state = try mirror.state(of: row, named: entry.recordName)
        let agreed = mirror.mapping.agreedState(of: base, entity: layout).adopting(state)
        guard state.changes(from: agreed).isEmpty else { return }
        try mirror.ledger.clearUpload(key: entry.key)
        try mirror.ledger.forgetRefusal(of: entry.recordName)
    }
}
