internal import Foundation

/// Takes values of a record from bytes that may hold anything.
struct ArchiveReader {
    private let bytes: UnsafeRawBufferPointer
    private var offset = 0
    private static let depthMax = 8

    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    mutating func record() throws -> Record {
        let parts = ArchiveParts(rawValue: try byte())
        guard ArchiveParts.all.isSuperset(of: parts) else { throw malformed("unknown parts") }
        var record = Record(recordName: try text(), recordType: try text())
        if parts.contains(.tag) { record.recordChangeTag = try text() }
        if parts.contains(.writeID) { record.writeID = try text() }
        if parts.contains(.created) { record.created = try stamp() }
        if parts.contains(.modified) { record.modified = try stamp() }
        if parts.contains(.zone) { record.zoneID = try zone() }
        record.deleted = parts.contains(.deleted)
        record.fields = try fields(named: nil)
        return record
    }

    mutating func fields(named names: Set<String>?) throws -> [String: FieldValue?] {
        let count = try count(ofAtLeast: 2)
        var fields: [String: FieldValue?] = [:]
        fields.reserveCapacity(names.map { min($0.count, count) } ?? count)
        var last: String?
        for _ in 0..<count {
            let name = try text()
            if let last, last >= name { throw malformed("field names out of order") }
            last = name
            let value = try value(depth: 0)
            if names?.contains(name) ?? true { fields.updateValue(value, forKey: name) }
        }
        return fields
    }

    /// Checks that nothing is left over.
    func end() throws {
        guard offset == bytes.count else { throw malformed("bytes after the end") }
    }

    private mutating func value(depth: Int) throws -> FieldValue? {
        switch try mark() {
        case .null: nil
        case .string: .string(try text())
        case .int64: .int64(try integer())
        case .double: .double(try double())
        case .timestamp: .timestamp(try integer())
        case .bytes: .bytes(Data(try run(try count(ofAtLeast: 1))))
        case .reference: .reference(try reference())
        case .location: .location(try location())
        case .asset: .asset(try asset())
        case .list: try list(depth: depth)
        case .encrypted: try encrypted(depth: depth)
        }
    }

    private mutating func encrypted(depth: Int) throws -> FieldValue {
        guard depth < Self.depthMax else { throw malformed("encrypted values too deep") }
        guard let plain = try value(depth: depth + 1) else { throw malformed("nothing encrypted") }
        return .encrypted(plain)
    }

    private mutating func list(depth: Int) throws -> FieldValue {
        guard depth < Self.depthMax else { throw malformed("lists too deep") }
        guard let type = FieldType(try mark()) else { throw malformed("unknown element type") }
        let count = try count(ofAtLeast: 1)
        var elements: [FieldValue] = []
        elements.reserveCapacity(count)
        for _ in 0..<count {
            guard let element = try value(depth: depth + 1) else {
                throw malformed("nothing in a list")
            }
            elements.append(element)
        }
        return .list(type: type, elements)
    }

    private mutating func mark() throws -> ArchiveMark {
        guard let mark = ArchiveMark(rawValue: try byte()) else { throw malformed("unknown type") }
        return mark
    }

    // MARK: Parts

    private mutating func stamp() throws -> RecordStamp {
        RecordStamp(
            timestamp: try integer(), userRecordName: try optional { try $0.text() },
            deviceID: try optional { try $0.text() })
    }

    private mutating func zone() throws -> ZoneID {
        ZoneID(zoneName: try text(), ownerRecordName: try optional { try $0.text() })
    }

    private mutating func reference() throws -> RecordReference {
        let name = try text()
        let zone = try optional { try $0.zone() }
        let action = try optional { reader in
            guard let action = RecordReference.Action(rawValue: try reader.text()) else {
                throw reader.malformed("unknown action")
            }
            return action
        }
        return RecordReference(recordName: name, zoneID: zone, action: action)
    }

    private mutating func location() throws -> RecordLocation {
        var place = RecordLocation(latitude: try double(), longitude: try double())
        place.horizontalAccuracy = try optional { try $0.double() }
        place.verticalAccuracy = try optional { try $0.double() }
        place.altitude = try optional { try $0.double() }
        place.speed = try optional { try $0.double() }
        place.course = try optional { try $0.double() }
        place.timestamp = try optional { try $0.integer() }
        return place
    }

    private mutating func asset() throws -> RecordAsset {
        var file = RecordAsset()
        file.size = try optional { try $0.integer() }
        file.fileChecksum = try optional { try $0.text() }
        file.downloadURL = try optional { try $0.text() }
        file.referenceChecksum = try optional { try $0.text() }
        file.wrappingKey = try optional { try $0.text() }
        file.receipt = try optional { try $0.text() }
        return file
    }

    private mutating func optional<Value>(
        _ read: (inout ArchiveReader) throws -> Value
    ) throws -> Value? {
        switch try byte() {
        case 0: nil
        case 1: try read(&self)
        default: throw malformed("neither present nor absent")
        }
    }

    // MARK: Plain values

    mutating func byte() throws -> UInt8 {
        guard offset < bytes.count else { throw truncated() }
        defer { offset += 1 }
        return bytes[offset]
    }

    private mutating func run(_ count: Int) throws -> UnsafeRawBufferPointer {
        guard count <= bytes.count - offset else { throw truncated() }
        defer { offset += count }
        return UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + count])
    }

    private mutating func text() throws -> String {
        let utf8 = try run(try count(ofAtLeast: 1)).assumingMemoryBound(to: UInt8.self)
        guard let text = String(validating: utf8, as: UTF8.self) else {
            throw malformed("text that is not UTF-8")
        }
        return text
    }

    /// A count of things of at least `size` bytes each: more than fit in the rest is refused before
    /// memory is taken for them.
    private mutating func count(ofAtLeast size: Int) throws -> Int {
        let count = try word()
        guard count <= UInt64((bytes.count - offset) / size) else { throw truncated() }
        return Int(count)
    }

    private mutating func integer() throws -> Int64 {
        let word = try word()
        return Int64(bitPattern: word >> 1) ^ -Int64(word & 1)
    }

    private mutating func word() throws -> UInt64 {
        var value: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 70, by: 7) {
            let byte = try byte()
            guard shift < 63 || byte <= 1 else { break }
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return value }
        }
        throw malformed("a number past 64 bits")
    }

    private mutating func double() throws -> Double {
        Double(bitPattern: UInt64(littleEndian: try run(8).loadUnaligned(as: UInt64.self)))
    }

    // MARK: Refusals

    private func truncated() -> RecordArchiveError {
        RecordArchiveError(.truncated, "The archived record ends too early.", offset: offset)
    }

    fileprivate func malformed(_ what: String) -> RecordArchiveError {
        RecordArchiveError(
            .malformed, "The archived record is damaged: \(what).", offset: offset)
    }
}
