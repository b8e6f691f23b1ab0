internal import CRuntime
internal import Foundation

/// What a placeholder of a format takes from a C function's arguments.
enum Placeholder: CChar {
    /// `%@`, and the name of a key path, `%K`.
    case object = 0x40
    case int = 0x69
    case unsignedInt = 0x75
    case long = 0x6C
    case unsignedLong = 0x4C
    case double = 0x66
    case character = 0x63
    /// A C string.
    case text = 0x73
    /// A C string of UTF-16 units.
    case wideText = 0x53

    /// By a placeholder's last letter, and whether it says `l`, `q`, `z` or `t` before.
    init(_ letter: Unicode.Scalar, isLong: Bool) {
        switch letter {
        case "@", "K": self = .object
        case "d", "i": self = isLong ? .long : .int
        case "D": self = .long
        case "u", "x", "X", "o": self = isLong ? .unsignedLong : .unsignedInt
        case "U": self = .unsignedLong
        case "c", "C": self = .character
        case "s": self = .text
        case "S": self = .wideText
        default: self = .double
        }
    }

    /// Reads one argument for each of `placeholders`. The list must have them: nothing says how
    /// long it is.
    static func values(
        of placeholders: [Placeholder], from list: CVaListPointer
    ) -> [Any?] {
        var words = [UInt64](repeating: 0, count: placeholders.count)
        diptych_read_arguments(placeholders.map(\.rawValue) + [0], list, &words)
        return zip(placeholders, words).map { $0.value(of: $1) }
    }

    private func value(of word: UInt64) -> Any? {
        switch self {
        case .object:
            return UnsafeRawPointer(bitPattern: UInt(word)).map {
                Unmanaged<AnyObject>.fromOpaque($0).takeUnretainedValue()
            }
        case .int, .long: return Int(Int64(bitPattern: word))
        case .unsignedInt, .unsignedLong: return NSNumber(value: word)
        case .double: return Double(bitPattern: word)
        case .character: return Unicode.Scalar(UInt32(truncatingIfNeeded: word)).map { String($0) }
        case .text:
            return UnsafePointer<CChar>(bitPattern: UInt(word)).map { String(cString: $0) }
        case .wideText:
            return UnsafePointer<UInt16>(bitPattern: UInt(word)).map {
                String(decodingCString: $0, as: UTF16.self)
            }
        }
    }
}
