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
    /// The round that runs, or ran last.
    private nonisolated let latest = Lock(LatestRound())
    private let log: RoundLog
    private var isRunning = false
    /// Whether this is not the first round of the program.
    private var hasBegun = false
    /// Calls that wait for the present round, first come, first served.
    private var waiting: [CheckedContinuation<Void, Never>] = []

    /// The store under mirroring: its status, conflict log and events.
    public nonisolated var store: MirroredStore { performer.mirrored }

    package init(
        mirrored: MirroredStore, container: String, channel: any RecordChannel,
        sleeper: any Sleeper = SystemSleeper(), log: RoundLog = RoundLog(),
        observe: @escaping @Sendable (SyncProgress) -> Void = { _ in },
        imported: @escaping @Sendable (Int64) throws -> Void = { _ in }
    ) {
        performer = InstructionPerformer(mirrored: mirrored, container: container)
        self.channel = channel
        self.sleeper = sleeper
        self.log = log
        self.observe = observe
        self.imported = imported
    }

    /// How far the round is that runs; nil between rounds. Any thread.
    public nonisolated var roundProgress: RoundProgress? { latest.withLock { $0.progress } }

    /// The name of the round that runs, or ran last, in the logs of the device and the service, and
    /// of its events; nil before the first.
    public nonisolated var roundIdentifier: String? { latest.withLock { $0.identifier } }

    /// Bytes that its channel has moved so far, where it counts them.
    nonisolated var bytesMoved: Int64 { channel.bytesMoved }

    /// Runs one round to its end and returns its counts. Throws `MirrorError` when it ended early,
    /// the store's own errors, and `CancellationError`. What was imported until then is there, and
    /// contexts are told of it, in each case.
    ///
    /// `progress` is kept up to date, and ends the round when it is cancelled. With `bytesMax` the
    /// round ends early once its channel has moved so many bytes, and the status tells it. One that
    /// nobody asked for leaves what did not fit into the user's quota for an hour, unless something
    /// is deleted; and what the service's schema did not take, unless it is the first.
    public func sync(
        reporting progress: RoundProgress = RoundProgress(), bytesMax: Int64? = nil,
        isAskedFor: Bool = true
    ) async throws -> SyncSummary {
        await beginRound()
        defer { endRound() }
        try Task.checkCancellation()
        if isAskedFor || !hasBegun {
            try noting { try store.retryCurable(isAskedFor: isAskedFor) }
        }
        hasBegun = true
        let identifier = store.settings.platform.randomness.uuid().uuidString.lowercased()
        latest.withLock { $0 = LatestRound(identifier: identifier, progress: progress) }
        defer { latest.withLock { $0.progress = nil } }
        return try await RoundIdentifier.$current.withValue(identifier) {
            try await loggedRound(progress, bytesMax)
        }
    }

    private func loggedRound(
        _ progress: RoundProgress, _ bytesMax: Int64?
    ) async throws -> SyncSummary {
        log.tell(.rounds, "round begins", [("store", store.settings.zoneName)])
        do {
            let summary = try await wholeRound(progress, bytesMax)
            log.tell(
                .rounds, "round ends",
                [
                    ("exported", "\(summary.exported)"), ("imported", "\(summary.imported)"),
                    ("conflicts", "\(summary.conflicts)"), ("requests", "\(summary.requests)"),
                    ("inSync", "\(summary.isInSync)"),
                ])
            return summary
        } catch {
            log.tell(.rounds, "round fails", [("reason", "\(error)")])
            throw error
        }
    }

    private func wholeRound(
        _ progress: RoundProgress, _ bytesMax: Int64?
    ) async throws -> SyncSummary {
        let before = try noting { try store.store.lastTransactionNumber() }
        let result: RoundResult
        do {
            result = try await progress.heeded { try await self.round(progress, bytesMax) }
        } catch {
            noteFailure(error)
            // What ended the round is told, whatever contexts make of what it imported.
            try? imported(before)
            throw error
        }
        try noting { try imported(before) }
        progress.end(result)
        guard !result.isCut else {
            try store.note(.cut)
            return SyncSummary(result, try store.status())
        }
        let retryAt = result.retryAfterSeconds.map { now.addingTimeInterval(Self.bounded($0)) }
        try performer.mirrored.noteRound(
            error: result.error?.message, retryAt: result.error == nil ? nil : retryAt)
        if let error = result.error { throw error }
        return SyncSummary(result, try performer.mirrored.status())
    }

    /// Keeps what a step throws beside the round itself.
    private func noting<Value>(_ step: () throws -> Value) throws -> Value {
        do {
            return try step()
        } catch {
            noteFailure(error)
            throw error
        }
    }

    /// Keeps what a round threw, so that a status does not call the store in sync. A cancelled
    /// round has not failed.
    private func noteFailure(_ error: any Error) {
        guard !(error is CancellationError), !Task.isCancelled else { return }
        noteFailure((error as? MirrorError)?.message ?? "\(error)")
    }

    /// Keeps why no round could begin, or go on, as its error. Any thread; cost: one transaction.
    package nonisolated func noteFailure(_ message: String, retryAfterSeconds: Double? = nil) {
        let now = store.settings.platform.clock.now()
        // A store that cannot be written tells it with the round's own error.
        try? store.noteRound(
            error: message,
            retryAt: retryAfterSeconds.map { now.addingTimeInterval(Self.bounded($0)) })
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

    /// What a stranger asks for, as far as it is kept to: nobody waits for years.
    private static func bounded(_ seconds: Double) -> Double {
        seconds.isNaN ? 0 : min(max(seconds, 0), patienceSecondsMax)
    }

    /// For so long the rounds of a scheduler wait at most because a service asked for it.
    static let patienceSecondsMax = 86_400.0

    /// Whether a round has moved all that it may. One that got nothing forward goes on: the next
    /// would begin with the same questions, and get no further.
    private func isSpent(_ bytesMax: Int64?, _ moved: Int64, _ result: RoundResult) -> Bool {
        guard let bytesMax, moved >= bytesMax else { return false }
        return result.exported + result.refused + result.imported.received > 0
    }

    private func round(
        _ progress: RoundProgress, _ bytesMax: Int64?
    ) async throws -> RoundResult {
        exportTotal = 0
        let bytesBefore = bytesMoved
        var performer = performer
        switch try await published(progress) {
        case .success(let publication):
            performer.dialect = publication.dialect
            performer.operationsMax = publication.operationsMax
            performer.caller = publication.caller
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
            try progress.checkCancellation()
            try report(round.instruction, round.result, progress)
            let isSpent = isSpent(bytesMax, bytesMoved - bytesBefore, round.result)
            if isSpent, round.wantsRequest, carried == nil {
                var result = round.result
                result.isCut = true
                return result
            }
            if !isSpent, let request = round.requestAhead {
                async let answer = Self.carry(request, over: channel, log)
                async let moved: Void = store.moveLog()
                guard case .performed = try round.step() else { continue }
                try round.workAhead()
                carried = CarriedRequest(request: request, answer: await answer)
                await moved
                continue
            }
            switch try round.step() {
            case .performed: continue
            case .send(let request):
                if let known = carried, known.request == request {
                    round.answer(known.answer)
                } else {
                    async let answer = Self.carry(request, over: channel, log)
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
                try await rest(seconds, progress)
                round.wake()
            case .finished(let result): return result
            }
        }
    }

    /// How the service speaks, how many operations it takes at a time, and for whom; asked again
    /// and again while it cannot be reached, as a request is.
    private func published(
        _ progress: RoundProgress
    ) async throws -> Result<Publication, MirrorError> {
        var attempt = 0
        while true {
            do {
                let dialect = try await channel.dialect()
                if dialect == .plain, try store.knowsEpochs() { try await hearService() }
                let operationsMax = try await channel.operationsMax()
                return .success(
                    Publication(
                        dialect: dialect, operationsMax: operationsMax ?? dialect.operationsMax,
                        caller: try await caller()))
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
                    try await rest(seconds, progress)
                case .permanent(let failure): return .failure(failure)
                case .tooLarge, .tokenExpired, .zoneMissing, .instanceForked:
                    return .failure(
                        MirrorError(.serviceRefused, "The service cannot be asked: \(error)"))
                }
            }
        }
    }

    /// Who stands before a service publishes nothing either, and must not have the store forget the
    /// epochs: a plain service answers a request, if only that it does not know the user.
    private func hearService() async throws {
        do {
            _ = try await channel.send(.caller)
        } catch let error as RecordError where error.code == .authenticationRequired {
            return
        }
    }

    /// As whom the store is mirrored; nil for who is not signed in, which the public database lets
    /// read. What is wrong with a token the round's own requests tell.
    private func caller() async throws -> CallerReply? {
        do {
            return try await channel.caller()
        } catch {
            guard case .permanent = MirrorFailure(error) else { throw error }
            return nil
        }
    }

    /// Waits, or throws once the round is cancelled.
    private func rest(_ seconds: Double, _ progress: RoundProgress) async throws {
        await progress.wake.wait(atMostSeconds: seconds, sleeper)
        try Task.checkCancellation()
        try progress.checkCancellation()
    }

    private struct LatestRound {
        var identifier: String?
        var progress: RoundProgress?
    }

    /// What is known of the service before the first request.
    private struct Publication {
        let dialect: ServiceDialect
        let operationsMax: Int
        let caller: CallerReply?
    }

    /// A request whose answer came before it was due.
    private struct CarriedRequest {
        let request: RecordRequest
        let answer: Result<RecordResponse, any Error>
    }

    private static func carry(
        _ request: RecordRequest, over channel: any RecordChannel, _ log: RoundLog
    ) async -> Result<RecordResponse, any Error> {
        do {
            let response = try await channel.send(request)
            log.tell(.requests, "request answered", [("operation", request.word)])
            return .success(response)
        } catch {
            log.tell(
                .requests, "request failed", [("operation", request.word), ("reason", "\(error)")])
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

    private func report(
        _ instruction: MirrorMachine.Instruction, _ result: RoundResult,
        _ progress: RoundProgress
    ) throws {
        log.tell(.steps, "step", [("instruction", instruction.word)])
        var coming = 0
        defer { progress.show(result, coming: coming, waiting: exportTotal) }
        switch instruction {
        case .apply(let page, _):
            coming = page.records.count
            observe(.importing(records: coming))
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
