internal import Foundation
internal import RecordServer
internal import RecordService
internal import RecordWire

/// What an administrator changes in a schema beside taking in and deploying one.
enum SchemaAdministration {
    /// A field of a record type in an environment.
    struct Field {
        var container: String
        var environment: String
        var recordType: String
        /// Several, with commas between, for a key of several.
        var name: String
    }

    case preview(container: String)
    case compare(container: String, environment: String)
    case declare(container: String)
    case undeclare(Field)
    case retire(container: String)
    case keep(Field)
    case holders(Field)
    case remove(Field)

    /// nil for a path or a method of something else.
    init?(_ method: String, _ words: [String]) {
        guard words.first == "schemas", words.count > 2 else { return nil }
        switch (method, words.count) {
        case ("POST", 3) where words[2] == "preview": self = .preview(container: words[1])
        case ("POST", 3) where words[2] == "keys": self = .declare(container: words[1])
        case ("POST", 3) where words[2] == "retirements": self = .retire(container: words[1])
        case ("POST", 4) where words[3] == "difference":
            self = .compare(container: words[1], environment: words[2])
        case (_, 6):
            let field = Field(
                container: words[1], environment: words[2], recordType: words[4], name: words[5])
            switch (method, words[3]) {
            case ("DELETE", "keys"): self = .undeclare(field)
            case ("DELETE", "retirements"): self = .keep(field)
            case ("GET", "fields"): self = .holders(field)
            case ("DELETE", "fields"): self = .remove(field)
            default: return nil
            }
        default: return nil
        }
    }

    /// Throws what the service refuses, and BAD_REQUEST for a body that cannot be read.
    func perform(_ accounts: ServiceAccounts, _ request: HTTPRequest) throws -> HTTPResponse {
        switch self {
        case .preview(let container):
            let wish: SchemaText = try request.wish(bytesMax: Administration.schemaBytesMax)
            return try .json(
                of: ChangedLines(
                    accounts.previewOfImport(
                        try RecordSchema(text: wish.text), container: container)))
        case .compare(let container, let environment):
            let wish: SchemaText = try request.wish(bytesMax: Administration.schemaBytesMax)
            let schema = try accounts.schema(container: container, environment: environment)
            return try .json(
                of: ChangedLines(
                    SchemaDifference(from: schema, to: try RecordSchema(text: wish.text))))
        case .declare(let container):
            let wish: KeyFieldsWish = try request.wish()
            _ = try accounts.declareUnique(
                wish.fields, of: wish.recordType, container: container)
            return try Self.schema(accounts, container, "development")
        case .undeclare(let field):
            try accounts.undeclareUnique(
                field.name.split(separator: ",").map(String.init), of: field.recordType,
                container: field.container, environment: field.environment)
            return try Self.schema(accounts, field.container, field.environment)
        case .retire(let container):
            let wish: RetirementWish = try request.wish()
            guard let version = ClientVersion(wish.from) else {
                throw RecordError(.badRequest, "A version is numbers with dots, such as 2.10.")
            }
            try accounts.retire(
                wish.field, of: wish.recordType, from: version, container: container)
            return try Self.schema(accounts, container, "development")
        case .keep(let field):
            try accounts.retire(
                field.name, of: field.recordType, from: nil, container: field.container,
                environment: field.environment)
            return try Self.schema(accounts, field.container, field.environment)
        case .holders(let field):
            return try .json(
                of: HoldersAnswer(
                    accounts.holders(
                        of: field.name, in: field.recordType, container: field.container,
                        environment: field.environment)))
        case .remove(let field):
            return try .json(
                of: HoldersAnswer(
                    accounts.removeField(
                        field.name, of: field.recordType, container: field.container,
                        environment: field.environment)))
        }
    }

    private static func schema(
        _ accounts: ServiceAccounts, _ container: String, _ environment: String
    ) throws -> HTTPResponse {
        let schema = try accounts.schema(container: container, environment: environment)
        return try .json(of: SchemaAnswer(schema))
    }
}

/// A schema as the text of a `.ckdb` file, and taken apart.
struct SchemaAnswer: Encodable {
    struct RecordType: Encodable {
        var name: String
        var fields: [Field]
        /// Fields that are unique together.
        var keys: [[String]]
    }

    struct Field: Encodable {
        var name: String
        var type: String
        var indexes: [String]
        /// Clients of this version and later do not see it; nil for one that all see.
        var retiredFrom: String?
    }

    var text: String
    var recordTypes: [RecordType]

    init(_ schema: RecordSchema) {
        text = schema.text
        recordTypes = schema.recordTypes.sorted { $0.name < $1.name }.map { type in
            RecordType(
                name: type.name,
                fields: type.fields.filter { !$0.isSystem }.sorted { $0.name < $1.name }.map {
                    Field(
                        name: $0.name, type: $0.type.text,
                        indexes: $0.indexes.map(\.rawValue).sorted(),
                        retiredFrom: $0.retiredFrom?.description)
                },
                keys: type.naturalKeys.sorted().map(\.fields))
        }
    }
}

/// Fields that are unique together.
struct KeyFieldsWish: Wish {
    enum CodingKeys: String, CodingKey, CaseIterable { case recordType, fields }

    var recordType: String
    var fields: [String]
}

struct RetirementWish: Wish {
    enum CodingKeys: String, CodingKey, CaseIterable { case recordType, field, from }

    var recordType: String
    var field: String
    /// Clients of this version and later do not see it.
    var from: String
}

/// How many have a field.
struct HoldersAnswer: Encodable {
    var records: Int
    var users: Int

    init(_ holders: FieldHolders) {
        records = holders.records
        users = holders.databases
    }
}
