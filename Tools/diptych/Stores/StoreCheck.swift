internal import Foundation
internal import ObjectModel
internal import SQLiteDriver
internal import SQLiteStore
internal import Stores

/// Looks for what is wrong inside a store: its file, its keys, its links, its external files.
struct StoreCheck {
    struct Problem: Sendable {
        let code: String
        let message: String
        /// The object's id, or the name of what is concerned.
        let object: String?

        /// What to do about problems of this code.
        var hint: String { CheckHint.hint(of: code) }
    }

    private let transaction: StoreTransaction
    private let store: URL
    private let identifier: String
    private(set) var problems: [Problem] = []
    private var tables: Set<String> = []

    private var connection: Connection { transaction.connection }
    private var schema: StoreSchema { transaction.schema }

    init(_ transaction: StoreTransaction, identifier: String, store: URL) {
        self.transaction = transaction
        self.store = store
        self.identifier = identifier
    }

    /// SQLite's own check of the file; needs no model.
    static func integrity(of connection: Connection) throws -> [Problem] {
        try connection.rows("PRAGMA integrity_check(20)").compactMap { $0[0].string }
            .filter { $0 != "ok" }
            .map { Problem(code: "damagedFile", message: "SQLite finds: \($0).", object: nil) }
    }

    /// What SQLite cannot go on with.
    static func damage(_ fault: SQLiteFault) -> Problem {
        Problem(code: "damagedFile", message: "SQLite stops: \(fault.message).", object: nil)
    }

    /// What is wrong with the copy that the store keeps of its model. Throws for what is no store.
    static func damage(ofModel error: StoreError) throws -> Problem {
        if let fault = error.cause as? SQLiteFault {
            guard fault.isCorrupt else { throw error }
            return damage(fault)
        }
        return Problem(
            code: "damagedModel",
            message: "The copy that the store keeps of its model cannot be read.", object: nil)
    }

    /// The problems for which no object is compared with the model.
    static let endsLook: Set = ["damagedFile", "damagedMetadata", "damagedModel", "otherModel"]

    /// What the file lacks of what the model's entity needs.
    private static func lack(_ error: StoreError) -> Problem? {
        guard let table = error.fields["table"] else { return nil }
        let what = error.fields["missing"].map { ": \($0)" }
        let message =
            what.map { "The table lacks columns or is not there\($0)." }
            ?? "The table of pairs of \(error.fields["relationship"] ?? "links") is not there."
        return Problem(code: "missingTable", message: message, object: table)
    }

    /// Whether the store's own description of itself can be read. Throws for what is no store.
    static func metadata(of store: URL) throws -> [Problem] {
        do {
            let metadata = try StoreFileKind(of: store).metadata(at: store)
            if metadata["NSStoreModelVersionHashes"] != nil { return [] }
            let message = "The store's metadata say nothing of its model."
            return [Problem(code: "damagedMetadata", message: message, object: nil)]
        } catch let error as StoreError where error.code == .corrupt {
            let message = "The store's metadata is missing or damaged."
            return [Problem(code: "damagedMetadata", message: message, object: nil)]
        }
    }

    /// The entities in which a model is not the store's own.
    static func otherModel(_ error: StoreError) -> [Problem] {
        if let lack = lack(error) { return [lack] }
        let names = ["changed", "onlyInModel", "onlyInStore"].flatMap {
            error.fields[$0]?.split(separator: ",").map {
                $0.trimmingCharacters(in: .whitespaces)
            } ?? []
        }
        let all = names.isEmpty ? [error.fields["entity"]].compactMap { $0 } : names
        return all.map {
            Problem(
                code: "otherModel", message: "The model's \($0) is not the one of the store.",
                object: $0)
        }
    }

    mutating func run() throws {
        tables = try Set(
            connection.rows("SELECT name FROM sqlite_master WHERE type = 'table'").compactMap {
                $0[0].string
            })
        for entity in transaction.layout.entities {
            guard let columns = schema.columns(of: entity.number) else {
                noteLack(of: entity)
                continue
            }
            if columns.root == entity.number { try checkKeys(of: columns) }
            problems += try ValueCheck(entity, columns).problems(in: connection) {
                id(entity.number, $0)
            }
            for (relationship, link) in zip(entity.toOnes, columns.toOnes) {
                try checkLinks(relationship.name, link, columns)
                try checkOneToOne(relationship, link, columns)
                try checkTargets(of: relationship.name, link, columns)
            }
            for (relationship, place) in zip(entity.toManys, columns.toManys) {
                switch place {
                case .join(let side): try checkPairs(side, relationship, columns)
                case .owned(let members): try checkMembers(members, relationship, columns)
                case .inverse, .absent: break
                }
            }
        }
        try checkExternalFiles()
    }

