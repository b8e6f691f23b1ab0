/// The escapes of texts in XML stores, on top of XML's own.
///
/// Apple writes a backslash twice, and `\uXXXX` for `&`, `<` and `>`, with the two bytes of the
/// UTF-16 unit swapped: `&` is `\u2600`. Source: real files. Characters that XML cannot hold are
/// written the same way here.
enum XMLText {
    static func escaped(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: needsEscape) else { return text }
        var made = ""
        for scalar in text.unicodeScalars {
            if scalar == "\\" {
                made += "\\\\"
            } else if needsEscape(scalar) {
                made += "\\u" + hex(UInt16(truncatingIfNeeded: scalar.value).byteSwapped)
            } else {
                made.unicodeScalars.append(scalar)
            }
        }
        return made
    }

    /// `text` with XML's own entities, for names and metadata; nil where XML cannot hold it.
    static func quoted(_ text: String) -> String? {
        var made = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": made += "&amp;"
            case "<": made += "&lt;"
            case ">": made += "&gt;"
            case "\"": made += "&quot;"
            case "\r": made += "&#13;"
            case "\t", "\n": made.unicodeScalars.append(scalar)
            default:
                guard !needsEscape(scalar) || scalar == "\\" else { return nil }
                made.unicodeScalars.append(scalar)
            }
        }
        return made
    }

    private static func needsEscape(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x09, 0x0A: false
        case 0..<0x20, 0x26, 0x3C, 0x3E, 0x5C, 0xFFFE, 0xFFFF: true
        default: false
        }
    }

    private static func hex(_ unit: UInt16) -> String {
        let digits = String(unit, radix: 16)
        return String(repeating: "0", count: 4 - digits.count) + digits
    }

    /// The text that `escaped` stands for. A backslash that begins no escape stands for itself.
    static func unescaped(_ escaped: String) -> String {
        let units = Array(escaped.utf16)
        let backslash = UInt16(UInt8(ascii: "\\"))
        guard units.contains(backslash) else { return escaped }
        var made: [UInt16] = []
        made.reserveCapacity(units.count)
        var index = 0
        while index < units.count {
            if units[index] == backslash, index + 1 < units.count {
                if units[index + 1] == backslash {
                    made.append(backslash)
                    index += 2
                    continue
                }
                if let unit = unit(units[index...]) {
                    made.append(unit)
                    index += 6
                    continue
                }
            }
            made.append(units[index])
            index += 1
        }
        return String(decoding: made, as: UTF16.self)
    }

    /// The unit that `\uXXXX` at the start of `units` stands for.
    private static func unit(_ units: ArraySlice<UInt16>) -> UInt16? {
        let head = units.prefix(6)
        guard head.count == 6, head[head.startIndex + 1] == UInt16(UInt8(ascii: "u")) else {
            return nil
        }
        let digits = String(decoding: head.dropFirst(2), as: UTF16.self)
        guard digits.allSatisfy(\.isHexDigit) else { return nil }
        return UInt16(digits, radix: 16)?.byteSwapped
    }
}
