package import Foundation

/// A parameter of a statement, sent in PostgreSQL's binary form.
package enum PostgresValue: Hashable, Sendable {
    case null
    /// For `bigint`.
    case integer(Int64)
    case boolean(Bool)
    /// For `text`; without NUL, which PostgreSQL's text cannot hold.
    case text(String)
    /// For `bytea`.
    case bytes(Data)
    /// The UTF-8 of a text, for `bytea`: compared by its bytes, and any text fits.
    case name(String)
    /// For `bigint[]`.
    case integers([Int64])
    /// For `bytea[]`.
    case byteStrings([Data?])
    /// The UTF-8 of texts, for `bytea[]`.
    case names([String?])

    package init(_ value: Int) { self = .integer(Int64(value)) }
    package init(_ value: Int64?) { self = value.map { .integer($0) } ?? .null }
    package init(nameOf value: String?) { self = value.map { .name($0) } ?? .null }
}

/// The parameters of one statement, one behind another in one buffer.
struct PostgresParameters {
    private(set) var bytes: [UInt8] = []
    /// Where each begins; nil for null.
    private(set) var offsets: [Int?] = []
    private(set) var lengths: [Int32] = []

    private static let integerArrayType: Int32 = 20
    private static let bytesArrayType: Int32 = 17

    init(_ values: [PostgresValue]) {
        offsets.reserveCapacity(values.count)
        for value in values {
            let start = bytes.count
            let isThere = append(value)
            offsets.append(isThere ? start : nil)
            lengths.append(Int32(clamping: bytes.count - start))
        }
    }

    private mutating func append(_ value: PostgresValue) -> Bool {
        switch value {
        case .null: return false
        case .integer(let number): append(number)
        case .boolean(let flag): bytes.append(flag ? 1 : 0)
        case .text(let text), .name(let text): bytes.append(contentsOf: text.utf8)
        case .bytes(let data): append(data)
        case .integers(let numbers):
            beginArray(of: Self.integerArrayType, count: numbers.count)
            for number in numbers {
                append(Int32(MemoryLayout<Int64>.size))
                append(number)
            }
        case .byteStrings(let strings):
            beginArray(of: Self.bytesArrayType, count: strings.count)
            for string in strings {
                append(string.map { Int32(clamping: $0.count) } ?? -1)
                if let string { append(string) }
            }
        case .names(let names):
            beginArray(of: Self.bytesArrayType, count: names.count)
            for name in names {
                append(name.map { Int32(clamping: $0.utf8.count) } ?? -1)
                if let name { bytes.append(contentsOf: name.utf8) }
            }
        }
        return true
    }

    /// An array of one dimension that begins at 1, as PostgreSQL's `array_send` writes it.
    private mutating func beginArray(of type: Int32, count: Int) {
        append(Int32(count == 0 ? 0 : 1))
        append(Int32(1))
        append(type)
        guard count > 0 else { return }
        append(Int32(clamping: count))
        append(Int32(1))
    }

    private mutating func append(_ data: Data) {
        data.withUnsafeBytes { bytes.append(contentsOf: $0) }
    }

    private mutating func append(_ number: some FixedWidthInteger) {
        withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
    }
}
