internal import SQLiteDriver
internal import Stores

/// A reading transaction that is held open: the store as it was when it began.
///
/// May be read from any thread, by one at a time. The log of the store keeps what was written since
/// as long as it is held.
final class HeldSnapshot: RowSnapshot, @unchecked Sendable {
    // @unchecked: `reader` is used under `lock` only.
    private let lock = StoreLock()
    private var reader: StoreReader?
    private let pool: ReaderPool
    private let path: String
    /// The state it holds, where that is known: equal states have equal ones.
    let state: StoreState?

    init(_ reader: StoreReader, state: StoreState?, pool: ReaderPool) {
        self.reader = reader
        self.state = state
        self.pool = pool
        path = reader.connection.path
    }

    deinit { end() }

    var isOver: Bool { lock.run { reader == nil } }

    func end() {
        lock.run {
            guard let held = reader else { return }
            reader = nil
            pool.end(self, givingBack: held)
        }
    }

    private func reading<Result>(_ body: (StoreReader) throws -> Result) throws -> Result {
        try StoreError.mapping(path: path) {
            try lock.run {
                guard let reader else {
                    throw StoreError(
                        .snapshotExpired,
                        "The generation that was read from is over: its store left the "
                            + "coordinator, or its log grew beyond what is kept. Set the "
                            + "generation .current and refresh the objects.",
                        fields: ["path": path])
                }
                return try body(reader)
            }
        }
    }

    func row(_ id: RowID) throws -> Row? { try reading { try $0.row(id) } }
    func rows(_ ids: [RowID]) throws -> [Row] { try reading { try $0.rows(ids) } }
    func rows(matching query: RowQuery) throws -> [Row] {
        try reading { try $0.rows(matching: query) }
    }
    func packs(_ ids: [RowID]) throws -> [RowPack]? { try reading { try $0.packs(ids) } }
    func packs(matching query: RowQuery) throws -> [RowPack]? {
        try reading { try $0.packs(matching: query) }
    }
    func ids(matching query: RowQuery) throws -> [RowID] {
        try reading { try $0.ids(matching: query) }
    }
    func count(matching query: RowQuery) throws -> Int {
        try reading { try $0.count(matching: query) }
    }
    func values(of query: ValueQuery) throws -> [[Any?]] {
        try reading { try $0.values(of: query) }
    }
    func members(of owner: RowID, toMany slot: Int) throws -> [Link] {
        try reading { try $0.members(of: owner, toMany: slot) }
    }
    func members(ofEach owners: [RowID], toMany slot: Int) throws -> [RowID: [Link]] {
        try reading { try $0.members(ofEach: owners, toMany: slot) }
    }
}

/// Which state of a store's file a connection sees: how often it committed itself, and SQLite's
/// count of commits by others.
struct StoreState: Hashable, Sendable {
    var ownCommits: Int64
    var foreignCommits: Int64
}
