internal import SQLiteDriver
public import Stores

// What other connections write, snapshots, and the log they all share.
extension SQLiteRowStore {
    /// Whether other connections, of this or of other processes, have written since the last call
    /// or since the store was opened. Throws `StoreError` `.busy` and `.failed`. Cost: a look at
    /// shared memory.
    public func hasForeignChanges() throws -> Bool {
        try lock.run { try StoreError.mapping(path: open.path) { try foreign.arePresent() } }
    }

    /// What other connections saved since the last call or since the store was opened; nil when
    /// they saved nothing. Empty where there is no history to tell it, or where it is very long.
    /// Throws `StoreError` `.busy`, `.corrupt`, `.failed`. Cost: O(changes saved meanwhile).
    public func foreignTransactions() throws -> [HistoryTransaction]? {
        try lock.run { try StoreError.mapping(path: open.path) { try foreign.transactions() } }
    }

    /// Moves what the log holds into the file, as far as nobody else works with it, so that the
    /// file alone is the whole store. Does not wait. Throws `StoreError` `.busy` where others work
    /// with it. Cost: O(pages in the log).
    public func emptyLog() throws {
        try lock.run {
            try StoreError.mapping(path: open.path) {
                try open.connection.withoutWaiting {
                    _ = try open.connection.rows("PRAGMA main.wal_checkpoint(TRUNCATE)")
                }
            }
        }
    }

    /// Moves what the log holds into the file, as far as nobody needs it to stay, on a connection
    /// of its own: readers and a writer go on meanwhile, and neither waits. Nothing is lost where
    /// it fails: a later commit moves the log, or says why it cannot. Any queue. Cost: O(pages in
    /// the log) and two waits for the disk; nothing in memory.
    /// Source: <https://www.sqlite.org/c3ref/wal_checkpoint_v2.html>
    package func moveLog() {
        guard url != nil else { return }
        let other = try? Connection(path: open.path, access: .readWrite, busyMilliseconds: 0)
        _ = try? other?.rows("PRAGMA main.wal_checkpoint(PASSIVE)")
    }

    // MARK: Snapshots

    public func makeSnapshot() throws -> (any RowSnapshot)? {
        guard let readers else { return nil }
        return try StoreError.mapping(path: open.path) {
            // While nobody of this process writes, it can be told which state it is.
            if let held = try lock.runIfFree({ try hold(with: readers) }) { return held }
            return try readers.hold { nil }
        }
    }

    private func hold(with readers: ReaderPool) throws -> HeldSnapshot? {
        let present = try presentState()
        if let newest = readers.newestSnapshot, newest.state == present { return newest }
        // Other processes may have written since.
        return try readers.hold { try presentState() == present ? present : nil }
    }

    private func presentState() throws -> StoreState {
        StoreState(
            ownCommits: open.commits,
            foreignCommits: try open.connection.commitsOfOthers())
    }

    public func endSnapshots() { readers?.endSnapshots() }

    /// Closes the connections that nobody reads with now.
    public func closeIdleReaders() { readers?.rest() }

    /// Ends the snapshots where the log that they keep has grown too large. After a commit, under
    /// the lock. What cannot be emptied now is looked at again after the next commit.
    func boundHeldLog() {
        guard let readers, readers.holdsSnapshots,
            FileKind.size(at: open.path + "-wal") > readers.heldLogBytesMax,
            let held = try? logBytes(), held > readers.heldLogBytesMax
        else { return }
        readers.endSnapshots()
        try? emptyLog()
    }

    /// How much of the log is in use: its file may be larger.
    private func logBytes() throws -> Int64 {
        let row = try open.connection.rows("PRAGMA main.wal_checkpoint(PASSIVE)").first
        let pageBytes = try open.connection.pragma("page_size")?.int64 ?? 0
        return (row?[1].int64 ?? 0) &* pageBytes
    }
}
