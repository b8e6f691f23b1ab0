/// What one source file declares, as far as `@NSManaged` members need it.
struct SourceDeclarations {
    var file: String
    var imports: [Import] = []
    var types: [TypeDeclaration] = []
    /// Names given to other types, with the path that leads to them.
    var aliases: [[String]: TypeAlias] = [:]
    var members: [ManagedMember] = []
    var computed: [ComputedMember] = []
    /// The names that both CoreData and Foundation have, as far as the file uses them.
    var sharedNames: Set<String> = []

    /// An import, with the words before it.
    struct Import: Hashable {
        var attributes: [String]
        var access: AccessLevel?
        /// What follows the word `import`.
        var name: String
    }
}

/// Who may see a declaration, from everyone to the file alone.
enum AccessLevel: String, CaseIterable {
    case `open`, `public`, package, `internal`, `fileprivate`, `private`

    var isOfOneFile: Bool { self == .private || self == .fileprivate }
    var isPublic: Bool { self == .open || self == .public }
}

/// A class, a structure, an enumeration or a protocol.
struct TypeDeclaration {
    enum Kind: String {
        case reference = "C"
        case structure = "V"
        case enumeration = "O"
        case `protocol` = "P"
    }

    var path: [String]
    var kind: Kind
    var access: AccessLevel
    var isGeneric: Bool
    /// The types after the colon that are plain names.
    var inherited: [TypeExpression]
    /// Whether an attribute is before it that may be an actor's, or takes it out of use.
    var isMarked = false
    var place: SourcePlace
}

/// A name for another type.
struct TypeAlias {
    /// What it stands for; nil for what a member cannot be of, as functions and tuples.
    var type: TypeExpression?
    var place: SourcePlace
}

/// A member marked with `@NSManaged`.
struct ManagedMember {
    enum Kind: Hashable {
        case property(TypeExpression)
        case function([Parameter])
    }

    struct Parameter: Hashable {
        /// The label at the call; nil for none.
        var label: String?
        var type: TypeExpression
    }

    /// The path of the type around it, as it is written.
    var owner: [String]
    var name: String
    var kind: Kind
    var access: AccessLevel
    var place: SourcePlace
}

/// A property that is not marked with `@NSManaged`: one that a class computes or keeps itself.
struct ComputedMember {
    /// The path of the type around it, as it is written.
    var owner: [String]
    var name: String
    var type: TypeExpression
    var place: SourcePlace
}
