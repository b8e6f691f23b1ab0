/// What worlds met, counted: whether the dice reach what they are thrown for.
public struct WorldStatistics: Sendable {
    /// Something that a world may meet.
    public enum Event: String, CaseIterable, Sendable {
        case conflictAnswer, existsAnswer, recordError
        case lostRequest, lostReply, lateCopy, busy
        case deviceKill, crashPoint, rolledBackSave, undoneDeletion, cascade
        case serviceKill, diskFull, revokedToken, forgotten
        case tokenExpired, zoneLost, serviceLost, serviceRestored, storeRestored, storeCopied
        case zoneRefused, oversized, reset, resolved
        case continuedPage, fullBatch, pageAhead, batchAhead, batchUnrecorded
        case assetUploaded, assetFetched, assetLost
        case keyCollision, keyChain, sharedPlace, twinPair
        case updated, updatedByMapping, updatedInRound, updateKilled, keptAside
        case keyless, formerKey, keyArrived, keyRotated, carriedSeal, loggedKey
        case shared, joined, guestEdited, readerEdited, revoked, loggedShareEnd
        case chosen, keptHere
        case tookEditBack, tookDeletionBack, restoredObject, decidedAgain
        case loggedConflict, loggedDeletion, loggedUnique, loggedOneToOne
    }

    public private(set) var worlds = 0
    /// In how many worlds each event happened.
    public private(set) var met: [Event: Int] = [:]
    /// How many requests the worlds' devices made in all.
    public private(set) var requests = 0

    public init() {}

    mutating func count(_ event: Event, times: Int = 1) {
        if times > 0 { met[event, default: 0] += times }
    }

    mutating func countRequest() { requests += 1 }

    /// Adds a world's own counts: each event counts once for the world.
    public mutating func add(_ world: WorldStatistics) {
        worlds += 1
        requests += world.requests
        for event in Event.allCases where world.met[event] != nil { met[event, default: 0] += 1 }
    }

    /// Adds the sums of other worlds.
    public mutating func merge(_ other: WorldStatistics) {
        worlds += other.worlds
        requests += other.requests
        met.merge(other.met) { $0 + $1 }
    }

    /// The share of worlds, in percent, that met one of `events`.
    public func percent(_ event: Event) -> Double {
        worlds == 0 ? 0 : Double(met[event] ?? 0) * 100 / Double(worlds)
    }

    /// One line with all shares.
    public var line: String {
        let shares = Event.allCases.map { event in
            let tenths = Int((percent(event) * 10).rounded())
            return "\(event.rawValue) \(tenths / 10).\(tenths % 10) %"
        }
        return "\(worlds) worlds, \(requests) requests: " + shares.joined(separator: ", ")
    }
}