    /// Once for a table, whichever entities need it.
    private mutating func noteLack(of entity: EntityLayout) {
        guard let error = schema.failure(of: entity.number) else { return }
        let problem =
            Self.lack(error)
            ?? Problem(
                code: "missingTable", message: CommandFailure.describe(error).message,
                object: entity.name)
        let isKnown = problems.contains {
            $0.object == problem.object && $0.message == problem.message
        }
        if !isKnown { problems.append(problem) }
    }

    private mutating func note(_ code: String, _ message: String, _ object: String?) {
        problems.append(Problem(code: code, message: message, object: object))
    }

    private func id(_ entity: Int32, _ key: SQLiteValue) -> String {
        let name = transaction.layout.entity(entity)?.name ?? "\(entity)"
        return "x-coredata://\(identifier)/\(name)/p\(key.int64 ?? 0)"
    }

    // MARK: Keys

    private mutating func checkKeys(of columns: EntityColumns) throws {
        let table = columns.table
        let known = try connection.value(
            "SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = ?", [.integer(Int64(columns.root))])
        let largest = try connection.value("SELECT max(Z_PK) FROM \(table)")?.int64 ?? 0
        if largest > known?.int64 ?? 0 {
            note(
                "keyBehind",
                "\(table) has the key \(largest), but Z_MAX is \(known?.int64 ?? 0): "
                    + "new objects would take keys in use.", table)
        }
        let members = transaction.layout.entities.filter {
            schema.columns(of: $0.number)?.root == columns.root
        }.map { String($0.number) }.joined(separator: ", ")
        let strangers = try connection.rows(
            "SELECT Z_PK, Z_ENT FROM \(table) WHERE Z_ENT IS NULL OR Z_ENT NOT IN (\(members)) "
                + "LIMIT 100")
        for row in strangers {
            note(
                "unknownEntity",
                "A row of \(table) is of entity number \(row[1].int64 ?? 0), which is not of this "
                    + "table.", "\(table)/\(row[0].int64 ?? 0)")
        }
    }

    // MARK: Links

    private mutating func checkLinks(
        _ name: String, _ link: LinkColumns, _ columns: EntityColumns
    ) throws {
        guard let table = link.destinationTable, tables.contains(table) else { return }
        let dangling = try connection.rows(
            "SELECT s.Z_PK, s.\(link.key) FROM \(columns.table) s WHERE s.Z_ENT = ? "
                + "AND s.\(link.key) IS NOT NULL AND NOT EXISTS (SELECT 1 FROM \(table) d "
                + "WHERE d.Z_PK = s.\(link.key)) LIMIT 100", [.integer(Int64(columns.number))])
        for row in dangling {
            note(
                "danglingLink",
                "\(name) points at key \(row[1].int64 ?? 0) of \(table), "
                    + "which is not there.", id(columns.number, row[0]))
        }
    }

    /// Whether links lead to objects of the entities they may lead to.
    private mutating func checkTargets(
        of name: String, _ link: LinkColumns, _ columns: EntityColumns
    ) throws {
        guard let target = schema.columns(of: link.destination), target.condition != nil,
            let entity = transaction.layout.entity(link.destination)
        else { return }
        let family = transaction.layout.family(of: entity).map(String.init).joined(separator: ", ")
        let own = columns.condition.map { " AND s.\($0)" } ?? ""
        let wrong = try connection.rows(
            "SELECT s.Z_PK, d.Z_PK, d.Z_ENT FROM \(columns.table) s JOIN \(target.table) d "
                + "ON d.Z_PK = s.\(link.key) WHERE d.Z_ENT NOT IN (\(family))\(own) LIMIT 100")
        for row in wrong {
            let found = row[2].int64.flatMap { Int32(exactly: $0) }
                .flatMap(transaction.layout.entity)
            note(
                "wrongEntity",
                "\(name) points at key \(row[1].int64 ?? 0) of \(target.table), which is of "
                    + "\(found?.name ?? "no entity") and not of \(entity.name).",
                id(columns.number, row[0]))
        }
    }

