internal import Platform
internal import SQLiteDriver
internal import Stores
internal import Synchronization

/// The connections that read a store beside the one that writes: one for each thread that reads at
/// the time, of which a few stay open for the next. None is ever waited for.
final class ReaderPool: Sendable {
    private struct State {
        var idle: [StoreReader] = []
        /// Readers in the middle of a transaction, by the threads that may join it.
        var joinable: [(thread: UInt, reader: StoreReader)] = []
        var snapshots: [HeldReference] = []
        var isClosed = false
    }

    /// Never followed under the lock: the reference may be the last by then, and a snapshot that
    /// ends takes the lock itself.
    private struct HeldReference {
        let id: ObjectIdentifier
        weak var snapshot: HeldSnapshot?
    }

    private let state = Lock(State())
    private let opening: ReaderOpening
    private let needed = Atomic(false)

    /// Whether reads go to connections of their own: from the first write on, or from when two read
    /// at once. Until then the one that writes serves them, so that opening a store and looking
    /// into it reads the file's schema once.
    var areNeeded: Bool { needed.load(ordering: .relaxed) }

    func need() { needed.store(true, ordering: .relaxed) }

    /// How many stay open when nobody reads.
    static let idleMax = 4

    init(_ opening: ReaderOpening) { self.opening = opening }

    /// How large the log may grow while snapshots are held.
    var heldLogBytesMax: Int64 { opening.file.options.heldLogBytesMax }

    /// A reader on loan; one of a transaction under way on this thread belongs to that.
    private struct Loan {
        var reader: StoreReader
        var isJoined: Bool
    }

    // MARK: Reading

    /// Runs `body` with a reader: that of a transaction which this thread has under way, or one of
    /// its own. Nil where none can be had; the connection that writes serves then.
    func reading<Result>(_ body: (StoreReader) throws -> Result) throws -> Result? {
        guard let loan = take() else { return nil }
        guard !loan.isJoined else { return try body(loan.reader) }
        return try lending(loan.reader, body)
    }

    /// The same within a transaction, which functions that this thread calls meanwhile join.
    func inTransaction<Result>(_ body: (StoreReader) throws -> Result) throws -> Result? {
        guard let loan = take() else { return nil }
        let reader = loan.reader
        guard !loan.isJoined else { return try reader.transaction { try body(reader) } }
        return try lending(reader) { reader in
            let thread = StoreThread.present
            state.withLock { $0.joinable.append((thread, reader)) }
            defer { state.withLock { $0.joinable.removeAll { $0.reader === reader } } }
            return try reader.transaction { try body(reader) }
        }
    }

    /// A connection that met a failure of disk or file is not used again: what it believes may be
    /// wrong, and the next one finds out.
    private func lending<Result>(
        _ reader: StoreReader, _ body: (StoreReader) throws -> Result
    ) throws -> Result {
        do {
            let result = try reader.confirming(body)
            giveBack(reader)
            return result
        } catch let fault as SQLiteFault where fault.isIOFailure || fault.isNotADatabase {
            throw fault
        } catch {
            giveBack(reader)
            throw error
        }
    }

    private func take() -> Loan? {
        let (known, isClosed) = state.withLock { state -> (Loan?, Bool) in
            if !state.joinable.isEmpty {
                let thread = StoreThread.present
                if let joined = state.joinable.last(where: { $0.thread == thread }) {
                    return (Loan(reader: joined.reader, isJoined: true), state.isClosed)
                }
            }
            return (
                state.idle.popLast().map { Loan(reader: $0, isJoined: false) }, state.isClosed
            )
        }
        if known != nil || isClosed { return known }
        return open().map { Loan(reader: $0, isJoined: false) }
    }

    private func takeAlone() -> StoreReader? {
        let (idle, isClosed) = state.withLock { ($0.idle.popLast(), $0.isClosed) }
        if idle != nil || isClosed { return idle }
        return open()
    }

    /// Nil where too many files are open, or where the file is not where it was: the writer has its
    /// own open.
    private func open() -> StoreReader? {
        need()
        return try? opening.run()
    }

    private func giveBack(_ reader: StoreReader) {
        guard !reader.connection.isInTransaction else { return }
        state.withLock { state in
            guard !state.isClosed, state.idle.count < Self.idleMax else { return }
            state.idle.append(reader)
        }
    }

    // MARK: Snapshots

    /// Holds the present state of the store; nil where no reader can be had. `state` says which it
    /// is, once it is held.
    func hold(_ state: () throws -> StoreState?) throws -> HeldSnapshot? {
        guard let reader = takeAlone() else { return nil }
        try reader.connection.beginHolding()
        let held: StoreState?
        do {
            held = try state()
        } catch {
            release(reader)
            throw error
        }
        let snapshot = HeldSnapshot(reader, state: held, pool: self)
        let reference = HeldReference(id: ObjectIdentifier(snapshot), snapshot: snapshot)
        let isLate = self.state.withLock { state in
            state.snapshots.append(reference)
            return state.isClosed
        }
        if isLate { snapshot.end() }
        return snapshot
    }

    /// A snapshot that ends gives its reader back, once.
    func end(_ snapshot: HeldSnapshot, givingBack reader: StoreReader) {
        let id = ObjectIdentifier(snapshot)
        state.withLock { $0.snapshots.removeAll { $0.id == id } }
        release(reader)
    }

    private func release(_ reader: StoreReader) {
        reader.connection.endHolding()
        giveBack(reader)
    }

    private var snapshots: [HeldSnapshot] {
        state.withLock { $0.snapshots }.compactMap(\.snapshot)
    }

    var holdsSnapshots: Bool { snapshots.contains { !$0.isOver } }

    /// The last snapshot that is still held.
    var newestSnapshot: HeldSnapshot? { snapshots.last { !$0.isOver } }

    func endSnapshots() {
        for snapshot in snapshots { snapshot.end() }
    }

    // MARK: Closing

    /// How many connections are open that nobody reads with.
    var idleCount: Int { state.withLock { $0.idle.count } }

    /// Closes what nobody reads with now.
    func rest() {
        let idle = state.withLock { state in
            defer { state.idle = [] }
            return state.idle
        }
        _ = idle
    }

    /// Closes all; readers on loan are closed when they come back.
    func close() {
        state.withLock { $0.isClosed = true }
        endSnapshots()
        rest()
    }
}

/// Opens connections that read beside the one that writes.
struct ReaderOpening: Sendable {
    let file: StoreFile
    let schema: StoreSchema
    let platform: Environment
    /// The file that the writer has open.
    let identity: FileIdentity
    /// The store that it opened there.
    let identifier: String

    func run() throws -> StoreReader {
        let connection = try Connection(
            path: file.path, access: .readOnly, busyMilliseconds: file.options.busyMilliseconds)
        try file.configureReader(connection)
        // A file that was put in the place of the store's since is another store.
        guard FileIdentity(of: file.path) == identity else {
            throw StoreError(
                .cannotOpen, "Another file stands where the store was opened; open it anew.",
                fields: ["path": file.path])
        }
        return try StoreReader(
            connection, of: identifier, schema: schema,
            files: file.url.map { ExternalFiles(store: $0) },
            keys: KeyRegister(connection: connection), platform: platform)
    }
}
