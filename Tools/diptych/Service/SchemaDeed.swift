internal import Foundation
internal import RecordService
internal import RecordWire

/// What `diptych service schema` does.
enum SchemaDeed {
    static let environment = Option(
        "environment", "NAME", "schema: development (as without) or production")
    static let importFile = Option("import", "FILE", "schema: take this .ckdb into development")
    static let difference = Option("diff", "FILE", "schema: what this .ckdb has and lacks")
    static let deployment = Option(
        "deploy", nil, "schema: add to production what development has beyond it")
    static let unique = Option(
        "unique", "TYPE.FIELDS",
        "schema: no two records of a zone have these fields alike, in development")
    static let notUnique = Option(
        "not-unique", "TYPE.FIELDS", "schema: take that away again, in --environment")
    static let retire = Option(
        "retire", "TYPE.FIELD", "schema: hide this field from clients of --from on, in development")
    static let from = Option(
        "from", "VERSION", "schema: the first version of clients that need the field no more")
    static let keep = Option(
        "keep", "TYPE.FIELD", "schema: show a retired field to all again, in --environment")
    static let remove = Option(
        "remove", "TYPE.FIELD",
        "schema: tell how many records have a retired field; with --yes take it out of them")
    static let yes = Option(
        "yes", nil, "schema, assets: take away what was told, which nobody brings back")
    /// Those of which one decides what is done.
    static let deeds = [
        importFile, difference, deployment, unique, notUnique, retire, keep, remove,
    ]
    static let details = [from, yes]
    static let options = [environment] + deeds + details

    case print(environment: String)
    case take(URL)
    case compare(URL, environment: String)
    case deploy
    case declare(Key)
    case undeclare(Key, environment: String)
    case retire(Key, from: ClientVersion)
    case keep(Key, environment: String)
    case remove(Key, environment: String, isAgreed: Bool)

    /// A record type and fields, written as `Book.author,title`.
    struct Key {
        let recordType: String
        let fields: [String]

        var field: String { fields.first ?? "" }

        init(_ text: String, of option: Option, fieldsMax: Int = .max) throws {
            let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
            let fields = parts.last?.split(separator: ",", omittingEmptySubsequences: false) ?? []
            guard parts.count == 2, !parts[0].isEmpty, !fields.contains(where: \.isEmpty),
                fields.count <= fieldsMax
            else {
                let more = fieldsMax > 1 ? ", or Book.author,title" : ""
                throw CommandError(
                    "usage", "--\(option.name) takes \(option.value ?? "").",
                    hint: "Write --\(option.name) Book.isbn\(more).", status: .usage)
            }
            recordType = String(parts[0])
            self.fields = fields.map(String.init)
        }

        var text: String { "\(recordType).\(fields.joined(separator: ","))" }
    }

    init(_ arguments: Arguments) throws {
        let names = ["development", "production"]
        let environment = try arguments.choice(Self.environment, among: names) ?? names[0]
        if let file = arguments.file(Self.importFile) {
            self = .take(file)
        } else if let file = arguments.file(Self.difference) {
            self = .compare(file, environment: environment)
        } else if let text = arguments.value(Self.unique) {
            self = .declare(try Key(text, of: Self.unique))
        } else if let text = arguments.value(Self.retire) {
            let version = try arguments.required(Self.from)
            guard let from = ClientVersion(version) else {
                throw CommandError(
                    "usage", "'\(version)' is no version.",
                    hint: "Write numbers with dots between: --from 2.10.", status: .usage)
            }
            self = .retire(try Key(text, of: Self.retire, fieldsMax: 1), from: from)
        } else if let text = arguments.value(Self.keep) {
            self = .keep(try Key(text, of: Self.keep, fieldsMax: 1), environment: environment)
        } else if let text = arguments.value(Self.remove) {
            self = .remove(
                try Key(text, of: Self.remove, fieldsMax: 1), environment: environment,
                isAgreed: arguments.has(Self.yes))
        } else if let text = arguments.value(Self.notUnique) {
            self = .undeclare(try Key(text, of: Self.notUnique), environment: environment)
        } else {
            self = arguments.has(Self.deployment) ? .deploy : .print(environment: environment)
        }
    }

