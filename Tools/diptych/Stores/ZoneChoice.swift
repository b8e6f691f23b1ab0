internal import MirrorEngine
internal import Platform
internal import RecordWire
internal import SQLiteStore

/// Which zone of which database a store is mirrored with, and in which environment, as far as the
/// arguments say. A store that has its database and its environment keeps to them.
struct ZoneChoice: Sendable {
    static let database = Option(
        "database-scope", "private|public", setting: true,
        "the container's database of a store that has none yet (private)")
    static let environment = Option(
        "environment", "NAME", setting: true, words: environments,
        "of a store that has none yet: development (as without) or production")
    static let options = [Option.zone, database, environment]
    private static let environments = ["development", "production"]

    let zone: String?
    /// nil where nobody said.
    private let named: MirrorDatabase?
    /// Whether this call said it, and no file beside several stores.
    private let isOfThisCall: Bool
    /// Whether the store's own zone goes before the one that was named.
    private let yields: Bool
    private let namedEnvironment: String?

    /// For verbs that run rounds, or ask the service as one does.
    init(_ arguments: Arguments) throws {
        zone = arguments.value(.zone)
        named = try Self.named(arguments)
        isOfThisCall = arguments.has(Self.database)
        yields = false
        namedEnvironment = try arguments.choice(Self.environment, among: Self.environments)
    }

    /// For verbs that look at a store alone, which go by what it is, whatever `diptych.conf` has
    /// for others; with `whateverIsNamed` also where the call names another zone.
    init(ofStoreBy arguments: Arguments, whateverIsNamed: Bool = false) throws {
        zone = arguments.value(.zone)
        isOfThisCall = arguments.has(Self.database)
        yields = whateverIsNamed || !arguments.has(.zone)
        named = isOfThisCall ? try Self.named(arguments) : nil
        namedEnvironment =
            arguments.has(Self.environment)
            ? try arguments.choice(Self.environment, among: Self.environments) : nil
    }

    private static func named(_ arguments: Arguments) throws -> MirrorDatabase? {
        try arguments.choice(database, among: database.words).flatMap(MirrorDatabase.init)
    }

    /// The database of the store that is called `name`; nil where the store and its mirror decide.
    /// Throws where another one was named than the store has.
    func database(of store: SQLiteRowStore, name: String) throws -> MirrorDatabase? {
        guard let named else { return nil }
        guard let known = try MirroredStore.knownDatabase(of: store) else { return named }
        // A share decides for its stores; what a file says is for those beside them.
        guard known != .shared || isOfThisCall else { return nil }
        guard known == named else { throw Self.refusal(of: named, known, name) }
        return known
    }

    /// The zone of the store that is called `name`; nil where its mirror decides. Throws where
    /// another one was named than the store has.
    func zone(of store: SQLiteRowStore, name: String) throws -> String? {
        // Of tables that cannot be read the mirror tells, and a reset mends them.
        guard let zone, try MirroredStore.knownDatabase(of: store) != .public,
            let known = try? MirroredStore.knownZone(of: store, .system)
        else { return zone }
        guard known.zoneName == zone || yields else {
            throw CommandError(
                "otherZone",
                "\(name) is mirrored with the zone \(known.zoneName), not with \(zone).",
                hint: "Say --zone \(known.zoneName), or nothing. To start over with the other, "
                    + "which loses no edit, run `diptych reset` first, or take another store.",
                status: .usage)
        }
        return nil
    }

    /// The environment of the store that is called `name`; nil where its mirror decides. Throws
    /// where another one was named than the store has: one that was mirrored before there was a
    /// choice has the first.
    func environment(of store: SQLiteRowStore, name: String) throws -> String? {
        guard let named = namedEnvironment else { return nil }
        let isMirrored = try MirroredStore.knownDatabase(of: store) != nil
        let known =
            try MirroredStore.knownEnvironment(of: store)
            ?? (isMirrored ? MirroredStore.standardEnvironment : named)
        guard known == named else {
            throw CommandError(
                "otherEnvironment",
                "\(name) is mirrored with the environment \(known), not with \(named).",
                hint: "Say --environment \(known), or nothing. To start over with the other, which "
                    + "loses no edit, run `diptych reset` first, or take another store.",
                status: .usage)
        }
        return known
    }

    private static func refusal(
        of named: MirrorDatabase, _ known: MirrorDatabase, _ name: String
    ) -> CommandError {
        let way =
            known == .shared
            ? "What others share stays in its store; take another store for the "
                + "\(named.rawValue) database: `diptych create`."
            : "Say --database-scope \(known.rawValue), or nothing. To start over with the other, "
                + "which loses no edit, run `diptych reset` first, or take another store."
        return CommandError(
            "otherDatabase",
            "\(name) is mirrored with the \(known.rawValue) database, not with the "
                + "\(named.rawValue) one.", hint: way, status: .usage)
    }
}
