public import Foundation
public import Platform
internal import SQLiteDriver
internal import SQLiteStore
internal import Stores

/// Which process keeps a store in sync by itself, and whether it does.
public struct MirrorActivity: Hashable, Sendable, Codable {
    public enum State: String, Sendable, Codable {
        /// Rounds run after saves, changes at the service, and at intervals.
        case running
        /// Somebody asked it to pause.
        case paused
        /// It ended by itself.
        case stopped
    }
    public let state: State
    public let process: ProcessIdentity
    /// What the process calls itself.
    public let name: String
    public let since: Date

    /// Whether the process is there to go on; what a dead one left behind holds nobody up.
    public var isAlive: Bool { state != .stopped && process.isAlive }
}

/// A moment of a store's life: what was saved and decided until then.
struct StoreMark: Sendable {
    var transaction: Int64 = 0
    var decisions: Int64 = 0
}

extension MirroredStore {
    /// Takes the store's mirroring for a process, where no other living one has it. Returns that
    /// other one; nil where it is this process's now.
    ///
    /// One process at a time keeps a store in sync by itself; the others stand by. A process that
    /// ends, however it ends, leaves its turn to the next that asks.
    package func takeTurn(
        as process: ProcessIdentity, named name: String, isPaused: Bool = false
    ) throws -> MirrorActivity? {
        let state = isPaused ? MirrorActivity.State.paused : .running
        let known = try read { try Self.activity($0.ledger) }
        if let known, known.process == process, known.state == state { return nil }
        return try write { mirror in
            try makeLedger(mirror)
            let known = try mirror.ledger.activity()
            if let known, known.process != process, known.isAlive { return known }
            try mirror.ledger.set(
                MirrorActivity(
                    state: state, process: process, name: name,
                    since: settings.platform.clock.now()))
            try mirror.ledger.finish()
            return nil
        }
    }

    /// Gives the mirroring up, where it is this process's.
    package func endTurn(of process: ProcessIdentity) throws {
        guard try read({ try Self.activity($0.ledger) })?.process == process else { return }
        do {
            try write { mirror in
                try end(process, mirror.ledger)
                try mirror.ledger.finish()
            }
        } catch let error as StoreError where error.code == .modelMismatch {
            // Who has the new model is not to wait for this process to end.
            guard let path = store.url?.path else { throw error }
            let connection = try Connection(path: path)
            try connection.transaction(.immediate) {
                let ledger = Ledger(connection: connection, platform: settings.platform)
                try end(process, ledger)
                try ledger.finish()
            }
        }
    }

    private func end(_ process: ProcessIdentity, _ ledger: Ledger) throws {
        guard let known = try ledger.activity(), known.process == process, known.state != .stopped
        else { return }
        try ledger.set(
            MirrorActivity(
                state: .stopped, process: process, name: known.name,
                since: settings.platform.clock.now()))
    }

    private static func activity(_ ledger: Ledger) throws -> MirrorActivity? {
        try Ledger.exists(in: ledger.connection) ? ledger.activity() : nil
    }

    /// Where the store stands, for `hasNews`.
    func mark() throws -> StoreMark {
        StoreMark(transaction: try store.lastTransactionNumber(), decisions: try decisions())
    }

    /// Whether something was saved since then, or decided. Cost: as `hasSaves`.
    func hasNews(since mark: StoreMark) throws -> Bool {
        try decisions() != mark.decisions || hasSaves(after: mark.transaction)
    }

    private func decisions() throws -> Int64 {
        try read { try Ledger.exists(in: $0.ledger.connection) ? $0.ledger.decisions() : 0 }
    }

    /// Whether something was saved after a transaction, by others than the mirror. Cost: reads what
    /// is new of the history, without its changes.
    package func hasSaves(after number: Int64) throws -> Bool {
        var query = HistoryQuery()
        query.above = number
        query.includesChanges = false
        query.limit = Self.transactionsMax
        while true {
            let page = try store.history(query)
            if page.contains(where: { $0.author != RecordNames.importAuthor }) { return true }
            guard let last = page.last, page.count == Self.transactionsMax else { return false }
            query.above = last.number
        }
    }

    private static let transactionsMax = 100
}
