internal import Foundation

/// Writes an archived body: what is no record as JSON, then the records. (SERVICE §11)
struct ArchivedBodyWriter {
    private var archive: ArchiveWriter
    private var lastType: String?
    private var lastStamp: RecordStamp?
    private var lastUser: String?
    private var lastDevice: String?
    private var lastZone: ZoneID?

    var data: Data { archive.data }

    /// A request without its operations.
    init(_ rest: RecordRequest, bytes: Int) throws {
        var json = JSONWriter()
        try json.request(rest)
        self.init(envelope: json.bytes, bytes: bytes)
    }

    /// An answer without its records.
    init(_ rest: RecordResponse) throws {
        var json = JSONWriter()
        try json.response(rest, numbersAsStrings: false)
        self.init(envelope: json.bytes, bytes: 64 << 10)
    }

    private init(envelope: [UInt8], bytes: Int) {
        archive = ArchiveWriter(capacity: bytes)
        archive.raw(ArchivedBody.magic)
        archive.byte(ArchivedBody.version)
        archive.count(envelope.count)
        archive.raw(envelope)
    }

    mutating func operations(_ operations: [RecordOperation]) throws {
        archive.count(operations.count)
        for operation in operations {
            let number = ArchivedBody.kinds.firstIndex(of: operation.kind) ?? 0
            archive.byte(UInt8(number))
            try record(operation.record)
        }
    }

    mutating func records(_ records: [Record]) throws {
        archive.count(records.count)
        for record in records { try self.record(record) }
    }

    mutating func results(_ results: [RecordResult]) throws {
        archive.count(results.count)
        for result in results {
            switch result {
            case .record(let record):
                archive.byte(ArchivedBody.Entry.record.rawValue)
                try self.record(record)
            case .failure(var error):
                let record = error.serverRecord
                error.serverRecord = nil
                let entry = record == nil ? ArchivedBody.Entry.failure : .failureWithRecord
                archive.byte(entry.rawValue)
                try json { json in try json.error(error, numbersAsStrings: false) }
                if let record { try self.record(record) }
            }
        }
    }

    private mutating func record(_ record: Record) throws {
        let isShared = record.fields.holdReserved
        var parts: ArchivedBody.Parts = []
        if record.deleted { parts.insert(.deleted) }
        if record.recordChangeTag != nil { parts.insert(.tag) }
        if record.writeID != nil { parts.insert(.writeID) }
        if !record.recentWriteIDs.isEmpty { parts.insert(.writeIDs) }
        if !record.replays.isEmpty { parts.insert(.replays) }
        if isShared { parts.insert(.sharing) }
        archive.byte(parts.rawValue)
        archive.text(record.recordName)
        text(record.recordType, after: lastType)
        lastType = record.recordType
        if let tag = record.recordChangeTag { archive.text(tag) }
        if let id = record.writeID { archive.text(id) }
        if !record.recentWriteIDs.isEmpty { texts(record.recentWriteIDs) }
        if !record.replays.isEmpty { replays(record.replays) }
        stamp(record.created)
        stamp(record.modified)
        zone(record.zoneID)
        if isShared { json { json in json.sharing(of: record) } }
        try fields(
            isShared ? record.fields.filter { !SharingField.isReserved($0.key) } : record.fields)
    }

    private mutating func fields(_ fields: RecordFields) throws {
        if fields.archived == nil {
            for (_, value) in fields { try JSONWriter.checkList(value) }
        }
        archive.fields(fields)
    }

    private mutating func replays(_ replays: [Replay]) {
        archive.count(replays.count)
        for replay in replays {
            archive.text(replay.tag)
            archive.optional(replay.version) { $0.text($1) }
        }
    }

    private mutating func texts(_ texts: [String]) {
        archive.count(texts.count)
        for text in texts { archive.text(text) }
    }

    /// An object of JSON.
    private mutating func json(_ body: (inout JSONWriter) throws -> Void) rethrows {
        var json = JSONWriter()
        try json.object(body)
        archive.count(json.bytes.count)
        archive.raw(json.bytes)
    }

    // MARK: What records have in common

    private mutating func stamp(_ stamp: RecordStamp?) {
        guard let stamp else { return mark(.none) }
        if let lastStamp, lastStamp.isExactly(stamp) { return mark(.same) }
        mark(.given)
        archive.integer(stamp.timestamp)
        text(stamp.userRecordName, after: lastUser)
        text(stamp.deviceID, after: lastDevice)
        lastUser = stamp.userRecordName ?? lastUser
        lastDevice = stamp.deviceID ?? lastDevice
        lastStamp = stamp
    }

    private mutating func zone(_ zone: ZoneID?) {
        guard let zone else { return mark(.none) }
        if let lastZone, lastZone == zone { return mark(.same) }
        mark(.given)
        archive.text(zone.zoneName)
        archive.optional(zone.ownerRecordName) { $0.text($1) }
        lastZone = zone
    }

    private mutating func text(_ text: String?, after last: String?) {
        guard let text else { return mark(.none) }
        if let last, last.isExactly(text) { return mark(.same) }
        mark(.given)
        archive.text(text)
    }

    private mutating func mark(_ shared: ArchivedBody.Shared) { archive.byte(shared.rawValue) }
}
