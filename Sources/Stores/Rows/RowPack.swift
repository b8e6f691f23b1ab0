public import Foundation

/// Some rows of one entity in one piece of memory, as a store read them: numbers as they are, texts
/// as their bytes. A value is made when it is asked for, so that reading costs little where few
/// are, and rows that were not asked for take little room.
///
/// Queue: any; it never changes once `RowPacker` has made it.
public final class RowPack: @unchecked Sendable {
    // @unchecked: nothing changes after `init`.
    /// The number of the entity of all its rows.
    public let entity: Int32
    /// How many rows it has.
    public let count: Int
    @usableFromInline let format: RowPackFormat
    /// The keys of all rows, then their records, then bytes.
    @usableFromInline let memory: UnsafeMutableRawPointer
    /// Where the records and the bytes begin.
    @usableFromInline let records: UnsafeMutableRawPointer
    @usableFromInline let bytes: UnsafeMutableRawPointer
    /// Values of the kind `other`.
    private let others: [AttributeValue]

    init(
        entity: Int32, count: Int, format: RowPackFormat, memory: UnsafeMutableRawPointer,
        others: [AttributeValue]
    ) {
        self.entity = entity
        self.count = count
        self.format = format
        self.memory = memory
        self.others = others
        records = memory + count * MemoryLayout<Int64>.size
        bytes = records + count * format.stride
    }

    deinit { memory.deallocate() }

    @inlinable
    func record(_ row: Int) -> UnsafeMutableRawPointer {
        precondition(row >= 0 && row < count)
        return records + row &* format.stride
    }

    // MARK: Rows

    /// The key of a row.
    @inlinable
    public func key(_ row: Int) -> Int64 {
        precondition(row >= 0 && row < count)
        return memory.load(fromByteOffset: row &* 8, as: Int64.self)
    }

    /// The version of a row.
    @inlinable
    public func version(_ row: Int) -> Int64 { record(row).load(as: Int64.self) }

    /// The row at the end of a to-one link; nil where there is none.
    public func target(_ slot: Int, of row: Int) -> RowID? {
        let record = record(row)
        let entity = record.load(fromByteOffset: format.entity(slot), as: Int32.self)
        guard entity != 0 else { return nil }
        return RowID(
            entity: entity, key: record.load(fromByteOffset: format.link(slot), as: Int64.self))
    }

    /// How many to-one links each row has.
    public var toOneCount: Int { format.toOneCount }

    // MARK: Values

    /// All attributes of a row.
    public func attributes(of row: Int) -> [AttributeValue] {
        (0..<format.attributeCount).map { value($0, of: row) }
    }

    /// The attribute of a slot.
    public func value(_ slot: Int, of row: Int) -> AttributeValue {
        let record = record(row)
        let word = word(slot, record)
        switch kind(slot, record) {
        case RowPackFormat.integer: return .integer(Int64(bitPattern: word))
        case RowPackFormat.double: return .double(Double(bitPattern: word))
        case RowPackFormat.date: return .date(Double(bitPattern: word))
        case RowPackFormat.text: return .text(text(word))
        case RowPackFormat.uuid: return .uuid(uuid(word))
        case RowPackFormat.other: return others[Int(word)]
        default: return .null
        }
    }

    /// The attribute of a slot, where it is an integer.
    @inlinable
    public func integer(_ slot: Int, of row: Int) -> Int64? {
        let record = record(row)
        guard kind(slot, record) == RowPackFormat.integer else { return nil }
        return Int64(bitPattern: word(slot, record))
    }

    /// The attribute of a slot, where it is a double.
    @inlinable
    public func double(_ slot: Int, of row: Int) -> Double? {
        let record = record(row)
        guard kind(slot, record) == RowPackFormat.double else { return nil }
        return Double(bitPattern: word(slot, record))
    }

    /// The attribute of a slot, where it is a date, in seconds since 2001-01-01 UTC.
    @inlinable
    public func date(_ slot: Int, of row: Int) -> Double? {
        let record = record(row)
        guard kind(slot, record) == RowPackFormat.date else { return nil }
        return Double(bitPattern: word(slot, record))
    }

    /// The attribute of a slot, where it is a UUID.
    @inlinable
    public func uuid(_ slot: Int, of row: Int) -> UUID? {
        let record = record(row)
        guard kind(slot, record) == RowPackFormat.uuid else { return nil }
        return uuid(word(slot, record))
    }

    /// The attribute of a slot, where it is a text that is kept as bytes. Each call makes the text
    /// anew.
    @inlinable
    public func text(_ slot: Int, of row: Int) -> String? {
        let record = record(row)
        guard kind(slot, record) == RowPackFormat.text else { return nil }
        return text(word(slot, record))
    }

    // MARK: How

    @inlinable
    func kind(_ slot: Int, _ record: UnsafeMutableRawPointer) -> UInt8 {
        precondition(slot >= 0 && slot < format.attributeCount)
        return record.load(fromByteOffset: format.kind(slot), as: UInt8.self)
    }

    @inlinable
    func word(_ slot: Int, _ record: UnsafeMutableRawPointer) -> UInt64 {
        record.load(fromByteOffset: format.word(slot), as: UInt64.self)
    }

    @inlinable
    func uuid(_ word: UInt64) -> UUID {
        UUID(uuid: bytes.loadUnaligned(fromByteOffset: Int(word), as: uuid_t.self))
    }

    @inlinable
    func text(_ word: UInt64) -> String {
        let (start, count) = RowPackFormat.range(of: word)
        let text = UnsafeRawBufferPointer(start: bytes + start, count: count)
        return String(decoding: text, as: UTF8.self)
    }
}

/// Where the parts of a row's record stand: its version, a byte for the kind of each attribute, a
/// word for each attribute, and a key and an entity for each to-one link.
@usableFromInline
struct RowPackFormat: Sendable {
    @usableFromInline let attributeCount: Int
    let toOneCount: Int
    @usableFromInline let words: Int
    /// The size of a record.
    @usableFromInline let stride: Int

    // What a word is.
    static let null: UInt8 = 0
    @usableFromInline static let integer: UInt8 = 1
    @usableFromInline static let double: UInt8 = 2
    @usableFromInline static let date: UInt8 = 3
    /// Where the text's bytes begin, and how many they are.
    @usableFromInline static let text: UInt8 = 4
    /// Where the sixteen bytes begin.
    @usableFromInline static let uuid: UInt8 = 5
    /// The place of the value among others.
    @usableFromInline static let other: UInt8 = 6

    private static let version = 8

    init(attributes: Int, toOnes: Int) {
        attributeCount = attributes
        toOneCount = toOnes
        words = Self.version + Self.aligned(attributes)
        stride = words + attributes * 8 + toOnes * 8 + Self.aligned(toOnes * 4)
    }

    private static func aligned(_ size: Int) -> Int { (size + 7) & ~7 }

    @usableFromInline func kind(_ slot: Int) -> Int { 8 &+ slot }
    @usableFromInline func word(_ slot: Int) -> Int { words &+ slot &* 8 }
    func link(_ slot: Int) -> Int { words + (attributeCount + slot) * 8 }
    func entity(_ slot: Int) -> Int { words + (attributeCount + toOneCount) * 8 + slot * 4 }

    static func word(from start: Int, _ count: Int) -> UInt64 {
        UInt64(truncatingIfNeeded: start) << 32 | UInt64(truncatingIfNeeded: count)
    }

    @inlinable
    static func range(of word: UInt64) -> (start: Int, count: Int) {
        (Int(word >> 32), Int(word & 0xFFFF_FFFF))
    }
}
