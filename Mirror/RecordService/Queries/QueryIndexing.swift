internal import RecordWire

/// Makes the indexes of one database, inside one transaction. `IndexSession` keeps them.
struct QueryIndexing {
    private let database: Int64
    private let transaction: any BackendTransaction
    private let limits: ServiceLimits
    private let uses: QueryIndexUses

    /// How much one request may still look at and write.
    private struct Allowance {
        var rows: Int
        var entries: Int
        var bytes: Int

        var isUsed: Bool { rows <= 0 || entries <= 0 || bytes <= 0 }
    }

    init(
        _ database: Int64, _ transaction: any BackendTransaction, limits: ServiceLimits,
        uses: QueryIndexUses
    ) {
        self.database = database
        self.transaction = transaction
        self.limits = limits
        self.uses = uses
    }

    /// Makes the indexes under `keys`, or goes on making them; where the database has as many as it
    /// may have, others go. Returns whether all are whole after so much work as one request may be.
    /// Throws LIMIT_EXCEEDED where one query needs more than there may be.
    func learn(_ keys: [QueryIndexKey], of recordType: String) throws -> Bool {
        var known = try transaction.queryIndexes(in: database)
        var allowance = Allowance(
            rows: limits.work.rowsMax, entries: limits.indexing.newEntriesMax,
            bytes: limits.work.writtenBytesMax)
        for key in keys {
            let found = known.first { $0.key == key && $0.recordType.isExactly(recordType) }
            if found == nil, known.count >= limits.work.queryIndexesMax {
                let others = known.filter { index in
                    !index.recordType.isExactly(recordType) || !keys.contains(index.key)
                }
                guard let index = try leastUseful(of: others) else { throw tooMany() }
                guard try giveUp(index, &allowance) else { return false }
                known.removeAll { $0.id == index.id }
            }
            var index =
                try found ?? transaction.makeQueryIndex(key, of: recordType, in: database)
            if found == nil { known.append(index) }
            guard try fill(&index, &allowance) else { return false }
        }
        return true
    }

    private func fill(_ index: inout QueryIndexRow, _ allowance: inout Allowance) throws -> Bool {
        guard case .through(var zone, var name) = index.progress else { return true }
        let zones = try transaction.zones(in: database).map(\.id).sorted()
        for next in zones where next >= zone {
            if next > zone { name = "" }
            zone = next
            var reached = name
            try transaction.liveRecords(in: zone, after: name) { row in
                guard !allowance.isUsed else { return false }
                allowance.rows -= 1
                allowance.bytes -= row.fields.count
                reached = row.name
                guard row.type.isExactly(index.recordType) else { return true }
                let forms = (try? QueriedRecord(row))?.indexedForms(index.key) ?? [.unknown]
                allowance.entries -= forms.count
                try transaction.addEntries(
                    forms.map { IndexEntry(index: index.id, form: $0, name: row.name) }, in: zone)
                return true
            }
            guard !allowance.isUsed else {
                index.progress = .through(zone: zone, name: reached)
                try transaction.save(index)
                return false
            }
        }
        index.progress = .whole
        try transaction.save(index)
        return true
    }

    // MARK: Giving up

    /// One without entries, else the one that was used longest ago: whoever asks for what is not
    /// there takes nothing from those who ask for what is.
    private func leastUseful(of indexes: [QueryIndexRow]) throws -> QueryIndexRow? {
        let empty = Set(try transaction.emptyQueryIndexes(in: database))
        let idle = indexes.filter { empty.contains($0.id) }
        let found = uses.longestUnused(of: (idle.isEmpty ? indexes : idle).map(\.id))
        return indexes.first { $0.id == found }
    }

    /// Removes an index, whose entries may take more than one request. Returns whether it is gone.
    private func giveUp(_ index: QueryIndexRow, _ allowance: inout Allowance) throws -> Bool {
        for zone in try transaction.zones(in: database) where !allowance.isUsed {
            allowance.rows -= try transaction.removeEntries(
                ofIndex: index.id, in: zone.id, limit: allowance.rows)
        }
        guard !allowance.isUsed else {
            // With some of its entries it would tell of some records only.
            var index = index
            index.progress = .none
            try transaction.save(index)
            return false
        }
        try transaction.removeQueryIndex(index.id)
        return true
    }

    private func tooMany() -> RecordError {
        RecordError(
            .limitExceeded,
            "The query needs more indexes than the \(limits.work.queryIndexesMax) that a database "
                + "may have; sort or filter by fewer fields.")
    }
}
