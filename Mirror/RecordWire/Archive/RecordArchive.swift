public import Foundation

/// One record as few bytes, for ledgers and tables.
///
/// A version byte, then length-prefixed values; fields sorted by name, so equal records are equal
/// bytes. Decoding takes any bytes: it throws `RecordArchiveError` and uses no more memory than
/// they justify. Doubles keep their bits, NaN included.
public enum RecordArchive {
    static let version: UInt8 = 1

    /// The bytes of `record`. Cost: linear in its size.
    public static func encode(_ record: Record) -> Data {
        var writer = ArchiveWriter()
        writer.byte(version)
        writer.record(record)
        return writer.data
    }

    /// The same bytes as `encode(record)`, where `encodeFields` has made `fields` of its fields
    /// before.
    public static func encode(_ record: Record, fields: Data) -> Data {
        var writer = ArchiveWriter()
        writer.byte(version)
        writer.head(of: record)
        writer.raw(fields.dropFirst())
        return writer.data
    }

    /// Appends those bytes to others.
    public static func append(_ record: Record, fields: Data, to bytes: inout [UInt8]) {
        var writer = ArchiveWriter(appendingTo: bytes)
        bytes = []
        writer.byte(version)
        writer.head(of: record)
        writer.raw(fields.dropFirst())
        bytes = writer.bytes
    }

    /// The record that `encode` was given. Throws `RecordArchiveError`.
    public static func decode(_ data: Data) throws -> Record {
        try read(data) { try $0.record() }
    }

    /// The fields that `encodeFields` was given, unread: they are gone over, so that this throws
    /// where `decodeFields` does, but are made into values only when somebody looks at them, each
    /// time anew. For fields that are sent on as they are stored.
    public static func passFields(_ data: Data) throws -> RecordFields {
        let traits = try read(data) { try $0.passFields() }
        return RecordFields(unread: data.dropFirst(), traits)
    }

    /// The entries of fields that were gone over before.
    static func entries(behindVersion bytes: Data) -> [RecordFields.Entry] {
        let fields = bytes.withUnsafeBytes { bytes in
            var reader = ArchiveReader(bytes)
            return try? reader.fields(named: nil)
        }
        return fields?.map { RecordFields.Entry(key: $0.key, value: $0.value) } ?? []
    }

    /// The fields alone, where a table keeps the rest of a record in columns.
    public static func encodeFields(_ fields: RecordFields) -> Data {
        var writer = ArchiveWriter()
        writer.byte(version)
        writer.fields(fields)
        return writer.data
    }

    /// The fields that `encodeFields` was given, or those of them that `names` holds.
    /// Throws `RecordArchiveError`.
    public static func decodeFields(
        _ data: Data, named names: Set<String>? = nil
    ) throws -> RecordFields {
        try read(data) { try $0.fields(named: names) }
    }

    private static func read<Value>(
        _ data: Data, _ body: (inout ArchiveReader) throws -> Value
    ) throws -> Value {
        try data.withUnsafeBytes { bytes in
            var reader = ArchiveReader(bytes, keeping: data)
            let found = try reader.byte()
            guard found == version else {
                throw RecordArchiveError(
                    .unknownVersion,
                    "The archived record has version \(found); this library reads \(version). "
                        + "Update the library.", offset: 0)
            }
            let value = try body(&reader)
            try reader.end()
            return value
        }
    }
}

/// What follows in an archive of a record; bits of one byte.
struct ArchiveParts: OptionSet {
    let rawValue: UInt8
    static let tag = ArchiveParts(rawValue: 1)
    static let created = ArchiveParts(rawValue: 2)
    static let modified = ArchiveParts(rawValue: 4)
    static let zone = ArchiveParts(rawValue: 8)
    static let deleted = ArchiveParts(rawValue: 16)
    static let writeID = ArchiveParts(rawValue: 32)
    static let all: ArchiveParts = [.tag, .created, .modified, .zone, .deleted, .writeID]
}

/// The byte before each value of an archive. Numbers are kept for ever.
enum ArchiveMark: UInt8 {
    case null = 0
    case string, int64, double, timestamp, bytes, reference, location, asset, list, encrypted
}

extension FieldType {
    /// The type's number in an archive. Numbers are kept for ever.
    var archiveMark: ArchiveMark {
        switch self {
        case .string: .string
        case .int64: .int64
        case .double: .double
        case .timestamp: .timestamp
        case .bytes: .bytes
        case .reference: .reference
        case .location: .location
        case .asset: .asset
        }
    }

    init?(_ mark: ArchiveMark) {
        switch mark {
        case .string: self = .string
        case .int64: self = .int64
        case .double: self = .double
        case .timestamp: self = .timestamp
        case .bytes: self = .bytes
        case .reference: self = .reference
        case .location: self = .location
        case .asset: self = .asset
        case .null, .list, .encrypted: return nil
        }
    }
}

/// What is told of fields without making values of them.
struct ArchivedTraits: Hashable, Sendable {
    var count: Int
    var holdReserved = false
    var holdAssets = false

    init(count: Int) { self.count = count }
}
