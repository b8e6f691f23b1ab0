internal import Foundation
internal import MirrorEngine
internal import RecordWire
internal import SQLiteStore

/// One process over a device's file: its mirror, and a round that is performed one step at a time,
/// so that anything may happen between two of them.
final class SimulatedSession {
    let mirrored: MirroredStore
    private let performer: InstructionPerformer
    private(set) var round: MirrorRound?
    /// Before this moment the round waits.
    private var wakeAt: Date?
    private(set) var lastResult: RoundResult?
    private let assets: (any AssetCarrier)?
    /// Says when the round works ahead; nil where it never does.
    private let dice: SeededRandomness?
    /// A request that was carried before it was due, with its answer.
    private var carried: (request: RecordRequest, answer: Result<RecordResponse, any Error>)?
    /// What the world notes of the round that runs.
    var notes = RoundNotes()

    init(
        mirrored: MirroredStore, container: String = SimulatedService.container,
        dialect: ServiceDialect = .extended, dice: SeededRandomness? = nil,
        assets: (any AssetCarrier)? = nil
    ) {
        self.mirrored = mirrored
        self.dice = dice
        self.assets = assets
        var performer = InstructionPerformer(
            mirrored: mirrored, container: container, dialect: dialect)
        performer.assets = assets?.assetSupport ?? .none
        self.performer = performer
    }

    var isRunning: Bool { round != nil }
    var instruction: MirrorMachine.Instruction? { round?.instruction }

    func startRound(limits: RoundLimits = RoundLimits()) {
        round = MirrorRound(performer, limits: limits)
        wakeAt = nil
        carried = nil
        lastResult = nil
        notes = RoundNotes()
    }

    /// Performs the next step if it concerns the store or an asset, or the wait if its time has
    /// come. Returns the request to carry otherwise.
    func step(now: Date) throws -> RecordRequest? {
        if let wakeAt {
            guard now >= wakeAt else { return nil }
            self.wakeAt = nil
            round?.wake()
        }
        switch try round?.step() {
        case .performed, nil: return nil
        case .send(let request):
            defer { carried = nil }
            guard let carried, carried.request == request else { return request }
            round?.answer(carried.answer)
            return nil
        case .upload(let bytes, let address):
            round?.uploaded(assets?.upload(bytes, to: address) ?? .failure(LostMessage()))
            return nil
        case .download(let download):
            round?.downloaded(assets?.download(download) ?? .failure(LostMessage()))
            return nil
        case .wait(let seconds):
            wakeAt = now + seconds
            return nil
        case .finished(let result):
            lastResult = result
            round = nil
            try mirrored.noteRound(error: result.error?.message, retryAt: nil)
            return nil
        }
    }

    /// Seconds until the round goes on by itself; nil when it does not wait.
    func secondsToWait(now: Date) -> Double? { wakeAt.map { $0.timeIntervalSince(now) } }

    // MARK: Ahead

    private var worksAhead: Bool { dice?.chance(percent: 60) ?? false }

    /// A request to carry before the next step, and to `keep` the answer of.
    func requestAhead() -> RecordRequest? {
        guard wakeAt == nil, let request = round?.requestAhead, worksAhead else { return nil }
        return request
    }

    /// A request's answer came before it was due.
    var hasCarried: Bool { carried != nil }

    func keep(_ answer: Result<RecordResponse, any Error>, to request: RecordRequest) {
        carried = (request, answer)
    }

    /// Builds the next batch while one is under way.
    func workAhead() throws -> Bool {
        guard worksAhead else { return false }
        return try round?.workAhead() ?? false
    }

    /// What came of a request.
    func answer(_ answer: Result<RecordResponse, any Error>) { round?.answer(answer) }

    func abandonRound() { round = nil }
}

/// What one round did, as its driver saw it.
struct RoundNotes {
    var requests = 0
    /// Requests that brought no useful answer.
    var failures = 0
    /// Operations sent.
    var operations = 0
    /// Records that came in pages or as answers to lookups.
    var received = 0
    /// How much the service had taken when the last request reached it whose answer tells of
    /// changes.
    var journalEnd = 0
    /// Something happened to the ledger that the round does not know of.
    var wasDisturbed = false
}
