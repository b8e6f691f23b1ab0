/// Reads the declarations of a source file: types, where they nest, and `@NSManaged` members.
///
/// Bodies of functions, accessors and closures are passed over.
struct DeclarationReader {
    private var cursor: TokenCursor
    private var found: SourceDeclarations

    /// What `text` declares. Throws where it cannot be told.
    static func declarations(in text: String, file: String) throws -> SourceDeclarations {
        let tokens = try BuildCondition.filter(Lexer.tokens(of: text, file: file), file: file)
        var reader = DeclarationReader(
            cursor: TokenCursor(tokens, file: file), found: SourceDeclarations(file: file))
        try reader.readScope(Scope())
        reader.found.sharedNames = SharedNames.all.filter { name in
            tokens.contains { $0.isWord(name) }
        }
        if reader.cursor.current != nil {
            throw CompilerError(
                .malformedSource, "this } closes nothing; remove it", at: reader.cursor.place)
        }
        return reader.found
    }

    /// Where declarations stand.
    private struct Scope {
        var path: [String] = []
        var defaultAccess = AccessLevel.internal
        var isGeneric = false
        /// Whether an attribute is before it that may be an actor's, or takes it out of use.
        var isMarked = false
        var isTop: Bool { path.isEmpty }
    }

    /// Attributes and modifiers before a declaration.
    private struct Marks {
        var attributes: [String] = []
        var access: AccessLevel?
        /// Modifiers that make a property another than that of an object under its name.
        var isOfTypeOrOverride = false
        var isManaged: Bool { attributes.contains("NSManaged") }
        /// Whether an attribute is among them that says more than what Objective-C sees.
        var isMarked: Bool { !Set(attributes).isSubset(of: ["objc", "objcMembers"]) }
    }

    private mutating func readScope(_ scope: Scope) throws {
        var marks = Marks()
        while let token = cursor.current, !token.isMark("}") {
            if try takeMark(&marks) { continue }
            try readDeclaration(token, marks, scope)
            marks = Marks()
        }
    }

    /// Passes one attribute or modifier.
    private mutating func takeMark(_ marks: inout Marks) throws -> Bool {
        guard let token = cursor.current else { return false }
        if token.isMark("@"), cursor.next()?.kind == .word {
            cursor.position += 1
            var name = cursor.take()?.text ?? ""
            while cursor.takes(".") { name = try cursor.name() }
            marks.attributes.append(name)
            if let bracket = cursor.current, bracket.isMark("("), !bracket.isApart {
                try cursor.skipBalanced("(", ")")
            }
            return true
        }
        guard token.kind == .word, let next = cursor.next() else { return false }
        let isModifierOfClass = token.text == "class" && Self.followsClassModifier(next)
        guard Keyword.modifiers.contains(token.text) || isModifierOfClass else { return false }
        guard next.kind == .word || next.isMark("(") || next.isMark("@") else { return false }
        cursor.position += 1
        if ["static", "class", "override"].contains(token.text) { marks.isOfTypeOrOverride = true }
        guard next.isMark("(") else {
            if let access = AccessLevel(rawValue: token.text) { marks.access = access }
            return true
        }
        // `private(set)` says nothing of who may read.
        try cursor.skipBalanced("(", ")")
        return true
    }

    private static func followsClassModifier(_ next: Token) -> Bool {
        ["func", "var", "let", "subscript", "override", "final"].contains(next.text)
            || AccessLevel(rawValue: next.text) != nil
    }

    private mutating func readDeclaration(
        _ token: Token, _ marks: Marks, _ scope: Scope
    ) throws {
        guard token.kind == .word else { return try passOver(marks) }
        switch token.text {
        case "import" where scope.isTop: try readImport(marks)
        case "typealias":
            cursor.position += 1
            let name = try cursor.name()
            let place = cursor.place
            let start = cursor.position
            let type = token.isUncertain || !cursor.takes("=") ? nil : try? cursor.type()
            cursor.position = start
            found.aliases[scope.path + [name]] = TypeAlias(type: type, place: place)
        case "var", "let": try readVariables(token, marks, scope)
        case "func": try readFunction(token, marks, scope)
        case "case":
            cursor.position += cursor.next()?.isName == true ? 2 : 1
        default:
            guard Keyword.types.contains(token.text), cursor.next()?.isName == true else {
                return try passOver(marks)
            }
            try readType(token, marks, scope)
        }
    }

