package import Foundation
internal import Platform
package import RecordWire

/// One sync round under way: the machine, the performer of what concerns the store, and the waits.
///
/// Whoever drives it carries requests and lets time pass, and does nothing else: `MirrorSession`
/// over a real channel, the simulation over a bad one.
package struct MirrorRound: Sendable {
    /// What its driver is to do next.
    package enum Step: Sendable {
        /// Something was done in the store; ask for the next step.
        case performed
        /// Carry the request, then `answer`.
        case send(RecordRequest)
        /// Send the bytes to the address, then `uploaded`.
        case upload(Data, address: String)
        /// Bring the asset into the file, then `downloaded`.
        case download(AssetDownload)
        /// Let so much time pass, then `wake`.
        case wait(seconds: Double)
        case finished(RoundResult)
    }

    private let performer: InstructionPerformer
    private let retry: RetryPolicy
    private var machine: MirrorMachine
    /// The batch that was built while another was under way.
    private var batchAhead: ExportBatch?
    /// What the machine wants next.
    package private(set) var instruction: MirrorMachine.Instruction

    /// The request that follows the next step, where that is known before; it may be carried while
    /// the step is performed. `step` gives it when it is due, if nothing came between: a page that
    /// was fetched for nothing was only read, a batch counts as sent without an answer.
    package var requestAhead: RecordRequest? {
        guard case .record(_, let reply) = instruction, reply.takesAll else {
            return machine.requestAhead
        }
        return batchAhead.flatMap { machine.request(behindReply: $0) }
    }

    /// Whether the next step is a request.
    var wantsRequest: Bool { if case .send = instruction { true } else { false } }

    /// The counts so far.
    package var result: RoundResult { machine.result }

    package init(
        _ performer: InstructionPerformer, limits: RoundLimits = RoundLimits(),
        retry: RetryPolicy = RetryPolicy()
    ) {
        self.performer = performer
        self.retry = retry
        machine = MirrorMachine(
            zoneID: performer.mirrored.settings.zoneID, limits: limits,
            dialect: performer.dialect)
        instruction = machine.handle(.start)
    }

    /// Performs the next instruction where it concerns the store, or says what is to be done
    /// outside. Throws what the store throws; the round is over then, and nothing is lost by it.
    package mutating func step() throws -> Step {
        switch instruction {
        case .finish(let result): return .finished(result)
        case .send(let request): return .send(request)
        case .download(let download): return .download(download)
        case .upload(let upload, let address):
            guard let bytes = try performer.mirrored.bytes(of: upload) else {
                instruction = machine.handle(.outdated)
                return .performed
            }
            return .upload(bytes, address: address)
        case .wait(let attempt, let asked):
            let seconds = retry.seconds(
                afterAttempt: attempt, retryAfterSeconds: asked,
                randomness: performer.mirrored.settings.platform.randomness)
            guard let seconds else { return .finished(machine.givenUp) }
            return .wait(seconds: seconds)
        default: return try perform()
        }
    }

    private mutating func perform() throws -> Step {
        guard let event = try performer.perform(instruction) else { return .performed }
        if !isWholly(event) { batchAhead = nil }
        instruction = machine.handle(event)
        if case .build(recordsMax: nil) = instruction, let batch = batchAhead {
            batchAhead = nil
            instruction = machine.handle(.built(batch))
        }
        return .performed
    }

    /// Whether an answer was recorded that took all of its batch: what was built upon it stands.
    private func isWholly(_ event: MirrorMachine.Event) -> Bool {
        guard case .record(let batch, _) = instruction, case .recorded(let outcome) = event else {
            return false
        }
        return outcome.exported == batch.items.count
    }

    /// Builds the next batch while the request that `step` gave is under way, where that is one of
    /// a batch. The same as if it had been built and sent before: what changes meanwhile is told
    /// apart by its transaction, and what is dropped again counts as sent without an answer.
    /// Returns whether one was built. Throws as `step` does.
    @discardableResult
    package mutating func workAhead() throws -> Bool {
        guard batchAhead == nil, case .send = instruction, let batch = machine.batchUnderWay,
            let next = try performer.mirrored.nextBatch(
                behind: batch, recordsMax: performer.operationsMax,
                assets: performer.assets), !next.isEmpty
        else { return false }
        batchAhead = next
        return true
    }

    /// What came of the request that `step` gave.
    package mutating func answer(_ answer: Result<RecordResponse, any Error>) {
        switch answer {
        case .success(let response): instruction = machine.handle(.replied(response))
        case .failure(let error):
            batchAhead = nil
            instruction = machine.handle(.failed(MirrorFailure(error)))
        }
    }

    /// What came of the upload that `step` gave.
    package mutating func uploaded(_ answer: Result<RecordAsset, any Error>) {
        switch answer {
        case .success(let asset): instruction = machine.handle(.uploaded(asset))
        case .failure(let error): instruction = machine.handle(.failed(MirrorFailure(error)))
        }
    }

    /// What came of the download that `step` gave.
    package mutating func downloaded(_ answer: Result<Void, any Error>) {
        switch answer {
        case .success: instruction = machine.handle(.downloaded)
        case .failure(let error): instruction = machine.handle(.failed(MirrorFailure(error)))
        }
    }

    /// The time that `step` asked for has passed.
    package mutating func wake() { instruction = machine.handle(.woke) }
}

extension RecordsReply {
    /// Whether the service took every operation.
    fileprivate var takesAll: Bool {
        results.allSatisfy { result in
            if case .record = result { true } else { false }
        }
    }
}
