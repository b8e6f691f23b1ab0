/// Names that CoreData and Foundation both have off Apple's platforms, where Foundation's are
/// empty.
///
/// A module that uses one gets a name of its own for CoreData's, so that files that import both
/// need nothing.
struct SharedNames {
    static let all: Set<String> = ["NSExpression", "NSComparisonPredicate"]

    private let names: [String]
    /// Whether other modules see the names: where the module imports CoreData publicly or has
    /// public members, so that its public functions may use them.
    let isPublic: Bool

    init(files: [SourceDeclarations]) {
        let used = files.reduce(into: Set<String>()) { $0.formUnion($1.sharedNames) }
        let types = files.flatMap(\.types).filter { $0.path.count == 1 }.map { $0.path[0] }
        let own = Set(files.flatMap { $0.aliases.keys.filter { $0.count == 1 }.map { $0[0] } })
        names = used.subtracting(own).subtracting(types).sorted()
        let imports = files.flatMap(\.imports).filter { $0.name == "CoreData" }
        isPublic =
            !names.isEmpty
            && (imports.contains { $0.access?.isPublic == true }
                || (imports.allSatisfy { $0.access == nil }
                    && files.flatMap(\.members).contains { $0.access.isPublic }))
    }

    var lines: [String] {
        guard !names.isEmpty else { return [] }
        let access = isPublic ? "public " : ""
        return ["", "// Foundation has empty classes of these names."]
            + names.map { "\(access)typealias \($0) = CoreData.\($0)" }
    }
}
