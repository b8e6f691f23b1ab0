/// Words as a shell wants them, so that a line that is shown can be run.
enum ShellWord {
    /// The word itself where no shell makes anything of it, else in single quotes. A word with
    /// control characters is written with the escapes of `$'…'`.
    static func quoted(_ word: String) -> String {
        if word.unicodeScalars.contains(where: PlainText.acts) { return escaped(word) }
        let isPlain = word.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            default: "/._-+:,=@%".utf8.contains(byte)
            }
        }
        if isPlain, !word.isEmpty { return word }
        return "'" + word.replacing("'", with: "'\\''") + "'"
    }

    private static func escaped(_ word: String) -> String {
        var text = "$'"
        for byte in word.utf8 {
            switch byte {
            case UInt8(ascii: "'"), UInt8(ascii: "\\"):
                text += "\\" + String(UnicodeScalar(byte))
            case 0x20..<0x7F: text += String(UnicodeScalar(byte))
            default:
                let digits = String(byte, radix: 16, uppercase: true)
                text += "\\x" + (byte < 16 ? "0" : "") + digits
            }
        }
        return text + "'"
    }

    /// A file's name that no program takes for an option.
    static func file(_ path: String) -> String {
        quoted(path.hasPrefix("-") ? "./" + path : path)
    }

    static func line(_ words: [String]) -> String {
        words.map(quoted).joined(separator: " ")
    }
}
