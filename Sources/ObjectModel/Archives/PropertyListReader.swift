package import Foundation

/// Reads a binary property list (`bplist00`), trusting nothing it says about itself.
///
/// Written because archives need the references (UIDs) that `PropertyListSerialization` hides, and
/// a bound on what a hostile file may cost.
package struct PropertyListReader {
    private let bytes: [UInt8]
    private let file: String
    private var referenceBytes = 1
    private var offsets: [Int] = []
    private var references = 0
    /// The bytes of texts and data so far. Objects that share bytes would grow when they are read.
    private var contentBytes = 0

    private let limits: Limits
    private static let trailerBytes = 32

    /// How much a file may hold.
    package struct Limits: Sendable {
        package var bytes: Int
        package var objects: Int
        package var references: Int

        package init(bytes: Int, objects: Int, references: Int) {
            self.bytes = bytes
            self.objects = objects
            self.references = references
        }

        /// More than any real model has.
        package static let model = Limits(
            bytes: ModelFile.bytesMax, objects: 1_000_000, references: 4_000_000)
    }

    /// The objects in `data`; `file` is its name in errors.
    package static func table(
        _ data: Data, file: String, limits: Limits = .model
    ) throws -> PropertyListTable {
        guard data.count <= limits.bytes else {
            throw ModelFileError(
                .tooLarge, file: file,
                "the archive is larger than \(limits.bytes >> 20) MiB; none is")
        }
        var reader = PropertyListReader(bytes: Array(data), file: file, limits: limits)
        return try reader.read()
    }

    private init(bytes: [UInt8], file: String, limits: Limits) {
        self.bytes = bytes
        self.file = file
        self.limits = limits
    }

    private mutating func read() throws -> PropertyListTable {
        guard bytes.starts(with: Array("bplist0".utf8)), bytes.count >= 8 + Self.trailerBytes else {
            throw ModelFileError(
                .notAModel, file: file, "the file is no binary property list; expected bplist00")
        }
        let trailer = bytes.count - Self.trailerBytes
        let offsetBytes = Int(bytes[trailer + 6])
        referenceBytes = Int(bytes[trailer + 7])
        let count = try number(at: trailer + 8, bytes: 8)
        let root = try number(at: trailer + 16, bytes: 8)
        let table = try number(at: trailer + 24, bytes: 8)
        guard (1...8).contains(offsetBytes), (1...8).contains(referenceBytes),
            count <= limits.objects, root < count, table <= trailer,
            count <= (trailer - table) / offsetBytes
        else { throw broken("its trailer contradicts its size") }
        offsets = try (0..<count).map {
            try number(at: table + $0 * offsetBytes, bytes: offsetBytes)
        }
        let nodes = try offsets.map { try node(at: $0, end: table) }
        return PropertyListTable(nodes: nodes, root: root)
    }

    // MARK: Objects

    private mutating func node(at offset: Int, end: Int) throws -> PropertyListNode {
        guard offset >= 8, offset < end else { throw broken("an object lies outside the file") }
        let marker = bytes[offset]
        let low = Int(marker & 0x0F)
        switch marker >> 4 {
        case 0x0: return try simple(low)
        case 0x1: return .integer(try integer(at: offset + 1, bytes: 1 << low, end: end))
        case 0x2: return .real(try real(at: offset + 1, bytes: 1 << low, end: end))
        case 0x3: return .date(try real(at: offset + 1, bytes: 8, end: end))
        case 0x4:
            let span = try content(offset, low, unit: 1, end: end)
            return .data(Data(bytes[span]))
        case 0x5:
            return .string(
                String(decoding: bytes[try content(offset, low, unit: 1, end: end)], as: UTF8.self))
        case 0x6:
            return .string(utf16(bytes[try content(offset, low, unit: 2, end: end)]))
        case 0x8:
            return .uid(Int(try integer(at: offset + 1, bytes: low + 1, end: end)))
        case 0xA, 0xB, 0xC:
            return .array(try members(try span(offset, low, unit: referenceBytes, end: end)))
        case 0xD: return .dictionary(try pairs(offset, low, end: end))
        default: throw broken("an object is of the unknown kind \(marker)")
        }
    }

    private func simple(_ low: Int) throws -> PropertyListNode {
        switch low {
        case 0: .null
        case 8: .bool(false)
        case 9: .bool(true)
        default: throw broken("an object is of the unknown kind \(low)")
        }
    }

    private mutating func pairs(_ offset: Int, _ low: Int, end: Int) throws
        -> [PropertyListNode.Pair]
    {
        let all = try members(try span(offset, low, unit: 2 * referenceBytes, end: end))
        let half = all.count / 2
        return (0..<half).map { PropertyListNode.Pair(key: all[$0], value: all[$0 + half]) }
    }

    private mutating func members(_ span: Range<Int>) throws -> [Int] {
        references += span.count / referenceBytes
        guard references <= limits.references else {
            throw ModelFileError(
                .tooLarge, file: file, "the archive has more references than any real one")
        }
        return try stride(from: span.lowerBound, to: span.upperBound, by: referenceBytes).map {
            let member = try number(at: $0, bytes: referenceBytes)
            guard member < offsets.count else { throw broken("a reference leads nowhere") }
            return member
        }
    }

    // MARK: Bytes

    /// Where the bytes of a text or of data lie, which no other object may claim.
    private mutating func content(
        _ offset: Int, _ low: Int, unit: Int, end: Int
    ) throws -> Range<Int> {
        let found = try span(offset, low, unit: unit, end: end)
        contentBytes += found.count
        guard contentBytes <= bytes.count else { throw broken("its objects overlap") }
        return found
    }

    /// Where the contents of an object of variable size lie.
    private func span(_ offset: Int, _ low: Int, unit: Int, end: Int) throws -> Range<Int> {
        var start = offset + 1
        var count = low
        if low == 0x0F {
            guard start < end, bytes[start] >> 4 == 1 else { throw broken("a length is no number") }
            let size = 1 << Int(bytes[start] & 0x0F)
            count = Int(try integer(at: start + 1, bytes: size, end: end))
            start += 1 + size
        }
        guard count >= 0, start <= end, count <= (end - start) / unit else {
            throw broken("an object is longer than the file")
        }
        return start..<(start + count * unit)
    }

    /// An integer: unsigned up to four bytes, signed in eight; of sixteen bytes the lower half.
    private func integer(at offset: Int, bytes count: Int, end: Int) throws -> Int64 {
        guard count <= 16, offset + count <= end else { throw broken("a number is cut off") }
        var value: UInt64 = 0
        for byte in bytes[offset..<(offset + count)] { value = value << 8 | UInt64(byte) }
        return Int64(bitPattern: value)
    }

    private func real(at offset: Int, bytes count: Int, end: Int) throws -> Double {
        let bits = UInt64(bitPattern: try integer(at: offset, bytes: count, end: end))
        switch count {
        case 4: return Double(Float(bitPattern: UInt32(truncatingIfNeeded: bits)))
        case 8: return Double(bitPattern: bits)
        default: throw broken("a number has \(count) bytes")
        }
    }

    /// A size or a place: never negative.
    private func number(at offset: Int, bytes count: Int) throws -> Int {
        let value = try integer(at: offset, bytes: count, end: bytes.count)
        guard value >= 0 else { throw broken("a size is too large") }
        return Int(value)
    }

    private func utf16(_ bytes: ArraySlice<UInt8>) -> String {
        let units = stride(from: bytes.startIndex, to: bytes.endIndex, by: 2).map {
            UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1])
        }
        return String(decoding: units, as: UTF16.self)
    }

    private func broken(_ what: String) -> ModelFileError {
        ModelFileError(
            .malformed, file: file,
            "the archive is damaged: \(what); expected a binary property list as Apple writes it")
    }
}
