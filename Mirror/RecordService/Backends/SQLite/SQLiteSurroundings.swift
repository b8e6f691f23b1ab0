internal import Foundation
internal import Platform
internal import RecordWire
internal import SQLiteDriver

/// What a transaction of one file knows of the others.
struct SQLiteSurroundings {
    /// nil in the service's own file.
    let container: String?
    let files: ContainerFiles

    private static let unreadableMilliseconds: Int64 = 86_400_000

    /// Runs `body` on the service's file. Throws ServiceFileFailure.
    fileprivate func atMain<Result>(_ body: (SQLiteFile) throws -> Result) throws -> Result {
        let main = files.main
        do throws(RecordError) {
            return try main.translating { try body(main) }
        } catch {
            throw ServiceFileFailure(told: error)
        }
    }

    /// Until when what cannot be read counts as naming what it may name.
    var unreadableUntil: Int64 {
        files.main.settings.platform.milliseconds + Self.unreadableMilliseconds
    }
}

/// The service's file failed in the middle of a container's transaction. That is no refusal of one
/// of several things that a request asks for, which leaves the others: all of it fails, and nothing
/// of it is kept.
struct ServiceFileFailure: Error {
    /// In words for the client.
    let told: RecordError
}

/// Rows of other files.
///
/// No transaction spans two files, since SQLite's log keeps each whole by itself. So no rule needs
/// two: the service's file says where something may be, and is written before the container's file
/// that holds it; what it says too much does no harm. Nothing waits for a container with the
/// service's lane held: there, containers are only read.
extension SQLiteTransaction {
    static let placeTables = """
        CREATE TABLE IF NOT EXISTS container_files(
            container TEXT PRIMARY KEY, file TEXT NOT NULL UNIQUE, id INTEGER NOT NULL,
            made INTEGER NOT NULL) WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS asset_places(
            checksum BLOB NOT NULL, container TEXT NOT NULL,
            PRIMARY KEY (checksum, container)) WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS share_places(
            guid TEXT PRIMARY KEY, container TEXT NOT NULL) WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS owner_places(
            owner TEXT NOT NULL, container TEXT NOT NULL,
            PRIMARY KEY (owner, container)) WITHOUT ROWID;
        """

    var isOfService: Bool { surroundings?.container == nil }

    /// Reads what the service's file has committed; in its own transaction also what that wrote.
    func atService<Result>(_ body: (SQLiteTransaction) throws -> Result) throws -> Result {
        guard let surroundings, !isOfService else { return try body(self) }
        return try surroundings.atMain { main in
            try main.read { try body(SQLiteTransaction($0)) }
        }
    }

    /// Writes in a transaction of the service's file that is committed when this returns, whatever
    /// becomes of the container's.
    func writeAtService(_ body: (SQLiteTransaction) throws -> Void) throws {
        guard let surroundings, !isOfService else { return try body(self) }
        try surroundings.atMain { main in
            try main.write { try body(SQLiteTransaction($0)) }
        }
    }

    /// What others of these containers answer. One that is not made yet answers nothing; one that
    /// cannot be read is said in the log, and answers nothing.
    func atOthers<Answer>(
        _ containers: [String], _ body: (SQLiteTransaction) throws -> Answer
    ) throws -> [Answer] {
        try answers(containers, body).compactMap(\.self)
    }

    /// As `atOthers`, with nil for one that cannot be read.
    private func answers<Answer>(
        _ containers: [String], _ body: (SQLiteTransaction) throws -> Answer
    ) throws -> [Answer?] {
        guard let surroundings else { return [] }
        return containers.filter { $0 != surroundings.container }.compactMap { container in
            do {
                return try surroundings.files.peek(container) {
                    try body(SQLiteTransaction($0))
                }.map { Answer?.some($0) }
            } catch {
                surroundings.files.noteUnreadable(container, error)
                return Answer?.none
            }
        }
    }

    // MARK: Where things may be

    /// Does nothing where the container has one, as of the time when its list was not kept.
    func addFile(ofContainer name: String) throws {
        guard let surroundings else { return }
        let id = Int64(bitPattern: surroundings.files.main.settings.platform.randomness.next())
        try connection.run(
            "INSERT OR IGNORE INTO container_files(container, file, id, made) "
                + "VALUES (?, ?, ?, 0)",
            [.text(name), .text(ContainerFileName.text(name, id: id)), .integer(id)])
    }

    func noteContent(_ checksum: AssetChecksum, namedIn container: String) throws {
        try connection.run(
            "INSERT OR IGNORE INTO asset_places(checksum, container) VALUES (?, ?)",
            [.blob(checksum.bytes), .text(container)])
    }

    /// nil for a container that cannot be read.
    func atPlaces<Answer>(
        of checksum: AssetChecksum, _ body: (SQLiteTransaction) throws -> Answer
    ) throws -> [Answer?] {
        let containers = try all(
            "SELECT container FROM asset_places WHERE checksum = ?", [.blob(checksum.bytes)]
        ) { $0.text(at: 0) ?? "" }
        return try answers(containers, body)
    }

    func notePlace(ofShortGUID guid: String) throws {
        guard let container = surroundings?.container,
            try self.container(ofShortGUID: guid) != container
        else { return }
        try writeAtService { try $0.notePlace(ofShortGUID: guid, container) }
    }

    func notePlace(ofShortGUID guid: String, _ container: String) throws {
        try connection.run(
            "INSERT OR REPLACE INTO share_places(guid, container) VALUES (?, ?)",
            [.text(guid), .text(container)])
    }

    func notePlace(ofOwner owner: String) throws {
        guard let container = surroundings?.container, !owner.isEmpty,
            try !atService({ try $0.containers(ofOwner: owner) }).contains(where: {
                $0.isExactly(container)
            })
        else { return }
        try writeAtService { try $0.notePlace(ofOwner: owner, container) }
    }

    func notePlace(ofOwner owner: String, _ container: String) throws {
        try connection.run(
            "INSERT OR IGNORE INTO owner_places(owner, container) VALUES (?, ?)",
            [.text(owner), .text(container)])
    }

    /// The containers in which the owner may have databases, but this one.
    func otherContainers(ofOwner owner: String) throws -> [String] {
        try atService { try $0.containers(ofOwner: owner) }
            .filter { surroundings?.container?.isExactly($0) != true }
    }

    private func containers(ofOwner owner: String) throws -> [String] {
        try all(
            "SELECT container FROM owner_places WHERE owner = ? ORDER BY container",
            [.text(owner)]
        ) { $0.text(at: 0) ?? "" }
    }
}

extension SQLiteFile {
    /// Runs `body` and says its faults with this file's name.
    func translating<Result>(_ body: () throws -> Result) throws(RecordError) -> Result {
        do {
            return try body()
        } catch {
            throw failures.translate(error)
        }
    }
}
