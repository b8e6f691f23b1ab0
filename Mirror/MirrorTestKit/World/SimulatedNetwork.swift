internal import Foundation
internal import MirrorEngine
internal import Platform
internal import RecordService
internal import RecordWire

/// The network between devices and service, and what strikes the service: it loses, doubles and
/// delays messages, and carries them as values or as bytes.
final class SimulatedNetwork {
    let service: SimulatedService
    private var settings: WorldSettings
    private let randomness: SeededRandomness
    /// Of assets: dice of their own, so that a seed is the same world without them.
    private let assetDice: SeededRandomness
    private let faults: ServiceFaults
    private var delayed: [(request: RecordRequest, device: String, id: String)] = []
    /// Each write that the service took.
    var journal = ServiceJournal()
    /// What a plain service let come back.
    private(set) var revivals = Revivals()
    var statistics = WorldStatistics()
    /// Until so many requests more the service makes no zone, or lets nobody in.
    private var zonesRefused = 0
    private var strangers = 0
    private var fullRequests = 0

    init(
        seed: UInt64, settings: WorldSettings, clock: VirtualClock, randomness: SeededRandomness,
        folder: URL
    ) throws {
        self.settings = settings
        self.randomness = randomness
        assetDice = SeededRandomness(seed: seed ^ 0xA5_5E7)
        faults = ServiceFaults(randomness: SeededRandomness(seed: seed ^ 0x5E_FA))
        var limits = ServiceLimits()
        limits.pages.resultsMax = settings.sizes.pageRecordsMax
        limits.pages.changesMax = settings.sizes.pageRecordsMax
        limits.operationsPerRequestMax = settings.sizes.operationsPerRequestMax
        limits.recordBytesMax = settings.sizes.recordBytesMax
        if settings.faults.service.forgetPercent > 0 { limits.retention.deletionDaysMax = 0 }
        let platform = Environment(
            clock: clock, randomness: SeededRandomness(seed: seed ^ 0x5E), faults: faults)
        service = try SimulatedService(
            platform: platform, folder: settings.faults.needsServiceFile ? folder : nil,
            limits: limits, dialect: settings.dialect)
        if settings.usesWire { try service.issueTokens() }
    }

    /// Faults inside the service may strike from now on.
    func arm() { faults.setCrashPercent(settings.faults.service.killPercent) }

    /// What the service's owner does is not struck.
    func disarm() { faults.setCrashPercent(0) }

    // MARK: Requests

    /// Carries a request and its answer, or loses one of them.
    func carry(
        _ request: RecordRequest, from device: String, id: String, _ notes: inout RoundNotes,
        tell: (String) -> Void
    ) -> Result<RecordResponse, any Error> {
        notes.requests += 1
        statistics.countRequest()
        let answer = attempt(request, from: device, id: id, &notes, tell: tell)
        if case .failure = answer { notes.failures += 1 }
        if case .success(let response) = answer { notes.received += response.recordCount }
        notes.operations += request.operationCount
        return answer
    }

    private func attempt(
        _ request: RecordRequest, from device: String, id: String, _ notes: inout RoundNotes,
        tell: (String) -> Void
    ) -> Result<RecordResponse, any Error> {
        let percents = settings.faults
        if chance(percents.lostRequestPercent) {
            tell("\(device) request lost")
            statistics.count(.lostRequest)
            if chance(percents.duplicatePercent) { delayed.append((request, device, id)) }
            return .failure(LostMessage())
        }
        if chance(percents.busyPercent) {
            statistics.count(.busy)
            var busy = RecordError(.throttled, "The simulated service is busy.")
            busy.retryAfterSeconds = 1
            return .failure(busy)
        }
        if chance(percents.duplicatePercent) { delayed.append((request, device, id)) }
        if request.tellsOfChanges { notes.journalEnd = journal.count }
        let answer = deliver(request, from: device, id: id, &notes, tell: tell)
        if chance(percents.lostReplyPercent) {
            tell("\(device) reply lost")
            statistics.count(.lostReply)
            return .failure(LostMessage())
        }
        return answer
    }

    /// Delivers one message that was delayed.
    func deliverDelayed(tell: (String) -> Void) throws {
        guard !delayed.isEmpty else { return }
        let message = delayed.remove(at: randomness.below(delayed.count))
        tell("service gets a late copy from \(message.device)")
        statistics.count(.lateCopy)
        var notes = RoundNotes()
        _ = deliver(
            message.request, from: "late copy of \(message.device)", id: message.id, &notes,
            tell: tell)
    }

    private func deliver(
        _ request: RecordRequest, from device: String, id: String, _ notes: inout RoundNotes,
        tell: (String) -> Void
    ) -> Result<RecordResponse, any Error> {
        do {
            let response = try answer(request, id: id, &notes)
            tell("\(device) \(request.summary) → \(response.summary)")
            journal.note(request, response)
            revivals.note(request, response)
            if request.carriesSeals { statistics.count(.carriedSeal) }
            statistics.count(answerTo: request, response, sizes: settings.sizes)
            return .success(response)
        } catch {
            if let point = faults.takeStrike() {
                tell("service killed at \(point) while \(device) \(request.summary)")
                return .failure(restartService())
            }
            tell("\(device) \(request.summary) refused: \(error)")
            return .failure(error)
        }
    }

