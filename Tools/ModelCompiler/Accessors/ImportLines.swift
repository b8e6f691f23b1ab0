/// The imports of the generated file: as wide as its declarations need and the sources allow.
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

    var text: [String] {
        [
            line("CoreData", parts: ["CoreData", "Persistence", "ObjectModel"]),
            line("Foundation", parts: ["Foundation", "FoundationEssentials"]),
        ]
    }

    private func line(_ module: String, parts: Set<String>) -> String {
        let given = files.flatMap(\.imports).filter { parts.contains($0.name) }.compactMap(\.access)
        if !publicModules.isDisjoint(with: parts) {
            return (given.contains(where: \.isPublic) ? "public import " : "import ") + module
        }
        return (given.contains { !$0.isPublic } ? "internal import " : "import ") + module
    }
}
