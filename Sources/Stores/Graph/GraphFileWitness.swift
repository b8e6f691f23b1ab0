public import Foundation

/// Remembers the file of an atomic store, to tell whether another program replaced it since.
public struct GraphFileWitness: Sendable {
    private let file: GraphFile
    private let stamp: GraphFile.Stamp?

    /// Looks at the file at `url`, which need not be there. Cost: a look at its entry.
    public init(of url: URL) {
        file = GraphFile(url)
        stamp = file.stamp
    }

    /// Runs `body`, which may put another file in the place, while nobody else does: whoever
    /// replaces the file holds the lock of the one that is there. Throws `StoreError` `.busy` where
    /// it was replaced or removed since, and what `body` throws. Cost: waits for the lock.
    public func whileUnchanged(_ body: () throws -> Void) throws {
        let lock = file.lock()
        defer { lock?.release() }
        guard file.stamp == stamp else { throw file.changed }
        try body()
    }
}