    /// The service was struck and starts again; the message that struck it is lost.
    private func restartService() -> any Error {
        statistics.count(.serviceKill)
        journal.forget()
        do {
            try service.kill()
        } catch {
            return error
        }
        return LostMessage()
    }

    /// Carries an asset in either direction, or loses it or the word that it came.
    func carryAsset<Value>(
        _ event: WorldStatistics.Event, _ body: () throws -> Value
    ) -> Result<Value, any Error> {
        if assetDice.chance(percent: settings.faults.lostRequestPercent) {
            statistics.count(.assetLost)
            return .failure(LostMessage())
        }
        do {
            let value = try body()
            statistics.count(event)
            guard assetDice.chance(percent: settings.faults.lostReplyPercent) else {
                return .success(value)
            }
            statistics.count(.assetLost)
            return .failure(LostMessage())
        } catch {
            return .failure(faults.takeStrike() == nil ? error : restartService())
        }
    }

    private func answer(
        _ request: RecordRequest, id: String, _ notes: inout RoundNotes
    ) throws -> RecordResponse {
        if strangers > 0 { try endStrangers() }
        if fullRequests > 0 {
            fullRequests -= 1
            faults.isDiskFull = fullRequests > 0
        }
        if zonesRefused > 0, case .modifyZones(let operations) = request {
            zonesRefused -= 1
            return .zones(operations.map { _ in .failure(Self.noZones) })
        }
        var request = request
        if chance(settings.faults.tokenExpiryPercent), request.forgeToken() {
            statistics.count(.tokenExpired)
            notes.failures += 1
        }
        let putOff = putOffOperations(of: &request)
        notes.failures += putOff.isEmpty ? 0 : 1
        let response =
            try settings.wireFormat.map {
                try service.handleOverWire(request, from: id, in: $0)
            } ?? service.handle(request, from: id)
        return response.inserting(putOff)
    }

    private func chance(_ percent: Int) -> Bool { randomness.chance(percent: percent) }

    /// Takes single operations out of a request; the service says of them that it is not ready.
    private func putOffOperations(of request: inout RecordRequest) -> [Int] {
        guard settings.faults.recordErrorPercent > 0,
            case .modifyRecords(var modify) = request, !modify.atomic
        else { return [] }
        let places = modify.operations.indices.filter { _ in
            chance(settings.faults.recordErrorPercent)
        }
        guard !places.isEmpty else { return [] }
        statistics.count(.recordError)
        for place in places.reversed() { modify.operations.remove(at: place) }
        request = .modifyRecords(modify)
        return places
    }

    private static let noZones = RecordError(.accessDenied, "The simulated service makes no zone.")

    // MARK: Strikes

    /// Begins a stretch in which the service refuses something. Returns whether one began.
    func strike(tell: (String) -> Void) throws -> Bool {
        if chance(settings.faults.service.diskFullPercent) {
            tell("service's disk is full")
            statistics.count(.diskFull)
            fullRequests = 1 + randomness.below(6)
            faults.isDiskFull = true
            return true
        }
        if chance(settings.faults.service.zoneRefusedPercent) {
            tell("service makes no zones")
            statistics.count(.zoneRefused)
            zonesRefused = 1 + randomness.below(3)
            return true
        }
        if settings.usesWire, strangers == 0, fullRequests == 0,
            chance(settings.faults.service.revokedPercent)
        {
            tell("token is revoked")
            statistics.count(.revokedToken)
            strangers = 2 + randomness.below(4)
            try service.revokeToken()
            return true
        }
        return false
    }

    /// The service forgets all deletions there are: so long ago they were that no copy of a request
    /// is under way any more.
    func forgetDeletions() throws {
        delayed.removeAll()
        freeDisk()
        statistics.count(.forgotten)
        try service.service.forgetOldDeletions()
    }

    private func endStrangers() throws {
        strangers -= 1
        guard strangers == 0 else { return }
        disarm()
        defer { arm() }
        freeDisk()
        try service.renewToken()
    }

    /// Somebody clears the service's disk, since its owner wants to write.
    func freeDisk() {
        faults.isDiskFull = false
        fullRequests = 0
    }

    /// Deletes the zone, as its owner may. Returns whether there was one.
    func deleteZone(_ name: String) throws -> Bool {
        freeDisk()
        let request = RecordRequest.modifyZones([ZoneOperation(.delete, ZoneID(zoneName: name))])
        var notes = RoundNotes()
        let answer = deliver(request, from: "owner", id: "owner", &notes) { _ in }
        guard case .success(.zones(let results)) = answer, case .zone? = results.first else {
            return false
        }
        journal.forget()
        return true
    }

    /// Delivers all that is delayed, and ends all faults.
    func calmDown(tell: (String) -> Void) throws {
        if strangers > 0 {
            strangers = 1
            try endStrangers()
        }
        faults.setCrashPercent(0)
        faults.isDiskFull = false
        (fullRequests, zonesRefused) = (0, 0)
        let mayBeKilled = settings.faults.service.killPercent > 0
        settings.faults = WorldFaults()
        while !delayed.isEmpty { try deliverDelayed(tell: tell) }
        if mayBeKilled { try service.kill() }
    }
}
