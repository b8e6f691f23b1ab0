/// What the records of a container may hold: record types, their fields, who may do what, as the
/// text of a `.ckdb` file says it.
///
/// Source: Apple, Integrating a Text-Based Schema into Your Workflow.
public struct RecordSchema: Hashable, Sendable {
    /// Roles of one's own, beside `_world`, `_icloud` and `_creator`.
    public var roles: [String] = []
    public var recordTypes: [TypeDefinition] = []

    public struct TypeDefinition: Hashable, Sendable {
        public var name: String
        public var fields: [Field] = []
        public var grants: [Grant] = []
        /// No two records of a zone have all values of one of these alike (our extension).
        public var naturalKeys: Set<NaturalKey> = []

        public init(
            name: String, fields: [Field] = [], grants: [Grant] = [],
            naturalKeys: Set<NaturalKey> = []
        ) {
            self.name = name
            self.fields = fields
            self.grants = grants
            self.naturalKeys = naturalKeys
        }
    }

    public struct Field: Hashable, Sendable {
        public var name: String
        public var type: FieldType
        public var indexes: Set<Index>
        /// Clients of this version and later do not see the field any more (our extension).
        public var retiredFrom: ClientVersion?

        public init(name: String, type: FieldType, indexes: Set<Index> = []) {
            self.name = name
            self.type = type
            self.indexes = indexes
        }
    }

    /// A type of the text, such as `LIST<INT64>` or `ENCRYPTED STRING`.
    public struct FieldType: Hashable, Sendable {
        public enum Primitive: String, CaseIterable, Hashable, Sendable {
            case asset = "ASSET"
            case bytes = "BYTES"
            case double = "DOUBLE"
            case int64 = "INT64"
            case location = "LOCATION"
            case reference = "REFERENCE"
            case string = "STRING"
            case timestamp = "TIMESTAMP"

            var mayBeEncrypted: Bool { self != .asset && self != .reference }
            /// Whether two values can be told to be the same one.
            var mayBeKey: Bool { self != .asset && self != .location }
        }

        public var primitive: Primitive
        public var isList: Bool
        public var isEncrypted: Bool

        public init(_ primitive: Primitive, isList: Bool = false, isEncrypted: Bool = false) {
            self.primitive = primitive
            self.isList = isList
            self.isEncrypted = isEncrypted
        }
    }

    public enum Index: String, CaseIterable, Hashable, Sendable {
        case queryable = "QUERYABLE"
        case searchable = "SEARCHABLE"
        case sortable = "SORTABLE"
    }

    public struct Grant: Hashable, Sendable {
        public enum Permission: String, CaseIterable, Hashable, Sendable {
            case create = "CREATE"
            case read = "READ"
            case write = "WRITE"
        }

        public var permissions: Set<Permission>
        public var role: String

        public init(_ permissions: Set<Permission>, to role: String) {
            self.permissions = permissions
            self.role = role
        }
    }

    /// Fields whose values name a record in its zone, as an ISBN names a book. A record that lacks
    /// one of them has no such key.
    public struct NaturalKey: Hashable, Sendable, Comparable {
        /// In the order of the alphabet, each once.
        public let fields: [String]

        /// Fields of one key, and keys of one record type, at most.
        public static let fieldsMax = 8

        public init(_ fields: some Sequence<String>) { self.fields = Set(fields).sorted() }

        public static func < (one: Self, other: Self) -> Bool {
            one.fields.lexicographicallyPrecedes(other.fields)
        }

        /// As in the text: `author, title`.
        public var text: String {
            fields.map(SchemaWord.spelled).joined(separator: ", ")
        }
    }

    public init(roles: [String] = [], recordTypes: [TypeDefinition] = []) {
        self.roles = roles
        self.recordTypes = recordTypes
    }

    public subscript(recordType: String) -> TypeDefinition? {
        recordTypes.first { $0.name.isExactly(recordType) }
    }

    /// Where each record type stands, for who asks for many: there may be thousands.
    package var places: [ExactName: Int] { ExactName.places(of: recordTypes.lazy.map(\.name)) }
}

extension RecordSchema.TypeDefinition {
    public subscript(field: String) -> RecordSchema.Field? {
        fields.first { $0.name.isExactly(field) }
    }

    /// Where each field stands.
    package var places: [ExactName: Int] { ExactName.places(of: fields.lazy.map(\.name)) }
}

extension ExactName {
    /// The first of two equal ones counts.
    fileprivate static func places(of names: some Sequence<String>) -> [ExactName: Int] {
        Dictionary(names.enumerated().map { (ExactName($1), $0) }) { first, _ in first }
    }
}

extension RecordSchema.FieldType {
    /// As `FieldValue.schemaType` spells it, such as `INT64_LIST` or `ENCRYPTED_STRING`.
    public var wireName: String {
        (isEncrypted ? "ENCRYPTED_" : "") + primitive.rawValue + (isList ? "_LIST" : "")
    }

    /// The type of a spelling on the wire; nil where a schema has none such.
    public init?(wireName: String) {
        var rest = Substring(wireName)
        let isEncrypted = rest.hasPrefix("ENCRYPTED_")
        if isEncrypted { rest = rest.dropFirst("ENCRYPTED_".count) }
        let isList = rest.hasSuffix("_LIST")
        if isList { rest = rest.dropLast("_LIST".count) }
        // A record keeps an asset under a name of its own until it is asked for.
        let name = rest == "ASSETID" ? "ASSET" : String(rest)
        guard let primitive = Primitive(rawValue: name) else { return nil }
        self.init(primitive, isList: isList, isEncrypted: isEncrypted)
    }

    /// Whether fields of the type may be part of a natural key.
    public var mayBeKey: Bool { primitive.mayBeKey && !isList && !isEncrypted }

    /// As in the text.
    public var text: String {
        let plain = (isEncrypted ? "ENCRYPTED " : "") + primitive.rawValue
        return isList ? "LIST<\(plain)>" : plain
    }
}

extension RecordSchema.Field {
    /// Fields that every record has.
    public static let systemFields: [(name: String, type: RecordSchema.FieldType)] = [
        ("___createTime", .init(.timestamp)), ("___createdBy", .init(.reference)),
        ("___etag", .init(.string)), ("___modTime", .init(.timestamp)),
        ("___modifiedBy", .init(.reference)), ("___recordID", .init(.reference)),
    ]

    public var isSystem: Bool { name.hasPrefix("___") }
}
