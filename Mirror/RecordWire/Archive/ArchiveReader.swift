internal import Foundation

/// Takes values of a record from bytes that may hold anything.
struct ArchiveReader {
    private let bytes: UnsafeRawBufferPointer
    /// The same bytes, of which fields keep theirs; nil where they are not to.
    private let whole: Data?
    private(set) var offset = 0
    /// What a body may hold beyond what an archive may; nil for an archive of our own.
    private var bounds: ArchiveBounds?
    /// Whether all numbers so far had the fewest bytes.
    private var isCanonical = true
    /// The names of the fields that were read last: the next record often has the same.
    private var lastNames: [(name: String, bytes: Range<Int>)] = []
    private static let depthMax = 8

    /// `whole`: the same bytes, where fields are to keep theirs.
    init(
        _ bytes: UnsafeRawBufferPointer, keeping whole: Data? = nil, bounds: ArchiveBounds? = nil
    ) {
        self.bytes = bytes
        self.whole = whole
        self.bounds = bounds
    }

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

    mutating func fields(named names: Set<String>?) throws -> RecordFields {
        let start = offset
        isCanonical = true
        let count = try count(ofAtLeast: 2)
        try bounds?.checkFields(count)
        var fields: [RecordFields.Entry] = []
        fields.reserveCapacity(names.map { min($0.count, count) } ?? count)
        var seen: [(name: String, bytes: Range<Int>)] = []
        if bounds != nil { seen.reserveCapacity(count) }
        var last: String?
        for index in 0..<count {
            let place = try textRange()
            let name: String
            if index < lastNames.count, isSame(place, lastNames[index].bytes) {
                name = lastNames[index].name
            } else {
                name = try string(place)
                if bounds != nil, SharingField.isReserved(name) {
                    throw malformed("a field with a name of the system")
                }
            }
            if let last, last >= name { throw malformed("field names out of order") }
            last = name
            if bounds != nil { seen.append((name, place)) }
            let value = try value(depth: 0)
            if names?.contains(name) ?? true {
                fields.append(RecordFields.Entry(key: name, value: value))
            }
        }
        if bounds != nil { lastNames = seen }
        guard names == nil, isCanonical, let whole else {
            return RecordFields(inOrder: fields, archived: nil)
        }
        let first = whole.startIndex
        return RecordFields(inOrder: fields, archived: whole[first + start..<first + offset])
    }

    private func isSame(_ one: Range<Int>, _ other: Range<Int>) -> Bool {
        guard one.count == other.count, let base = bytes.baseAddress else { return false }
        return memcmp(base + one.lowerBound, base + other.lowerBound, one.count) == 0
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

    private func check(_ element: FieldValue, in type: FieldType) throws {
        guard bounds == nil || element.type == type else { throw malformed("a mixed list") }
    }

    private mutating func encrypted(depth: Int) throws -> FieldValue {
        guard depth < Self.depthMax else { throw malformed("encrypted values too deep") }
        guard let plain = try value(depth: depth + 1) else { throw malformed("nothing encrypted") }
        if bounds != nil, !plain.isEncryptable { throw malformed("a type that is not encrypted") }
        return .encrypted(plain)
    }

    private mutating func list(depth: Int) throws -> FieldValue {
        guard depth < Self.depthMax else { throw malformed("lists too deep") }
        guard let type = FieldType(try mark()) else { throw malformed("unknown element type") }
        let count = try count(ofAtLeast: 1)
        try bounds?.checkElements(count)
        var elements: [FieldValue] = []
        elements.reserveCapacity(count)
        for _ in 0..<count {
            guard let element = try value(depth: depth + 1) else {
                throw malformed("nothing in a list")
            }
            try check(element, in: type)
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
        if bounds?.areStrict == true {
            guard file.size ?? 0 >= 0, file.receipt != nil || file.fileChecksum != nil else {
                throw malformed("an asset that is none")
            }
        }
        return file
    }

    mutating func optional<Value>(
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

    mutating func run(_ count: Int) throws -> UnsafeRawBufferPointer {
        guard count <= bytes.count - offset else { throw truncated() }
        defer { offset += count }
        return UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + count])
    }

    mutating func text() throws -> String { try string(try textRange()) }

    private mutating func textRange() throws -> Range<Int> {
        let count = try count(ofAtLeast: 1)
        defer { offset += count }
        return offset..<offset + count
    }

    private func string(_ place: Range<Int>) throws -> String {
        let utf8 = UnsafeRawBufferPointer(rebasing: bytes[place])
        guard
            let text = String(
                validating: utf8.assumingMemoryBound(to: UInt8.self), as: UTF8.self)
        else { throw malformed("text that is not UTF-8") }
        return text
    }

    /// A count of things of at least `size` bytes each: more than fit in the rest is refused before
    /// memory is taken for them.
    mutating func count(ofAtLeast size: Int) throws -> Int {
        let count = try word()
        guard count <= UInt64((bytes.count - offset) / size) else { throw truncated() }
        return Int(count)
    }

    /// A count of things of which a body has so many at most.
    mutating func entries(ofAtLeast size: Int) throws -> Int {
        let count = try count(ofAtLeast: size)
        try bounds?.checkEntries(count)
        return count
    }

    mutating func integer() throws -> Int64 {
        let word = try word()
        return Int64(bitPattern: word >> 1) ^ -Int64(word & 1)
    }

    private mutating func word() throws -> UInt64 {
        var value: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 70, by: 7) {
            let byte = try byte()
            guard shift < 63 || byte <= 1 else { break }
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 {
                if byte == 0, shift > 0 { isCanonical = false }
                return value
            }
        }
        throw malformed("a number past 64 bits")
    }

