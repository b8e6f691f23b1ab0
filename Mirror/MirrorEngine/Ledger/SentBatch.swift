internal import Foundation
internal import RecordWire

/// What one request sends, in one piece: nearly every batch is answered as a whole, and a row for
/// each record would be written only to be deleted.
///
/// A version byte, then for each operation three lengths of four bytes, little end first, and the
/// bytes of the record's name, the write's ID and the archived record.
struct SentBatch {
    struct Entry: Equatable {
        var recordName: String
        /// The ID of the write; empty for what has none.
        var mark: String
        /// The record as it will stand, archived; nil for a deletion.
        var record: Data?
    }

    private(set) var bytes: [UInt8] = [version]

    private static let version: UInt8 = 1
    private static let noRecord = UInt32.max
    private static let lengthBytes = 4

    init(capacity: Int = 0) { bytes.reserveCapacity(capacity) }

    /// Appends a record as it will stand; `fields` is the archive of its fields.
    mutating func append(_ record: Record, mark: String, fields: Data) {
        let place = append(record.recordName, mark: mark, bytes: Self.noRecord)
        let former = bytes.count
        RecordArchive.append(record, fields: fields, to: &bytes)
        let length = UInt32(bytes.count - former)
        withUnsafeBytes(of: length.littleEndian) {
            bytes.replaceSubrange(place..<place + Self.lengthBytes, with: $0)
        }
    }

    mutating func append(deletionOf recordName: String) {
        _ = append(recordName, mark: "", bytes: Self.noRecord)
    }

    /// Appends all but the record. Returns where its length stands.
    private mutating func append(_ recordName: String, mark: String, bytes count: UInt32) -> Int {
        append(UInt32(recordName.utf8.count))
        append(UInt32(mark.utf8.count))
        let place = bytes.count
        append(count)
        bytes.append(contentsOf: recordName.utf8)
        bytes.append(contentsOf: mark.utf8)
        return place
    }

    private mutating func append(_ length: UInt32) {
        withUnsafeBytes(of: length.littleEndian) { bytes.append(contentsOf: $0) }
    }

    /// The entries of such bytes, in order; nil for any others.
    static func entries(of data: Data) -> [Entry]? {
        guard data.first == version else { return nil }
        var rest = data.dropFirst()
        var entries: [Entry] = []
        func take(_ count: Int) -> Data? {
            guard rest.count >= count else { return nil }
            defer { rest = rest.dropFirst(count) }
            return rest.prefix(count)
        }
        func length() -> UInt32? {
            take(lengthBytes)?.reversed().reduce(0) { $0 << 8 | UInt32($1) }
        }
        while !rest.isEmpty {
            guard let nameBytes = length(), let markBytes = length(), let recordBytes = length(),
                let name = take(Int(nameBytes)), let mark = take(Int(markBytes))
            else { return nil }
            var entry = Entry(
                recordName: String(decoding: name, as: UTF8.self),
                mark: String(decoding: mark, as: UTF8.self))
            if recordBytes != noRecord {
                guard let record = take(Int(recordBytes)) else { return nil }
                entry.record = Data(record)
            }
            entries.append(entry)
        }
        return entries
    }
}
