import Platform

/// Throws at the named point once it is armed.
final class StrikingFaults: FaultPoints {
    struct Strike: Error {}
    private let armed = Lock<String?>(nil)

    func arm(_ name: String) { armed.withLock { $0 = name } }

    func reach(_ name: String) throws {
        let strikes = armed.withLock { point in
            defer { if point == name { point = nil } }
            return point == name
        }
        if strikes { throw Strike() }
    }
}
