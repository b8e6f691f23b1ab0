public import Foundation
internal import SQLiteDriver
internal import Stores

/// Remembers a store's file, to tell whether anybody wrote to it since.
///
/// Queue: one thread at a time.
public final class SQLiteStoreWitness {
    private var connection: Connection?
    private let path: String
    private let version: Int64

    /// Looks at the store at `url`, and keeps it open for reading. Throws as opening a store does.
    /// Cost: a connection.
    public init(of url: URL) throws {
        let file = StoreFile(url: url, options: .init())
        path = file.path
        let connection = try StoreError.mapping(path: path) { try file.openForReading() }
        version = try StoreError.mapping(path: path) { try connection.lookForCommits() }
        self.connection = connection
    }

    /// Throws `StoreError` `.busy` where anybody committed to the file since. Says nothing once
    /// closed.
    func expectUnchanged() throws {
        guard let connection else { return }
        guard try connection.lookForCommits() == version else { throw Self.changed(path) }
    }

    /// Lets go of the file, which may be in somebody's way.
    func close() { connection = nil }

    static func changed(_ path: String) -> StoreError {
        StoreError(
            changedMeanwhile:
                "Another program saved to the store while it was read; try again, so that nothing "
                + "of that is lost.", path: path)
    }
}
