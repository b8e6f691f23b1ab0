internal import Foundation
package import Platform
package import RecordWire
internal import SQLiteStore

/// Runs sync rounds of one store with one service: drives the machine, carries its requests, waits
/// where it must. The next page is fetched while one is applied, and the next batch is built while
/// one is under way.
///
/// One round at a time: a call during another waits for it, and then runs a round of its own, since
/// what was saved meanwhile may have missed the first. `store` gives status, conflict log and
/// events at any time. A round may be cancelled between two instructions; nothing is lost by it.
public actor MirrorSession {
    private let performer: InstructionPerformer
    /// How many records the round will have sent, as far as is known.
    private var exportTotal = 0
    private let channel: any RecordChannel
    private let sleeper: any Sleeper
    private let observe: @Sendable (SyncProgress) -> Void
    /// Called after a round, however it ended, with the number of the last transaction before it.
    private let imported: @Sendable (Int64) throws -> Void
    private var isRunning = false
    /// Calls that wait for the present round, first come, first served.
    private var waiting: [CheckedContinuation<Void, Never>] = []

    /// The store under mirroring: its status, conflict log and events.
    public nonisolated var store: MirroredStore { performer.mirrored }

    package init(
        mirrored: MirroredStore, container: String, channel: any RecordChannel,
        sleeper: any Sleeper = SystemSleeper(),
        observe: @escaping @Sendable (SyncProgress) -> Void = { _ in },
        imported: @escaping @Sendable (Int64) throws -> Void = { _ in }
    ) {
        performer = InstructionPerformer(mirrored: mirrored, container: container)
        self.channel = channel
        self.sleeper = sleeper
        self.observe = observe
        self.imported = imported
    }

    /// Runs one round to its end and returns its counts. Throws `MirrorError` when it ended early,
    /// the store's own errors, and `CancellationError`. What was imported until then is there, and
    /// contexts are told of it, in each case.
    public func sync() async throws -> SyncSummary {
        await beginRound()
        defer { endRound() }
        try Task.checkCancellation()
        let before = try store.store.lastTransactionNumber()
        let result: RoundResult
        do {
            result = try await round()
        } catch {
            try imported(before)
            throw error
        }
        try imported(before)
        let retryAt = result.retryAfterSeconds.map { now.addingTimeInterval(Self.bounded($0)) }
        try performer.mirrored.noteRound(
            error: result.error?.message, retryAt: result.error == nil ? nil : retryAt)
        if let error = result.error { throw error }
        return SyncSummary(result, try performer.mirrored.status())
    }

    private func beginRound() async {
        guard isRunning else {
            isRunning = true
            return
        }
        // Whoever ends its round hands the turn over, so `isRunning` stays set.
        await withCheckedContinuation { waiting.append($0) }
    }

    private func endRound() {
        guard !waiting.isEmpty else {
            isRunning = false
            return
        }
        waiting.removeFirst().resume()
    }

    /// What a stranger asks for, as a time that can be written and shown.
    private static func bounded(_ seconds: Double) -> Double {
        seconds.isNaN ? 0 : min(max(seconds, 0), 365 * 86_400)
    }

    private func round() async throws -> RoundResult {
        exportTotal = 0
        var performer = performer
        switch try await dialect() {
        case .success(let dialect): performer.dialect = dialect
        case .failure(let error):
            var result = RoundResult()
            result.error = error
            return result
        }
        performer.assets = await assetSupport()
        var round = MirrorRound(performer)
        var carried: CarriedRequest?
        while true {
            try Task.checkCancellation()
            try report(round.instruction, round.result)
            if let request = round.requestAhead {
                async let answer = Self.carry(request, over: channel)
                guard case .performed = try round.step() else { continue }
                carried = CarriedRequest(request: request, answer: await answer)
                continue
            }
            switch try round.step() {
            case .performed: continue
            case .send(let request):
                if let known = carried, known.request == request {
                    round.answer(known.answer)
                } else {
                    async let answer = Self.carry(request, over: channel)
                    try round.workAhead()
                    round.answer(await answer)
                }
                carried = nil
            case .upload(let bytes, let address):
                round.uploaded(await upload(bytes, to: address))
            case .download(let download):
                round.downloaded(await self.download(download))
            case .wait(let seconds):
                observe(.waiting(seconds: seconds, reason: round.result.lastFailure?.message))
                try await sleeper.sleep(seconds: seconds)
                round.wake()
            case .finished(let result): return result
            }
        }
    }

    /// How the service speaks; asked again and again while it cannot be reached, as a request is.
    private func dialect() async throws -> Result<ServiceDialect, MirrorError> {
        var attempt = 0
        while true {
            do {
                return .success(try await channel.dialect())
            } catch {
                try Task.checkCancellation()
                attempt += 1
                switch MirrorFailure(error) {
                case .transient(let failure, let asked):
                    let seconds = RetryPolicy().seconds(
                        afterAttempt: attempt, retryAfterSeconds: asked,
                        randomness: store.settings.platform.randomness)
                    guard let seconds, attempt <= RoundLimits().attemptsMax else {
                        return .failure(failure)
                    }
                    observe(.waiting(seconds: seconds, reason: failure.message))
                    try await sleeper.sleep(seconds: seconds)
                case .permanent(let failure): return .failure(failure)
                case .tooLarge, .tokenExpired, .zoneMissing, .instanceForked:
                    return .failure(
                        MirrorError(.serviceRefused, "The service cannot be asked: \(error)"))
                }
            }
        }
    }

    /// A request whose answer came before it was due.
    private struct CarriedRequest {
        let request: RecordRequest
        let answer: Result<RecordResponse, any Error>
    }

    private static func carry(
        _ request: RecordRequest, over channel: any RecordChannel
    ) async -> Result<RecordResponse, any Error> {
        do {
            return .success(try await channel.send(request))
        } catch {
            return .failure(error)
        }
    }

    private func assetSupport() async -> AssetSupport {
        do {
            return try await channel.assetBytesMax().map { .upTo($0) } ?? .none
        } catch {
            return .unknown
        }
    }

    private func upload(
        _ bytes: Data, to address: String
    ) async -> Result<RecordAsset, any Error> {
        do {
            return .success(try await channel.upload(bytes, to: address))
        } catch {
            return .failure(error)
        }
    }

    private func download(_ download: AssetDownload) async -> Result<Void, any Error> {
        do {
            return .success(try await channel.download(download.asset, to: download.file))
        } catch {
            return .failure(error)
        }
    }

    private func report(_ instruction: MirrorMachine.Instruction, _ result: RoundResult) throws {
        switch instruction {
        case .apply(let page, _): observe(.importing(records: page.records.count))
        case .send(.modifyRecords(let request)):
            let count = request.operations.count
            // Counted once a pass: what waits is known once the history was read.
            if exportTotal < result.exported + count {
                exportTotal = max(
                    try performer.mirrored.pendingTotal() + result.exported,
                    result.exported + count)
            }
            observe(.exporting(records: count, done: result.exported, total: exportTotal))
        default: break
        }
    }

    private var now: Date { performer.mirrored.settings.platform.clock.now() }
}

