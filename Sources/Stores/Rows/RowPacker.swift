public import Foundation

/// Puts rows of one entity into packs: `begin` a row, set what is not null, and `take` the pack
/// when it is full. Queue: one; whoever reads rows owns it.
public final class RowPacker {
    private let entity: Int32
    private let format: RowPackFormat
    private let keys: UnsafeMutablePointer<Int64>
    private let records: UnsafeMutableRawPointer
    private var record: UnsafeMutableRawPointer
    private var bytes: UnsafeMutableRawPointer
    private var byteCount = 0
    private var capacity = RowPacker.bytesMax
    private var others: [AttributeValue] = []
    /// How many rows the pack under way has.
    public private(set) var count = 0

    /// Few enough that an object which is kept alone keeps little beside itself.
    private static let rowsMax = 32
    /// With how many bytes of texts a pack is full, too.
    private static let bytesMax = 16_384
    /// Longer texts stand among the other values: they are not copied again.
    private static let textMax = 1024

    /// For rows of an entity with so many slots. Cost: room for one pack, which the next ones use
    /// again.
    public init(entity: Int32, attributes: Int, toOnes: Int) {
        self.entity = entity
        format = RowPackFormat(attributes: attributes, toOnes: toOnes)
        keys = .allocate(capacity: Self.rowsMax)
        records = .allocate(byteCount: Self.rowsMax * format.stride, alignment: 8)
        bytes = .allocate(byteCount: Self.bytesMax, alignment: 8)
        record = records
    }

    deinit {
        keys.deallocate()
        records.deallocate()
        bytes.deallocate()
    }

    /// Whether the pack is to be taken before another row begins.
    public var isFull: Bool { count == Self.rowsMax || byteCount >= Self.bytesMax }

    /// Begins a row, all of whose values are null.
    public func begin(key: Int64, version: Int64) {
        precondition(count < Self.rowsMax)
        keys[count] = key
        record = records + count &* format.stride
        memset(record, 0, format.stride)
        record.storeBytes(of: version, as: Int64.self)
        count &+= 1
    }

    // MARK: Values of the row that was begun

    /// Integers and booleans. The slot is one of the attributes'.
    public func set(integer: Int64, at slot: Int) {
        set(UInt64(bitPattern: integer), RowPackFormat.integer, at: slot)
    }

    /// Numbers of type Double and Float.
    public func set(double: Double, at slot: Int) {
        set(double.bitPattern, RowPackFormat.double, at: slot)
    }

    /// Seconds since 2001-01-01 UTC.
    public func set(date: Double, at slot: Int) {
        set(date.bitPattern, RowPackFormat.date, at: slot)
    }

    /// The bytes of a text in UTF-8.
    public func set(text: UnsafeBufferPointer<UInt8>, at slot: Int) {
        guard text.count <= Self.textMax else {
            return set(.text(String(decoding: text, as: UTF8.self)), at: slot)
        }
        let word = RowPackFormat.word(from: byteCount, text.count)
        append(UnsafeRawBufferPointer(text))
        set(word, RowPackFormat.text, at: slot)
    }

    /// The sixteen bytes.
    public func set(uuid: UUID, at slot: Int) {
        let start = byteCount
        withUnsafeBytes(of: uuid.uuid) { append($0) }
        set(UInt64(start), RowPackFormat.uuid, at: slot)
    }

    /// A value of any kind.
    public func set(_ value: AttributeValue, at slot: Int) {
        switch value {
        case .null: return
        case .integer(let integer): set(integer: integer, at: slot)
        case .double(let number): set(double: number, at: slot)
        case .date(let seconds): set(date: seconds, at: slot)
        case .uuid(let uuid): set(uuid: uuid, at: slot)
        case .text, .decimal, .uri, .data:
            set(UInt64(others.count), RowPackFormat.other, at: slot)
            others.append(value)
        }
    }

    /// The end of a to-one link.
    public func set(target: RowID, at slot: Int) {
        precondition(slot >= 0 && slot < format.toOneCount)
        record.storeBytes(of: target.key, toByteOffset: format.link(slot), as: Int64.self)
        record.storeBytes(of: target.entity, toByteOffset: format.entity(slot), as: Int32.self)
    }

    private func set(_ word: UInt64, _ kind: UInt8, at slot: Int) {
        precondition(slot >= 0 && slot < format.attributeCount)
        record.storeBytes(of: kind, toByteOffset: format.kind(slot), as: UInt8.self)
        record.storeBytes(of: word, toByteOffset: format.word(slot), as: UInt64.self)
    }

    private func append(_ more: UnsafeRawBufferPointer) {
        if byteCount + more.count > capacity { grow(by: more.count) }
        if let start = more.baseAddress { memcpy(bytes + byteCount, start, more.count) }
        byteCount &+= more.count
    }

    private func grow(by more: Int) {
        while byteCount + more > capacity { capacity *= 2 }
        let larger = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 8)
        memcpy(larger, bytes, byteCount)
        bytes.deallocate()
        bytes = larger
    }

    // MARK: Packs

    /// The rows so far as a pack; the next begins empty. There must be a row.
    public func take() -> RowPack {
        let sizes = (keys: count * 8, records: count * format.stride)
        let memory = UnsafeMutableRawPointer.allocate(
            byteCount: sizes.keys + sizes.records + byteCount, alignment: 8)
        memcpy(memory, keys, sizes.keys)
        memcpy(memory + sizes.keys, records, sizes.records)
        memcpy(memory + sizes.keys + sizes.records, bytes, byteCount)
        defer { (count, byteCount, others) = (0, 0, []) }
        return RowPack(
            entity: entity, count: count, format: format, memory: memory, others: others)
    }
}
