package import Foundation

/// The text of a UUID, as `uuidString` spells it and `UUID(uuidString:)` reads it, which go through
/// the C library's formats for each byte.
extension UUID {
    /// 36 characters, in capitals.
    package var spelled: String {
        withUnsafeBytes(of: uuid) { bytes in
            String(unsafeUninitializedCapacity: 36) { text in
                var place = 0
                for byte in bytes {
                    if Self.isDash(place) {
                        text[place] = Self.dash
                        place += 1
                    }
                    text[place] = Self.digit(byte >> 4)
                    text[place + 1] = Self.digit(byte & 15)
                    place += 2
                }
                return place
            }
        }
    }

    /// nil for what is no UUID.
    package init?(spelled text: String) {
        var text = text
        guard let bytes = text.withUTF8(Self.bytes) else {
            self.init(uuidString: text)
            return
        }
        self.init(uuid: bytes)
    }

    /// nil for what is not spelled as usual.
    private static func bytes(_ text: UnsafeBufferPointer<UInt8>) -> uuid_t? {
        guard text.count == 36, text.indices.allSatisfy({ !isDash($0) || text[$0] == dash }) else {
            return nil
        }
        var uuid: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
        let isWhole = withUnsafeMutableBytes(of: &uuid) { bytes in
            var place = 0
            for index in bytes.indices {
                if isDash(place) { place += 1 }
                guard let high = value(text[place]), let low = value(text[place + 1]) else {
                    return false
                }
                bytes[index] = high << 4 | low
                place += 2
            }
            return true
        }
        return isWhole ? uuid : nil
    }

    private static var dash: UInt8 { UInt8(ascii: "-") }

    private static func isDash(_ place: Int) -> Bool {
        place == 8 || place == 13 || place == 18 || place == 23
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
    }

    private static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}