/// What a round is doing, for whoever shows it.
public enum SyncProgress: Sendable {
    /// A page of so many records is being applied.
    case importing(records: Int)
    /// A batch of so many records is on its way; `done` were taken before, of `total` that wait in
    /// all as far as is known.
    case exporting(records: Int, done: Int, total: Int)
    /// The next try is so many seconds away; `reason` says what went wrong where something did.
    case waiting(seconds: Double, reason: String?)
}

/// The counts of a whole round.
public struct SyncSummary: Hashable, Sendable {
    /// Records and deletions that the service took.
    public let exported: Int
    /// Objects and pairs that were made, changed or removed here.
    public let imported: Int
    /// Objects in which both sides' edits were merged.
    public let merged: Int
    /// Properties that both sides changed to different values; each is in the conflict log.
    public let conflicts: Int
    /// Conflicts that wait for a decision.
    public let conflictsWaiting: Int
    /// Records that the service will not take as they are.
    public let refused: Int
    /// Records of entities that this model does not know.
    public let unknown: Int
    public let requests: Int
    /// Whether store and service are equal, as `MirrorStatus` tells it after the round: nothing
    /// waits, nothing was refused now or before.
    public let isInSync: Bool
    /// What happened besides, in sentences: that the service or this store had gone back to an
    /// older state, and what came of it.
    public let notices: [String]

    init(_ result: RoundResult, _ status: MirrorStatus?) {
        exported = result.exported
        imported = result.imported.applied
        merged = result.imported.merged
        conflicts = result.imported.conflicts
        conflictsWaiting = status?.conflictsWaiting ?? 0
        isInSync = status?.isInSync ?? false
        refused = result.refused
        unknown = result.imported.unknown
        requests = result.requests
        notices = result.notices
    }
}
