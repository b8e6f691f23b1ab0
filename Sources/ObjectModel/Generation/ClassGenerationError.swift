/// Why no Swift class can be generated for an entity.
public struct ClassGenerationError: Error, Sendable, CustomStringConvertible {
    /// What kind of failure it is; compare with the static members.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        enum Kind: String { case missingClass, sharedClass, unknownKind, badName }
        let kind: Kind
        public var description: String { kind.rawValue }

        /// The entity asks for a class but names none.
        public static let missingClass = Code(kind: .missingClass)
        /// Two entities ask for one class.
        public static let sharedClass = Code(kind: .sharedClass)
        /// A code generation setting that is neither class nor category nor none.
        public static let unknownKind = Code(kind: .unknownKind)
        /// A name that Swift cannot spell.
        public static let badName = Code(kind: .badName)
    }

    /// What kind of failure it is.
    public var code: Code
    /// One sentence: what cannot be generated, and what to change in the model.
    public var message: String
    /// Names of the things concerned: `entity`, `class`, `other`, `value`.
    public var fields: [String: String]

    public var description: String { message }

    init(_ code: Code, entity: String?, fields: [String: String] = [:]) {
        self.code = code
        self.fields = fields
        self.fields["entity"] = entity ?? ""
        let subject = "the entity “\(entity ?? "")”"
        let value = fields["value"] ?? ""
        switch code.kind {
        case .missingClass:
            message = "\(subject) generates a class but has no class name; name one in the model"
        case .sharedClass:
            message =
                "\(subject) and “\(fields["other"] ?? "")” both generate the class"
                + " \(fields["class"] ?? ""); set the code generation of one to manual"
        case .unknownKind:
            message =
                "\(subject) has the code generation “\(value)”; expected class, category or none"
        case .badName:
            message = "\(subject) uses the name “\(value)”, which is no Swift name; rename it"
        }
    }
}
