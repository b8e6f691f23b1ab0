/// Makes what came from data, a file, a name or a service fit to be shown: nothing in it acts on
/// the terminal, hides other text, or passes for a line of ours.
///
/// Everything the command prints goes through here on its way out (`Console`, `TextTable`); JSON
/// has the escapes of its own kind for the same characters (`JSON`).
enum PlainText {
    /// One line: control characters, line ends too, are spelled as Swift spells them.
    static func line(_ text: String) -> String { escaped(text, keepsLines: false) }

    /// The same for several lines, whose ends and tabs are kept.
    static func block(_ text: String) -> String { escaped(text, keepsLines: true) }

    private static func escaped(_ text: String, keepsLines: Bool) -> String {
        guard text.unicodeScalars.contains(where: acts) else { return text }
        var plain = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\n" where keepsLines, "\t" where keepsLines:
                plain.unicodeScalars.append(scalar)
            case "\n": plain += "\\n"
            case "\r": plain += "\\r"
            case "\t": plain += "\\t"
            case _ where acts(scalar):
                plain += "\\u{" + String(scalar.value, radix: 16, uppercase: true) + "}"
            default: plain.unicodeScalars.append(scalar)
            }
        }
        return plain
    }

    /// Whether a terminal or a reader's eye obeys the character instead of showing it: C0, DEL, C1,
    /// ends of lines, and marks that turn the direction of what follows or cannot be seen.
    static func acts(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x00...0x1F, 0x7F...0x9F: true
        case 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: true
        case 0x200B, 0x2060...0x2064, 0x206A...0x206F, 0xFEFF, 0xFFF9...0xFFFB: true
        default: false
        }
    }

    /// At most so many columns of `text`, with an ellipsis where more was there.
    static func cut(_ text: String, to columns: Int) -> String {
        guard TextWidth.columns(of: text) > columns else { return text }
        var kept = ""
        var taken = 1
        for character in text {
            taken += TextWidth.columns(of: character)
            guard taken <= columns else { break }
            kept.append(character)
        }
        return kept + "…"
    }
}
