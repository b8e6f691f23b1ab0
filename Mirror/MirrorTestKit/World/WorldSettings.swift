public import MirrorEngine
public import ObjectModel

/// What a simulated world is made of. Faults are chosen by dice per world, so that some worlds have
/// only lost replies, others only kills, others none.
public struct WorldSettings: Sendable {
    public var model: NSManagedObjectModel
    public var devices = 2
    /// Steps before everything calms down.
    public var steps = 60
    public var policy = MergePolicy()
    public var faults = WorldFaults()
    var limits = RoundLimits()

    public init(model: NSManagedObjectModel) {
        self.model = model
        limits.requestsMax = 400
    }
}

/// Percentages at which things go wrong.
public struct WorldFaults: Hashable, Sendable {
    public var lostRequestPercent = 0
    /// The service did it, and its answer is lost.
    public var lostReplyPercent = 0
    /// A request arrives a second time, later.
    public var duplicatePercent = 0
    /// The service answers that it is busy.
    public var busyPercent = 0
    /// A device is killed between two instructions.
    public var killPercent = 0
    /// A device is killed at a named point inside a transaction.
    public var crashPointPercent = 0
    /// A bug to plant, to see that the laws catch it.
    public var plantedBug: String?

    public init() {}

    /// Each kind of fault is there or not, by dice.
    public static func drawn(by randomness: SeededRandomness) -> WorldFaults {
        var faults = WorldFaults()
        if randomness.chance(percent: 40) { faults.lostRequestPercent = 5 + randomness.below(25) }
        if randomness.chance(percent: 50) { faults.lostReplyPercent = 5 + randomness.below(30) }
        if randomness.chance(percent: 30) { faults.duplicatePercent = 5 + randomness.below(20) }
        if randomness.chance(percent: 20) { faults.busyPercent = 5 + randomness.below(20) }
        if randomness.chance(percent: 40) { faults.killPercent = 2 + randomness.below(10) }
        if randomness.chance(percent: 40) { faults.crashPointPercent = 5 + randomness.below(20) }
        return faults
    }
}
