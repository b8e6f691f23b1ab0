internal import RecordWire

/// Keeps the indexes of one database in step with its records, inside one transaction.
struct QueryIndexing {
    let database: Int64
    let transaction: any BackendTransaction

    init(_ database: Int64, _ transaction: any BackendTransaction) {
        self.database = database
        self.transaction = transaction
    }

    /// Takes note of rows that are written. Cost: next to nothing in a database without indexes,
    /// else a statement for each record and one for each value.
    func note(_ rows: [RecordRow], in zone: Int64) throws {
        let indexes = try transaction.queryIndexes(in: database)
        guard !indexes.isEmpty else { return }
        let byType = Dictionary(grouping: indexes) { ExactName($0.recordType) }
        for row in rows {
            let own = row.isDeleted ? [] : byType[ExactName(row.type)] ?? []
            // A record that cannot be read is looked at by every query, which says so.
            let record = own.isEmpty ? nil : try? QueriedRecord(row)
            try transaction.replaceEntries(
                of: row.name, in: zone,
                with: own.flatMap { index in
                    (record?.indexedForms(index.key) ?? [.unknown]).map { (index.id, $0) }
                })
        }
    }

    /// Makes the indexes under `keys`, or goes on making them. Returns whether all are whole after
    /// it has looked at `rowsMax` records.
    func learn(
        _ keys: [QueryIndexKey], of recordType: String, rowsMax: Int, indexesMax: Int
    ) throws -> Bool {
        var known = try transaction.queryIndexes(in: database)
        var rowsLeft = rowsMax
        for key in keys {
            let found = known.first { $0.key == key && $0.recordType.isExactly(recordType) }
            guard found != nil || known.count < indexesMax else { throw Self.tooMany(indexesMax) }
            var index =
                try found ?? transaction.makeQueryIndex(key, of: recordType, in: database)
            if found == nil { known.append(index) }
            guard try fill(&index, &rowsLeft) else { return false }
        }
        return true
    }

    private func fill(_ index: inout QueryIndexRow, _ rowsLeft: inout Int) throws -> Bool {
        guard case .through(var zone, var name) = index.progress else { return true }
        let zones = try transaction.zones(in: database).map(\.id).sorted()
        for next in zones where next >= zone {
            if next > zone { name = "" }
            zone = next
            var reached = name
            try transaction.liveRecords(in: zone, after: name) { row in
                guard rowsLeft > 0 else { return false }
                rowsLeft -= 1
                reached = row.name
                guard row.type.isExactly(index.recordType) else { return true }
                let forms = (try? QueriedRecord(row))?.indexedForms(index.key) ?? [.unknown]
                try transaction.addEntries(of: row.name, in: zone, to: index.id, forms)
                return true
            }
            guard rowsLeft > 0 else {
                index.progress = .through(zone: zone, name: reached)
                try transaction.save(index)
                return false
            }
        }
        index.progress = .whole
        try transaction.save(index)
        return true
    }

    private static func tooMany(_ indexesMax: Int) -> RecordError {
        RecordError(
            .limitExceeded,
            "The database has \(indexesMax) indexes, the most it may have; query fields that "
                + "were queried before.")
    }
}
