internal import Foundation
internal import ObjectModel
internal import Predicates
internal import SQLiteDriver
internal import SQLiteStore
internal import Stores

/// `diptych inspect`: what is in a store.
struct Inspect: Verb {
    private static let entity = Option("entity", "NAME", "print the objects of an entity")
    private static let condition = Option(
        "where", "PREDICATE", "only those the predicate holds for")
    private static let sort = Option("sort", "KEY,…", "in this order; -KEY for the reverse")
    private static let limit = Option("limit", "N", "at most so many objects")
    private static let properties = Option(
        "properties", nil, "print every property of every entity")
    private static let schema = Option("schema", nil, "print the tables, indexes and triggers")
    private static let check = Option(
        "check", nil, "look for damage; exit status 1 where there is any")

    static let manual = Manual(
        name: "inspect", summary: "Shows what is in a store, or looks for damage.",
        operands: ["STORE"],
        options: [entity, condition, sort, limit, properties, schema, check, .model],
        notes: [
            HelpText.wrapped(
                "STORE may be SQLite, XML or binary; it is only read. Its model is --model's, or "
                    + "the copy in a SQLite store. Without either, names and types are those of "
                    + "the file's columns or elements, in lower case, and links are shown where "
                    + "the file tells where they lead.")
        ],
        examples: [
            ("diptych inspect Library.sqlite", "entities, counts, history, mirror"),
            (
                "diptych inspect Library.sqlite --entity Book --where \"pages > 300\" --sort title",
                "some objects"
            ), ("diptych inspect Library.sqlite --check --json", "for a script"),
        ])

    private enum Mode: Sendable {
        case facts, properties, schema, check
        case rows(RowChoice)
    }

    private let access: StoreAccess
    private let mode: Mode
    private let invocation: Invocation

    init(_ arguments: Arguments) throws {
        access = StoreAccess(arguments)
        invocation = arguments.invocation
        let choices = [Self.entity, Self.properties, Self.schema, Self.check].filter(
            arguments.has)
        guard choices.count <= 1 else {
            throw CommandError(
                "usage", "--\(choices[0].name) and --\(choices[1].name) do not go together.",
                hint: "Choose one.", status: .usage)
        }
        if let name = arguments.value(Self.entity) {
            mode = .rows(
                RowChoice(
                    entity: name, condition: arguments.value(Self.condition),
                    sort: arguments.value(Self.sort),
                    limit: try arguments.number(Self.limit, in: 1...Int.max) ?? 0))
            return
        }
        if let stray = [Self.condition, Self.sort, Self.limit].first(where: arguments.has) {
            throw CommandError(
                "usage", "--\(stray.name) needs --entity.", hint: "Add --entity NAME.",
                status: .usage)
        }
        switch choices.first?.name {
        case Self.properties.name: mode = .properties
        case Self.schema.name: mode = .schema
        case Self.check.name: mode = .check
        default: mode = .facts
        }
    }

    func run(_ console: Console) async throws -> ExitStatus {
        switch mode {
        case .facts:
            let report = StoreReport(facts: try StoreFacts(access), name: access.name)
            if console.isJSON { console.emit(report.json) } else { report.print(console) }
            return .done
        case .properties:
            let known = try access.knownModel()
            let facts = ModelFacts(
                model: try known ?? StoreFileKind(of: access.url).inferredModel(of: access.url))
            if console.isJSON { console.emit(facts.json) } else { console.block(facts.text) }
            return .done
        case .schema:
            try printSchema(console)
            return .done
        case .check: return try printCheck(console)
        case .rows(let choice):
            try choice.print(try access.openForLook(), console)
            return .done
        }
    }

    private func printSchema(_ console: Console) throws {
        try access.requireStore()
        _ = try SQLiteRowStore.metadata(at: access.url)
        let connection = try ReadingConnection.open(access.url)
        let rows = try connection.rows(
            "SELECT type, name, tbl_name, sql FROM sqlite_master WHERE sql IS NOT NULL "
                + "ORDER BY CASE type WHEN 'table' THEN 1 WHEN 'index' THEN 2 ELSE 3 END, rowid")
        guard console.isJSON else {
            for row in rows { console.block((row[3].string ?? "") + ";") }
            return
        }
        let members = rows.map { row -> JSON in
            [
                "type": JSON(row[0].string), "name": JSON(row[1].string),
                "table": JSON(row[2].string), "sql": JSON(row[3].string),
            ]
        }
        console.emit(["schema": .array(members)])
    }

    // MARK: Damage

