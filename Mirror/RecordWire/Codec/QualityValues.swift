/// The choices that a header of preferences names, as `Accept` does, with their quality values: one
/// where none is told, zero for what is not wanted. (RFC 9110 §12.4.2)
package struct QualityValues {
    /// In the header's order; the names in lower case.
    package let choices: [(name: Substring, quality: Double)]

    package init(_ header: String) {
        choices = header.lowercased().utf8.split(separator: UInt8(ascii: ",")).compactMap { part in
            let words = part.split(separator: UInt8(ascii: ";"))
            guard let name = words.first.map(Self.trimmed), !name.isEmpty else { return nil }
            let told = words.dropFirst().lazy.compactMap(Self.quality).first
            return (name, told ?? 1)
        }
    }

    /// Nil for another parameter; zero for a number that cannot be read.
    private static func quality(_ parameter: Substring.UTF8View) -> Double? {
        let pair = parameter.split(separator: UInt8(ascii: "="), maxSplits: 1)
        guard pair.count == 2, trimmed(pair[0]) == "q" else { return nil }
        return Double(trimmed(pair[1])) ?? 0
    }

    /// Without the white space around it.
    static func trimmed(_ bytes: Substring.UTF8View) -> Substring {
        func isSpace(_ byte: UInt8) -> Bool {
            byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t")
        }
        var bytes = bytes.drop(while: isSpace)
        while let last = bytes.last, isSpace(last) { bytes.removeLast() }
        return Substring(bytes)
    }
}
