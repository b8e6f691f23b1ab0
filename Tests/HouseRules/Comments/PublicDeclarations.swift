/// The public declarations of a file, found in stripped code by keyword and braces.
struct PublicDeclarations {
    private(set) var found: [PublicDeclaration] = []
    /// Every type and extension, public or not.
    private(set) var types: [TypeScope] = []

    private let file: SourceFile
    /// What the open braces belong to: a type, or (nil) anything else.
    private var braces: [TypeScope?] = []
    private var brackets = 0
    /// The type whose body opens next.
    private var awaited: TypeScope?

    private static let declaration = try? Pattern(
        #"^\s*((?:@\w+(?:\([^)]*\))?\s+)*(?:[a-z]+(?:\([a-z]+\))?\s+)*?)"#
            + #"(class(?!\s+(?:func|var|let|subscript)\b)|struct|enum|actor|protocol|extension"#
            + #"|func|init|subscript|var|let|typealias|associatedtype|case)\b[?!]?\s*"#
            + #"(`?[\w.]+`?|[^\s\w(<{]+)?"#)

    private static let narrowing: Set<Substring> = [
        "internal", "private", "fileprivate", "package",
    ]

    init(_ file: SourceFile) {
        self.file = file
        for index in file.code.indices {
            if brackets == 0, awaited == nil { read(index) }
            follow(file.code[index])
        }
    }

    /// Takes up what a line declares directly in a type or in the file.
    private mutating func read(_ index: Int) {
        let owners = braces.compactMap { $0 }
        guard owners.count == braces.count,
            let groups = Self.declaration?.groups(in: file.code[index]),
            !groups[1].contains("import")
        else { return }
        let (modifiers, keyword) = (groups[1], groups[2])
        let name = groups[3].filter { $0 != "`" }
        let signature = signature(from: index)
        let comment = comment(above: index)
        let isPublic = isPublic(modifiers, keyword, in: owners)
        if TypeScope.keywords.contains(keyword) {
            let scope = TypeScope(
                keyword: keyword, name: (owners.map(\.name) + [name]).joined(separator: "."),
                isPublic: keyword == "extension" || isPublic,
                makesPublic: keyword == "protocol" || modifiers.contains("public"),
                comment: comment, inherited: Self.inherited(signature))
            types.append(scope)
            awaited = scope
        }
        guard isPublic, keyword != "extension" else { return }
        found.append(
            PublicDeclaration(
                path: file.path, line: index + 1, keyword: keyword,
                name: ["init", "subscript"].contains(keyword) ? keyword : name,
                modifiers: modifiers, signature: signature, comment: comment, owners: owners))
    }

    private func isPublic(_ modifiers: String, _ keyword: String, in owners: [TypeScope]) -> Bool {
        guard owners.allSatisfy(\.isPublic) else { return false }
        let words = modifiers.split { $0.isWhitespace }
        if words.contains("public") || words.contains("open") { return true }
        guard let owner = owners.last, owner.makesPublic else { return false }
        if ["protocol", "extension"].contains(owner.keyword) {
            return words.allSatisfy { !Self.narrowing.contains($0) }
        }
        return owner.keyword == "enum" && keyword == "case"
    }

    /// Counts the braces of a line, and gives those of types their names.
    private mutating func follow(_ line: String) {
        for character in line {
            switch character {
            case "(", "[": brackets += 1
            case ")", "]": brackets -= 1
            case "{":
                braces.append(brackets == 0 ? awaited : nil)
                if brackets == 0 { awaited = nil }
            case "}": _ = braces.popLast()
            default: break
            }
        }
    }

    /// The text from a line to the body that follows, or to the end of the declaration.
    private func signature(from start: Int) -> String {
        var text = ""
        var depth = 0
        for index in start..<min(start + 40, file.code.count) {
            let line = file.code[index]
            if index > start, depth == 0, !Declarations.continues(line) { break }
            for character in line {
                if character == "{", depth == 0 { return text + body(from: index) }
                if "([{".contains(character) { depth += 1 }
                if ")]}".contains(character) { depth -= 1 }
                text.append(character)
            }
            text.append(" ")
        }
        return text
    }

    /// The effects that a getter names, which stand in the body's first lines.
    private func body(from index: Int) -> String {
        let lines = file.code[index..<min(index + 2, file.code.count)].joined(separator: " ")
        let words = lines.split { $0.isWhitespace }
        guard let get = words.firstIndex(of: "get") else { return "" }
        return "{ " + words[get...].prefix(3).joined(separator: " ")
    }

    /// The lines of `///` above a declaration, its attributes and orders to the formatter.
    private func comment(above index: Int) -> String {
        var lines: [Substring] = []
        var place = index - 1
        while place >= 0 {
            let line = file.lines[place].drop { $0 == " " }
            if line.hasPrefix("///") {
                lines.insert(line.dropFirst(3), at: 0)
            } else if !lines.isEmpty || !["@", "// swift-format"].contains(where: line.hasPrefix) {
                break
            }
            place -= 1
        }
        return lines.joined(separator: "\n").trimmed
    }

    /// The names after the first colon outside of brackets, without generic arguments.
    private static func inherited(_ signature: String) -> [String] {
        var depth = 0
        let plain = signature.filter { character in
            if character == "<" { depth += 1 }
            defer { if character == ">" { depth -= 1 } }
            return depth == 0
        }
        guard let colon = plain.firstIndex(of: ":") else { return [] }
        let list = plain[plain.index(after: colon)...]
        return list.prefix(upTo: list.firstRange(of: " where ")?.lowerBound ?? list.endIndex)
            .split(separator: ",").compactMap { part in
                part.split(whereSeparator: \.isWhitespace).first { !$0.hasPrefix("@") }
                    .map(String.init)
            }
    }
}

extension String {
    fileprivate var trimmed: String {
        String(drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
    }
}
