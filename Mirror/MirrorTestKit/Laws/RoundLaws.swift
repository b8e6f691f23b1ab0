internal import MirrorEngine
internal import RecordWire
internal import SQLiteStore

/// What holds at the end of each round, also of one over a bad network.
struct RoundLaws {
    let world: SimulatedWorld

    func check(
        _ session: SimulatedSession, _ device: SimulatedDevice, _ result: RoundResult
    ) throws -> [String] {
        var broken = isFrugal(session.notes, device)
        guard result.isInSync, result.refused == 0, !session.notes.wasDisturbed else {
            return broken
        }
        // A guest sees what is shared with it.
        guard device.user == nil else { return broken }
        broken += try holdsWhatOthersWrote(session, device)
        return broken
    }

    /// A round asks no more than there is to move: a storm is a fault.
    private func isFrugal(_ notes: RoundNotes, _ device: SimulatedDevice) -> [String] {
        let bound =
            Self.requestsBase + Self.requestsPerFailure * notes.failures + notes.received
            + notes.operations * 2
        guard notes.requests > bound else { return [] }
        return [
            "\(device.name) made \(notes.requests) requests in a round with \(notes.failures) "
                + "failures, \(notes.received) records received and \(notes.operations) sent."
        ]
    }

    private static let requestsBase = 8
    private static let requestsPerFailure = 3

    /// A round that says it is in sync knows all that the service had taken before it last asked
    /// for changes or sent some.
    private func holdsWhatOthersWrote(
        _ session: SimulatedSession, _ device: SimulatedDevice
    ) throws -> [String] {
        let state = world.network.journal.state(before: session.notes.journalEnd)
        return try session.mirrored.store.read { store in
            let ledger = device.ledger(in: store)
            return try state.sorted { $0.key < $1.key }.compactMap { name, write -> String? in
                guard try !knows(write.last, write.tags, ledger), !mayBeLeft(name, by: device)
                else { return nil }
                return "\(device.name) says it is in sync and lacks what was written of "
                    + "\(name.suffix(6)) before it last asked (@\(write.last.tag))."
            }
        }
    }

    /// Whether the device may have deleted the object while its selection left it out: that goes
    /// from the device alone, and comes again when somebody edits it.
    private func mayBeLeft(_ name: String, by device: SimulatedDevice) -> Bool {
        let percent = world.settings.faults.devices.sharing?.selectionPercent ?? 0
        let deletions = world.editor.memory.authors.deletions[name] ?? []
        return percent > 0 && deletions.contains { $0.device == device.name }
    }

    /// Whether what was written waits for its assets, or for a later model.
    private func isAside(_ name: String, _ tags: Set<String>, _ ledger: Ledger) throws -> Bool {
        guard try ledger.keptRecords().contains(where: { $0.recordName == name }) else {
            return false
        }
        return try ledger.aside(after: "", limit: .max).contains {
            $0.recordName == name && $0.recordChangeTag.map(tags.contains) ?? false
        }
    }

    private func knows(
        _ write: ServiceJournal.Write, _ tags: Set<String>, _ ledger: Ledger
    ) throws -> Bool {
        let object = try ledger.entry(named: write.recordName)
        let pair = object == nil ? try ledger.pair(named: write.recordName) : nil
        if let tag = object?.base?.recordChangeTag ?? pair?.base?.recordChangeTag {
            return try tags.contains(tag) || (write.isDeletion && pair?.needsDelete == true)
                || isAside(write.recordName, tags, ledger)
        }
        if object != nil || pair != nil {
            // A plain service tells a deletion without a tag; one that came since is newer.
            let wasDeleted = object?.base?.deleted ?? pair?.base?.deleted ?? false
            return try write.isDeletion || wasDeleted && tags.contains("")
                || isAside(write.recordName, tags, ledger)
        }
        // Gone here: deleted since, or merged into another.
        if write.isDeletion { return true }
        return try tags.count > 1 || ledger.alias(of: write.recordName) != nil
            || ledger.keptRecords().contains { $0.recordName == write.recordName }
    }
}