    /// Both ends of a one-to-one should know each other. Apple's files have some that do not.
    private mutating func checkOneToOne(
        _ relationship: NSRelationshipDescription, _ link: LinkColumns, _ columns: EntityColumns
    ) throws {
        guard let back = relationship.inverseRelationship, !back.isToMany,
            let table = link.destinationTable,
            let slot = transaction.layout.entity(link.destination)?.toOneSlot(back.name),
            let end = schema.columns(of: link.destination)?.toOnes[slot].key
        else { return }
        let wrong = try connection.rows(
            "SELECT s.Z_PK, d.Z_PK, d.\(end) FROM \(columns.table) s JOIN \(table) d "
                + "ON d.Z_PK = s.\(link.key) WHERE s.Z_ENT = ? AND d.\(end) IS NOT s.Z_PK "
                + "LIMIT 100", [.integer(Int64(columns.number))])
        for row in wrong {
            let isOpen = row[2].isNull
            note(
                isOpen ? "halfLink" : "crossedLink",
                "\(relationship.name) points at key \(row[1].int64 ?? 0) of \(table), whose "
                    + "\(back.name) points \(isOpen ? "nowhere" : "elsewhere").",
                id(columns.number, row[0]))
        }
    }

    /// A relationship that no other is the inverse of is looked at from both its ends here.
    private mutating func checkPairs(
        _ side: JoinSide, _ relationship: NSRelationshipDescription, _ columns: EntityColumns
    ) throws {
        try checkPairs(side.owner, in: side.table, columns.table)
        guard side.isReflexive || relationship.inverseRelationship == nil else { return }
        try checkPairs(side.member, in: side.table, side.destinationTable)
    }

    private mutating func checkPairs(_ column: String, in pairs: String, _ table: String) throws {
        guard tables.contains(table) else { return }
        let dangling = try connection.rows(
            "SELECT DISTINCT j.\(column) FROM \(pairs) j WHERE NOT EXISTS "
                + "(SELECT 1 FROM \(table) o WHERE o.Z_PK = j.\(column)) LIMIT 100")
        for row in dangling {
            note(
                "danglingPair",
                "A pair in \(pairs) names key \(row[0].int64 ?? 0) of \(table), which is not "
                    + "there.", pairs)
        }
    }

    /// Members of a to-many without inverse name their owner in a column that no to-one reads.
    private mutating func checkMembers(
        _ members: MemberColumns, _ relationship: NSRelationshipDescription,
        _ columns: EntityColumns
    ) throws {
        let dangling = try connection.rows(
            "SELECT m.Z_PK, m.\(members.key) FROM \(members.table) m WHERE m.\(members.key) "
                + "IS NOT NULL AND NOT EXISTS (SELECT 1 FROM \(columns.table) o "
                + "WHERE o.Z_PK = m.\(members.key)) LIMIT 100")
        for row in dangling {
            note(
                "danglingLink",
                "It is a member of \(relationship.name) of key \(row[1].int64 ?? 0) of "
                    + "\(columns.table), which is not there.", id(members.member, row[0]))
        }
    }

    // MARK: External files

    private mutating func checkExternalFiles() throws {
        let places = ValueFolders.all(of: store)
        var used: Set<String> = []
        for entity in transaction.layout.entities {
            guard let columns = schema.columns(of: entity.number) else { continue }
            for (slot, column) in columns.attributes.enumerated()
            where column.kind == .binary(external: true) {
                // A value that begins with 2 names a file: a UUID's text and a zero.
                let references = try connection.rows(
                    "SELECT Z_PK, \(column.name) FROM \(columns.table) WHERE Z_ENT = ? "
                        + "AND substr(\(column.name), 1, 1) = x'02'",
                    [.integer(Int64(columns.number))])
                for row in references {
                    let bytes = (row[1].data ?? Data()).dropFirst().prefix { $0 != 0 }
                    let file = String(decoding: bytes, as: UTF8.self)
                    used.insert(file)
                    let isThere = places.contains {
                        FileManager.default.fileExists(
                            atPath: $0.appendingPathComponent(file).path)
                    }
                    guard !isThere else { continue }
                    note(
                        "missingFile",
                        "\(entity.attributes[slot].name) is kept in the file \(file), which is "
                            + "gone.", id(columns.number, row[0]))
                }
            }
        }
        // Beside a link another store may have its own.
        let folder = SupportFolder.values(of: store.resolvingSymlinksInPath())
        let files = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        for file in files.sorted() where !used.contains(file) && UUID(uuidString: file) != nil {
            note("orphanedFile", "No object refers to the external file \(file).", file)
        }
    }
}
