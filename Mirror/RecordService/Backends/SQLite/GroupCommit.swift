package import Platform
internal import RecordWire
package import SQLiteDriver

/// The writes of requests that wait for the writer. Who comes to it first does the work of all that
/// wait, in one transaction, so that they share one trip to the disk.
package final class GroupCommit: Sendable {
    /// One request's write. Its own thread waits while another may do the work.
    package final class Write: @unchecked Sendable {
        // @unchecked: after it was added it is touched on the writer's queue only, until its own
        // thread has been there.
        fileprivate let body: (Connection) throws -> Void
        fileprivate(set) var outcome: Result<Void, any Error>?

        /// `body` may run again, after all it had written was undone.
        package init(_ body: @escaping (Connection) throws -> Void) { self.body = body }
    }

    /// How many requests share a transaction at most: what is undone together is done again.
    package static let writesMax = 64

    private let waiting = Lock<[Write]>([])
    /// How many writes shared each commit.
    package let sizes: Histogram

    package init(sizes: Histogram = GroupCommit.histogram()) { self.sizes = sizes }

    /// For the sizes of one group or of several.
    package static func histogram() -> Histogram { Histogram(bounds: [1, 2, 4, 8, 16, 32, 64]) }

    package func add(_ write: Write) { waiting.withLock { $0.append(write) } }

    /// Does the work of all that wait, until `write` is done; throws what went wrong with it. On
    /// the writer's queue only; `perform` gives the writing connection.
    package func finish(
        _ write: Write, _ perform: ((Connection) throws -> Void) throws -> Void
    ) throws {
        while write.outcome == nil {
            let group = waiting.withLock { waiting in
                defer { waiting.removeFirst(min(waiting.count, Self.writesMax)) }
                return waiting.prefix(Self.writesMax)
            }
            if group.count > 1, commitTogether(group, perform) { continue }
            for write in group {
                write.outcome = Result { try perform { try Self.commit(write, $0) } }
                if case .success? = write.outcome { sizes.note(1) }
            }
        }
        try write.outcome?.get()
    }

    private static func commit(_ write: Write, _ connection: Connection) throws {
        try connection.transaction(.immediate) { try write.body(connection) }
    }

    /// One transaction with a savepoint for each, so that a request that is refused is undone
    /// alone. False where the disk or SQLite failed: nothing is written then, and each is tried by
    /// itself, so that what is wrong with one is told to that one.
    private func commitTogether(
        _ group: ArraySlice<Write>, _ perform: ((Connection) throws -> Void) throws -> Void
    ) -> Bool {
        var outcomes: [Result<Void, any Error>] = []
        do {
            try perform { connection in
                try connection.transaction(.immediate) {
                    outcomes = try group.map { try Self.outcome(of: $0, connection) }
                }
            }
        } catch {
            return false
        }
        for (write, outcome) in zip(group, outcomes) { write.outcome = outcome }
        sizes.note(Double(group.count))
        return true
    }

    private static func outcome(
        of write: Write, _ connection: Connection
    ) throws -> Result<Void, any Error> {
        do {
            try commit(write, connection)
            return .success(())
        } catch let refusal as RecordError {
            return .failure(refusal)
        } catch let failure as ServiceFileFailure {
            return .failure(failure)
        }
    }
}
