internal import RecordWire

/// What a change number counts in: a zone's records, or a database's zones.
enum CountedPlace: Int64 { case zone = 1, database = 2 }

extension BackendTransaction {
    /// The zone's epochs up to its last change.
    func line(of zone: ZoneRow) throws -> EpochLine {
        EpochLine(
            incarnation: zone.incarnation, floor: zone.floor, newest: zone.counter,
            epochs: try epochs(of: .zone, zone.id))
    }

    /// The database's epochs; an empty line for one that has no row yet.
    func line(of database: DatabaseRow?) throws -> EpochLine {
        guard let database else {
            return EpochLine(incarnation: 0, floor: 0, newest: 0, epochs: [])
        }
        return EpochLine(
            incarnation: database.incarnation, floor: database.floor, newest: database.counter,
            epochs: try epochs(of: .database, database.id))
    }

    /// The line as it will be once changes after its newest are written: it ends with the epoch of
    /// this start of the service.
    func lineForWriting(_ line: EpochLine) throws -> EpochLine {
        let epoch = try currentEpoch()
        guard line.epochs.last?.id != epoch else { return line }
        var line = line
        line.epochs.append(EpochLine.Epoch(id: epoch, first: line.newest + 1))
        return line
    }

    /// Keeps what `lineForWriting` added to `known`, which this transaction has read, once changes
    /// up to `newest` are there. The oldest epochs are forgotten beyond `EpochLine.epochsMax`.
    func keep(
        _ line: EpochLine, after known: EpochLine, of place: CountedPlace, _ id: Int64,
        newest: Int64
    ) throws {
        guard let last = line.epochs.last, last.first <= newest else { return }
        guard known.epochs.last != last else { return }
        try add(last, to: place, id)
        guard line.epochs.count > EpochLine.epochsMax else { return }
        try removeEpochs(
            of: place, id, before: line.epochs[line.epochs.count - EpochLine.epochsMax])
    }

    /// Raises a database's counter by one and keeps the epoch that writes it.
    func raiseCounter(of database: inout DatabaseRow) throws {
        let known = try line(of: database)
        let line = try lineForWriting(known)
        database.counter += 1
        try keep(line, after: known, of: .database, database.id, newest: database.counter)
    }
}
