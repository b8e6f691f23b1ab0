/// Finds bytes that are no UTF-8.
enum BrokenText {
    /// The place of the first byte that begins no character; nil in sound text. Cost: one pass,
    /// eight bytes at a time where they are ASCII.
    static func firstPlace(in bytes: UnsafeRawBufferPointer) -> Int? {
        var index = 0
        while index < bytes.count {
            if bytes[index] < 0x80 {
                index = endOfASCII(bytes, from: index)
            } else if let length = length(bytes, at: index) {
                index += length
            } else {
                return index
            }
        }
        return nil
    }

    private static func endOfASCII(_ bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
        var index = start
        while index + 8 <= bytes.count,
            bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self) & 0x8080_8080_8080_8080
                == 0
        {
            index += 8
        }
        while index < bytes.count, bytes[index] < 0x80 { index += 1 }
        return index
    }

    /// The length of a character outside ASCII; nil where there is none. (Unicode, table 3-7)
    private static func length(_ bytes: UnsafeRawBufferPointer, at index: Int) -> Int? {
        let plain: ClosedRange<UInt8> = 0x80...0xBF
        let (length, second): (Int, ClosedRange<UInt8>)
        switch bytes[index] {
        case 0xC2...0xDF: (length, second) = (2, plain)
        case 0xE0: (length, second) = (3, 0xA0...0xBF)
        case 0xED: (length, second) = (3, 0x80...0x9F)
        case 0xE1...0xEF: (length, second) = (3, plain)
        case 0xF0: (length, second) = (4, 0x90...0xBF)
        case 0xF1...0xF3: (length, second) = (4, plain)
        case 0xF4: (length, second) = (4, 0x80...0x8F)
        default: return nil
        }
        guard index + length <= bytes.count, second.contains(bytes[index + 1]) else { return nil }
        for place in index + 2..<index + length where !plain.contains(bytes[place]) { return nil }
        return length
    }
}
