package import Foundation

/// Writes a table of objects as a binary property list (`bplist00`).
package struct PropertyListWriter {
    private var bytes: [UInt8] = Array("bplist00".utf8)
    private let referenceBytes: Int

    /// The bytes of `table`.
    package static func data(_ table: PropertyListTable) -> Data {
        var writer = PropertyListWriter(referenceBytes: Self.width(of: table.nodes.count))
        var offsets: [Int] = []
        for node in table.nodes {
            offsets.append(writer.bytes.count)
            writer.write(node)
        }
        writer.finish(offsets, root: table.root)
        return Data(writer.bytes)
    }

    private init(referenceBytes: Int) { self.referenceBytes = referenceBytes }

    private mutating func finish(_ offsets: [Int], root: Int) {
        let table = bytes.count
        let offsetBytes = Self.width(of: table)
        for offset in offsets { append(offset, bytes: offsetBytes) }
        bytes += [0, 0, 0, 0, 0, 0, UInt8(offsetBytes), UInt8(referenceBytes)]
        for number in [offsets.count, root, table] { append(number, bytes: 8) }
    }

    private mutating func write(_ node: PropertyListNode) {
        switch node {
        case .null: bytes.append(0x00)
        case .bool(let value): bytes.append(value ? 0x09 : 0x08)
        case .integer(let value): write(value)
        case .real(let value): write(value, marker: 0x23)
        case .date(let value): write(value, marker: 0x33)
        case .data(let value):
            begin(0x40, count: value.count)
            bytes += value
        case .string(let value): write(value)
        case .uid(let value):
            let width = Self.width(of: value)
            bytes.append(0x80 | UInt8(width - 1))
            append(value, bytes: width)
        case .array(let members):
            begin(0xA0, count: members.count)
            for member in members { append(member, bytes: referenceBytes) }
        case .dictionary(let pairs):
            begin(0xD0, count: pairs.count)
            for pair in pairs { append(pair.key, bytes: referenceBytes) }
            for pair in pairs { append(pair.value, bytes: referenceBytes) }
        }
    }

    private mutating func write(_ value: Int64) {
        let width = value < 0 ? 8 : Self.width(of: Int(value))
        bytes.append(0x10 | UInt8(width.trailingZeroBitCount))
        append(Int(value), bytes: width)
    }

    private mutating func write(_ value: Double, marker: UInt8) {
        bytes.append(marker)
        append(Int(bitPattern: UInt(value.bitPattern)), bytes: 8)
    }

    private mutating func write(_ value: String) {
        if value.utf8.allSatisfy({ $0 < 0x80 }) {
            begin(0x50, count: value.utf8.count)
            bytes += Array(value.utf8)
        } else {
            begin(0x60, count: value.utf16.count)
            for unit in value.utf16 { append(Int(unit), bytes: 2) }
        }
    }

    /// The marker of an object of variable size, with its size.
    private mutating func begin(_ marker: UInt8, count: Int) {
        if count < 0x0F {
            bytes.append(marker | UInt8(count))
        } else {
            bytes.append(marker | 0x0F)
            write(Int64(count))
        }
    }

    private mutating func append(_ value: Int, bytes count: Int) {
        for shift in stride(from: 8 * (count - 1), through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: value >> shift))
        }
    }

    /// How many bytes hold the numbers up to `value`: 1, 2, 4 or 8.
    private static func width(of value: Int) -> Int {
        switch value {
        case 0..<0x100: 1
        case 0x100..<0x1_0000: 2
        case 0x1_0000..<0x1_0000_0000: 4
        default: 8
        }
    }
}
