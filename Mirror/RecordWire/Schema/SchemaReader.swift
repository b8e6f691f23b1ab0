/// Reads the text of a `.ckdb` file. Errors name the line and what belongs there.
struct SchemaReader {
    private enum Token: Equatable {
        /// A word of the language, in capitals, or a name; quoted ones are names.
        case word(String, isQuoted: Bool)
        case mark(Character)
        case end
    }

    private static let bytesMax = 4 << 20
    private static let fieldsMax = 10_000

    private var rest: Substring
    private var line = 1
    private var token = Token.end
    private var fields = 0
    /// Extensions that were passed on the way, each with its line.
    private var extensions: [(line: Int, text: Substring)] = []

    static func read(_ text: String) throws(RecordError) -> RecordSchema {
        guard text.utf8.count <= bytesMax else {
            throw RecordError(.limitExceeded, "A schema has at most four megabytes.")
        }
        var reader = SchemaReader(rest: text[...])
        return try reader.schema()
    }

    private init(rest: Substring, line: Int = 1) {
        self.rest = rest
        self.line = line
    }

    // MARK: Rules

    private mutating func schema() throws(RecordError) -> RecordSchema {
        try advance()
        try expect("DEFINE")
        try expect("SCHEMA")
        var schema = RecordSchema()
        var known: Set<ExactName> = []
        while token != .end {
            if try take("CREATE") {
                try expect("ROLE")
                schema.roles.append(try name("a role's name", isRole: true))
                try expect(mark: ";")
            } else if try take("RECORD") {
                try expect("TYPE")
                let type = try recordType()
                guard known.insert(ExactName(type.name)).inserted else {
                    throw problem("RECORD TYPE \(type.name) stands here twice")
                }
                schema.recordTypes.append(type)
            } else {
                throw problem("RECORD TYPE or CREATE ROLE belongs here")
            }
        }
        try checkExtensions()
        try check(schema)
        return schema
    }

    private mutating func recordType() throws(RecordError) -> RecordSchema.TypeDefinition {
        var type = RecordSchema.TypeDefinition(name: try name("a record type's name"))
        try checkExtensions()
        try expect(mark: "(")
        var known: Set<ExactName> = []
        while token != .mark(")") {
            if try take("GRANT") {
                type.grants.append(try grant())
            } else {
                let field = try field()
                guard known.insert(ExactName(field.name)).inserted else {
                    throw problem("the field \(field.name) stands here twice")
                }
                type.fields.append(field)
            }
            guard token == .mark(",") else { break }
            try advance()
        }
        let own = extensions
        extensions = []
        for (line, text) in own {
            var reader = SchemaReader(rest: text, line: line)
            try reader.readExtension(of: &type)
        }
        try expect(mark: ")")
        try expect(mark: ";")
        return type
    }

    /// An extension says something of the record type in whose parentheses it stands.
    private func checkExtensions() throws(RecordError) {
        guard let first = extensions.first else { return }
        throw RecordError(
            .badRequest,
            "Line \(first.line) of the schema cannot be read: \(SchemaWord.extensionMark) belongs "
                + "between the parentheses of a RECORD TYPE.")
    }

    private mutating func readExtension(
        of type: inout RecordSchema.TypeDefinition
    ) throws(RecordError) {
        try advance()
        let retires = try take("RETIRED")
        if !retires { try expect("UNIQUE") }
        try expect(mark: "(")
        var names: [String] = []
        repeat { names.append(try name("a field's name")) } while try takeMark(",")
        try expect(mark: ")")
        let version = retires ? try readVersion() : nil
        guard token == .end else { throw problem("a line says one thing") }
        let found =
            if let version {
                names.compactMap { type.retire($0, from: version) }.first
            } else {
                type.add(RecordSchema.NaturalKey(names))
            }
        if let found { throw problem(found) }
    }

    private mutating func readVersion() throws(RecordError) -> ClientVersion {
        try expect("FROM")
        var text = ""
        while token != .end {
            switch token {
            case .word(let word, false): text += word
            case .mark("."): text += "."
            case .word, .mark, .end: throw problem("a version has numbers and dots, such as 2.10")
            }
            try advance()
        }
        guard let version = ClientVersion(text) else {
            throw problem("a version has numbers and dots, such as 2.10")
        }
        return version
    }

