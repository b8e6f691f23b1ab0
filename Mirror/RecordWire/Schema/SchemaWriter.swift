extension RecordSchema {
    /// Whether the text can hold a name: of 255 bytes at most, on one line. Such as have more than
    /// letters, digits and underscores stand in quotes, which Apple's tool does not take.
    public static func canSpell(_ name: String) -> Bool {
        (1...255).contains(name.utf8.count)
            && name.unicodeScalars.allSatisfy { scalar in
                switch scalar.value {
                case 0..<0x20, 0x7F..<0xA0, 0x2028, 0x2029: false
                default: true
                }
            }
    }

    /// The text of a `.ckdb` file: types and fields by name, one line a field.
    public var text: String {
        var lines = ["DEFINE SCHEMA", ""]
        for role in roles.sorted() { lines.append("    CREATE ROLE \(SchemaWord.spelled(role));") }
        if !roles.isEmpty { lines.append("") }
        for type in recordTypes.sorted(by: { $0.name < $1.name }) {
            lines += Self.lines(of: type) + [""]
        }
        return lines.joined(separator: "\n")
    }

    private static func lines(of type: TypeDefinition) -> [String] {
        let fields = type.fields.sorted { $0.name < $1.name }
        let width = fields.map { SchemaWord.spelled($0.name).count }.max() ?? 0
        let named = fields.map { field -> String in
            let name = SchemaWord.spelled(field.name)
            let indexes = field.indexes.map(\.rawValue).sorted()
            let padding = String(repeating: " ", count: width - name.count + 1)
            return name + padding + ([field.type.text] + indexes).joined(separator: " ")
        }
        let grants = type.grants.sorted { $0.role < $1.role }.map { grant in
            let permissions = grant.permissions.map(\.rawValue).sorted().joined(separator: ", ")
            return "GRANT \(permissions) TO \(SchemaWord.spelled(grant.role))"
        }
        let inside = (named + grants).map { "        " + $0 }.joined(separator: ",\n")
        let keys = type.naturalKeys.sorted().map { "UNIQUE (\($0.text))" }
        let retirements = fields.compactMap { field in
            field.retiredFrom.map { "RETIRED (\(SchemaWord.spelled(field.name))) FROM \($0)" }
        }
        let extensions = (keys + retirements).map { "        \(SchemaWord.extensionMark) \($0)" }
        return ["    RECORD TYPE \(SchemaWord.spelled(type.name)) (", inside] + extensions
            + ["    );"]
    }
}

/// Names in the text: words of the language, and names of more than letters, digits and underscores
/// or with one of the latter at their front, stand in quotes. A quote within is doubled.
enum SchemaWord {
    /// Begins a comment that is none here: what only this service knows, in a file that Apple's
    /// tool takes as well.
    static let extensionMark = "// diptych:"

    static let reserved: Set<String> = [
        "ASSET", "BYTES", "CREATE", "DEFINE", "DOUBLE", "ENCRYPTED", "GRANT", "INT64", "LIST",
        "LOCATION", "QUERYABLE", "READ", "RECORD", "REFERENCE", "ROLE", "SCHEMA", "SEARCHABLE",
        "SORTABLE", "STRING", "TIMESTAMP", "TO", "TYPE", "WRITE",
    ]

    static func spelled(_ name: String) -> String {
        let isPlain =
            name.first?.isASCII == true && name.first?.isLetter == true
            && name.utf8.allSatisfy(isPart) && !reserved.contains(name.uppercased())
        guard !isPlain else { return name }
        // By scalars: a quote before an accent is one character with it.
        let quoted = name.unicodeScalars.flatMap { $0 == "\"" ? [$0, $0] : [$0] }
        return "\"" + String(String.UnicodeScalarView(quoted)) + "\""
    }

    /// Whether a byte may stand in a name.
    static func isPart(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}
