internal import Foundation
internal import ObjectModel
internal import Platform
internal import SQLiteDriver
internal import Stores

/// Opens a store or makes it: fits the model to the file.
struct StoreOpening {
    private let file: StoreFile
    private let model: NSManagedObjectModel
    private let configuration: String?
    private let platform: Environment
    private let hashes: [String: Data]

    init(
        file: StoreFile, model: NSManagedObjectModel, configuration: String?, platform: Environment
    ) throws {
        guard let entities = model.entities(forConfigurationName: configuration) else {
            throw StoreError(
                .modelMismatch, "The model has no such configuration; give the name of one it has.",
                fields: ["configuration": configuration ?? ""])
        }
        self.file = file
        self.model = model
        self.configuration = configuration
        self.platform = platform
        hashes = model.versionHashes(of: entities)
    }

    /// A store that was opened.
    struct Opened {
        var store: OpenStore
        var identifier: String
        /// Nil where one connection serves all: in memory, read-only, and without a log.
        var readers: ReaderPool?
        var writesHistory: Bool
        /// Whether saves would leave a gap in a history that is there.
        var isClosedToWriting: Bool
    }

    func run() throws -> Opened {
        let connection: Connection
        if file.exists {
            connection = try file.open(orFill: fill)
        } else {
            guard !file.options.isReadOnly else {
                throw StoreError(
                    .cannotOpen,
                    "There is no file at this path, and a read-only store is not made.",
                    fields: ["path": file.path])
            }
            connection = try file.create(platform: platform, fill)
        }
        let metadata = try StoreMetadata(reading: connection, path: file.path)
        if !file.options.ignoresVersioning {
            try metadata.check(against: hashes, path: file.path)
        }
        let schema = try schema(of: connection)
        let isWanted = try HistoryTables.areInUse(connection)
        let writesHistory = (file.options.tracksHistory ?? isWanted) && !file.options.isReadOnly
        let store = try OpenStore(
            connection, file: file, schema: schema, platform: platform, writesHistory: writesHistory
        )
        return Opened(
            store: store, identifier: metadata.identifier,
            readers: try readers(of: metadata.identifier, beside: connection, schema),
            writesHistory: writesHistory,
            isClosedToWriting: isWanted && !writesHistory)
    }

    /// The schema with the file's names. A file whose hashes are the model's was made for it: the
    /// columns of its entities are worked out when they are needed.
    private func schema(of connection: Connection) throws -> StoreSchema {
        let numbers = try numbers(in: connection)
        let (model, configuration) = (model, configuration)
        let layout = ModelLayout(model: model, configuration: configuration, numbers: numbers)
        let resolver = try SchemaResolver(
            connection: connection, path: file.path, layout: layout)
        let isKnown = ModelFacts.knows(model, configuration, numbers: numbers)
        if !isKnown, !file.options.ignoresVersioning {
            let pieces = SchemaPieces(layout, resolver) {
                try ModelFacts.schema(model, configuration, numbers: numbers, layout)
            }
            if let pieces { return StoreSchema(pieces) }
        }
        return try resolver.resolve(ModelFacts.schema(model, configuration, numbers: numbers))
    }

    /// Readers beside a connection that writes to a log: only there nobody waits for the other.
    private func readers(
        of identifier: String, beside connection: Connection, _ schema: StoreSchema
    ) throws -> ReaderPool? {
        guard !file.options.isReadOnly, file.url != nil,
            try connection.pragma("journal_mode") == "wal",
            let identity = FileIdentity(of: file.path)
        else { return nil }
        return ReaderPool(
            ReaderOpening(
                file: file, schema: schema, platform: platform, identity: identity,
                identifier: identifier))
    }

    /// The numbers the file gives the model's entities. An entity that was renamed by a migration
    /// in place may stand there under its former name.
    private func numbers(in connection: Connection) throws -> [String: Int32] {
        let stored = try BookkeepingTables.numbers(in: connection)
        var numbers: [String: Int32] = [:]
        numbers.reserveCapacity(stored.count)
        var missing: [String] = []
        for entity in model.entities(forConfigurationName: configuration) ?? [] {
            let name = entity.name ?? ""
            if let number = stored[name] ?? entity.givenRenamingIdentifier.flatMap({ stored[$0] }) {
                numbers[name] = number
            } else {
                missing.append(name)
            }
        }
        guard missing.isEmpty else {
            throw StoreError(
                .modelMismatch, "The store has no number for some of the model's entities.",
                fields: [
                    "path": file.path, "onlyInModel": missing.sorted().joined(separator: ", "),
                ])
        }
        return numbers
    }

    /// Writes an empty store of the model into a new database.
    private func fill(_ connection: Connection) throws {
        let schema = try ModelFacts.schema(
            model, configuration, numbers: file.options.making.entityNumbers)
        if let refusal = schema.content.refusals.first { throw refusal }
        let metadata = StoreMetadata(
            hashes: hashes, model: model, identifier: platform.randomness.uuid().uuidString)
        for statement in schema.statements + BookkeepingTables.statements {
            try connection.script(statement)
        }
        try BookkeepingTables.fill(connection, layout: schema.layout)
        try metadata.write(to: connection)
        try ModelCache.write(model, to: connection)
    }
}