    /// Status 1: the schemas that were compared differ.
    func perform(
        in container: String, _ accounts: ServiceAccounts, _ console: Console
    ) throws -> ExitStatus {
        switch self {
        case .print(let environment):
            let schema = try accounts.schema(container: container, environment: environment)
            if console.isJSON {
                console.emit(["schema": .string(schema.text)])
            } else {
                console.block(schema.text)
            }
        case .take(let file):
            let added = try accounts.importSchema(try Self.read(file), container: container)
            tell(added, console, without: "Development has all of it already.")
        case .compare(let file, let environment):
            let schema = try accounts.schema(container: container, environment: environment)
            let difference = SchemaDifference(from: schema, to: try Self.read(file))
            tell(difference, console, without: "The schemas say the same.")
            return difference.isEmpty ? .done : .failed
        case .deploy:
            let added = try accounts.deploySchema(container: container)
            tell(added, console, without: "Production has all of it already.")
        case .declare(let key):
            let isNew = try accounts.declareUnique(
                key.fields, of: key.recordType, container: container)
            console.did(
                isNew
                    ? "\(key.text) is unique in each zone of development now; --deploy brings it "
                        + "to production."
                    : "\(key.text) is unique in development already.",
                ["unique": .string(key.text), "new": .bool(isNew)])
        case .undeclare(let key, let environment):
            try accounts.undeclareUnique(
                key.fields, of: key.recordType, container: container, environment: environment)
            console.did(
                "\(key.text) need not be unique in \(environment) any more.",
                ["notUnique": .string(key.text), "environment": .string(environment)])
        case .retire(let key, let version):
            try accounts.retire(
                key.field, of: key.recordType, from: version, container: container)
            console.did(
                "Clients of \(version) and later do not see \(key.text) in development; --deploy "
                    + "brings that to production.",
                ["retired": .string(key.text), "from": .string("\(version)")])
        case .keep(let key, let environment):
            try accounts.retire(
                key.field, of: key.recordType, from: nil, container: container,
                environment: environment)
            console.did(
                "All clients see \(key.text) in \(environment).",
                ["kept": .string(key.text), "environment": .string(environment)])
        case .remove(let key, let environment, let isAgreed):
            try remove(key, environment, isAgreed, container, accounts, console)
        }
        return .done
    }

    private func remove(
        _ key: Key, _ environment: String, _ isAgreed: Bool, _ container: String,
        _ accounts: ServiceAccounts, _ console: Console
    ) throws {
        let found =
            isAgreed
            ? try accounts.removeField(
                key.field, of: key.recordType, container: container, environment: environment)
            : try accounts.holders(
                of: key.field, in: key.recordType, container: container, environment: environment)
        if console.isJSON {
            return console.emit([
                "records": .integer(Int64(found.records)),
                "users": .integer(Int64(found.databases)),
                "removed": .bool(isAgreed),
            ])
        }
        let records = found.records == 1 ? "1 record" : "\(found.records) records"
        let users = found.databases == 1 ? "1 user" : "\(found.databases) users"
        console.line(
            isAgreed
                ? "\(key.text) is taken out of \(records)."
                : "\(records) of \(users) have \(key.text) in \(environment); "
                    + "--yes takes it out of them.")
    }

    private func tell(_ difference: SchemaDifference, _ console: Console, without words: String) {
        if console.isJSON {
            console.emit(["changes": .array(difference.lines.map { .string($0) })])
        } else if difference.isEmpty {
            console.line(words)
        } else {
            for line in difference.lines { console.line(line) }
        }
    }

    private static func read(_ file: URL) throws -> RecordSchema {
        guard let data = try? GivenFile.data(file), let text = String(data: data, encoding: .utf8)
        else {
            throw CommandError(
                "noFile", "\(file.path) cannot be read as text.", hint: "Name a .ckdb file.")
        }
        return try RecordSchema(text: text)
    }
}
