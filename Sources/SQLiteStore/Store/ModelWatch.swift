internal import Foundation
internal import SQLiteDriver
internal import Stores

/// Notices that another program made the file one of another model, or another store: rows would
/// stand there under numbers that mean other entities, or other objects. Used under the store's
/// lock, within a transaction.
final class ModelWatch {
    private let connection: Connection
    /// Of the file.
    let path: String
    private let numbers: [String: Int32]
    private let hashes: [String: Data]
    /// The store's, as it was opened.
    let identifier: String
    /// Nil for a store without a file.
    private let place: FilePlace?
    /// SQLite's count of commits by others, up to which nothing had changed.
    private var seenVersion: Int64

    init(_ connection: Connection, path: String, place: FilePlace?) throws {
        self.connection = connection
        self.path = path
        self.place = place
        seenVersion = try connection.commitsOfOthers()
        numbers = try BookkeepingTables.numbers(in: connection)
        let metadata = try StoreMetadata(reading: connection, path: path)
        hashes = metadata.hashes
        identifier = metadata.identifier
    }

    /// Throws `StoreError` `.modelMismatch` where the file is another model's by now, `.cannotOpen`
    /// where it is another store, or not there any more. Cost: a look at a number and two into the
    /// folder; where others wrote meanwhile, reads the metadata and the entities' numbers.
    func check() throws {
        try place?.check()
        let version = try connection.commitsOfOthers()
        guard version != seenVersion else { return }
        let metadata = try StoreMetadata(reading: connection, path: path)
        guard try numbers == BookkeepingTables.numbers(in: connection), hashes == metadata.hashes
        else {
            throw StoreError(
                .modelMismatch,
                "Another program migrated the store to another version of its model since it was "
                    + "opened here; close the store, and open it with that version.",
                fields: ["path": path])
        }
        guard metadata.identifier == identifier else { throw Self.replaced(path) }
        seenVersion = version
    }

    static func replaced(_ path: String) -> StoreError {
        StoreError(
            .cannotOpen,
            "Another store was put in the place of the one that was opened here; close the "
                + "store, and open what is there now.", fields: ["path": path])
    }
}
