/// The escapes of a JSON text. (RFC 8259 §7)
enum JSONEscapes {
    /// How many hexadecimal digits follow the letter of an escape; nil where it is none.
    static func length(behind letter: UInt8) -> Int? {
        if letter == UInt8(ascii: "u") { return 4 }
        return meaning(of: letter) == nil ? nil : 0
    }

    static func digit(_ byte: UInt8) -> UInt32? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte - UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt32(byte - UInt8(ascii: "a") + 10)
        case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt32(byte - UInt8(ascii: "A") + 10)
        default: nil
        }
    }

    private static func meaning(of letter: UInt8) -> UInt8? {
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): letter
        case UInt8(ascii: "b"): 0x08
        case UInt8(ascii: "f"): 0x0C
        case UInt8(ascii: "n"): UInt8(ascii: "\n")
        case UInt8(ascii: "r"): UInt8(ascii: "\r")
        case UInt8(ascii: "t"): UInt8(ascii: "\t")
        default: nil
        }
    }

    /// A text whose escapes are sound; nil where half of a surrogate pair stands alone.
    static func string(_ bytes: UnsafeRawBufferPointer) -> String? {
        var plain: [UInt8] = []
        plain.reserveCapacity(bytes.count)
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            index += 1
            guard byte == UInt8(ascii: "\\") else {
                plain.append(byte)
                continue
            }
            if let meaning = meaning(of: bytes[index]) {
                plain.append(meaning)
                index += 1
            } else {
                guard let scalar = scalar(bytes, &index) else { return nil }
                plain.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
            }
        }
        return String(decoding: plain, as: UTF8.self)
    }

    /// The character of an escape `u`, at whose letter `index` stands, or of two that are a pair.
    private static func scalar(
        _ bytes: UnsafeRawBufferPointer, _ index: inout Int
    ) -> Unicode.Scalar? {
        let unit = unit(bytes, &index)
        guard UTF16.isLeadSurrogate(unit) else { return Unicode.Scalar(unit) }
        guard index + 1 < bytes.count, bytes[index] == UInt8(ascii: "\\"),
            bytes[index + 1] == UInt8(ascii: "u")
        else { return nil }
        index += 1
        let trail = self.unit(bytes, &index)
        guard UTF16.isTrailSurrogate(trail) else { return nil }
        return Unicode.Scalar(0x1_0000 + (UInt32(unit & 0x3FF) << 10 | UInt32(trail & 0x3FF)))
    }

    private static func unit(_ bytes: UnsafeRawBufferPointer, _ index: inout Int) -> UInt16 {
        var unit: UInt32 = 0
        for place in index + 1...index + 4 { unit = unit << 4 | (digit(bytes[place]) ?? 0) }
        index += 5
        return UInt16(truncatingIfNeeded: unit)
    }
}