    /// Passes a token that begins no declaration of interest, with all that is inside brackets.
    private mutating func passOver(_ marks: Marks) throws {
        if marks.isManaged {
            throw CompilerError(
                .unsupportedMember, "@NSManaged belongs to a var or a func of a class",
                at: cursor.place)
        }
        let start = cursor.position
        switch cursor.current?.text {
        case "{" where cursor.current?.kind == .mark: try cursor.skipBalanced("{", "}")
        case "(" where cursor.current?.kind == .mark: try cursor.skipBalanced("(", ")")
        case "." where cursor.current?.kind == .mark:
            // What follows a dot is a member, whatever word it is.
            cursor.position += cursor.next()?.kind == .word ? 2 : 1
        default: cursor.position += 1
        }
        let passed = cursor.tokens[start..<min(cursor.position, cursor.tokens.count)]
        if let hidden = passed.first(where: { $0.isWord("NSManaged") }) {
            throw CompilerError(
                .unsupportedMember,
                "@NSManaged inside a function cannot be served; move the class out of it",
                at: SourcePlace(file: cursor.file, line: hidden.line))
        }
    }

    private mutating func readImport(_ marks: Marks) throws {
        cursor.position += 1
        var name = cursor.take()?.text ?? ""
        if ["class", "struct", "enum", "protocol", "func", "var", "let", "typealias"].contains(name)
        {
            name += " " + (try cursor.name())
        }
        while cursor.takes(".") { name += "." + (try cursor.name()) }
        found.imports.append(.init(attributes: marks.attributes, access: marks.access, name: name))
    }

    // MARK: Types

    private mutating func readType(_ token: Token, _ marks: Marks, _ scope: Scope) throws {
        cursor.position += 1
        let place = cursor.place
        var path = [try cursor.name()]
        while cursor.takes(".") { path.append(try cursor.name()) }
        let isGeneric = cursor.current?.isMark("<") == true
        let inherited = try readHead()
        var inner = Scope(
            path: scope.path + path, isGeneric: scope.isGeneric || isGeneric,
            isMarked: scope.isMarked || marks.isMarked)
        if token.text == "extension" {
            inner.defaultAccess = marks.access ?? .internal
        } else {
            let access = marks.access ?? scope.defaultAccess
            found.types.append(
                TypeDeclaration(
                    path: inner.path, kind: Self.kind(token.text), access: access,
                    isGeneric: inner.isGeneric, inherited: inherited, isMarked: inner.isMarked,
                    place: place))
        }
        guard token.text != "protocol" else { return try cursor.skipBalanced("{", "}") }
        guard cursor.takes("{") else {
            throw CompilerError(.malformedSource, "a { was expected here", at: cursor.place)
        }
        try readScope(inner)
        guard cursor.takes("}") else {
            throw CompilerError(
                .malformedSource, "the { of this type has no }; close it", at: place)
        }
    }

    /// Passes everything up to the body, and gives the plain names after the colon.
    private mutating func readHead() throws -> [TypeExpression] {
        var inherited: [TypeExpression] = []
        if cursor.current?.isMark("<") == true { try cursor.skipBalanced("<", ">") }
        if cursor.takes(":") {
            repeat {
                var marks = Marks()
                while try takeMark(&marks) {}
                let start = cursor.position
                if let type = try? cursor.type() {
                    inherited.append(type)
                } else {
                    cursor.position = start
                    break
                }
            } while cursor.takes(",")
        }
        while let token = cursor.current, !token.isMark("{") {
            guard !token.isMark("}") else { break }
            cursor.position += 1
        }
        return inherited
    }

    private static func kind(_ keyword: String) -> TypeDeclaration.Kind {
        switch keyword {
        case "struct": .structure
        case "enum": .enumeration
        case "protocol": .protocol
        default: .reference
        }
    }

