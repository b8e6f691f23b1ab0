internal import RecordWire
internal import SQLiteDriver
internal import Stores

/// Pairs whose record can be read as one of several: a name of an end has a colon, which is what
/// stands between the ends.
extension RecordImport {
    /// The pair that a record is of, under the names of this model; nil where it is of none. Of
    /// several readings the one whose ends are or were here; else the pair waits, and is read again
    /// when objects come.
    func read(pair record: Record) throws -> JoinRecord? {
        guard let pair = try JoinRecord(record, knowing: mirror.ledger.knowsObject(named:)) else {
            return nil
        }
        if JoinRecord.readings(of: record).count > 1, try !mirror.ledger.knowsEnds(of: pair),
            try mirror.ledger.setting(.unclearPairs) == nil
        {
            try mirror.ledger.set(.unclearPairs, to: .integer(1))
        }
        return mirror.pairs.known(pair)
    }

    /// Lets pairs that wait find their ends by another reading. Cost: one look where none waits.
    mutating func readUnclearPairs() throws {
        guard try mirror.ledger.setting(.unclearPairs) != nil else { return }
        let unclear = try mirror.ledger.unclearPairs()
        if unclear.isEmpty { try mirror.ledger.set(.unclearPairs, to: .null) }
        for entry in unclear {
            guard let base = entry.base, let pair = try read(pair: base),
                !pair.hasEnds(of: entry.pair)
            else { continue }
            try mirror.ledger.rename(pair: entry.key, to: pair)
            if let renamed = try mirror.ledger.pair(named: entry.recordName) {
                try connect(renamed)
            }
        }
    }
}

extension Ledger {
    /// Whether a name is that of an object which is here, or of one that was deleted.
    func knowsObject(named name: String) throws -> Bool {
        try row(named: name) != nil || deletionTag(of: name) != nil
    }

    /// Whether both ends of a pair are known, so that no other reading of its record is meant.
    func isClear(_ entry: PairEntry) throws -> Bool {
        guard let base = entry.base, JoinRecord.readings(of: base).count > 1 else { return true }
        return try knowsEnds(of: entry.pair)
    }

    func knowsEnds(of pair: JoinRecord) throws -> Bool {
        try knowsObject(named: pair.first) && knowsObject(named: pair.second)
    }

    /// The pairs that wait for an end and may be read otherwise. Cost: O(pairs).
    func unclearPairs() throws -> [PairEntry] {
        try pairs(
            "p.ZISPENDING = 1 AND p.ZNEEDSDELETE = 0 "
                + "AND (instr(p.ZRECORDNAME, ':') OR instr(p.ZRELATEDRECORDNAME, ':'))", [])
    }
}
