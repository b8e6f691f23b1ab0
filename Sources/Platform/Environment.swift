public import Foundation

/// Everything the outside decides, handed down from whoever assembles the program.
///
/// A value of this type travels with each store and each engine. Tests replace its members one by
/// one.
public struct Environment: Sendable {
    /// The clock that dates transactions and records.
    public var clock: any Clock
    /// The source of record names and identifiers.
    public var randomness: any Randomness
    /// The named points at which a simulation may strike.
    public var faults: any FaultPoints
    /// Whoever tells that other processes wrote to files.
    public var watcher: any FileWatcher

    /// A world whose files nobody else writes to, unless it is given a watcher.
    public init(
        clock: any Clock, randomness: any Randomness, faults: any FaultPoints,
        watcher: any FileWatcher = NoFileWatcher()
    ) {
        self.clock = clock
        self.randomness = randomness
        self.faults = faults
        self.watcher = watcher
    }

    /// The machine this process runs on: its clock, its random generator, its files, no faults.
    public static let system = Environment(
        clock: SystemClock(), randomness: SystemRandomness(), faults: NoFaults(),
        watcher: SystemFileWatcher())
}

/// Tells the time.
public protocol Clock: Sendable {
    /// The present moment.
    func now() -> Date
}

/// Draws random words.
public protocol Randomness: Sendable {
    /// Returns 64 random bits.
    func next() -> UInt64
}

/// Receives the name of each place where two writes must agree.
public protocol FaultPoints: Sendable {
    /// Called when the program passes the point `name`. Throws what the test wants to see fail
    /// there; who passes it takes that for a failure of the disk.
    func reach(_ name: String) throws
}

extension Randomness {
    /// Returns a random (version 4) UUID made of two words of this source.
    public func uuid() -> UUID {
        let high = next()
        let low = next()
        func byte(_ word: UInt64, _ index: UInt64) -> UInt8 {
            UInt8(truncatingIfNeeded: word >> (56 - 8 * index))
        }
        return UUID(
            uuid: (
                byte(high, 0), byte(high, 1), byte(high, 2), byte(high, 3), byte(high, 4),
                byte(high, 5), byte(high, 6) & 0x0F | 0x40, byte(high, 7),
                byte(low, 0) & 0x3F | 0x80, byte(low, 1), byte(low, 2), byte(low, 3), byte(low, 4),
                byte(low, 5), byte(low, 6), byte(low, 7)
            ))
    }
}

/// The machine's clock.
public struct SystemClock: Clock {
    public init() {}
    public func now() -> Date { Date() }
}

/// No faults: each point is passed unhurt.
public struct NoFaults: FaultPoints {
    public init() {}
    public func reach(_ name: String) throws {}
}
