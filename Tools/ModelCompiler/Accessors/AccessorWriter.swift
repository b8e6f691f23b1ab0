/// Writes the Swift file that defines what the compiler leaves undefined for `@NSManaged` members:
/// a function under the symbol of each accessor.
struct AccessorWriter {
    private let files: [SourceDeclarations]
    private let table: TypeTable
    private let keys: PropertyKeys
    private var lines: [String] = []
    private var imports: ImportLines
    /// Every symbol defined, in order.
    private(set) var symbols: [String] = []

    init(files: [SourceDeclarations], module: String, keys: PropertyKeys) {
        self.files = files
        self.keys = keys
        imports = ImportLines(files: files)
        table = TypeTable(module: module, files: files)
    }

    /// The whole file. Throws where a member cannot be served.
    mutating func text() throws -> String {
        lines = []
        for member in files.flatMap(\.members) { try write(member) }
        let computed = ComputedKeysText(files: files, table: table)
        if computed.isPublic { imports.notePublicName() }
        lines += computed.lines
        let head = "// Accessors of @NSManaged members, generated from the sources. Do not edit.\n"
        let names = SharedNames(files: files)
        if names.isPublic { imports.notePublicName() }
        return ([head] + imports.text + names.lines + lines).joined(separator: "\n") + "\n"
    }

    private mutating func write(_ member: ManagedMember) throws {
        guard member.name.utf8.allSatisfy({ $0 < 128 }) else {
            throw CompilerError(
                .unsupportedMember,
                "the @NSManaged name “\(member.name)” has letters outside ASCII; declare it with"
                    + " @Managed(\"\(member.name)\") instead", at: member.place)
        }
        let owner = try table.owner(of: member)
        lines += ["", "extension \(member.owner.joined(separator: ".")) {"]
        switch member.kind {
        case .property(let type): try write(property: member, type, owner)
        case .function(let parameters): try write(function: member, parameters, owner)
        }
        lines.append("}")
    }

    private func discriminator(_ member: ManagedMember) -> String? {
        guard member.access.isOfOneFile else { return nil }
        return FileDiscriminator.text(module: table.module, file: member.place.file)
    }

    /// A name that no member of a subclass or superclass has.
    private static func name(_ word: String, _ member: ManagedMember) -> String {
        "_managed\(word)_\(member.owner.joined(separator: "_"))_\(member.name)"
    }

    private mutating func write(
        property member: ManagedMember, _ type: TypeExpression, _ owner: NominalType
    ) throws {
        let resolved = try table.resolve(type, in: member.owner, at: member.place)
        let access = member.access.isPublic ? "public " : ""
        if member.access.isPublic { imports.notePublic(type, resolved) }
        func symbol(_ accessor: SymbolWriter.Accessor) -> String {
            SymbolWriter.symbol(
                of: member.name, accessor, type: resolved, in: owner,
                discriminator: discriminator(member))
        }
        let primitive = keys.primitiveKey(of: member)
        let key = "\"\(primitive ?? member.name)\""
        let verb = primitive == nil ? "anagedValue" : "anagedPrimitiveValue"
        add(
            symbol(.getter), "\(access)dynamic final func \(Self.name("Get", member))() -> \(type)",
            "m\(verb)(forKey: \(key))")
        add(
            symbol(.setter),
            "\(access)dynamic final func \(Self.name("Set", member))(_ value: __owned \(type))",
            "setM\(verb)(value, forKey: \(key))")
    }

    private mutating func write(
        function member: ManagedMember, _ parameters: [ManagedMember.Parameter],
        _ owner: NominalType
    ) throws {
        let accessor = try CollectionAccessor(member, parameters, keys: keys)
        let types = try parameters.map {
            try table.resolve($0.type, in: member.owner, at: member.place)
        }
        if member.access.isPublic {
            for (parameter, type) in zip(parameters, types) {
                imports.notePublic(parameter.type, type)
            }
        }
        let symbol = SymbolWriter.symbol(
            of: member.name, labels: parameters.map(\.label), types: types, in: owner,
            discriminator: discriminator(member))
        let list = zip(accessor.parameters, parameters).map { "_ \($0): \($1.type)" }
            .joined(separator: ", ")
        let access = member.access.isPublic ? "public " : ""
        add(
            symbol,
            "\(access)dynamic final func \(Self.name("Do", member))(\(list))",
            accessor.call)
    }

    private mutating func add(_ symbol: String, _ head: String, _ body: String) {
        symbols.append(symbol)
        // The compiler takes @NSManaged members as dynamic. Were these functions not so too, other
        // modules could not be optimized against them.
        lines += ["    @_silgen_name(\"\(symbol)\")", "    \(head) {", "        \(body)", "    }"]
    }
}
