internal import Foundation
internal import Platform
internal import SQLiteDriver
internal import Stores

/// Large values that leave their columns for files, and files whose rows are gone. Used under
/// the store's lock.
///
/// Files are whole and on the disk before the transaction commits, and are removed only after it
/// did, when no reader of an older state is left; what a crash leaves between is found by its mark
/// when the store is opened again. Rows decide: no file is removed that a row refers to, in the
/// present state or in one that somebody still reads, here or in a copy that has the same folder.
final class ExternalWrites {
    /// A column of a row, and the file it refers to or did.
    private struct Place {
        var table: String
        var column: String
        var key: Int64
        var name: UUID
        /// Whether the transaction under way wrote the file: nobody else knows it yet.
        var isNew: Bool
    }

    /// Files that older readers may need, and the mark that stands for them.
    private struct Remains {
        var mark: UUID
        var names: [UUID]
    }

    private let files: ExternalFiles
    private let connection: Connection
    private let platform: Environment
    private let bytesMin: Int
    private var places: [Place] = []
    private var mark: UUID?
    private var remains: [Remains] = []

    /// `bytesMin` is the size from which a value has a file of its own.
    init(files: ExternalFiles, connection: Connection, platform: Environment, bytesMin: Int) {
        self.files = files
        self.connection = connection
        self.platform = platform
        self.bytesMin = bytesMin
    }

    // MARK: Within a transaction

    /// Writes the file of a large value and returns what its column holds; nil for a value that
    /// stays in the column.
    func reference(to data: Data, table: String, column: String, key: Int64) throws -> Data? {
        guard data.count >= bytesMin else { return nil }
        try begin()
        let name = platform.randomness.uuid()
        places.append(Place(table: table, column: column, key: key, name: name, isNew: true))
        try files.write(data, name: name) { try platform.faults.reach("external.\($0)") }
        try platform.faults.reach("external.afterRename")
        return ExternalFiles.reference(to: name)
    }

    /// Remembers the files a row refers to, before its columns are written or the row deleted.
    func leaving(_ columns: [String], of key: Int64, table: String) throws {
        for column in columns {
            guard let name = try name(in: column, of: key, table: table) else { continue }
            try begin()
            places.append(Place(table: table, column: column, key: key, name: name, isNew: false))
        }
    }

    private func name(in column: String, of key: Int64, table: String) throws -> UUID? {
        // Asking for the length first leaves long values on their pages.
        let stored = try connection.value(
            "SELECT \(column) FROM \(table) WHERE Z_PK = ? AND length(\(column)) = 38",
            [.integer(key)])
        return stored?.data.flatMap(ExternalFiles.name)
    }

    private func begin() throws {
        guard mark == nil else { return }
        // Whoever cleans up holds this lock, so no file of ours goes before its row is written.
        try connection.run("DELETE FROM Z_METADATA WHERE 0")
        try files.makeFolders()
        let name = platform.randomness.uuid()
        try files.putMark(name)
        mark = name
    }

    // MARK: After a transaction

    /// Removes the files no row refers to any more, after a commit as after a rollback. Those that
    /// a reader of an older state may need stay until a later call, or until the store is opened
    /// again.
    func cleanUp() {
        guard let mark else { return }
        let done = places
        places = []
        self.mark = nil
        do {
            try platform.faults.reach("external.beforeRemoving")
            var former: [UUID] = []
            for place in done {
                let kept = try name(in: place.column, of: place.key, table: place.table)
                guard kept != place.name else { continue }
                if place.isNew { files.remove(place.name) } else { former.append(place.name) }
            }
            remains.append(Remains(mark: mark, names: former))
            try removeRemains()
        } catch {
            // The mark stays, and the next opening does the rest.
        }
    }

    private func removeRemains() throws {
        let isFree = remains.allSatisfy(\.names.isEmpty)
        guard try isFree || connection.hasNoOlderReaders() else { return }
        for part in remains {
            for name in files.unnamedElsewhere(part.names) { files.remove(name) }
            files.removeMark(part.mark)
        }
        remains = []
    }

    // MARK: On opening

    /// Removes what processes that died left: files without a row, drafts, marks. Costs nothing
    /// where none did; else a pass or two over the tables that have such columns. Does nothing
    /// while another process writes, or reads an older state.
    static func recover(_ files: ExternalFiles, schema: StoreSchema, connection: Connection) throws
    {
        guard !files.leftovers().isEmpty else { return }
        func unnamed() throws -> Set<UUID> {
            // What no row of this store names may be another's.
            guard !files.isShared else { return [] }
            return try Set(files.names()).subtracting(names(schema: schema, connection: connection))
        }
        do {
            try connection.withoutWaiting {
                // While this holds the lock nobody has written a file but not yet its row.
                let (orphans, leftovers) = try connection.transaction(.immediate) {
                    (try unnamed(), files.leftovers())
                }
                guard try orphans.isEmpty || connection.hasNoOlderReaders() else { return }
                try connection.transaction(.immediate) {
                    if !orphans.isEmpty {
                        for name in try unnamed().intersection(orphans) { files.remove(name) }
                    }
                    for left in leftovers { FileKind.removeFile(at: left.path) }
                }
            }
        } catch let fault as SQLiteFault where fault.isBusy {
            return
        }
    }

    /// Brings values that rows name and that lie beside a link to the store to its own folder, so
    /// that whoever opens it by another name finds them. Those that cannot be brought are read
    /// where they are. Costs nothing where there are none; else a pass over the tables that have
    /// such columns.
    static func bringHome(
        _ files: ExternalFiles, schema: StoreSchema, connection: Connection
    ) throws {
        let strayed = files.strayed()
        guard !strayed.isEmpty else { return }
        do {
            try connection.withoutWaiting {
                // While this holds the lock no row lets go of its value.
                try connection.transaction(.immediate) {
                    let ours = try strayed.intersection(
                        names(schema: schema, connection: connection))
                    guard !ours.isEmpty else { return }
                    try files.makeFolders()
                    for name in ours { try files.bringHome(name) }
                }
            }
        } catch let fault as SQLiteFault where fault.isBusy {
            return
        } catch is StoreError {
            return
        }
    }

    private static func names(schema: StoreSchema, connection: Connection) throws -> Set<UUID> {
        var named: Set<UUID> = []
        var seen: Set<String> = []
        for columns in schema.columnsByNumber.values {
            for column in columns.externalColumns
            where seen.insert("\(columns.table).\(column)").inserted {
                try connection.forEachRow(
                    "SELECT \(column) FROM \(columns.table) WHERE length(\(column)) = 38"
                ) { statement in
                    if let name = statement.blob(at: 0).flatMap(ExternalFiles.name) {
                        named.insert(name)
                    }
                }
            }
        }
        return named
    }
}

extension Connection {
    /// Whether all readers, of whatever process, see what was committed last: a checkpoint gets as
    /// far as the oldest of them. Does not wait for them. Cost: what the log holds is written to
    /// the file. <https://www.sqlite.org/wal.html#ckpt>
    func hasNoOlderReaders() throws -> Bool {
        let row = try rows("PRAGMA main.wal_checkpoint(PASSIVE)").first
        return row?[0] == 0 && row?[1] == row?[2]
    }
}
