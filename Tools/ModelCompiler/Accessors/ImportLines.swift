/// The imports of a generated file: as wide as its declarations need and the sources allow.
///
/// The compiler warns of a public import that nothing public needs, and refuses a plain import
/// beside an explicit internal one.
struct ImportLines {
    private let files: [SourceDeclarations]
    private var publicModules: Set<String> = []

    init(files: [SourceDeclarations]) { self.files = files }

    /// Notes the types of a public declaration.
    mutating func notePublic(_ expression: TypeExpression, _ type: ResolvedType) {
        publicModules.formUnion(Self.modules(of: type))
        if "\(expression)".contains("TimeInterval") { publicModules.insert("Foundation") }
    }

    /// Notes a public name for a type of CoreData's.
    mutating func notePublicName() { publicModules.insert("CoreData") }

    private static func modules(of type: ResolvedType) -> Set<String> {
        switch type {
        case .standard, .any, .anyObject: []
        case .nominal(let nominal), .existential(let nominal): [nominal.module]
        case .optional(let wrapped): modules(of: wrapped)
        case .bound(let base, let arguments):
            arguments.reduce(modules(of: base)) { $0.union(modules(of: $1)) }
        }
    }

    /// The modules that are imported, and what the sources may import of them.
    private static let parts: [(module: String, parts: Set<String>)] = [
        ("CoreData", ["CoreData", "Persistence", "ObjectModel"]),
        ("Foundation", ["Foundation", "FoundationEssentials"]),
    ]

    var text: [String] { Self.parts.map(line) }

    /// The imports of the file of classes, which are public: those that `needed` names for what
    /// they declare say so.
    func ofClasses(needing needed: Set<String>) -> [String] {
        Self.parts.reversed().map { module, parts in
            needed.contains(module) ? "public import \(module)" : hidden(module, parts)
        }
    }

    private func line(_ module: String, _ parts: Set<String>) -> String {
        guard !publicModules.isDisjoint(with: parts) else { return hidden(module, parts) }
        let isSaid = given(parts).contains(where: \.isPublic)
        return (isSaid ? "public import " : "import ") + module
    }

    /// The import of a module that nothing public needs.
    private func hidden(_ module: String, _ parts: Set<String>) -> String {
        (given(parts).contains { !$0.isPublic } ? "internal import " : "import ") + module
    }

    /// How the sources import a module or a part of it, where they say so.
    private func given(_ parts: Set<String>) -> [AccessLevel] {
        files.flatMap(\.imports).filter { parts.contains($0.name) }.compactMap(\.access)
    }
}