    private mutating func double() throws -> Double {
        Double(bitPattern: UInt64(littleEndian: try run(8).loadUnaligned(as: UInt64.self)))
    }

    // MARK: Going over fields without making values

    /// Checks fields as reading them does, and ends behind them.
    mutating func passFields() throws -> ArchivedTraits {
        var traits = ArchivedTraits(count: try count(ofAtLeast: 2))
        var last: Range<Int>?
        for _ in 0..<traits.count {
            let name = try passText()
            if let last, try !isOrdered(last, name) { throw malformed("field names out of order") }
            last = name
            if bytes[name].starts(with: SharingField.prefix) { traits.holdReserved = true }
            if try passValue(depth: 0) { traits.holdAssets = true }
        }
        return traits
    }

    private func isOrdered(_ one: Range<Int>, _ other: Range<Int>) throws -> Bool {
        let (one, other) = (bytes[one], bytes[other])
        // Of ASCII, texts are in the order of their bytes.
        guard one.contains(where: { $0 >= 0x80 }) || other.contains(where: { $0 >= 0x80 }) else {
            return one.lexicographicallyPrecedes(other)
        }
        return String(decoding: one, as: UTF8.self) < String(decoding: other, as: UTF8.self)
    }

    private mutating func passText() throws -> Range<Int> {
        let place = try textRange()
        guard BrokenText.firstPlace(in: UnsafeRawBufferPointer(rebasing: bytes[place])) == nil
        else { throw malformed("text that is not UTF-8") }
        return place
    }

    /// Returns whether the value is an asset or a list of assets.
    private mutating func passValue(depth: Int) throws -> Bool {
        switch try mark() {
        case .null: return false
        case .string: _ = try passText()
        case .int64, .timestamp: _ = try integer()
        case .double: _ = try run(8)
        case .bytes: _ = try run(try count(ofAtLeast: 1))
        case .reference: _ = try reference()
        case .location: _ = try location()
        case .asset:
            _ = try asset()
            return true
        case .list:
            offset -= 1
            guard case .list(.asset, _)? = try value(depth: depth) else { return false }
            return true
        case .encrypted:
            offset -= 1
            _ = try value(depth: depth)
        }
        return false
    }

    // MARK: Refusals

    private func truncated() -> RecordArchiveError {
        RecordArchiveError(.truncated, "The archived record ends too early.", offset: offset)
    }

    func malformed(_ what: String) -> RecordArchiveError {
        RecordArchiveError(
            .malformed, "The archived record is damaged: \(what).", offset: offset)
    }
}
