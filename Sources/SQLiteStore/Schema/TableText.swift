extension TableSchema {
    /// The names of the columns in the text of a table as stores declare theirs: a name, a type, and
    /// the key. Nil for any other text, which says more than this reads.
    static func plainColumns(ofStatement text: String) -> Set<String>? {
        let bytes = text.utf8
        guard bytes.starts(with: "CREATE TABLE ".utf8),
            let open = bytes.firstIndex(of: UInt8(ascii: "(")), bytes.last == UInt8(ascii: ")")
        else { return nil }
        let body = bytes[bytes.index(after: open)...].dropLast()
        var columns: Set<String> = []
        for part in parts(of: body) {
            let words = part.split(separator: UInt8(ascii: " "))
            guard words.count > 1, let first = String(words[0]), let second = String(words[1])
            else { return nil }
            if first == "PRIMARY", second == "KEY" { continue }
            let rest = words.dropFirst(2).compactMap { String($0) }
            guard words[0].allSatisfy(isNameByte), types.contains(second),
                rest.isEmpty || rest == ["PRIMARY", "KEY"], columns.insert(first).inserted
            else { return nil }
        }
        return columns.isEmpty ? nil : columns
    }

    private static let types: Set<String> = [
        "INTEGER", "TIMESTAMP", "FLOAT", "DECIMAL", "VARCHAR", "VARCHAR(255)", "BLOB",
    ]

    private static func isNameByte(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "_") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte & 0xDF)
    }

    /// What stands between the commas that are in no parentheses.
    private static func parts(of body: Substring.UTF8View) -> [Substring.UTF8View] {
        var depth = 0
        return body.split { byte in
            if byte == UInt8(ascii: "(") { depth += 1 }
            if byte == UInt8(ascii: ")") { depth -= 1 }
            return byte == UInt8(ascii: ",") && depth == 0
        }
    }
}