    // MARK: Members

    private mutating func readVariables(
        _ token: Token, _ marks: Marks, _ scope: Scope
    ) throws {
        cursor.position += 1
        guard marks.isManaged else {
            noteComputed(token, marks, scope)
            if cursor.current?.isName == true { cursor.position += 1 }
            return
        }
        try check(token, marks, scope)
        var untyped: [(String, SourcePlace)] = []
        repeat {
            let place = cursor.place
            untyped.append((try cursor.name(), place))
            guard cursor.takes(":") else { continue }
            let type = try cursor.type()
            for (name, place) in untyped {
                add(name, .property(type), marks, scope, at: place)
            }
            untyped = []
        } while cursor.takes(",")
        if let (name, place) = untyped.first {
            throw CompilerError(
                .unsupportedMember, "the @NSManaged property “\(name)” has no type; write one",
                at: place)
        }
    }

    /// Notes the property at the cursor, which stays, where anybody in the module may read it of
    /// any object, without waiting and without an error.
    private mutating func noteComputed(_ token: Token, _ marks: Marks, _ scope: Scope) {
        let isPlain = !scope.isTop && !scope.isGeneric && !scope.isMarked && !token.isUncertain
        let access = marks.access ?? scope.defaultAccess
        guard isPlain, !marks.isMarked, !marks.isOfTypeOrOverride, !access.isOfOneFile else {
            return
        }
        let start = cursor.position
        defer { cursor.position = start }
        let place = cursor.place
        guard let name = try? cursor.name(), cursor.takes(":"), let type = try? cursor.type() else {
            return
        }
        if cursor.takes("{"), cursor.current?.isWord("get") == true,
            ["async", "throws"].contains(cursor.next()?.text)
        {
            return
        }
        found.computed.append(
            ComputedMember(owner: scope.path, name: name, type: type, place: place))
    }

    private mutating func readFunction(_ token: Token, _ marks: Marks, _ scope: Scope) throws {
        cursor.position += 1
        guard marks.isManaged else {
            if cursor.current?.isName == true { cursor.position += 1 }
            return
        }
        try check(token, marks, scope)
        let place = cursor.place
        let name = try cursor.name()
        guard cursor.takes("(") else { throw unsupported(name, place) }
        var parameters: [ManagedMember.Parameter] = []
        while !cursor.takes(")") {
            let label = try cursor.name()
            if cursor.current?.isName == true { cursor.position += 1 }
            guard cursor.takes(":") else { throw unsupported(name, place) }
            parameters.append(.init(label: label == "_" ? nil : label, type: try cursor.type()))
            _ = cursor.takes(",")
        }
        let next = cursor.current
        guard next?.isMark("->") != true, next?.isWord("throws") != true,
            next?.isWord("async") != true
        else { throw unsupported(name, place) }
        add(name, .function(parameters), marks, scope, at: place)
    }

    private mutating func add(
        _ name: String, _ kind: ManagedMember.Kind, _ marks: Marks, _ scope: Scope,
        at place: SourcePlace
    ) {
        found.members.append(
            ManagedMember(
                owner: scope.path, name: name, kind: kind,
                access: marks.access ?? scope.defaultAccess, place: place))
    }

    private func unsupported(_ name: String, _ place: SourcePlace) -> CompilerError {
        CompilerError(
            .unsupportedMember,
            "the @NSManaged function “\(name)” is no accessor of a to-many relationship; expected"
                + " one such as addToTags(_ value: Tag)", at: place)
    }

    /// Throws where members cannot be marked with `@NSManaged`.
    private func check(_ token: Token, _ marks: Marks, _ scope: Scope) throws {
        let place = SourcePlace(file: cursor.file, line: token.line)
        if scope.isTop || scope.isGeneric || token.text == "let" {
            throw CompilerError(
                .unsupportedMember,
                "@NSManaged belongs to a var or a func of a class without generic parameters",
                at: place)
        }
        if token.isUncertain {
            throw CompilerError(
                .unsupportedMember,
                "only a build setting decides whether this @NSManaged member is compiled; move it"
                    + " out of the #if", at: place)
        }
    }
}
