internal import Foundation
internal import RecordService
internal import RecordWire

/// What `diptych service schema` does.
enum SchemaDeed {
    static let environment = Option(
        "environment", "NAME", "schema: development (as without) or production")
    static let importFile = Option("import", "FILE", "schema: take this .ckdb into development")
    static let difference = Option("diff", "FILE", "schema: what this .ckdb has and lacks")
    static let deploy = Option(
        "deploy", nil, "schema: add to production what development has beyond it")
    /// Those of which one decides what is done.
    static let deeds = [importFile, difference, deploy]
    static let options = [environment, importFile, difference, deploy]

    case print(environment: String)
    case take(URL)
    case compare(URL, environment: String)
    case deploy

    init(_ arguments: Arguments) throws {
        let names = ["development", "production"]
        let environment = try arguments.choice(Self.environment, among: names) ?? names[0]
        if let file = arguments.file(Self.importFile) {
            self = .take(file)
        } else if let file = arguments.file(Self.difference) {
            self = .compare(file, environment: environment)
        } else {
            self = arguments.has(Self.deploy) ? .deploy : .print(environment: environment)
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
        }
        return .done
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
        guard let data = try? Data(contentsOf: file), let text = String(data: data, encoding: .utf8)
        else {
            throw CommandError(
                "noFile", "\(file.path) cannot be read as text.", hint: "Name a .ckdb file.")
        }
        return try RecordSchema(text: text)
    }
}
