internal import Foundation
internal import Platform
internal import RecordWire

/// The open, locked file of an upload that may go on later. Closed, and free for others, with this
/// object.
///
/// A client that lost its connection comes back before the service hears of the loss: the upload
/// that comes last has the turn, and what came before writes nothing more.
final class PartHandle: Sendable {
    let descriptor: Int32
    let path: String
    private let turns = Lock(Turns())

    private struct Turns {
        var last = 0
        /// The file has another name now, or none.
        var isOver = false
    }

    init(descriptor: Int32, path: String) {
        self.descriptor = descriptor
        self.path = path
    }

    /// Unlocked by itself: a process that is being started has a copy of the descriptor until it
    /// runs its program, and would hold the lock as long.
    deinit {
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    /// Ends the turn of whoever has it; nil where the file is no part any more.
    func takeTurn() -> PartTurn? {
        turns.withLock { turns in
            guard !turns.isOver else { return nil }
            turns.last += 1
            return PartTurn(handle: self, number: turns.last)
        }
    }

    fileprivate func use<Value>(
        _ number: Int, isLast: Bool, _ body: () throws(RecordError) -> Value
    ) throws(RecordError) -> Value {
        let outcome = turns.withLock { turns -> Result<Value, RecordError> in
            guard turns.last == number, !turns.isOver else { return .failure(Self.wasTaken) }
            turns.isOver = isLast
            do throws(RecordError) {
                return .success(try body())
            } catch {
                return .failure(error)
            }
        }
        return try outcome.get()
    }

    private static let wasTaken = RecordError(
        .tryAgainLater, "The upload goes on over another connection; ask how far it is.")
}

/// The right to write to a part, until another upload takes it.
struct PartTurn {
    let handle: PartHandle
    fileprivate let number: Int

    /// Does something to the file. Throws TRY_AGAIN_LATER once another upload has it.
    func use<Value>(_ body: () throws(RecordError) -> Value) throws(RecordError) -> Value {
        try handle.use(number, isLast: false, body)
    }

    /// As `use`, for what takes the file away from its name.
    func end<Value>(_ body: () throws(RecordError) -> Value) throws(RecordError) -> Value {
        try handle.use(number, isLast: true, body)
    }
}
