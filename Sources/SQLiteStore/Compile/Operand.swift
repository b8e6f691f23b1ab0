internal import Predicates
internal import Stores

/// What an expression is, once compiled.
enum Operand {
    /// A value that is not in the database.
    case constant(Any?)
    /// A single value computed by SQL.
    case value(SQLFragment, ValueKind)
    /// A row: the SQL of its key.
    case object(SQLFragment, EntityLayout)
    /// A composite attribute: the columns of its elements.
    case composite([SQLFragment])
    /// Values or rows at the end of a to-many relationship.
    case collection(MemberSource)
}

/// The kind of a computed value: decides how constants are compared with it.
enum ValueKind: Hashable {
    case number
    case text
    case date
    case uuid
    case uri
    /// The number of a row's entity.
    case entity
    /// Bytes; behind a marker byte where the column may refer to files.
    case data(isMarked: Bool)

    init(_ kind: ColumnKind) {
        switch kind {
        case .integer, .boolean, .double, .float, .decimal: self = .number
        case .date: self = .date
        case .text: self = .text
        case .uuid: self = .uuid
        case .uri: self = .uri
        case .transformable: self = .data(isMarked: false)
        case .binary(let isExternal): self = .data(isMarked: isExternal)
        }
    }

    var isText: Bool { self == .text || self == .uri }
}

/// The members of a to-many relationship, before they are looked at.
struct MemberSource {
    /// The SQL of the owner's key.
    var owner: SQLFragment
    var place: ToManyPlace
    var member: EntityLayout
    /// What is read of each member; empty for the member itself.
    var path: [String]
    /// The conditions of the subqueries around it, innermost first, with their variables' names.
    var filters: [(predicate: PredicateNode, variable: String)] = []
    /// The variables that were bound where the collection stands.
    var variables: [String: QueryScope]
}
