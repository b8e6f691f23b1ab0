internal import Foundation
internal import RecordWire

extension RecordRow {
    /// Opaque to most clients; it changes on every write because the change number does.
    var tag: ChangeTag { ChangeTag(epoch: epoch, change: change) }

    /// The record as clients see it, with the fields that `keys` names, or all of them.
    func record(
        in zone: ZoneID, keys: Set<String>? = nil, tellsWrites: Bool = false
    ) throws -> Record {
        return record(in: zone, fields: try shownFields(keys), tellsWrites: tellsWrites)
    }

    /// All fields are only gone over: most are sent on as they are stored.
    private func shownFields(_ keys: Set<String>?) throws -> RecordFields {
        guard !isDeleted, keys?.isEmpty != true else { return [:] }
        guard let keys else { return try RecordArchive.passFields(fields) }
        return try RecordArchive.decodeFields(fields, named: keys.union(SharingField.names))
    }

    func record(
        in zone: ZoneID, fields: RecordFields, tellsWrites: Bool = false
    ) -> Record {
        var record = Record(
            recordName: name, recordType: type, recordChangeTag: tag.text, fields: fields)
        if tellsWrites { record.recentWriteIDs = writeIDs }
        record.replays = replays
        record.created = created
        record.modified = modified
        record.deleted = isDeleted
        record.zoneID = zone
        return record
    }
}

extension RecordRow {
    /// The last writes and lost versions that a record keeps.
    private static let writeIDsMax = 16
    private static let replaysMax = 8

    /// Takes over what the former row contained, and adds this write.
    mutating func descend(from former: RecordRow?, by written: Record) {
        var ids = former?.writeIDs ?? []
        if let id = written.writeID { ids = [id] + ids.filter { $0 != id } }
        writeIDs = Array(ids.prefix(Self.writeIDsMax))
        let added = written.replays.map { Replay(tag: $0.tag, version: tag.text) }
        let kept = (former?.replays ?? []).filter { old in !added.contains { $0.tag == old.tag } }
        replays = Array((added + kept).prefix(Self.replaysMax))
    }
}