    private mutating func field() throws(RecordError) -> RecordSchema.Field {
        fields += 1
        guard fields <= Self.fieldsMax else { throw problem("ten thousand fields are the most") }
        let name = try name("a field's name")
        var field = RecordSchema.Field(name: name, type: try fieldType())
        while let index = index() {
            try advance()
            field.indexes.insert(index)
        }
        return field
    }

    private mutating func fieldType() throws(RecordError) -> RecordSchema.FieldType {
        guard try take("LIST") else { return try simpleType() }
        try expect(mark: "<")
        var type = try simpleType()
        type.isList = true
        try expect(mark: ">")
        return type
    }

    private mutating func simpleType() throws(RecordError) -> RecordSchema.FieldType {
        let isEncrypted = try take("ENCRYPTED")
        guard case .word(let word, false) = token,
            let primitive = RecordSchema.FieldType.Primitive(rawValue: word.uppercased())
        else {
            let known = RecordSchema.FieldType.Primitive.allCases.map(\.rawValue)
            throw problem("a type belongs here: \(known.joined(separator: ", ")), or LIST<…>")
        }
        guard !isEncrypted || primitive.mayBeEncrypted else {
            throw problem("\(primitive.rawValue) cannot be ENCRYPTED")
        }
        try advance()
        return RecordSchema.FieldType(primitive, isEncrypted: isEncrypted)
    }

    private mutating func grant() throws(RecordError) -> RecordSchema.Grant {
        var permissions: Set<RecordSchema.Grant.Permission> = []
        repeat {
            guard case .word(let word, false) = token,
                let permission = RecordSchema.Grant.Permission(rawValue: word.uppercased())
            else { throw problem("READ, CREATE or WRITE belongs here") }
            permissions.insert(permission)
            try advance()
        } while try takeMark(",")
        try expect("TO")
        return RecordSchema.Grant(permissions, to: try name("a role's name", isRole: true))
    }

    private func index() -> RecordSchema.Index? {
        guard case .word(let word, false) = token else { return nil }
        return RecordSchema.Index(rawValue: word.uppercased())
    }

    private func check(_ schema: RecordSchema) throws(RecordError) {
        let known = Set(schema.roles + ["_world", "_icloud", "_creator"])
        for type in schema.recordTypes {
            for grant in type.grants where !known.contains(grant.role) {
                throw RecordError(
                    .badRequest,
                    "The schema grants \(type.name) to the role \(grant.role), which it does not "
                        + "make; write CREATE ROLE \(grant.role);")
            }
            for field in type.fields where field.type.isEncrypted && !field.indexes.isEmpty {
                throw RecordError(
                    .badRequest,
                    "The schema has an index over \(type.name).\(field.name), which is encrypted.")
            }
        }
    }

    // MARK: Words

    private mutating func take(_ word: String) throws(RecordError) -> Bool {
        guard case .word(let found, false) = token, found.uppercased() == word else {
            return false
        }
        try advance()
        return true
    }

    private mutating func takeMark(_ mark: Character) throws(RecordError) -> Bool {
        guard token == .mark(mark) else { return false }
        try advance()
        return true
    }

    private mutating func expect(_ word: String) throws(RecordError) {
        guard case .word(let found, false) = token, found.uppercased() == word else {
            throw problem("\(word) belongs here")
        }
        try advance()
    }

    private mutating func expect(mark: Character) throws(RecordError) {
        guard token == .mark(mark) else { throw problem("'\(mark)' belongs here") }
        try advance()
    }

    /// `isRole`: what roles are called has letters, digits and underscores alone.
    private mutating func name(
        _ what: String, isRole: Bool = false
    ) throws(RecordError) -> String {
        guard case .word(let word, let isQuoted) = token,
            isQuoted || !SchemaWord.reserved.contains(word.uppercased())
        else { throw problem("\(what) belongs here; a word of the language stands in quotes") }
        guard RecordSchema.canSpell(word), !isRole || word.utf8.allSatisfy(SchemaWord.isPart) else {
            throw problem(
                isRole
                    ? "\(what) has letters, digits and underscores, 255 at most"
                    : "\(what) has 255 bytes at most and no control characters")
        }
        try advance()
        return word
    }

    private func problem(_ what: String) -> RecordError {
        RecordError(.badRequest, "Line \(line) of the schema cannot be read: \(what).")
    }

