internal import Foundation

/// Appends values of a record to a buffer.
struct ArchiveWriter {
    private(set) var bytes: [UInt8] = []

    init(capacity: Int = 256) { bytes.reserveCapacity(capacity) }

    init(appendingTo bytes: consuming [UInt8]) { self.bytes = bytes }

    var data: Data { Data(bytes) }

    mutating func byte(_ value: UInt8) { bytes.append(value) }

    mutating func raw(_ data: Data) {
        data.withUnsafeBytes { bytes.append(contentsOf: $0) }
    }

    mutating func raw(_ other: [UInt8]) { bytes.append(contentsOf: other) }

    mutating func record(_ record: Record) {
        head(of: record)
        fields(record.fields)
    }

    /// All of a record but its fields.
    mutating func head(of record: Record) {
        var parts: ArchiveParts = []
        if record.recordChangeTag != nil { parts.insert(.tag) }
        if record.created != nil { parts.insert(.created) }
        if record.modified != nil { parts.insert(.modified) }
        if record.zoneID != nil { parts.insert(.zone) }
        if record.deleted { parts.insert(.deleted) }
        if record.writeID != nil { parts.insert(.writeID) }
        byte(parts.rawValue)
        text(record.recordName)
        text(record.recordType)
        if let tag = record.recordChangeTag { text(tag) }
        if let mark = record.writeID { text(mark) }
        if let stamp = record.created { self.stamp(stamp) }
        if let stamp = record.modified { self.stamp(stamp) }
        if let zone = record.zoneID { self.zone(zone) }
    }

    mutating func fields(_ fields: RecordFields) {
        if let archived = fields.archived { return raw(archived) }
        count(fields.count)
        for (name, value) in fields {
            text(name)
            if let value { self.value(value) } else { byte(ArchiveMark.null.rawValue) }
        }
    }

    private mutating func value(_ value: FieldValue) {
        byte(mark(of: value).rawValue)
        switch value {
        case .encrypted(let plain): self.value(plain)
        case .string(let text): self.text(text)
        case .int64(let number), .timestamp(let number): integer(number)
        case .double(let number): double(number)
        case .bytes(let data):
            count(data.count)
            bytes.append(contentsOf: data)
        case .reference(let target): reference(target)
        case .location(let place): location(place)
        case .asset(let file): asset(file)
        case .list(let type, let elements):
            byte(type.archiveMark.rawValue)
            count(elements.count)
            for element in elements { self.value(element) }
        }
    }

    private func mark(of value: FieldValue) -> ArchiveMark {
        if case .encrypted = value { .encrypted } else { value.type?.archiveMark ?? .list }
    }

    // MARK: Parts

    private mutating func stamp(_ stamp: RecordStamp) {
        integer(stamp.timestamp)
        optional(stamp.userRecordName) { $0.text($1) }
        optional(stamp.deviceID) { $0.text($1) }
    }

    private mutating func zone(_ zone: ZoneID) {
        text(zone.zoneName)
        optional(zone.ownerRecordName) { $0.text($1) }
    }

    private mutating func reference(_ target: RecordReference) {
        text(target.recordName)
        optional(target.zoneID) { $0.zone($1) }
        optional(target.action) { $0.text($1.rawValue) }
    }

    private mutating func location(_ place: RecordLocation) {
        double(place.latitude)
        double(place.longitude)
        for value in [
            place.horizontalAccuracy, place.verticalAccuracy, place.altitude, place.speed,
            place.course,
        ] {
            optional(value) { $0.double($1) }
        }
        optional(place.timestamp) { $0.integer($1) }
    }

    private mutating func asset(_ file: RecordAsset) {
        optional(file.size) { $0.integer($1) }
        for value in [
            file.fileChecksum, file.downloadURL, file.referenceChecksum, file.wrappingKey,
            file.receipt,
        ] {
            optional(value) { $0.text($1) }
        }
    }

    mutating func optional<Value>(
        _ value: Value?, _ write: (inout ArchiveWriter, Value) -> Void
    ) {
        byte(value == nil ? 0 : 1)
        if let value { write(&self, value) }
    }

    // MARK: Plain values

    mutating func text(_ text: String) {
        var text = text
        text.withUTF8 { utf8 in
            count(utf8.count)
            bytes.append(contentsOf: utf8)
        }
    }

    mutating func count(_ value: Int) { word(UInt64(value)) }

    /// The sign goes to the lowest bit, so that small numbers of both signs are short.
    mutating func integer(_ value: Int64) {
        word(UInt64(bitPattern: (value << 1) ^ (value >> 63)))
    }

    /// Seven bits a byte, lowest first; the high bit says that more follow.
    private mutating func word(_ value: UInt64) {
        var rest = value
        while rest > 0x7F {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    private mutating func double(_ value: Double) {
        withUnsafeBytes(of: value.bitPattern.littleEndian) { bytes.append(contentsOf: $0) }
    }
}
