internal import RecordWire

/// Tells how versions of a lost time stand to what the service has now. (docs/MERGE.md §11)
struct LostTime {
    /// How a record of the service stands to a version that the service lost.
    enum Relation {
        /// It contains the lost version: somebody sent it again, and edited upon it perhaps.
        case descends
        /// The lost version was made from it: the service has an older state.
        case ancestor
        /// Both were made from something that neither side has any more.
        case unrelated
    }

    /// The zone's epochs now.
    let line: EpochLine
    /// Those of the time that was lost, where it is known.
    let lost: EpochLine?

    /// nil with a service that has no epochs.
    init?(_ ledger: Ledger) throws {
        guard let line = try ledger.line() else { return nil }
        self.line = line
        lost = try ledger.lostLine()
    }

    /// The tag of a version that the service lost; nil for one that it knows.
    func lostTag(of record: Record?) -> ChangeTag? {
        guard let tag = record?.recordChangeTag.flatMap(ChangeTag.init), !line.contains(tag) else {
            return nil
        }
        return tag
    }

    func relation(of record: Record, to tag: ChangeTag) -> Relation {
        let replays = record.replays.compactMap { replay in
            ChangeTag(text: replay.tag).map { (tag: $0, version: replay.version) }
        }
        if replays.contains(where: { $0.tag == tag || follows($0.tag, tag) }) { return .descends }
        let isOlder = replays.contains {
            follows(tag, $0.tag) && $0.version == record.recordChangeTag
        }
        if isOlder || isBeforeLoss(record, of: tag) { return .ancestor }
        return .unrelated
    }

    /// Whether the record stood at the service before the time was lost in which `tag` was given.
    func isBeforeLoss(_ record: Record, of tag: ChangeTag) -> Bool {
        guard let change = record.recordChangeTag.flatMap(ChangeTag.init)?.change,
            let last = lastChange(before: tag)
        else { return false }
        return change <= last
    }

    /// Whether a record of the service stands for something newer than a deletion of that name.
    func isNewer(_ record: Record, than deletion: ChangeTag) -> Bool {
        if line.contains(deletion) { return true }
        return record.replays.contains { replay in
            ChangeTag(text: replay.tag).map { follows($0, deletion) } ?? false
        }
    }

    private func follows(_ tag: ChangeTag, _ other: ChangeTag) -> Bool {
        if tag.epoch == other.epoch { return tag.change > other.change }
        return lost?.follows(tag, other) ?? false
    }

    private func lastChange(before tag: ChangeTag) -> Int64? {
        line.lastChange(ofEpoch: tag.epoch) ?? lost.flatMap(line.lastCommonChange)
    }
}
