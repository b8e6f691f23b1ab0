internal import RecordWire
internal import Stores

/// Objects that are held back until what their to-ones lead to is here, so that no incomplete graph
/// is shown while a zone is being read.
extension RecordImport {
    /// Of the records of a page those that can be shown, with held ones whose targets came with
    /// them. The others are held back. Cost: looks by name for each link, and for each record that
    /// a held one is connected with.
    mutating func showable(_ records: [Record]) throws -> [Record] {
        var pool: [ExactName: Record] = [:]
        for record in records { pool[ExactName(record.recordName)] = record }
        try addHeld(to: &pool)
        let blocked = try blocked(in: pool)
        for (name, record) in pool {
            if let missing = blocked[name] {
                try keepAside(record, .incompleteGraph)
                try mirror.ledger.hold(record.recordName, for: missing)
            } else {
                try mirror.ledger.release(record.recordName)
            }
        }
        let order = records.map { ExactName($0.recordName) }
        let held = Set(pool.keys).subtracting(order).sorted { $0.text < $1.text }
        return (order + held).compactMap { blocked[$0] == nil ? pool[$0] : nil }
    }

    /// All that is still held is shown: the zone was read to its end.
    mutating func showHeld() throws {
        while true {
            let records = try mirror.ledger.held(limit: Self.heldPageMax)
            guard !records.isEmpty else { return }
            for record in records { try mirror.ledger.release(record.recordName) }
            try apply(records)
        }
    }

    private static let heldPageMax = 400

    /// Adds the held records that wait for others of the pool, or that those wait for.
    private func addHeld(to pool: inout [ExactName: Record]) throws {
        guard try mirror.ledger.hasHeld() else { return }
        var queue = Array(pool.keys)
        while let name = queue.popLast() {
            var near = try mirror.ledger.held(waitingFor: name.text)
            if let record = pool[name] { near += try targets(of: record) }
            for other in near where pool[ExactName(other)] == nil {
                guard let record = try mirror.ledger.heldRecord(named: other) else { continue }
                pool[ExactName(other)] = record
                queue.append(ExactName(other))
            }
        }
    }

    /// The new objects of the pool that lead to what is neither here nor comes with the pool, with
    /// the names they wait for.
    private func blocked(in pool: [ExactName: Record]) throws -> [ExactName: [String]] {
        var missing: [ExactName: Set<ExactName>] = [:]
        var referrers: [ExactName: [ExactName]] = [:]
        var queue: [ExactName] = []
        for (name, record) in pool where try isNew(record) {
            for target in try targets(of: record) {
                let target = ExactName(target)
                referrers[target, default: []].append(name)
                if pool[target] == nil { missing[name, default: []].insert(target) }
            }
            if missing[name] != nil { queue.append(name) }
        }
        while let name = queue.popLast() {
            for referrer in referrers[name] ?? [] {
                if missing[referrer] == nil { queue.append(referrer) }
                missing[referrer, default: []].insert(name)
            }
        }
        return missing.mapValues { $0.map(\.text) }
    }

    private func isNew(_ record: Record) throws -> Bool {
        try mirror.ledger.row(named: record.recordName) == nil
            && mirror.ledger.entry(named: record.recordName) == nil
    }

    /// The names that a record's to-ones lead to and that are not here; without those whose object
    /// is known to be deleted, for which nothing waits.
    private func targets(of record: Record) throws -> [String] {
        guard let layout = mirror.mapping.entity(of: record) else { return [] }
        return try layout.toOnes.indices.compactMap { slot in
            guard let name = mirror.mapping.link(slot, of: layout, in: record)?.recordName,
                !name.isExactly(record.recordName),
                try mirror.ledger.row(named: name) == nil,
                try mirror.ledger.deletionTag(of: name) == nil
            else { return nil }
            return name
        }
    }
}
