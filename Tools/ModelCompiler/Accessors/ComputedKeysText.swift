/// The extensions by which classes answer the keys of properties that they compute themselves.
///
/// On Apple's platforms the Objective-C runtime finds such getters by their names. One class of a
/// hierarchy conforms, the first below `NSManagedObject`, and answers for those below it too.
struct ComputedKeysText {
    /// The lines of the file.
    private(set) var lines: [String] = []
    /// Whether a class that other modules see conforms.
    private(set) var isPublic = false

    private let table: TypeTable

    init(files: [SourceDeclarations], table: TypeTable) {
        self.table = table
        var keys: [[String]: [String]] = [:]
        for member in files.flatMap(\.computed) where isServed(member) {
            keys[member.owner, default: []].append(member.name)
        }
        var hierarchies: [[String]: [[String]]] = [:]
        for owner in keys.keys.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
            guard let root = root(of: owner) else { continue }
            hierarchies[root, default: []].append(owner)
        }
        for (root, owners) in hierarchies.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
            write(root, owners, keys)
        }
    }

    /// Whether a value of the property's type can be told by key: one of the libraries' types, an
    /// object of the target, or a collection of them.
    private func isServed(_ member: ComputedMember) -> Bool {
        guard member.name.utf8.allSatisfy({ $0 < 128 }),
            let type = try? table.resolve(member.type, in: member.owner, at: member.place)
        else { return false }
        return isServed(type)
    }

    private func isServed(_ type: ResolvedType) -> Bool {
        switch type {
        case .standard, .any, .anyObject: true
        case .existential: false
        case .nominal(let nominal):
            nominal.module != table.module || nominal.path.last?.kind == .reference
        case .optional(let wrapped): isServed(wrapped)
        case .bound(let base, let arguments): isServed(base) && arguments.allSatisfy(isServed)
        }
    }

    /// The class right below `NSManagedObject`; nil where the class is not of managed objects, one
    /// of the classes is of an actor, out of use or seen by its file alone, or a part of the
    /// hierarchy is in another module, which may conform already. Nil too where the package sees
    /// it: how the sources import what it conforms to would have to be known.
    private func root(of owner: [String]) -> [String]? {
        let line = [owner] + table.ancestors(of: owner, seenFrom: "")
        let types = line.compactMap { table.declaration($0, seenFrom: "") }
        guard types.count == line.count, let last = types.last,
            types.allSatisfy({ $0.kind == .reference && !$0.isGeneric && !$0.isMarked }),
            last.access != .package,
            case .named(let components)? = last.inherited.first,
            components.last?.name == "NSManagedObject"
        else { return nil }
        return line.last
    }

    private mutating func write(
        _ root: [String], _ owners: [[String]], _ keys: [[String]: [String]]
    ) {
        let access = table.declaration(root, seenFrom: "")?.access.isPublic == true ? "public " : ""
        if !access.isEmpty { isPublic = true }
        lines += [
            "", "extension \(root.joined(separator: ".")): ComputedKeys {",
            "    \(access)func _computedValue(forKey key: String) -> ComputedValue? {",
        ]
        // What a class computes anew goes before what its superclass says.
        let depths = owners.map { table.ancestors(of: $0, seenFrom: "").count }
        for (owner, _) in zip(owners, depths).sorted(by: { $0.1 > $1.1 }) {
            let object = owner == root ? "self" : "object"
            lines += [
                owner == root
                    ? "        do {"
                    : "        if let object = self as? \(owner.joined(separator: ".")) {",
                "            switch key {",
            ]
            for key in Set(keys[owner] ?? []).sorted() {
                lines.append("            case \"\(key)\": return .init(\(object).`\(key)`)")
            }
            lines += ["            default: break", "            }", "        }"]
        }
        lines += ["        return nil", "    }", "}"]
    }
}