    private mutating func advance() throws(RecordError) {
        try skipBlanks()
        guard let first = rest.first else {
            token = .end
            return
        }
        if rest.utf8.first == Self.quote {
            token = .word(try quoted(), isQuoted: true)
        } else if first.utf8.allSatisfy(SchemaWord.isPart) {
            let word = rest.prefix { $0.utf8.allSatisfy(SchemaWord.isPart) }
            rest = rest.dropFirst(word.count)
            token = .word(String(word), isQuoted: false)
        } else {
            rest.removeFirst()
            token = .mark(first)
        }
    }

    private static let quote = UInt8(ascii: "\"")

    /// What stands in quotes, of which two within are one. By bytes: a quote before an accent is
    /// one character with it.
    private mutating func quoted() throws(RecordError) -> String {
        var word: [UInt8] = []
        var left = rest.utf8.dropFirst()
        while let end = left.firstIndex(of: Self.quote), !left[..<end].contains(where: Self.ends) {
            word += left[..<end]
            left = left[left.index(after: end)...]
            guard left.first == Self.quote else {
                rest = Substring(left)
                return String(decoding: word, as: UTF8.self)
            }
            word.append(Self.quote)
            left = left.dropFirst()
        }
        throw problem("a quote is not closed")
    }

    /// Whether a byte ends a line.
    private static func ends(_ byte: UInt8) -> Bool { (0x0A...0x0D).contains(byte) }

    private mutating func skipBlanks() throws(RecordError) {
        while let first = rest.first {
            if first.isNewline {
                line += 1
                rest.removeFirst()
            } else if first.isWhitespace {
                rest.removeFirst()
            } else if rest.hasPrefix("//") || rest.hasPrefix("--") {
                let comment = rest.prefix { !$0.isNewline }
                if comment.hasPrefix(SchemaWord.extensionMark) {
                    extensions.append((line, comment.dropFirst(SchemaWord.extensionMark.count)))
                }
                rest = rest.dropFirst(comment.count)
            } else if rest.hasPrefix("/*") {
                try skipComment()
            } else {
                return
            }
        }
    }

    private mutating func skipComment() throws(RecordError) {
        rest = rest.dropFirst(2)
        while !rest.hasPrefix("*/") {
            guard let first = rest.popFirst() else { throw problem("a comment is not closed") }
            if first.isNewline { line += 1 }
        }
        rest = rest.dropFirst(2)
    }
}

extension RecordSchema.TypeDefinition {
    /// Adds a natural key. Returns what stands in its way, in words; nil when it was added.
    public mutating func add(_ key: RecordSchema.NaturalKey) -> String? {
        guard (1...RecordSchema.NaturalKey.fieldsMax).contains(key.fields.count),
            naturalKeys.contains(key) || naturalKeys.count < RecordSchema.NaturalKey.fieldsMax
        else {
            return "a key has \(RecordSchema.NaturalKey.fieldsMax) fields at most, and a record "
                + "type as many keys"
        }
        for name in key.fields {
            guard let field = self[name], !field.isSystem else {
                return "\(self.name) has no field \(name) of its own that could be unique"
            }
            guard field.type.mayBeKey else {
                return "\(name) is \(field.type.text), of which no two values count as the same"
            }
        }
        if let retired = key.fields.first(where: { self[$0]?.retiredFrom != nil }) {
            return "\(retired) is retired, and new clients would give records without it"
        }
        naturalKeys.insert(key)
        return nil
    }

    /// Hides a field from clients of a version and later; nil shows it to all again. Returns what
    /// stands in the way, in words; nil when it was done.
    public mutating func retire(_ field: String, from version: ClientVersion?) -> String? {
        guard let place = fields.firstIndex(where: { ExactName($0.name) == ExactName(field) }),
            !fields[place].isSystem
        else { return "\(name) has no field \(field) of its own" }
        guard version == nil || !naturalKeys.contains(where: { $0.fields.contains(field) }) else {
            return "\(field) is part of a natural key, which new clients would not give"
        }
        fields[place].retiredFrom = version
        return nil
    }
}

extension RecordSchema {
    /// Reads the text of a `.ckdb` file; comments are left out. Throws BAD_REQUEST with the line
    /// and what belongs there, LIMIT_EXCEEDED for what is too large. Cost: linear in the text.
    public init(text: String) throws(RecordError) { self = try SchemaReader.read(text) }
}
