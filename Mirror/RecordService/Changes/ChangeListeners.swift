internal import Platform

/// Those who wait for changes of databases; each is called after a commit that changed its own.
final class ChangeListeners: Sendable {
    private typealias Call = @Sendable () -> Void

    private struct State {
        var calls: [DatabaseKey: [UInt64: Call]] = [:]
        var last: UInt64 = 0
    }

    private let state = Lock(State())

    var isEmpty: Bool { state.withLock { $0.calls.isEmpty } }

    /// Calls `call` after each change of `database`, on the thread that made it, until the
    /// listening ends.
    func listen(
        to database: DatabaseKey, _ call: @escaping @Sendable () -> Void
    ) -> ChangeListening {
        let number = state.withLock { state in
            state.last += 1
            state.calls[database, default: [:]][state.last] = call
            return state.last
        }
        return ChangeListening { [weak self] in self?.forget(number, database) }
    }

    private func forget(_ number: UInt64, _ database: DatabaseKey) {
        state.withLock { state in
            state.calls[database]?[number] = nil
            if state.calls[database]?.isEmpty == true { state.calls[database] = nil }
        }
    }

    /// Something in `database` was committed.
    func tell(_ database: DatabaseKey) {
        let calls = state.withLock { Array($0.calls[database, default: [:]].values) }
        for call in calls { call() }
    }

    /// Something was committed, nobody knows where.
    func tellAll() {
        let calls = state.withLock { $0.calls.values.flatMap(\.values) }
        for call in calls { call() }
    }
}

/// Ends the calls of a listener with its own end.
public final class ChangeListening: Sendable {
    private let forget: @Sendable () -> Void

    init(_ forget: @escaping @Sendable () -> Void) { self.forget = forget }

    deinit { forget() }
}