    private func printCheck(_ console: Console) throws -> ExitStatus {
        let (problems, isCompared) = try check()
        if console.isJSON {
            let members = problems.map { problem -> JSON in
                [
                    "code": .string(problem.code), "message": .string(problem.message),
                    "object": JSON(problem.object), "hint": .string(problem.hint),
                ]
            }
            console.emit([
                "ok": .bool(problems.isEmpty), "compared": .bool(isCompared),
                "problems": .array(members),
            ])
        } else if problems.isEmpty {
            console.line(
                isCompared
                    ? "\(access.name) is whole."
                    : "\(access.name) is whole as a file; its objects were not compared with a "
                        + "model, of which it keeps no copy: give --model.")
        } else {
            var table = TextTable()
            for problem in problems {
                table.add(problem.code, problem.object ?? "", problem.message)
            }
            console.block(table.text)
            console.line("\(access.name): \(Figure.count(problems.count, "problem")).")
            for code in Set(problems.map(\.code)).sorted() {
                console.line("\(code): \(invocation.completing(CheckHint.hint(of: code)))")
            }
        }
        return problems.isEmpty ? .done : .failed
    }

    /// Returns what is wrong, and whether the objects were compared with a model.
    private func check() throws -> (problems: [StoreCheck.Problem], isCompared: Bool) {
        var model: NSManagedObjectModel?
        var problems: [StoreCheck.Problem] = []
        do {
            model = try access.knownModel()
        } catch let error as StoreError where error.code == .corrupt {
            problems = [try StoreCheck.damage(ofModel: error)]
        }
        do {
            problems += try findProblems(model)
        } catch let fault as SQLiteFault {
            guard fault.isCorrupt else { throw StoreError(fault, path: access.url.path) }
            problems = [StoreCheck.damage(fault)]
        } catch let error as StoreError {
            guard let fault = error.cause as? SQLiteFault, fault.isCorrupt else { throw error }
            problems = [StoreCheck.damage(fault)]
        }
        let isCompared =
            model != nil && !problems.contains { StoreCheck.endsLook.contains($0.code) }
        return (problems, isCompared)
    }

    private func findProblems(_ model: NSManagedObjectModel?) throws -> [StoreCheck.Problem] {
        guard try StoreFileKind(of: access.url) == .sqlite else {
            return try findGraphProblems(model)
        }
        let connection = try Connection.reading(access.url.path)
        let damage = try StoreCheck.integrity(of: connection) + StoreCheck.metadata(of: access.url)
        guard damage.isEmpty, let model else { return damage }
        let store: SQLiteRowStore
        do {
            store = try access.open(model: model, readOnly: true)
        } catch let error as StoreError where error.code == .modelMismatch {
            return StoreCheck.otherModel(error)
        }
        return try store.read { transaction in
            var check = StoreCheck(transaction, identifier: store.identifier, store: access.url)
            try check.run()
            return check.problems
        }
    }

    /// An XML or binary store is read whole, which finds whatever is wrong in it.
    private func findGraphProblems(
        _ model: NSManagedObjectModel?
    ) throws -> [StoreCheck.Problem] {
        let type = try StoreFileKind(of: access.url)
        do {
            let damage = try StoreCheck.metadata(of: access.url)
            guard let model else {
                _ = try StoreFacts(access)
                return damage
            }
            guard damage.isEmpty else { return damage }
            _ = try type.open(access.url, model: model, readOnly: true, pragmas: [:])
            return []
        } catch let error as StoreError where error.code == .modelMismatch {
            return StoreCheck.otherModel(error)
        } catch let error as StoreError where error.code == .corrupt {
            return [
                StoreCheck.Problem(
                    code: "damagedFile", message: CommandFailure.describe(error).message,
                    object: error.fields["entity"])
            ]
        }
    }
}

/// Which objects to print.
struct RowChoice: Sendable {
    let entity: String
    let condition: String?
    let sort: String?
    let limit: Int

    func print(_ store: any RowStore, _ console: Console) throws {
        guard let layout = store.layout.entity(named: entity) else {
            throw unknownEntity(in: store.layout.entities.map(\.name).sorted())
        }
        var query = RowQuery(entity: layout.number)
        if let condition { query.predicate = node(of: try NSPredicate.parse(condition)) }
        query.sort = (sort ?? "").split(separator: ",").map { key in
            let isReversed = key.hasPrefix("-")
            return NSSortDescriptor(
                key: String(isReversed ? key.dropFirst() : key), ascending: !isReversed)
        }
        query.limit = limit
        try store.reading {
            let report = RowReport(store)
            guard !console.isJSON else {
                return try store.stream(query) { console.emit(try report.json($0)) }
            }
            let rows = try store.rows(matching: query)
            guard !rows.isEmpty else { return console.line("No \(entity) matches.") }
            let table = try report.table(rows, of: layout)
            if table.width <= console.width {
                console.block(table.text)
            } else {
                for row in rows { try report.printBlock(row, console) }
            }
        }
    }

    private func unknownEntity(in names: [String]) -> CommandError {
        let near = Spelling.nearest(to: entity, among: names).map { "Did you mean \($0)?" }
        let listed = names.prefix(12).joined(separator: ", ")
        let more = names.count > 12 ? " and \(names.count - 12) more" : ""
        return CommandError(
            "unknownEntity", "The store has no entity '\(entity)'.",
            hint: near ?? "It has \(listed)\(more).")
    }
}
