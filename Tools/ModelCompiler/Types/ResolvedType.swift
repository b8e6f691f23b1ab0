/// A type with its place in a module, as symbols spell it.
indirect enum ResolvedType: Hashable, Sendable {
    /// A type of the standard library that symbols write with one letter.
    case standard(Character)
    case nominal(NominalType)
    /// A generic type with its arguments.
    case bound(ResolvedType, [ResolvedType])
    case optional(ResolvedType)
    /// `any P`.
    case existential(NominalType)
    case any
    case anyObject
}

/// A type that is declared somewhere, by the path that leads to it.
struct NominalType: Hashable, Sendable {
    var module: String
    var path: [Component]

    /// One step of the path.
    struct Component: Hashable, Sendable {
        var name: String
        var kind: TypeDeclaration.Kind
        /// The file's own mark, for a type only its file sees.
        var discriminator: String?
    }

    var outer: NominalType? {
        path.count > 1 ? NominalType(module: module, path: path.dropLast()) : nil
    }
}
