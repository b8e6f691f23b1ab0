/// The public declarations of the modules under Sources that owe their readers a comment.
struct PublicSurface {
    private var declarations: [PublicDeclaration] = []
    private var types: [String: [TypeScope]] = [:]
    /// What each public protocol documents, by selector.
    private var documented: [String: Set<String>] = [:]

    init(_ files: [SourceFile]) {
        for file in files where file.area == "Sources" && file.isSwift {
            let read = PublicDeclarations(file)
            declarations += read.found
            for type in read.types { types[type.name, default: []].append(type) }
        }
        for declaration in declarations where !declaration.comment.isEmpty {
            guard let owner = declaration.owner, owner.keyword == "protocol" else { continue }
            documented[owner.name, default: []].insert(declaration.selector)
        }
    }

    /// A finding for each declaration that `isBroken` holds for; none for those whose base says it.
    func finding(_ isBroken: (PublicDeclaration) -> Bool) -> [Finding] {
        declarations.filter { !hasEvidentBase($0) && isBroken($0) }.map {
            Finding(path: $0.path, line: $0.line, what: "\($0.keyword) \($0.fullName)")
        }
    }

    /// The comments of a type's declaration and of the extension that holds a member.
    func comments(of owner: TypeScope?) -> [String] {
        guard let owner else { return [] }
        let type = types[owner.name, default: []].filter { $0.keyword != "extension" }
        return [owner.comment] + type.map(\.comment)
    }

    /// Witnesses of the standard library's protocols and Foundation's, which mean the same in every
    /// type.
    private static let known: Set = [
        "==(_:_:)", "==(left:right:)", "<(left:right:)", "hash(into:)", "hash", "isEqual(_:)",
        "encode(to:)", "encode(with:)", "init()", "init(from:)", "init(coder:)", "CodingKeys",
        "supportsSecureCoding", "copy(with:)", "mutableCopy(with:)", "description",
        "debugDescription", "rawValue", "init(rawValue:)", "startIndex", "endIndex",
        "makeIterator()", "init(integerLiteral:)", "init(stringLiteral:)", "Subject",
    ]

    /// Overrides, witnesses, and extensions and nested types of what is not public.
    private func hasEvidentBase(_ declaration: PublicDeclaration) -> Bool {
        if declaration.isOverride || Self.known.contains(declaration.selector) { return true }
        guard let owner = declaration.owner else { return false }
        if isHidden(owner.name) { return true }
        guard owner.keyword != "protocol" else { return false }
        return bases(of: owner.name).contains {
            documented[$0, default: []].contains(declaration.selector)
        }
    }

    private func isHidden(_ name: String) -> Bool {
        let made = types[name, default: []].filter { $0.keyword != "extension" }
        return !made.isEmpty && !made.contains(where: \.isPublic)
    }

    /// The protocols of a type, their own ones too, and the type itself if it is a protocol.
    private func bases(of name: String) -> Set<String> {
        var known: Set = [name]
        var waiting = [name]
        while let next = waiting.popLast() {
            let above = types[next, default: []].flatMap(\.inherited)
            for base in above where known.insert(base).inserted { waiting.append(base) }
        }
        return known
    }
}
