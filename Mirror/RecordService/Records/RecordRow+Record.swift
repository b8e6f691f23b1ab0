internal import Foundation
internal import RecordWire

extension RecordRow {
    /// Opaque to clients; it changes on every write because the change number does.
    var tag: String { String(change, radix: 36) }

    /// The record as clients see it, with the fields that `keys` names, or all of them.
    func record(in zone: ZoneID, keys: Set<String>? = nil) throws -> Record {
        guard !isDeleted, keys?.isEmpty != true else { return record(in: zone, fields: [:]) }
        return record(in: zone, fields: try RecordArchive.decodeFields(fields, named: keys))
    }

    func record(in zone: ZoneID, fields: [String: FieldValue?]) -> Record {
        var record = Record(
            recordName: name, recordType: type, recordChangeTag: tag, fields: fields)
        record.writeID = callerMark
        record.created = created
        record.modified = modified
        record.deleted = isDeleted
        record.zoneID = zone
        return record
    }
}
