/// Every type a target declares, and what the names in its sources lead to.
struct TypeTable {
    let module: String
    private var types: [[String]: [TypeDeclaration]] = [:]
    private var aliases: [[String]: TypeAlias] = [:]

    init(module: String, files: [SourceDeclarations]) {
        self.module = module
        for file in files {
            for type in file.types { types[type.path, default: []].append(type) }
            aliases.merge(file.aliases) { first, _ in first }
        }
    }

    /// The class that members written in `owner` belong to. Throws where that is none of the
    /// target's, or one that only its file sees.
    func owner(of member: ManagedMember) throws -> NominalType {
        // A class may have its module's name.
        let isOwn = member.owner.count == 1 || types[member.owner] != nil
        let isQualified = member.owner.first == module && !isOwn
        let path = isQualified ? Array(member.owner.dropFirst()) : member.owner
        guard let type = declaration(path, seenFrom: member.place.file) else {
            let name = path.joined(separator: ".")
            let problem =
                aliases[path] == nil
                ? "the class “\(name)” is not declared in the module \(module)"
                : "“\(name)” is a typealias"
            throw CompilerError(
                .unsupportedMember,
                "\(problem); write its @NSManaged members beside the class, under its own name",
                at: member.place)
        }
        guard type.kind == .reference else {
            throw CompilerError(
                .unsupportedMember, "@NSManaged belongs to a class, and “\(name(type))” is none",
                at: member.place)
        }
        for depth in 1...path.count {
            let around = declaration(Array(path.prefix(depth)), seenFrom: member.place.file)
            guard around?.access.isOfOneFile == true else { continue }
            throw CompilerError(
                .unsupportedMember,
                "the generated accessors cannot see the \(around?.access.rawValue ?? "") class"
                    + " “\(name(type))”; make it internal", at: member.place)
        }
        return nominal(type)
    }

    /// The type that `expression`, written inside `owner`, stands for.
    func resolve(
        _ expression: TypeExpression, in owner: [String], at place: SourcePlace, depth: Int = 0
    ) throws -> ResolvedType {
        func inner(_ part: TypeExpression) throws -> ResolvedType {
            try resolve(part, in: owner, at: place, depth: depth + 1)
        }
        guard depth < 32 else {
            throw CompilerError(
                .unsupportedType, "the type \(expression) stands for itself", at: place)
        }
        switch expression {
        case .optional(let wrapped): return .optional(try inner(wrapped))
        case .array(let element): return .bound(.standard("a"), [try inner(element)])
        case .dictionary(let key, let value):
            return .bound(.standard("D"), [try inner(key), try inner(value)])
        case .existential(let named): return try inner(named)
        case .named(let components):
            if let alias = alias(components, in: owner, at: place) {
                return try resolve(alias.type, in: alias.scope, at: place, depth: depth + 1)
            }
            let type = try found(components, in: owner, at: place)
            let arguments = try components.flatMap(\.arguments).map(inner)
            guard
                LibraryTypes.argumentCount(of: type) == (arguments.isEmpty ? nil : arguments.count)
            else {
                throw CompilerError(
                    .unsupportedType, "the generic type \(expression) cannot be resolved", at: place
                )
            }
            if type == .standard("q"), let wrapped = arguments.first { return .optional(wrapped) }
            return arguments.isEmpty ? type : .bound(type, arguments)
        }
    }

    /// What the one name of a type stands for where it is a typealias of the target's, and where
    /// that is written.
    private func alias(
        _ components: [TypeExpression.Component], in owner: [String], at place: SourcePlace
    ) -> (type: TypeExpression, scope: [String])? {
        guard components.count == 1, components[0].arguments.isEmpty else { return nil }
        for scope in scopes(around: owner, seenFrom: place.file) {
            let path = scope + [components[0].name]
            if declaration(path, seenFrom: place.file) != nil { return nil }
            guard let alias = aliases[path] else { continue }
            return alias.type.map { ($0, scope) }
        }
        return nil
    }

    /// Where a name inside `owner` may be declared, innermost first.
    private func scopes(around owner: [String], seenFrom file: String) -> [[String]] {
        var scopes = (0...owner.count).reversed().map { Array(owner.prefix($0)) }
        scopes.insert(contentsOf: ancestors(of: owner, seenFrom: file), at: 1)
        return scopes
    }

    private func found(
        _ components: [TypeExpression.Component], in owner: [String], at place: SourcePlace
    ) throws -> ResolvedType {
        let names = components.map(\.name)
        if let own = try ownType(names, in: owner, at: place) { return own }
        let isQualified = names.count == 2 && LibraryTypes.isModule(names[0])
        if names.count == 1 || isQualified,
            let type = LibraryTypes.type(
                named: names[names.count - 1], in: isQualified ? names[0] : nil)
        {
            return type
        }
        throw CompilerError(
            .unknownType,
            "the type “\(names.joined(separator: "."))” is neither declared in the module \(module)"
                + " nor one of Swift's, Foundation's or CoreData's; declare the property with"
                + " @Managed(\"…\") instead of @NSManaged", at: place)
    }

    private func ownType(
        _ names: [String], in owner: [String], at place: SourcePlace
    ) throws -> ResolvedType? {
        for scope in scopes(around: owner, seenFrom: place.file) {
            let first = scope + [names[0]]
            if let alias = aliases[first] {
                throw CompilerError(
                    .unsupportedType,
                    "“\(names[0])” is a typealias (\(alias.place.file), line"
                        + " \(alias.place.line)); write the type it stands for", at: place)
            }
            guard declaration(first, seenFrom: place.file) != nil else { continue }
            guard let type = declaration(scope + names, seenFrom: place.file) else { return nil }
            return try resolved(type, at: place)
        }
        guard names[0] == module, names.count > 1 else { return nil }
        return try ownType(Array(names.dropFirst()), in: [], at: place)
    }

    private func resolved(_ type: TypeDeclaration, at place: SourcePlace) throws -> ResolvedType {
        if type.isGeneric {
            throw CompilerError(
                .unsupportedType, "the generic type “\(name(type))” is not supported", at: place)
        }
        return type.kind == .protocol ? .existential(nominal(type)) : .nominal(nominal(type))
    }

    /// The superclasses within the target, nearest first.
    func ancestors(of owner: [String], seenFrom file: String) -> [[String]] {
        var found: [[String]] = []
        var current = owner
        while let type = declaration(current, seenFrom: file),
            case .named(let components)? = type
                .inherited.first, types[components.map(\.name)] != nil
        {
            current = components.map(\.name)
            guard !found.contains(current), current != owner else { break }
            found.append(current)
        }
        return found
    }

    func declaration(_ path: [String], seenFrom file: String) -> TypeDeclaration? {
        guard let all = types[path] else { return nil }
        return all.first { $0.access.isOfOneFile && $0.place.file == file }
            ?? all.first { !$0.access.isOfOneFile }
    }

    private func name(_ type: TypeDeclaration) -> String { type.path.joined(separator: ".") }

    private func nominal(_ type: TypeDeclaration) -> NominalType {
        let steps = (1...type.path.count).map { depth in
            let path = Array(type.path.prefix(depth))
            let declared = declaration(path, seenFrom: type.place.file) ?? type
            return NominalType.Component(
                name: path[depth - 1], kind: declared.kind,
                discriminator: declared.access.isOfOneFile
                    ? FileDiscriminator.text(module: module, file: declared.place.file) : nil)
        }
        return NominalType(module: module, path: steps)
    }
}
